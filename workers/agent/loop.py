"""The agent loop: a step at a time, each committed before its calls are run.

Several short transactions, none held open across a model call. Whatever stops this
process, another one goes on after the last commit.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import aclosing
from typing import Any

from shared.bus import events
from shared.chat import render, turns
from shared.chat.errors import LostLeaseError
from shared.chat.models import Step, ToolCall, TurnStatus
from shared.chat.turns import Ending, TurnState
from shared.core.db import Database
from shared.core.errors import PageturnError, UnauthenticatedError
from shared.core.logging import get_logger
from shared.core.tasks import end
from shared.core.tunables import MODEL_ANSWER_SECONDS, TOOL_CALLS_AT_ONCE
from workers.agent import history
from workers.agent.conversation import Conversation
from workers.agent.emitter import Emitter
from workers.agent.keeper import Halt, HaltReason
from workers.agent.step import StepDraft
from workers.agent.toolset import Toolset
from workers.llm.base import ContextTooLongError, Model, ModelError, ModelRequest, ToolSpec

log = get_logger(__name__)


class HandoverError(Exception):
    """This process is going away; the turn goes back to the queue."""


def _completed(draft: StepDraft, *, truncated: bool) -> Ending:
    """An answer cut at the provider's own limit is truncated as one at ours is."""
    reason = draft.finish_reason or "other"
    if not draft.calls and not any(part["type"] == "text" for part in draft.parts):
        return _WITHHELD if reason == "content-filter" else _WORDLESS
    truncated = truncated or reason == "length"
    return Ending(TurnStatus.COMPLETED, finish_reason=reason, truncated=truncated)


_WITHHELD = Ending(
    TurnStatus.ERROR,
    error_code="content_filter",
    error_text="The provider's filter withheld the answer. Try other words.",
)
_WORDLESS = Ending(
    TurnStatus.ERROR,
    error_code="provider_bad_response",
    error_text="The model thought, but gave no answer. Ask again, or choose another model.",
)


def failure(error: PageturnError) -> Ending:
    """The end of a turn that failed for a reason that a person can read."""
    return Ending(TurnStatus.ERROR, error_code=error.code, error_text=error.message)


