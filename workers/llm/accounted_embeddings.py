"""The account of a run of remote embeddings: one row of `ai_generations` for all its calls."""

import asyncio
from collections.abc import Sequence

from shared.chat import generations
from shared.chat.generations import Object, OpenGeneration
from shared.core.db import Database
from shared.providers import catalogue
from shared.search.chosen import ChosenModel
from workers.llm.embeddings import EmbeddingUnavailableError
from workers.llm.remote_embeddings import RemoteEmbedder


class AccountedEmbedder:
    """An Embedder whose first call opens the row and whose `close` closes it. A run that needs
    no call has no row."""

    def __init__(
        self, inner: RemoteEmbedder, database: Database, chosen: ChosenModel, about: Object
    ) -> None:
        self._inner = inner
        self._database = database
        self._chosen = chosen
        self._about = about
        self._opened: OpenGeneration | None = None
        self._error_code: str | None = None

    @property
    def name(self) -> str:
        return self._inner.name

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if not texts:
            return []
        if self._opened is None:
            self._opened = await self._open()
        try:
            vectors = await self._inner.embed(texts)
        except EmbeddingUnavailableError as error:
            self._error_code = error.code
            raise
        except asyncio.CancelledError:
            self._error_code = "cancelled"
            raise
        self._error_code = None
        return vectors

    async def close(self) -> None:
        if self._opened is None:
            return
        async with self._database.session() as session:
            await generations.end(
                session,
                self._opened,
                input_tokens=self._inner.tokens,
                output_tokens=0,
                error_code=self._error_code,
            )

    async def _open(self) -> OpenGeneration:
        chosen = self._chosen
        async with self._database.session() as session:
            entry = await catalogue.find(session, chosen.workspace_id, chosen.driver, chosen.model)
            return await generations.begin(
                session,
                workspace_id=chosen.workspace_id,
                kind="embedding",
                object=self._about,
                driver=chosen.driver,
                model=chosen.model,
                price=generations.price_of(entry),
                settings_version=chosen.version,
            )
