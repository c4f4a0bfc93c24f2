"""What can be wrong with a choice of models, in the words that a person reads."""

from collections.abc import Iterator
from contextlib import contextmanager

from shared.core.errors import BadRequestError, ForbiddenError, InvalidInputError, NotFoundError


class SettingsForbiddenError(ForbiddenError):
    """Only owners and admins of the workspace see and change its AI settings."""

    code = "settings_forbidden"


class SearchDisabledError(ForbiddenError):
    """Search is switched off in this workspace."""

    code = "search_disabled"


class UnknownDriverError(InvalidInputError):
    """There is no such driver."""

    code = "unknown_driver"


class OnlyModelError(InvalidInputError):
    """This driver has no model but its own."""

    code = "unknown_model"


class UnknownModelError(BadRequestError):
    """This model is not offered in this workspace."""

    code = "unknown_model"


class NotInCatalogueError(NotFoundError):
    """The catalogue has no such model."""

    code = "not_in_catalogue"


class NoAddressTakenError(InvalidInputError):
    """This driver has no address that could be set."""


class NoKeyTakenError(InvalidInputError):
    """This driver takes no key."""


class BadKeyError(InvalidInputError):
    """The key holds spaces or characters that no key has."""


class KeyWithoutAddressError(InvalidInputError):
    """Give the base URL together with the key: a key is kept for one address."""


@contextmanager
def at_field(name: str) -> Iterator[None]:
    """Names the form's field in what is raised within."""
    try:
        yield
    except InvalidInputError as error:
        error.details = [{"path": name, "message": error.message}]
        raise
