"""Domain errors. The docstring of a class is its message; `api/errors.py` gives each a status."""

from typing import Any


class PageturnError(Exception):
    """Something went wrong."""

    code: str = "error"

    def __init__(self, message: str | None = None, *, details: Any = None) -> None:
        self.message = message or (self.__doc__ or "").strip().splitlines()[0]
        self.details = details
        super().__init__(self.message)


class ConfigurationError(PageturnError):
    """This process has not been told what it needs."""

    code = "configuration"


class NotFoundError(PageturnError):
    """There is no such thing, or you may not see it."""

    code = "not_found"


class ForbiddenError(PageturnError):
    """You may not do this."""

    code = "forbidden"


class UnauthenticatedError(PageturnError):
    """Sign in first."""

    code = "unauthenticated"


class InvalidInputError(PageturnError):
    """The input cannot be taken."""

    code = "invalid_input"


class BadRequestError(PageturnError):
    """The request cannot be taken as it is."""

    code = "bad_request"


class ConflictError(PageturnError):
    """It changed meanwhile."""

    code = "conflict"


class RateLimitedError(PageturnError):
    """Too many requests: wait and try again."""

    code = "rate_limited"

    def __init__(self, message: str | None = None, *, retry_after: int = 60) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UnavailableError(PageturnError):
    """A part of Pageturn that this needs is not there now."""

    code = "unavailable"


class NotConfiguredError(UnavailableError):
    """No model is configured: an owner can choose one in the settings."""

    code = "not_configured"
