"""The embedding model that each workspace has chosen, and the name of its rows.

The name of a remote model is `driver:model@address`, the address as a short hash. Two servers
may call two models the same, and vectors of two models must never be compared; so another
server is another model, and its pages are embedded again (docs/decisions/0011).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.models import Workspace
from shared.core.secrets import SecretBox
from shared.providers.connections import Connection, describe, stored_url
from shared.providers.drivers import EMBEDDING_DRIVERS
from shared.providers.models import AiSettings, ProviderCredential
from shared.wiki.models import PageIndex

LOCAL = "local"


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A workspace's embedding driver, its model and credentials; `version` is the settings'."""

    workspace_id: UUID
    driver: str
    model: str
    version: int
    credential: ProviderCredential | None

    @property
    def is_local(self) -> bool:
        return self.driver == LOCAL

    @property
    def remote_name(self) -> str | None:
        """The name of a remote model's rows. None for the local model, whose name only the
        processes know that have it, and while there is no address."""
        url = stored_url(self.credential, "embeddings")
        if self.is_local or url is None or not self.model:
            return None
        address = sha256(url.rstrip("/").encode()).hexdigest()[:8]
        return f"{self.driver}:{self.model}@{address}"

    def connection(self, box: SecretBox) -> Connection:
        return describe(
            EMBEDDING_DRIVERS[self.driver],
            model=self.model,
            row=self.credential,
            purpose="embeddings",
            box=box,
        )


async def chosen_models(
    session: AsyncSession, workspace_id: UUID | None = None
) -> Sequence[ChosenModel]:
    """Of every workspace, or of one; where nobody has chosen yet it is the local model."""
    found = (
        select(Workspace.id, AiSettings, ProviderCredential)
        .outerjoin(AiSettings, AiSettings.workspace_id == Workspace.id)
        .outerjoin(
            ProviderCredential,
            and_(
                ProviderCredential.workspace_id == Workspace.id,
                ProviderCredential.driver == AiSettings.embedding_driver,
            ),
        )
    )
    if workspace_id is not None:
        found = found.where(Workspace.id == workspace_id)
    return [_chosen(*row) for row in await session.execute(found)]


def _chosen(
    workspace_id: UUID, settings: AiSettings | None, credential: ProviderCredential | None
) -> ChosenModel:
    if settings is None:
        return ChosenModel(workspace_id, LOCAL, "", 0, None)
    return ChosenModel(
        workspace_id,
        settings.embedding_driver,
        settings.embedding_model,
        settings.version,
        credential,
    )


def indexed_with(chosen: ChosenModel) -> ColumnElement[bool]:
    """The condition on `page_index` that a page's rows are the chosen model's; for the local
    driver: any local model's, for the API does not have the model's files."""
    if not chosen.is_local:
        return PageIndex.model_name == chosen.remote_name
    remote = (PageIndex.model_name.startswith(f"{d}:") for d in EMBEDDING_DRIVERS if d != LOCAL)
    return ~or_(*remote)
