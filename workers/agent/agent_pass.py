"""By what the agent acts: a token of short life, good as long as the person's session is."""

import asyncio

from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts import service
from shared.accounts.actor import Actor
from shared.chat.models import Turn


class AgentPass:
    """One turn's token. It is renewed in time, however long the turn takes, and neither renewed
    nor accepted once the session has ended."""

    def __init__(self, turn: Turn, person: Actor, *, seconds: float) -> None:
        self._turn = turn
        self._person = person
        self._seconds = seconds
        self._token: str | None = None
        self._renew_at = 0.0

    async def actor(self, session: AsyncSession) -> Actor:
        """Whom the agent acts for, with their rights of now. Raises UnauthenticatedError."""
        now = asyncio.get_running_loop().time()
        if self._token is None or now >= self._renew_at:
            self._token = await service.agent_token(session, self._person, seconds=self._seconds)
            self._renew_at = now + self._seconds / 2
        person = await service.authenticate_agent(session, self._token)
        return person.as_agent(chat_id=self._turn.chat_id, turn_id=self._turn.id)
