"""The embedding interface: what every model of vectors takes and gives."""

from collections.abc import Sequence
from typing import Protocol

from shared.core.errors import UnavailableError


class EmbeddingUnavailableError(UnavailableError):
    """The embedding model cannot be used.

    Its text is for people: short, and without a word of what was sent. `code` is
    `embedding_unavailable` or one of the codes of a provider's errors (`ModelError`);
    `status` is the HTTP status where there was one.
    """

    code = "embedding_unavailable"

    def __init__(
        self, message: str | None = None, *, code: str | None = None, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.status = status


class Embedder(Protocol):
    """Turns texts into unit vectors, all of one dimension; queries and passages alike.

    Every member raises EmbeddingUnavailableError while the model cannot be used.
    """

    @property
    def name(self) -> str:
        """Under which its vectors are kept: equal names are comparable vectors."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, in their order; any number of texts, also none."""
        ...
