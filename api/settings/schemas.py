"""The wire shapes of settings."""

from typing import Annotated, Literal

from pydantic import Field

from api.schemas import ApiModel
from shared.core.tunables import MAX_MODEL_NAME_CHARS, MAX_SYSTEM_PROMPT_CHARS
from shared.providers.models import AiSettings
from shared.providers.service import AiSettingsChange

ModelName = Annotated[str, Field(min_length=1, max_length=MAX_MODEL_NAME_CHARS)]
SystemPrompt = Annotated[str, Field(max_length=MAX_SYSTEM_PROMPT_CHARS)]


class AiSettingsPatch(ApiModel):
    """What to change; absent fields stay."""

    driver: Literal["offline"] | None = None
    chat_model: ModelName | None = None
    embedding_driver: Literal["local"] | None = None
    embedding_model: ModelName | None = None
    system_prompt: SystemPrompt | None = None
    chat: bool | None = None
    search: bool | None = None

    def to_change(self) -> AiSettingsChange:
        return AiSettingsChange(
            driver=self.driver,
            chat_model=self.chat_model,
            embedding_driver=self.embedding_driver,
            embedding_model=self.embedding_model,
            system_prompt=self.system_prompt,
            chat_enabled=self.chat,
            search_enabled=self.search,
        )


class AiSettingsOut(ApiModel):
    """`indexedPages` of `totalPages` are in the search index as they are now."""

    driver: str
    chat_model: str
    embedding_driver: str
    embedding_model: str
    system_prompt: str
    chat: bool
    search: bool
    version: int
    indexed_pages: int
    total_pages: int

    @classmethod
    def of(cls, settings: AiSettings, indexed: int, total: int) -> "AiSettingsOut":
        return cls(
            driver=settings.driver,
            chat_model=settings.chat_model,
            embedding_driver=settings.embedding_driver,
            embedding_model=settings.embedding_model,
            system_prompt=settings.system_prompt,
            chat=settings.chat_enabled,
            search=settings.search_enabled,
            version=settings.version,
            indexed_pages=indexed,
            total_pages=total,
        )
