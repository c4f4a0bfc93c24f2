"""The tools of one turn: finding one, reading its arguments, running it, storing the outcome."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson
from pydantic import ValidationError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from shared.chat import turns
from shared.chat.errors import LostLeaseError, UnknownOutcomeError
from shared.chat.models import ToolCall, Turn
from shared.core.db import Database
from shared.core.errors import PageturnError, UnauthenticatedError
from shared.core.logging import get_logger
from shared.core.tunables import TOOL_RESULT_CHARS, TOOL_SECONDS
from shared.search.vectors import QueryVector
from shared.tools.base import Effect, Tool, ToolArgs, ToolContext, ToolResult
from workers.agent.agent_pass import AgentPass
from workers.llm.base import ToolSpec

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class BadCall:
    """Why a call cannot be made, in words that the model can act on."""

    code: str
    text: str


class Toolset:
    """What the agent may do in one turn, as the person who asked."""

    def __init__(
        self,
        tools: list[Tool[Any]],
        database: Database,
        agent_pass: AgentPass,
        embed: Callable[[str], Awaitable[QueryVector | None]],
        *,
        lease_seconds: float,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._database = database
        self._pass = agent_pass
        self._embed = embed
        self._lease_seconds = lease_seconds

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(
            ToolSpec(tool.name, tool.description, tool.schema()) for tool in self._tools.values()
        )

    def title(self, name: str) -> str | None:
        return self._tools[name].title if name in self._tools else None

    def effect(self, name: str) -> Effect:
        """A call of what is not offered does nothing but read that it is not."""
        return self._tools[name].effect if name in self._tools else "read"

    def check(self, name: str, arguments: Mapping[str, Any]) -> ToolArgs | BadCall:
        """The arguments as the tool takes them, or what is wrong with the call."""
        tool = self._tools.get(name)
        if tool is None:
            offered = ", ".join(self._tools)
            return BadCall(
                "unknown_or_disallowed_tool",
                f"unknown_or_disallowed_tool: there is no tool {name[:100]!r} here. "
                f"The tools are: {offered}.",
            )
        try:
            args: ToolArgs = tool.args.model_validate(dict(arguments))
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(str(p) for p in e['loc']) or 'arguments'}: {e['msg']}"
                for e in error.errors(include_url=False, include_input=False)
            )
            return BadCall("bad_arguments", f"{name}: {wrong}")
        return args

    async def run(self, turn: Turn, call: ToolCall) -> None:
        """Run a pending call and store its outcome under its (turn, step, ordinal).

        Raises LostLeaseError when another attempt owns the turn, UnauthenticatedError (after
        storing it as the outcome) when the person's session has ended, and lets a lost
        database through: the turn then goes on elsewhere.
        """
        args = self.check(call.name, call.args)
        if isinstance(args, BadCall):
            await self._store_error(turn, call, args.code, args.text)
            return
        try:
            async with asyncio.timeout(TOOL_SECONDS):
                result = await self._perform(turn, call, self._tools[call.name], args)
        except LostLeaseError:
            raise
        except PageturnError as error:
            await self._store_error(turn, call, error.code, f"{error.code}: {error.message}")
            if isinstance(error, UnauthenticatedError):
                raise
        except TimeoutError:
            text = f"timeout: {call.name} took longer than {TOOL_SECONDS:.0f} seconds."
            if self._tools[call.name].effect == "remote":
                text += " It may have been done or not: find out before it is called again."
            await self._store_error(turn, call, "timeout", text)
        except Exception as error:
            if isinstance(error, DBAPIError) and error.connection_invalidated:
                raise
            log.error("tool_failed", tool=call.name, turn_id=str(turn.id), exc=type(error).__name__)
            await self._store_error(turn, call, "tool_failed", f"{call.name} failed.")
        else:
            call.status, call.result, call.inverse = "ok", result.output, result.inverse

    async def _perform(
        self, turn: Turn, call: ToolCall, tool: Tool[Any], args: ToolArgs
    ) -> ToolResult:
        match tool.effect:
            case "write":
                return await self._write(turn, call, tool, args)
            case "remote":
                return await self._remote(turn, call, tool, args)
            case "read":
                return await self._read(turn, call, tool, args)

    async def _write(
        self, turn: Turn, call: ToolCall, tool: Tool[Any], args: ToolArgs
    ) -> ToolResult:
        """A write and its stored result share one transaction."""
        async with self._database.session() as session:
            context = await self._context(session, await turns.hold(session, turn.id, turn.epoch))
            result = _capped(await tool.run(context, args))
            await turns.commit_result(session, call, result=result.output, inverse=result.inverse)
            await turns.lengthen_lease(session, turn.id, self._lease_seconds)
        return result

    async def _read(
        self, turn: Turn, call: ToolCall, tool: Tool[Any], args: ToolArgs
    ) -> ToolResult:
        """A read holds no lock."""
        vector = None
        if tool.query is not None:
            async with self._database.session() as session:
                await self._context(session, turn)
            vector = await self._embed(tool.query(args))
        async with self._database.session() as session:
            context = await self._context(session, turn)
            result = _capped(await tool.run(replace(context, vector=vector), args))
        await self._store_result(turn, call, result)
        return result

    async def _remote(
        self, turn: Turn, call: ToolCall, tool: Tool[Any], args: ToolArgs
    ) -> ToolResult:
        """What leaves is noted first: if no outcome follows, it may have been done or not."""
        async with self._database.session() as session:
            context = await self._context(session, await turns.hold(session, turn.id, turn.epoch))
            first = await turns.mark_sent(session, call)
        if not first and not tool.idempotent:
            raise UnknownOutcomeError
        result = _capped(await tool.run(replace(context, transaction=None), args))
        await self._store_result(turn, call, result)
        return result

    async def _context(self, session: AsyncSession, turn: Turn) -> ToolContext:
        """Raises UnauthenticatedError and ChatNotFoundError, by the state of now."""
        actor = await self._pass.actor(session)
        await turns.require_open_chat(session, turn)
        return ToolContext(session, actor, turn.page_id)

    async def _store_result(self, turn: Turn, call: ToolCall, result: ToolResult) -> None:
        async with self._database.session() as session:
            await turns.hold(session, turn.id, turn.epoch)
            await turns.commit_result(session, call, result=result.output, inverse=result.inverse)

    async def _store_error(self, turn: Turn, call: ToolCall, code: str, text: str) -> None:
        async with self._database.session() as session:
            await turns.hold(session, turn.id, turn.epoch)
            await turns.commit_result(session, call, error=(code, text))
        call.status, call.error_code, call.error_text = "error", code, text


def _capped(result: ToolResult) -> ToolResult:
    """Cut the longest text of a result that is too large for a model's window, and say so."""
    excess = len(orjson.dumps(result.output)) - TOOL_RESULT_CHARS
    if excess <= 0:
        return result
    texts = [key for key, value in result.output.items() if isinstance(value, str)]
    longest = max(texts, key=lambda key: len(result.output[key]), default=None)
    if longest is None or len(result.output[longest]) <= excess:
        raise PageturnError("The result is too large: ask for less, or for one part of it.")
    output = result.output | {longest: result.output[longest][:-excess], "cut": True}
    return ToolResult(output, result.inverse)
