"""The agent as somebody, in a chat that is there."""

from shared.accounts.actor import Actor
from shared.chat.models import Chat
from shared.core.db import Database
from shared.core.ids import new_id


async def agent_of(database: Database, actor: Actor) -> Actor:
    """The person, acting through the agent in a new chat of their own."""
    chat = Chat(
        id=new_id(),
        workspace_id=actor.workspace_id,
        creator_id=actor.user_id,
        context="tenant",
        title="A chat",
    )
    async with database.session() as session:
        session.add(chat)
    return actor.as_agent(chat_id=chat.id, turn_id=new_id())
