"""The wire shapes of AI settings. No shape that goes out has a key, sealed or not."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, StringConstraints

from api.schemas import ApiModel
from shared.core.tunables import (
    MAX_API_KEY_CHARS,
    MAX_CONTEXT_TOKENS,
    MAX_DISCONNECT_GRACE_SECONDS,
    MAX_MODEL_NAME_CHARS,
    MAX_SYSTEM_PROMPT_CHARS,
    MAX_URL_CHARS,
    MIN_CONTEXT_TOKENS,
)
from shared.providers.connections import KeyState, Purpose, Typed
from shared.providers.defaults import DEFAULT_SYSTEM_PROMPT
from shared.providers.probes import Draft, Outcome
from shared.providers.service import AiSettingsChange, DriverState, Overview
from shared.search.progress import IndexProgress


def one_line(name: str) -> str:
    """A model's name goes into menus, requests and logs. Raises ValueError."""
    if not name.isprintable():
        raise ValueError("a model's name is one line of printable characters")
    return name


# Empty: none is chosen yet.
ModelName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=MAX_MODEL_NAME_CHARS),
    AfterValidator(one_line),
]
DriverName = Annotated[str, Field(max_length=MAX_MODEL_NAME_CHARS)]
SystemPrompt = Annotated[str, Field(max_length=MAX_SYSTEM_PROMPT_CHARS)]
BaseUrl = Annotated[str, Field(max_length=MAX_URL_CHARS)]
ApiKey = Annotated[
    SecretStr, Field(max_length=MAX_API_KEY_CHARS, json_schema_extra={"writeOnly": True})
]
Tokens = Annotated[int, Field(strict=True, ge=1, le=MAX_CONTEXT_TOKENS)]
Window = Annotated[int, Field(strict=True, ge=MIN_CONTEXT_TOKENS, le=MAX_CONTEXT_TOKENS)]
# Whether an answer goes on when its last reader has left, or is stopped after the grace.
OnDisconnect = Literal["continue", "cancel"]
GraceSeconds = Annotated[int, Field(strict=True, ge=1, le=MAX_DISCONNECT_GRACE_SECONDS)]

_COLUMNS = {
    "driver": "driver",
    "chat_model": "chat_model",
    "small_model": "small_model",
    "embedding_driver": "embedding_driver",
    "embedding_model": "embedding_model",
    "system_prompt": "system_prompt",
    "chat_context_window": "context_window",
    "chat_token_ceiling": "token_ceiling",
    "show_model_selector": "show_model_selector",
    "on_disconnect": "on_disconnect",
    "disconnect_grace_seconds": "disconnect_grace_seconds",
    "chat": "chat_enabled",
    "search": "search_enabled",
    "mcp": "mcp_enabled",
}
_MAY_BE_NULL = frozenset({"small_model", "chat_context_window", "chat_token_ceiling"})


class AiSettingsPatch(ApiModel):
    """What to change; absent fields stay. `apiKey` is only ever written: "" clears it. A null
    `baseUrl`, or an empty one, stands for the driver's own address."""

    driver: DriverName | None = None
    base_url: BaseUrl | None = None
    chat_model: ModelName | None = None
    small_model: ModelName | None = None
    api_key: ApiKey | None = None
    embedding_driver: DriverName | None = None
    embedding_base_url: BaseUrl | None = None
    embedding_model: ModelName | None = None
    embedding_api_key: ApiKey | None = None
    system_prompt: SystemPrompt | None = None
    chat_context_window: Window | None = None
    chat_token_ceiling: Tokens | None = None
    show_model_selector: bool | None = None
    on_disconnect: OnDisconnect | None = None
    disconnect_grace_seconds: GraceSeconds | None = None
    chat: bool | None = None
    search: bool | None = None
    mcp: bool | None = None

    def to_change(self) -> AiSettingsChange:
        given = {name: getattr(self, name) for name in _COLUMNS if name in self.model_fields_set}
        return AiSettingsChange(
            values={
                _COLUMNS[name]: (value or None) if name in _MAY_BE_NULL else value
                for name, value in given.items()
                if value is not None or name in _MAY_BE_NULL
            },
            chat=_typed(self, "base_url", "api_key"),
            embeddings=_typed(self, "embedding_base_url", "embedding_api_key"),
        )


