"""What can go wrong with a page, in the words that a person reads."""

from shared.core.errors import ConflictError, InvalidInputError, NotFoundError


class PageNotFoundError(NotFoundError):
    """There is no such page, or you may not see it."""

    code = "page_not_found"


class ParentNotFoundError(NotFoundError):
    """There is no such page to put it under, or you may not see it."""

    code = "parent_not_found"


class VersionNotFoundError(NotFoundError):
    """This page has no such version."""

    code = "version_not_found"


class InvalidTitleError(InvalidInputError):
    """A title has 1 to 255 characters that can be stored."""

    code = "invalid_title"


class TwoContentsError(InvalidInputError):
    """Give markdown or content, not both."""

    code = "two_contents"


class StaleVersionError(ConflictError):
    """The page has changed since you read it."""

    code = "stale_version"

    def __init__(self, version: int) -> None:
        """`version` is the one that the page has now."""
        super().__init__(
            f"The page has changed since you read it: it is at version {version} now.",
            details={"version": version},
        )


class InvalidMoveError(InvalidInputError):
    """A page cannot stand there."""

    code = "invalid_move"
