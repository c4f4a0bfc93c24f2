"""Whether there is a model that answers, for everybody who is signed in."""

from fastapi import APIRouter

from api.deps import CurrentActor, SecretBoxDep, SessionDep
from api.schemas import ApiModel
from shared.chat.reachability import LastCall, last_call
from shared.providers import repository, service
from shared.providers.connections import Connection
from shared.providers.reasons import REASONS

router = APIRouter(prefix="/workspace", tags=["settings"])

_NOT_SET_UP = "The assistant is not set up yet: an owner or admin of this workspace can do it."
_FAILED = "The assistant's last answer failed: an owner or admin of this workspace can look at why."


class AiStatusOut(ApiModel):
    """`reachable` is what the last call under the present settings says; null: there was
    none. `reason` is general, and `code` null, for those who cannot configure."""

    configured: bool
    chat: bool
    driver: str
    model: str
    reachable: bool | None
    reason: str | None
    code: str | None
    can_configure: bool


@router.get("/ai-status")
async def get_ai_status(actor: CurrentActor, session: SessionDep, box: SecretBoxDep) -> AiStatusOut:
    """Which model answers, and whether it does."""
    ai = await repository.get(session, actor.workspace_id)
    connection = await service.chat_connection(session, ai, box)
    call = await last_call(session, ai) if connection.ready else None
    reason, code = _why(connection, call, admin=actor.is_admin)
    return AiStatusOut(
        configured=connection.ready,
        chat=ai.chat_enabled,
        driver=ai.driver,
        model=connection.model,
        reachable=None if call is None else call.code is None,
        reason=reason,
        code=code,
        can_configure=actor.is_admin,
    )


def _why(
    connection: Connection, call: LastCall | None, *, admin: bool
) -> tuple[str | None, str | None]:
    """The reason in words and its code."""
    if not connection.ready:
        return (connection.wanted if admin else _NOT_SET_UP), "not_configured"
    if call is None or call.code is None:
        return None, None
    return (REASONS[call.code], call.code) if admin else (_FAILED, None)
