"""Sealing every stored key anew, so that a previous APP_SECRET can be given up."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.core.secrets import SecretBox, UnreadableSecretError
from shared.providers.connections import Purpose, bound_to
from shared.providers.models import ProviderCredential

_COLUMNS: dict[Purpose, str] = {"chat": "api_key_enc", "embeddings": "embedding_api_key_enc"}


@dataclass(frozen=True, slots=True)
class Resealed:
    """How many keys the current secret has sealed now, and how many no secret opens: those
    are left as they are, for their administrator to enter again."""

    sealed: int
    unreadable: int


async def seal_anew(session: AsyncSession, box: SecretBox) -> Resealed:
    """Open what a previous secret sealed and seal it with the current one.

    The rows stay locked until the transaction ends: no key that is entered meanwhile is lost.
    """
    rows = await session.scalars(
        select(ProviderCredential).order_by(ProviderCredential.id).with_for_update()
    )
    sealed = unreadable = 0
    for row in rows:
        for purpose, column in _COLUMNS.items():
            container: bytes | None = getattr(row, column)
            if container is None:
                continue
            place = bound_to(row.workspace_id, row.id, purpose)
            try:
                plain = box.open(container, bound_to=place)
            except UnreadableSecretError:
                unreadable += 1
                continue
            if not box.is_current(container):
                setattr(row, column, box.seal(plain, bound_to=place))
                sealed += 1
    await session.flush()
    return Resealed(sealed, unreadable)
