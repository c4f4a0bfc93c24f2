"""Who acts: a person, or the agent as that person."""

from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from shared.accounts.models import Role

Source = Literal["user", "agent"]


@dataclass(frozen=True, slots=True)
class Actor:
    """A person in a workspace, by an interactive session (or none: an API key, a command).

    `source` is the hand: `agent` when a turn acts for the person; then `chat_id` and
    `turn_id` say which. The rights are the person's either way.
    """

    workspace_id: UUID
    user_id: UUID
    role: Role
    session_id: UUID | None = None
    source: Source = "user"
    chat_id: UUID | None = None
    turn_id: UUID | None = None

    @property
    def is_admin(self) -> bool:
        return self.role in (Role.OWNER, Role.ADMIN)

    def as_agent(self, *, chat_id: UUID, turn_id: UUID) -> "Actor":
        """The same person, acting through the agent in one turn."""
        return replace(self, source="agent", chat_id=chat_id, turn_id=turn_id)
