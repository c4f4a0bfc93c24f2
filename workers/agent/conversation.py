"""The messages of each request of a turn: the past, fitted into the model's window."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from shared.chat.turns import TurnState
from shared.core.tunables import DEFAULT_CONTEXT_WINDOW, WINDOW_RETRIES, WINDOW_RETRY_SHARE
from workers.agent import history, window
from workers.agent.history import Exchange, Past
from workers.llm.base import ModelMessage, ToolSpec

Summarise = Callable[[str | None, Sequence[Exchange]], Awaitable[str | None]]


class Conversation:
    """What one attempt tells the model. `summarise` makes a summary of what finds no room,
    on top of the earlier one; None from it: that part is left out."""

    def __init__(self, past: Past, *, system: str, size: int | None, summarise: Summarise) -> None:
        self.system = system
        self._past = past
        self._window = size or DEFAULT_CONTEXT_WINDOW
        self._summarise = summarise
        self._retries = 0
        self._said = 0  # tokens of the messages of the last request
        self._fixed = 0  # tokens of the frame and the tools beside them
        self._limit: int | None = None

    async def messages(
        self, state: TurnState, tools: Sequence[ToolSpec]
    ) -> tuple[ModelMessage, ...]:
        """Raises ContextTooLongError when the question alone does not fit."""
        current = history.of_turn(state)
        planned = await self._plan(current, tools)
        if planned.dropped:
            summary = await self._summarise(self._past.summary, planned.dropped)
            self._past = replace(
                self._past,
                summary=summary or self._past.summary,
                exchanges=self._past.exchanges[len(planned.dropped) :],
                cut=summary is None,
            )
            planned = await self._plan(current, tools)
        self._said = planned.tokens
        return planned.messages

    @property
    def tokens(self) -> int:
        """What the last request took, by our own count."""
        return self._said + self._fixed

    async def count(self, texts: Sequence[str]) -> int:
        """Tokens of texts, by our own count."""
        return await asyncio.to_thread(window.tokens, texts)

    async def _plan(
        self, current: Sequence[ModelMessage], tools: Sequence[ToolSpec]
    ) -> window.Plan:
        def plan() -> window.Plan:
            self._fixed = window.fixed(self.system, tools)
            budget = window.room(self._window) - self._fixed
            if self._limit is not None:
                budget = min(budget, self._limit)
            return window.plan(self._past, current, budget)

        return await asyncio.to_thread(plan)  # counting a long chat takes milliseconds

    def shrink(self) -> bool:
        """The provider found the last request too long, whatever its window was thought to be:
        say less from now on. False when that has been tried often enough."""
        if self._retries >= WINDOW_RETRIES:
            return False
        self._retries += 1
        self._limit = round(self._said * WINDOW_RETRY_SHARE)
        return True
