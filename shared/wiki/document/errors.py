"""What can be wrong with a document."""

from collections.abc import Sequence

from shared.core.errors import InvalidInputError

_PATH_PART_CHARS = 60

PathPart = str | int


class InvalidDocumentError(InvalidInputError):
    """The document cannot be taken."""

    code = "invalid_document"

    def __init__(self, problem: str, path: Sequence[PathPart] = ()) -> None:
        """`path` leads from the document to the fault: `("content", 3, "attrs", "level")`."""
        self.path = ".".join(_printable(part) for part in path)
        where = f" at {self.path}" if self.path else ""
        super().__init__(f"Invalid document{where}: {problem}", details={"path": self.path})


def _printable(part: PathPart) -> str:
    """A key may hold what cannot be sent: lone surrogates, control characters, a megabyte."""
    text = str(part).encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else "\ufffd" for c in text[:_PATH_PART_CHARS])
