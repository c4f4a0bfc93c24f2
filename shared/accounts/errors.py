"""What can go wrong with accounts and spaces, in the words that a person reads."""

from shared.core.errors import (
    BadRequestError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    UnauthenticatedError,
)


class WrongCredentialsError(UnauthenticatedError):
    """The email or the password is wrong."""

    code = "wrong_credentials"


class DeadLinkError(UnauthenticatedError):
    """This sign-in link has been used or has expired."""

    code = "dead_link"


class WeakPasswordError(InvalidInputError):
    """A password needs at least 8 characters."""

    code = "weak_password"


class InvalidEmailError(InvalidInputError):
    """This is not an email address."""

    code = "invalid_email"


class EmailTakenError(ConflictError):
    """There is an account with this email already."""

    code = "email_taken"


class NoSessionError(BadRequestError):
    """An API key has no session to end."""

    code = "no_session"


class SessionNotFoundError(NotFoundError):
    """There is no such session of yours."""

    code = "session_not_found"


class UserNotFoundError(NotFoundError):
    """There is no such person in this workspace."""

    code = "user_not_found"


class SpaceNotFoundError(NotFoundError):
    """There is no such space, or you may not see it."""

    code = "space_not_found"


class InvalidSpaceError(InvalidInputError):
    """A space needs a name of 2 to 100 characters and a slug of letters, digits and hyphens."""

    code = "invalid_space"


class SlugTakenError(ConflictError):
    """Another space has this slug."""

    code = "slug_taken"


class LastAdminError(ConflictError):
    """A space keeps at least one admin: make somebody else admin first."""

    code = "last_admin"
