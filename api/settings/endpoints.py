"""A workspace's AI settings."""

from fastapi import APIRouter

from api.deps import CurrentActor, SessionDep
from api.settings.schemas import AiSettingsOut, AiSettingsPatch
from shared.accounts.actor import Actor
from shared.providers import service
from shared.providers.models import AiSettings
from shared.wiki.repository import index_progress

router = APIRouter(prefix="/workspace", tags=["settings"])


async def _answer(session: SessionDep, actor: Actor, settings: AiSettings) -> AiSettingsOut:
    indexed, total = await index_progress(session, actor.workspace_id)
    return AiSettingsOut.of(settings, indexed, total)


@router.get("/ai-settings")
async def get_ai_settings(actor: CurrentActor, session: SessionDep) -> AiSettingsOut:
    """The settings, and how far the index has come. Owners and admins only."""
    return await _answer(session, actor, await service.get_settings(session, actor))


@router.patch("/ai-settings")
async def change_ai_settings(
    body: AiSettingsPatch, actor: CurrentActor, session: SessionDep
) -> AiSettingsOut:
    """Change what is given. Owners and admins only."""
    settings = await service.change_settings(session, actor, body.to_change())
    return await _answer(session, actor, settings)