class AgentLoop:
    """One attempt at one turn, which the caller has claimed."""

    def __init__(
        self,
        database: Database,
        state: TurnState,
        *,
        model: Model,
        conversation: Conversation,
        toolset: Toolset,
        emitter: Emitter,
        halt: Halt,
        patience: float,
        tokens_left: int | None = None,
    ) -> None:
        """`patience`: seconds of a model's silence; `tokens_left`: what the chat may still
        use, at whose end one last answer is given."""
        self._database = database
        self._state = state
        self._model = model
        self._conversation = conversation
        self._toolset = toolset
        self._emitter = emitter
        self._halt = halt
        self._patience = patience
        self._tokens_left = tokens_left

    async def run(self) -> None:
        """Raises LostLeaseError or HandoverError when the turn is not ours to end."""
        turn = self._state.turn
        try:
            await self._resume()
            while True:
                number = len(self._state.steps) + 1
                last = number > turn.max_steps or self._tokens_used_up()
                if await self._step(number, last=last):
                    return
        except UnauthenticatedError as error:
            await self._end(failure(error))

    async def _resume(self) -> None:
        """After a crash: run the calls of the last committed step that have no outcome.

        What is committed is not said again: the first event of a new epoch makes every
        reader look at the committed state before it goes on.
        """
        if self._state.steps:
            pending = [c for c in self._calls_of(self._state.steps[-1]) if c.status == "pending"]
            if pending:
                await self._run_calls(pending)
                self._emitter.emit(events.FinishStep())
        if self._state.turn.epoch > 1:
            # Only a reader that saw a part of an uncommitted step acts on this.
            self._emitter.emit(events.ResetStep())

    def _tokens_used_up(self) -> bool:
        used = sum(step.input_tokens + step.output_tokens for step in self._state.steps)
        return self._tokens_left is not None and used > 0 and used >= self._tokens_left

    def _calls_of(self, step: Step) -> list[ToolCall]:
        return [call for _, call in sorted(self._state.calls.get(step.number, {}).items())]

    async def _step(self, number: int, *, last: bool) -> bool:
        """One model call and its tool calls; True when the turn has ended."""
        turn = self._state.turn
        draft = StepDraft(
            turn.id,
            number,
            self._emitter,
            self._toolset,
            history.known_pages(self._state),
        )
        error = await self._listen(draft, () if last else self._toolset.specs)
        draft.close()
        if not draft.counted and not draft.said_nothing:
            draft.count(self._conversation.tokens, await self._conversation.count(draft.texts()))
        await self._emitter.drain()
        if self._halt.by(HaltReason.HANDOVER):
            raise HandoverError
        if (halted := self._halted()) is not None:
            await self._end(halted, draft)
            return True
        if error is not None:
            await self._end(failure(error), draft)
            return True
        if not draft.calls or last:
            await self._end(_completed(draft, truncated=last), draft)
            return True
        await self._commit(draft)
        await self._run_calls(self._calls_of(self._state.steps[-1]))
        if (halted := self._halted()) is not None:
            await self._end(halted)
            return True
        self._emitter.emit(events.FinishStep())
        self._emitter.emit(events.MessageMetadata(render.usage(turn, self._state.steps)))
        return False

    def _halted(self) -> Ending | None:
        """The end of a turn that its person ended, or that has lost its person."""
        if self._halt.by(HaltReason.STOP):
            return Ending(TurnStatus.ABORTED)
        if self._halt.by(HaltReason.SIGNED_OUT):
            return failure(UnauthenticatedError("Your session has ended."))
        return None

    async def _listen(self, draft: StepDraft, tools: tuple[ToolSpec, ...]) -> ModelError | None:
        """Take in the model's answer until it ends, fails, or the turn should halt."""

        async def consume() -> None:
            request = ModelRequest(
                model=self._state.turn.model,
                system=self._conversation.system,
                messages=await self._conversation.messages(self._state, tools),
                tools=tools,
            )
            async with aclosing(self._model.stream(request)) as answer:
                async for event in answer:
                    draft.take(event)

        while True:
            try:
                await self._unless_halted(consume(), draft)
            except ContextTooLongError as error:
                if not draft.said_nothing or not self._conversation.shrink():
                    return error
            except ModelError as error:
                return error
            else:
                return None

    async def _unless_halted(self, work: Coroutine[Any, Any, None], draft: StepDraft) -> None:
        """Take in an answer, which commits nothing, and cancel that when the turn should halt
        or the answer takes too long. Raises ModelError then."""
        task = asyncio.create_task(work)
        halted = asyncio.create_task(self._halt.wait())
        lost = asyncio.create_task(self._emitter.failed.wait())
        late = asyncio.create_task(self._too_late(draft))
        try:
            await asyncio.wait({task, halted, lost, late}, return_when=asyncio.FIRST_COMPLETED)
            if task.done() or late.done():
                (task if task.done() else late).result()
        finally:
            await end(task, halted, lost, late)
        if self._halt.by(HaltReason.LOST) or self._emitter.failed.is_set():
            raise LostLeaseError

    async def _too_late(self, draft: StepDraft) -> None:
        """Raises ModelError once nothing was said for too long, or the answer has no end. A
        provider that sends signs of life is silent all the same when it says nothing."""
        loop = asyncio.get_running_loop()
        begun = draft.heard = loop.time()
        while True:
            silent_at = draft.heard + self._patience
            last = begun + MODEL_ANSWER_SECONDS
            if loop.time() >= min(silent_at, last):
                raise ModelError(
                    "The model did not come to an end in time."
                    if last < silent_at
                    else "The model has been silent for too long.",
                    code="provider_timeout",
                )
            await asyncio.sleep(min(silent_at, last) - loop.time())

    async def _commit(self, draft: StepDraft) -> None:
        async with self._database.session() as session:
            await turns.commit_step(session, self._state, draft.to_step(), draft.calls)

    async def _run_calls(self, calls: list[ToolCall]) -> None:
        """Run calls, reads beside each other, and emit each outcome once stored."""
        pending = []
        for call in calls:
            if call.status == "pending":
                pending.append(call)
            else:  # refused before it could be run
                self._emitter.emit(render.output_event(call))
        if any(self._toolset.effect(call.name) == "write" for call in pending):
            for call in pending:
                await self._run_call(call)
        else:
            slots = asyncio.Semaphore(TOOL_CALLS_AT_ONCE)

            async def in_turn(call: ToolCall) -> None:
                async with slots:
                    await self._run_call(call)

            outcomes = await asyncio.gather(*map(in_turn, pending), return_exceptions=True)
            for outcome in outcomes:
                if isinstance(outcome, BaseException):
                    raise outcome

    async def _run_call(self, call: ToolCall) -> None:
        if self._halt.by(HaltReason.HANDOVER):
            raise HandoverError
        if self._halted() is not None:
            return  # the end of the turn stores it as not made
        if await self._reaches_its_end(call):
            self._emitter.emit(render.output_event(call))

    async def _reaches_its_end(self, call: ToolCall) -> bool:
        """Run a call; False when it was cut off because the turn should halt. A write is never
        cut off, and a call to another system only by what makes its answer worthless."""
        work = self._toolset.run(self._state.turn, call)
        effect = self._toolset.effect(call.name)
        if effect == "write":
            await work
            return True
        task = asyncio.create_task(work)
        halted = asyncio.create_task(self._halt.wait())
        try:
            await asyncio.wait({task, halted}, return_when=asyncio.FIRST_COMPLETED)
            if task.done() or (effect == "remote" and self._halt.by(HaltReason.HANDOVER)):
                await task
                return True
        finally:
            await end(task, halted)
        if self._halt.by(HaltReason.LOST):
            raise LostLeaseError
        if self._halt.by(HaltReason.HANDOVER):
            raise HandoverError
        return False

    async def _end(self, ending: Ending, draft: StepDraft | None = None) -> None:
        """Commit the end with what the last step said, then say it."""
        state = self._state
        unsaid = [c for of_step in state.calls.values() for c in of_step.values()]
        unsaid = [call for call in unsaid if call.status == "pending"]
        async with self._database.session() as session:
            await turns.hold(session, state.turn.id, state.turn.epoch)
            if draft is not None and (draft.parts or draft.finish_reason):
                await turns.add_step(session, state, draft.to_step(), draft.calls)
                unsaid += draft.calls
            await turns.finish(session, state, ending)
        for call in unsaid:
            self._emitter.emit(render.output_event(call))
        self._emitter.emit(events.FinishStep())
        self._emitter.emit(*render.terminal_events(state.turn, state.steps, state.calls))
        await self._emitter.drain()
