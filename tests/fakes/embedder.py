"""An embedding model without a model: words are directions, and synonyms share one."""

import hashlib
import math
import re
from collections.abc import Awaitable, Callable, Sequence

_SYNONYMS = {"vacation": "leave", "holiday": "leave", "car": "automobile"}
_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """`texts` are those it was given. `during` runs in each call; `failure` is raised instead
    of an answer."""

    def __init__(self, name: str = "fake", dimensions: int = 384) -> None:
        self.name = name
        self.dimensions = dimensions
        self.texts: list[str] = []
        self.during: Callable[[], Awaitable[None]] | None = None
        self.failure: Exception | None = None

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if not texts:
            return []
        self.texts += texts
        if self.during is not None:
            await self.during()
        if self.failure is not None:
            raise self.failure
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> list[float]:
        """A unit vector; equal for equal bags of words."""
        values = [0.0] * self.dimensions
        for word in _WORD.findall(text.lower()):
            word = _SYNONYMS.get(word, word)
            place = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
            values[place % self.dimensions] += 1.0
        length = math.sqrt(sum(value * value for value in values)) or 1.0
        return [value / length for value in values]