class AiSettingsTest(ApiModel):
    """What to test. Values that are given count before the saved ones; a stored key is used
    only for the address that it was entered for."""

    capability: Purpose
    driver: DriverName | None = None
    base_url: BaseUrl | None = None
    chat_model: ModelName | None = None
    api_key: ApiKey | None = None
    embedding_driver: DriverName | None = None
    embedding_base_url: BaseUrl | None = None
    embedding_model: ModelName | None = None
    embedding_api_key: ApiKey | None = None

    def to_draft(self) -> Draft:
        if self.capability == "chat":
            return Draft(self.driver, self.chat_model, _typed(self, "base_url", "api_key"))
        typed = _typed(self, "embedding_base_url", "embedding_api_key")
        return Draft(self.embedding_driver, self.embedding_model, typed)


def _typed(body: AiSettingsPatch | AiSettingsTest, base_url: str, api_key: str) -> Typed:
    url = (getattr(body, base_url) or "") if base_url in body.model_fields_set else None
    return Typed(url, getattr(body, api_key))


class TestFailure(ApiModel):
    """`status` is the HTTP status that the provider answered with."""

    code: str
    message: str
    status: int | None = None


class AiSettingsTestOut(ApiModel):
    """How the call went; `dimensions` of the vector, for embeddings."""

    ok: bool
    time_ms: int
    dimensions: int | None = None
    error: TestFailure | None = None

    @classmethod
    def of(cls, outcome: Outcome) -> "AiSettingsTestOut":
        error = None
        if outcome.code is not None:
            error = TestFailure(
                code=outcome.code, message=outcome.message or "", status=outcome.status
            )
        return cls(
            ok=error is None,
            time_ms=outcome.time_ms,
            dimensions=outcome.dimensions,
            error=error,
        )


class DriverItem(ApiModel):
    """A driver that can be chosen. `baseUrl` is what was set; null: `defaultBaseUrl`."""

    driver: str
    needs_key: bool
    key_allowed: bool
    needs_base_url: bool
    base_url_allowed: bool
    default_base_url: str | None
    base_url: str | None
    has_api_key: bool
    api_key_state: KeyState

    @classmethod
    def of(cls, state: DriverState) -> "DriverItem":
        driver = state.driver
        return cls(
            driver=driver.name,
            needs_key=driver.needs_key,
            key_allowed=driver.key_allowed,
            needs_base_url=driver.needs_base_url,
            base_url_allowed=driver.base_url_allowed,
            default_base_url=driver.default_base_url,
            base_url=state.base_url,
            has_api_key=state.key_state == "set",
            api_key_state=state.key_state,
        )


class AiSettingsOut(ApiModel):
    """`indexedPages` of `totalPages` are in the search index as they are now. `missing` is
    what chat still needs before it is `ready`."""

    driver: str
    base_url: str | None
    chat_model: str
    small_model: str | None
    has_api_key: bool
    api_key_state: KeyState
    embedding_driver: str
    embedding_base_url: str | None
    embedding_model: str
    has_embedding_api_key: bool
    embedding_api_key_state: KeyState
    system_prompt: str
    default_system_prompt: str
    chat_context_window: int | None
    chat_token_ceiling: int | None
    show_model_selector: bool
    on_disconnect: OnDisconnect
    disconnect_grace_seconds: int
    chat: bool
    search: bool
    mcp: bool
    version: int
    indexed_pages: int
    total_pages: int
    reindexing: bool
    ready: bool
    missing: list[Literal["apiKey", "baseUrl", "chatModel"]]
    drivers: list[DriverItem]
    embedding_drivers: list[DriverItem]

    @classmethod
    def of(cls, overview: Overview, progress: IndexProgress) -> "AiSettingsOut":
        settings = overview.settings
        chat = overview.drivers[settings.driver]
        embeddings = overview.embedding_drivers[settings.embedding_driver]
        return cls.model_validate(
            {name: getattr(settings, column) for name, column in _COLUMNS.items()}
            | {
                "base_url": chat.base_url,
                "has_api_key": chat.key_state == "set",
                "api_key_state": chat.key_state,
                "embedding_base_url": embeddings.base_url,
                "has_embedding_api_key": embeddings.key_state == "set",
                "embedding_api_key_state": embeddings.key_state,
                "default_system_prompt": DEFAULT_SYSTEM_PROMPT,
                "version": settings.version,
                "indexed_pages": progress.indexed,
                "total_pages": progress.total,
                "reindexing": progress.reindexing,
                "ready": not overview.missing,
                "missing": overview.missing,
                "drivers": [DriverItem.of(state) for state in overview.drivers.values()],
                "embedding_drivers": [
                    DriverItem.of(state) for state in overview.embedding_drivers.values()
                ],
            }
        )
