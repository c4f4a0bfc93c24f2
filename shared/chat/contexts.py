"""The contexts in which a chat can happen. A context is its configuration and its tools."""

from dataclasses import dataclass

from shared.chat.errors import UnknownContextError
from shared.core.tunables import TENANT_MAX_STEPS


@dataclass(frozen=True, slots=True)
class ChatContext:
    """`max_steps` counts model calls a turn, before the one last call without tools."""

    name: str
    title: str
    max_steps: int


CONTEXTS = {
    context.name: context
    for context in (ChatContext(name="tenant", title="User Assistant", max_steps=TENANT_MAX_STEPS),)
}


def get_context(name: str) -> ChatContext:
    """Raises UnknownContextError."""
    try:
        return CONTEXTS[name]
    except KeyError as error:
        raise UnknownContextError(details={"contexts": sorted(CONTEXTS)}) from error
