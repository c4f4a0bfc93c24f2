"""Where a driver is reached: its address, its key, and what is still missing.

A key is opened here and nowhere else, and only for the origin that it was entered for.
"""

from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from pydantic import SecretStr

from shared.core.addresses import origin_of
from shared.core.errors import NotConfiguredError
from shared.core.secrets import SecretBox, UnreadableSecretError
from shared.providers.drivers import CHAT_DRIVERS, EMBEDDING_DRIVERS, Driver
from shared.providers.models import AiSettings, ProviderCredential

Purpose = Literal["chat", "embeddings"]
KeyState = Literal["none", "set", "unreadable", "other-origin"]


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach a driver's model. `base_url` is None for drivers that have no address;
    `missing` names what must be given first (`apiKey`, `baseUrl`, `chatModel`,
    `embeddingModel`)."""

    driver: str
    model: str
    base_url: str | None = None
    api_key: SecretStr | None = None
    key_state: KeyState = "none"
    missing: tuple[str, ...] = field(default=())

    @property
    def ready(self) -> bool:
        return not self.missing

    @property
    def wanted(self) -> str:
        """What has to be done first, in a sentence for an owner or admin; "" when ready."""
        if "apiKey" in self.missing and self.key_state == "unreadable":
            return f"The stored key of {self.driver} cannot be read any more: enter the key again."
        if "apiKey" in self.missing and self.key_state == "other-origin":
            return f"The key of {self.driver} belongs to another address: enter the key again."
        if not self.missing:
            return ""
        return f"{self.driver} still needs {' and '.join(_WORDS[name] for name in self.missing)}."

    def require_ready(self) -> None:
        """Raises NotConfiguredError, which says what is missing."""
        if self.missing:
            raise NotConfiguredError(
                f"No model is configured for now. {self.wanted} An owner or admin can do it in "
                "the AI settings.",
                details={"missing": list(self.missing)},
            )


_WORDS = {
    "apiKey": "a key",
    "baseUrl": "a base URL",
    "chatModel": "a model",
    "embeddingModel": "a model",
}


@dataclass(frozen=True, slots=True)
class Typed:
    """What a person gives in the place of what is stored. None leaves that; an empty text
    stands for none: the driver's own address, no key."""

    base_url: str | None = None
    api_key: SecretStr | None = None


NOTHING_TYPED = Typed()


def drivers(purpose: Purpose) -> dict[str, Driver]:
    return CHAT_DRIVERS if purpose == "chat" else EMBEDDING_DRIVERS


def column(purpose: Purpose, name: str) -> str:
    """The column of ProviderCredential for a purpose: `base_url`, `api_key_enc`, …"""
    return name if purpose == "chat" else f"embedding_{name}"


def stored_url(row: ProviderCredential | None, purpose: Purpose) -> str | None:
    """The base URL that was set; None: the driver's own."""
    if row is None:
        return None
    return row.base_url if purpose == "chat" else row.embedding_base_url


def bound_to(workspace_id: UUID, row_id: UUID, purpose: Purpose) -> str:
    """What a sealed key is bound to: its workspace, row and column."""
    return f"{workspace_id}:{row_id}:{column(purpose, 'api_key_enc')}"


def connection(
    settings: AiSettings, row: ProviderCredential | None, purpose: Purpose, box: SecretBox
) -> Connection:
    """The connection that the settings describe; `row` is the driver's credentials."""
    chat = purpose == "chat"
    name = settings.driver if chat else settings.embedding_driver
    return describe(
        drivers(purpose)[name],
        model=settings.chat_model if chat else settings.embedding_model,
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
    typed: Typed = NOTHING_TYPED,
) -> Connection:
    """A driver with what is stored for it, and what is typed in the place of that."""
    given = stored_url(row, purpose) if typed.base_url is None else typed.base_url
    base_url = given or driver.default_base_url
    key, state = _key(row, purpose, base_url, box, typed.api_key)
    missing = []
    if driver.needs_base_url and base_url is None:
        missing.append("baseUrl")
    # A key that is there but cannot be used is asked for even where none is needed: without
    # it the provider would be asked as nobody.
    if key is None and (driver.needs_key or state in ("unreadable", "other-origin")):
        missing.append("apiKey")
    if not model and driver.model is None:
        missing.append("chatModel" if purpose == "chat" else "embeddingModel")
    return Connection(
        driver.name, model or driver.model or "", base_url, key, state, tuple(missing)
    )


def _key(
    row: ProviderCredential | None,
    purpose: Purpose,
    base_url: str | None,
    box: SecretBox,
    typed: SecretStr | None,
) -> tuple[SecretStr | None, KeyState]:
    if typed is None:
        return open_key(row, purpose, base_url, box)
    return (typed, "set") if typed.get_secret_value() else (None, "none")


def open_key(
    row: ProviderCredential | None, purpose: Purpose, base_url: str | None, box: SecretBox
) -> tuple[SecretStr | None, KeyState]:
    """The stored key for `base_url`, or why there is none."""
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
