"""A workspace's AI settings: seen, changed and tried by its owners and admins."""

from fastapi import APIRouter, Request

from api.deps import CurrentActor, SecretBoxDep, SessionDep, SettingsDep
from api.settings.schemas import (
    AiSettingsOut,
    AiSettingsPatch,
    AiSettingsTest,
    AiSettingsTestOut,
)
from shared.providers import probes, service
from shared.search.progress import index_progress

router = APIRouter(prefix="/workspace", tags=["settings"])


async def _answer(session: SessionDep, overview: service.Overview) -> AiSettingsOut:
    progress = await index_progress(session, overview.settings.workspace_id)
    return AiSettingsOut.of(overview, progress)


@router.get("/ai-settings")
async def get_ai_settings(
    actor: CurrentActor, session: SessionDep, box: SecretBoxDep
) -> AiSettingsOut:
    """The settings, what each driver needs, and how far the index has come. No key, in no
    form. Owners and admins only."""
    return await _answer(session, await service.get_settings(session, actor, box))


@router.patch("/ai-settings")
async def change_ai_settings(
    body: AiSettingsPatch,
    actor: CurrentActor,
    session: SessionDep,
    box: SecretBoxDep,
    settings: SettingsDep,
) -> AiSettingsOut:
    """Change what is given; the next message uses it. Owners and admins only."""
    overview = await service.change_settings(
        session, actor, body.to_change(), box, private=settings.private_models
    )
    return await _answer(session, overview)


@router.post("/ai-settings/test", response_model_exclude_none=True)
async def try_ai_settings(
    body: AiSettingsTest,
    request: Request,
    actor: CurrentActor,
    session: SessionDep,
    box: SecretBoxDep,
    settings: SettingsDep,
) -> AiSettingsTestOut:
    """Have a worker call the provider, once, with what is given or saved. A failure is an
    answer too; 503 when no worker makes the call in time. Owners and admins only."""
    probe = await probes.prepare(
        session, actor, body.capability, body.to_draft(), box, private=settings.private_models
    )
    if isinstance(probe, probes.Outcome):
        return AiSettingsTestOut.of(probe)
    # The connection goes back to the pool while a worker calls the provider.
    await session.commit()
    state = request.app.state
    outcome = await probes.run(
        state.database,
        state.redis,
        box,
        actor.workspace_id,
        probe,
        wait_seconds=settings.test_wait_seconds,
    )
    return AiSettingsTestOut.of(outcome)
