"""Embeddings from a provider that speaks OpenAI's protocol."""

import asyncio
from collections.abc import Iterator, Sequence

import openai
from openai import AsyncOpenAI
from pydantic import SecretStr

from shared.core.tunables import (
    EMBED_REMOTE_CHARS,
    EMBED_REMOTE_TEXTS,
    EMBED_RETRIES,
    EMBED_RETRY_AFTER_SECONDS,
)
from shared.providers.reasons import REASONS
from workers.guarded_http import AddressRefusedError, AnswerRefusedError
from workers.llm import faults
from workers.llm.base import ModelError
from workers.llm.embedding_answer import EmbeddingAnswer, read_answer
from workers.llm.embeddings import EmbeddingUnavailableError
from workers.llm.faults import Again, Fault

_TOO_MUCH = frozenset({400, 413, 422})


class RemoteEmbedder:
    """An Embedder bound to one client and model.

    A batch takes `seconds` at most, tries and pauses together; `retry_seconds` is the first
    pause, which doubles. `tokens` are those that the provider has counted so far. Errors repeat
    the provider's words, without `key`, only with `quoting`: they may hold what was sent.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        *,
        name: str,
        model: str,
        seconds: float,
        retry_seconds: float,
        retries: int = EMBED_RETRIES,
        key: SecretStr | None = None,
        quoting: bool = False,
    ) -> None:
        self.name = name
        self.tokens = 0
        self._client = client  # one that does not try again by itself
        self._model = model
        self._seconds = seconds
        self._retry_seconds = retry_seconds
        self._retries = retries
        self._key = key
        self._quoting = quoting

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        vectors: list[list[float]] = []
        for batch in _batches(texts):
            vectors += await self._batch(batch)
        if len({len(vector) for vector in vectors}) > 1:
            raise EmbeddingUnavailableError(
                "The embedding provider changed its model meanwhile.", code="provider_bad_response"
            )
        return vectors

    async def _batch(self, texts: list[str]) -> list[list[float]]:
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._divided(texts)
        except TimeoutError:
            raise EmbeddingUnavailableError(
                f"The embedding provider did not answer within {self._seconds:g} seconds.",
                code="provider_timeout",
            ) from None
        self.tokens += answer.tokens
        return answer.vectors

    async def _divided(self, texts: list[str]) -> EmbeddingAnswer:
        """In halves, where a provider takes fewer texts at once than we send."""
        try:
            return await self._tried(texts)
        except EmbeddingUnavailableError as error:
            if error.status not in _TOO_MUCH or len(texts) == 1:
                raise
        half = len(texts) // 2
        first, second = await self._divided(texts[:half]), await self._divided(texts[half:])
        return EmbeddingAnswer(first.vectors + second.vectors, first.tokens + second.tokens)

    async def _tried(self, texts: list[str]) -> EmbeddingAnswer:
        pause = self._retry_seconds
        for left in range(self._retries, -1, -1):
            try:
                return await self._ask(texts)
            except Fault as fault:
                # A provider that asks for more patience than a batch has is not asked again.
                impatient = (fault.after or 0) > EMBED_RETRY_AFTER_SECONDS
                if left == 0 or impatient or fault.again is Again.NEVER:
                    raise self._unavailable(fault.error) from None
                wait = pause if fault.after is None else fault.after
            await asyncio.sleep(wait)
            pause *= 2
        raise AssertionError("the last try answers or raises")

    async def _ask(self, texts: list[str]) -> EmbeddingAnswer:
        """Raises Fault, or EmbeddingUnavailableError for what no other try mends."""
        try:
            # Raw: the client's own reading of 64 vectors takes 0.4 s of processor time, this
            # one 0.02 s. `float`: not every provider knows the client's default, base64.
            answer = await self._client.embeddings.with_raw_response.create(
                input=texts, model=self._model, encoding_format="float"
            )
        except openai.APIStatusError as error:
            raise faults.of_status(
                error.status_code, error.body, error.response.headers, self._key
            ) from None
        except openai.APIConnectionError as error:
            raise faults.of_transport(error.__cause__, self._seconds) from None
        except (AddressRefusedError, AnswerRefusedError) as error:
            raise EmbeddingUnavailableError(error.message, code="provider_network") from None
        return read_answer(answer.http_response.content, len(texts))

    def _unavailable(self, error: ModelError) -> EmbeddingUnavailableError:
        status = "" if error.status is None else f" ({error.status})"
        reason = REASONS.get(error.code, REASONS["provider_error"])
        message = error.message if self._quoting else f"{reason.rstrip('.')}{status}."
        return EmbeddingUnavailableError(message, code=error.code, status=error.status)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Texts in order, EMBED_REMOTE_TEXTS and about EMBED_REMOTE_CHARS at most in one."""
    batch: list[str] = []
    chars = 0
    for text in texts:
        full = len(batch) == EMBED_REMOTE_TEXTS or chars + len(text) > EMBED_REMOTE_CHARS
        if batch and full:
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text)
    if batch:
        yield batch
