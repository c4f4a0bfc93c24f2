"""Where a driver is reached: its address, its key, and what is still missing.

A key is opened here and nowhere else, and only for the origin that it was entered for.
"""

from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from pydantic import SecretStr

from shared.core.addresses import origin_of
from shared.core.secrets import SecretBox, UnreadableSecretError
from shared.providers.drivers import CHAT_DRIVERS, EMBEDDING_DRIVERS, Driver
from shared.providers.models import AiSettings, ProviderCredential

Purpose = Literal["chat", "embeddings"]
KeyState = Literal["none", "set", "unreadable", "other-origin"]


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach a driver's model. `base_url` is None for drivers that have no address;
    `missing` names what must be given first (`apiKey`, `baseUrl`, `chatModel`)."""

    driver: str
    model: str
    base_url: str | None = None
    api_key: SecretStr | None = None
    key_state: KeyState = "none"
    missing: tuple[str, ...] = field(default=())

    @property
    def ready(self) -> bool:
        return not self.missing


def drivers(purpose: Purpose) -> dict[str, Driver]:
    return CHAT_DRIVERS if purpose == "chat" else EMBEDDING_DRIVERS


def bound_to(workspace_id: UUID, row_id: UUID, purpose: Purpose) -> str:
    """What a sealed key is bound to: its workspace, row and column."""
    column = "api_key_enc" if purpose == "chat" else "embedding_api_key_enc"
    return f"{workspace_id}:{row_id}:{column}"


def connection(
    settings: AiSettings,
    row: ProviderCredential | None,
    purpose: Purpose,
    box: SecretBox,
    *,
    model: str | None = None,
) -> Connection:
    """The connection that the settings describe; `row` is the driver's credentials."""
    chat = purpose == "chat"
    name = settings.driver if chat else settings.embedding_driver
    return describe(
        drivers(purpose)[name],
        model=model or (settings.chat_model if chat else settings.embedding_model),
        row=row,
        purpose=purpose,
        box=box,
    )


def describe(
    driver: Driver,
    *,
    model: str,
    row: ProviderCredential | None,
    purpose: Purpose,
    box: SecretBox,
) -> Connection:
    """A driver with what is stored for it."""
    stored = None if row is None else (row.base_url if purpose == "chat" else row.embedding_base_url)
    base_url = stored or driver.default_base_url
    key, state = open_key(row, purpose, base_url, box)
    missing = []
    if driver.needs_base_url and base_url is None:
        missing.append("baseUrl")
    # A key that is there but cannot be used is asked for even where none is needed: without
    # it the provider would be asked as nobody.
    if key is None and (driver.needs_key or state in ("unreadable", "other-origin")):
        missing.append("apiKey")
    if not model and driver.model is None:
        missing.append("chatModel" if purpose == "chat" else "embeddingModel")
    return Connection(driver.name, model or driver.model or "", base_url, key, state, tuple(missing))


def open_key(
    row: ProviderCredential | None, purpose: Purpose, base_url: str | None, box: SecretBox
) -> tuple[SecretStr | None, KeyState]:
    """The key for `base_url`, or why there is none."""
    if row is None:
        return None, "none"
    chat = purpose == "chat"
    sealed = row.api_key_enc if chat else row.embedding_api_key_enc
    origin = row.api_key_origin if chat else row.embedding_api_key_origin
    if sealed is None:
        return None, "none"
    if base_url is None or origin != origin_of(base_url):
        return None, "other-origin"
    try:
        plain = box.open(sealed, bound_to=bound_to(row.workspace_id, row.id, purpose))
    except UnreadableSecretError:
        return None, "unreadable"
    return SecretStr(plain.decode()), "set"
