"""Embeddings from a provider that speaks OpenAI's protocol."""

import asyncio
import email.utils
import time
from collections.abc import Iterator, Sequence

import openai
from openai import AsyncOpenAI

from shared.core.tunables import (
    EMBED_REMOTE_CHARS,
    EMBED_REMOTE_TEXTS,
    EMBED_RETRIES,
    EMBED_RETRY_AFTER_SECONDS,
)
from workers.llm.embedding_answer import EmbeddingAnswer, read_answer
from workers.llm.embeddings import EmbeddingUnavailableError

_MAY_PASS = frozenset({408, 409, 425, 429})  # and all from 500
_TOO_MUCH = frozenset({400, 413, 422})


class _PassingError(EmbeddingUnavailableError):
    """Another try may succeed, `after` seconds where the provider says so."""

    def __init__(self, message: str, *, code: str, status: int | None, after: float | None) -> None:
        super().__init__(message, code=code, status=status)
        self.after = after


class RemoteEmbedder:
    """An Embedder bound to one client and model.

    A batch takes `seconds` at most, tries and pauses together; `retry_seconds` is the first
    pause, which doubles. `tokens` are those that the provider has counted so far.
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
    ) -> None:
        self.name = name
        self.tokens = 0
        self._client = client  # one that does not try again by itself
        self._model = model
        self._seconds = seconds
        self._retry_seconds = retry_seconds
        self._retries = retries

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
            except _PassingError as error:
                # A provider that asks for more patience than a batch has is not asked again.
                if left == 0 or (error.after or 0) > EMBED_RETRY_AFTER_SECONDS:
                    raise
                wait = pause if error.after is None else error.after
            await asyncio.sleep(wait)
            pause *= 2
        raise AssertionError("the last try answers or raises")

    async def _ask(self, texts: list[str]) -> EmbeddingAnswer:
        try:
            # Raw: the client's own reading of 64 vectors takes 0.4 s of processor time, this
            # one 0.02 s. `float`: not every provider knows the client's default, base64.
            answer = await self._client.embeddings.with_raw_response.create(
                input=texts, model=self._model, encoding_format="float"
            )
        except openai.APIStatusError as error:
            raise _refusal(error) from None
        except openai.APIConnectionError:
            raise _PassingError(
                "The embedding provider cannot be reached.",
                code="provider_network",
                status=None,
                after=None,
            ) from None
        except openai.OpenAIError as error:
            raise EmbeddingUnavailableError(
                f"The embedding provider's client failed ({type(error).__name__}).",
                code="provider_error",
            ) from None
        return read_answer(answer.http_response.content, len(texts))


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


def _refusal(error: openai.APIStatusError) -> EmbeddingUnavailableError:
    """What a status means. The provider's own words are left out: they may quote the key."""
    status = error.status_code
    code, what = _meaning(status, _exhausted(error))
    message = f"The embedding provider {what} ({status})."
    if code == "provider_quota" or not (status in _MAY_PASS or status >= 500):
        return EmbeddingUnavailableError(message, code=code, status=status)
    after = _retry_after(error.response.headers.get("retry-after"))
    return _PassingError(message, code=code, status=status, after=after)


def _meaning(status: int, exhausted: bool) -> tuple[str, str]:
    if status == 402 or exhausted:
        return "provider_quota", "says that its quota is used up"
    if status in (401, 403):
        return "provider_auth", "did not accept the key"
    if status == 404:
        return "model_not_found", "has no such model or address"
    if status == 429:
        return "provider_rate_limit", "asks to slow down"
    if status in (503, 529):
        return "provider_overloaded", "is overloaded"
    return "provider_error", "answered with an error"


def _exhausted(error: openai.APIStatusError) -> bool:
    """A 429 that no patience helps against."""
    body = error.body if isinstance(error.body, dict) else {}
    return error.status_code == 429 and "insufficient_quota" in (body.get("code"), body.get("type"))


def _retry_after(header: str | None) -> float | None:
    """Seconds; the header carries them or a date (RFC 9110, 10.2.3)."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        at = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, at.timestamp() - time.time())
