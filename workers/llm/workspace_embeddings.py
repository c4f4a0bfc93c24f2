"""The embedder of a workspace: its model by the settings of now, its pauses, its account.

The local model costs nothing and is not in the account.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from shared.core.tunables import EMBED_QUERY_SECONDS, EMBED_RETRIES
from shared.providers.connections import Connection
from shared.search.chosen import ChosenModel, chosen_models
from workers.llm.accounted_embeddings import AccountedEmbedder
from workers.llm.embedding_pauses import pause_reason
from workers.llm.embeddings import Embedder, EmbeddingUnavailableError
from workers.llm.local_embeddings import local_embedder
from workers.llm.remote_embeddings import RemoteEmbedder
from workers.runtime import Runtime

Purpose = Literal["page", "search"]


@dataclass(frozen=True, slots=True)
class WorkspaceModel:
    """What a workspace embeds with. `name` is that of its rows (None while nobody can tell);
    `obstacle` says why nothing can be embedded now."""

    chosen: ChosenModel
    connection: Connection
    name: str | None
    obstacle: str | None


class Hindered:
    """An Embedder that has a name at most."""

    def __init__(self, name: str | None, why: str) -> None:
        self._name = name
        self._why = why

    @property
    def name(self) -> str:
        if self._name is None:
            raise EmbeddingUnavailableError(self._why, code="not_configured")
        return self._name

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if texts:
            raise EmbeddingUnavailableError(self._why)
        return []


async def workspace_models(
    session: AsyncSession, runtime: Runtime, workspace_id: UUID | None = None
) -> list[WorkspaceModel]:
    """Of every workspace, or of one."""
    local = _local_name(runtime)
    return [
        await _model(session, runtime, chosen, local)
        for chosen in await chosen_models(session, workspace_id)
    ]


async def _model(
    session: AsyncSession, runtime: Runtime, chosen: ChosenModel, local: str | None
) -> WorkspaceModel:
    connection = chosen.connection(runtime.secrets)
    if chosen.is_local:
        return WorkspaceModel(chosen, connection, local, None)
    obstacle = connection.wanted or await pause_reason(session, chosen.workspace_id, chosen.version)
    return WorkspaceModel(chosen, connection, chosen.remote_name, obstacle)


def _local_name(runtime: Runtime) -> str | None:
    try:
        return local_embedder(runtime.settings).name
    except EmbeddingUnavailableError:
        return None


@asynccontextmanager
async def embedder_for(
    runtime: Runtime, model: WorkspaceModel, purpose: Purpose
) -> AsyncIterator[Embedder]:
    """The embedder of a workspace for one page or one query.

    A query is embedded in the slot that this process keeps for it, or asked for once.
    """
    if model.chosen.is_local:
        yield _local(runtime, purpose)
    elif model.obstacle is not None or model.name is None:
        yield Hindered(model.name, model.obstacle or "The embedding model is not configured.")
    else:
        remote = _remote(runtime, model, model.name, purpose)
        accounted = AccountedEmbedder(remote, runtime.database, model.chosen, purpose)
        try:
            yield accounted
        finally:
            await accounted.close()


def _local(runtime: Runtime, purpose: Purpose) -> Embedder:
    if purpose == "search":
        return local_embedder(runtime.settings, threads=1, executor=runtime.query_slot)
    return local_embedder(runtime.settings)


def _remote(runtime: Runtime, model: WorkspaceModel, name: str, purpose: Purpose) -> RemoteEmbedder:
    settings = runtime.settings
    query = purpose == "search"
    key = (model.chosen.workspace_id, model.chosen.version)
    return RemoteEmbedder(
        runtime.clients.client(model.connection, cache_key=key),
        name=name,
        model=model.connection.model,
        key=model.connection.api_key,
        seconds=min(settings.embed_seconds, EMBED_QUERY_SECONDS)
        if query
        else settings.embed_seconds,
        retry_seconds=settings.embed_retry_seconds,
        retries=0 if query else EMBED_RETRIES,
    )
