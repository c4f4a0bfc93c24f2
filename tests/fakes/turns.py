"""Playing turns in a test: a send, an attempt by a worker, and what a reader sees."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update

from api.stream.cursor import Cursor, NeedSyncError
from shared.accounts.actor import Actor
from shared.chat import sending, storing, turns
from shared.chat.contexts import get_context
from shared.chat.models import Message, Turn, TurnStatus
from shared.chat.sweeping import Sweeper
from shared.core.db import Database
from shared.tools.registry import tool_titles
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.ui_message import UiMessage
from workers.agent.attempt import attempt
from workers.agent.keeper import Keeper
from workers.runtime import Runtime


@dataclass
class Stage:
    """One worker process of the test, and the people who ask it."""

    runtime: Runtime
    keeper: Keeper = field(init=False)

    def __post_init__(self) -> None:
        self.keeper = Keeper(self.runtime)

    @property
    def database(self) -> Database:
        return self.runtime.database

    async def send(
        self,
        actor: Actor,
        text: str,
        *,
        alias: str | None = None,
        message_id: str | None = None,
        **more: Any,
    ) -> UUID:
        """Accept a send; the turn's id. Nothing runs it but `play`."""
        wanted = storing.Send(
            trigger=more.pop("trigger", "submit-message"),
            text=text,
            alias=alias,
            client_message_id=message_id,
            **more,
        )
        async with self.database.session() as session:
            turn = await sending.accept(
                session, actor, get_context("tenant"), wanted, self.runtime.secrets
            )
        return turn.id

    async def play(self, turn_id: UUID, model: ScriptedModel) -> None:
        """One attempt by this worker."""
        await attempt(self.runtime, self.keeper, turn_id, model=model)

    async def ask(self, actor: Actor, text: str, model: ScriptedModel, **more: Any) -> UUID:
        turn_id = await self.send(actor, text, **more)
        await self.play(turn_id, model)
        return turn_id

    async def sweep(self) -> None:
        """What every process does every few seconds."""
        runtime = self.runtime
        sweeper = Sweeper(
            runtime.database, runtime.redis, runtime.stream, runtime.figures, runtime.settings
        )
        await sweeper.sweep()

    async def lose(self, turn_id: UUID) -> None:
        """Its worker has been gone for longer than its lease."""
        async with self.database.session() as session:
            await session.execute(
                update(Turn)
                .where(Turn.id == turn_id, Turn.status == TurnStatus.RUNNING)
                .values(lease_until=func.now() - timedelta(seconds=1))
            )

    async def turn(self, turn_id: UUID) -> Turn:
        async with self.database.session() as session:
            return await session.get_one(Turn, turn_id)

    async def answer(self, turn_id: UUID) -> Message:
        """The stored assistant message."""
        async with self.database.session() as session:
            turn = await session.get_one(Turn, turn_id)
            return (
                await session.scalars(
                    select(Message).where(Message.id == turn.assistant_message_id)
                )
            ).one()

    async def replay(self, turn_id: UUID) -> UiMessage:
        """What a reader sees that comes now: the stream's own events first, as far as they
        go, then the committed state."""
        cursor, page = Cursor(tool_titles()), UiMessage()
        state = await self._state(turn_id)
        running = turns.TurnState(state.turn, [], {})
        status, state.turn.status = state.turn.status, "running"
        page.feed_bytes(b"".join(cursor.sync(running)))
        state.turn.status = status
        for seq, data in await self.runtime.stream.read(turn_id, 0):
            try:
                frames = cursor.feed(seq, data)
            except NeedSyncError:
                page.feed_bytes(b"".join(cursor.sync(await self._state(turn_id))))
                frames = cursor.feed(seq, data, synced=True)
            page.feed_bytes(b"".join(frames))
        page.feed_bytes(b"".join(cursor.sync(await self._state(turn_id))))
        assert page.errors == []
        return page

    async def _state(self, turn_id: UUID) -> turns.TurnState:
        async with self.database.session() as session:
            state = await turns.load(session, turn_id)
        assert state is not None
        return state
