"""Each provider's own shape, there and back: a recorded stream, then the request that its
documentation wants to see next."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared.tools.registry import tools_for
from tests.fakes.llm_script import Reply, error, says, stream
from tests.fakes.llm_stub import LlmStub, Recorded
from tests.workers.llm.conftest import MakeModel
from tests.workers.llm.odd_streams import Said, summary
from tests.workers.llm.provider_rules import RULES
from workers.llm.base import (
    AssistantMessage,
    CallEnd,
    ModelEvent,
    ModelMessage,
    ModelRequest,
    ReasoningPiece,
    ToolMessage,
    ToolRequest,
    ToolSpec,
    UserMessage,
)
from workers.llm.complete import complete

WIRE = Path(__file__).parents[2] / "fixtures" / "wire"
TOOLS = tuple(ToolSpec(t.name, t.description, t.schema()) for t in tools_for("tenant"))
REQUEST = ModelRequest("m", "Be short.", (UserMessage("Leave for parents?"),), TOOLS)

_SEARCH = ("searchPages", '{"query":"parental leave"}')
_SPACED = ("searchPages", '{"query": "parental leave"}')
_PAGE = ("getPage", '{"pageId":"p7"}')

# Provider, its driver, and what its recorded stream says.
PROVIDERS = [
    (
        "openai",
        "openai",
        Said("Let me look.", calls=(_SEARCH, _PAGE), finish="tool-calls", usage=(812, 41)),
    ),
    (
        "anthropic",
        "anthropic",
        Said("I will look that up.", calls=(_SPACED,), finish="tool-calls", usage=(640, 58)),
    ),
    (
        "gemini",
        "gemini",
        Said("One moment.", calls=(_SEARCH, _PAGE), finish="tool-calls", usage=(505, 151)),
    ),
    (
        "ollama",
        "ollama",
        Said(
            "",
            "The person wants leave rules.",
            calls=(_SEARCH, _PAGE),
            finish="tool-calls",
            usage=(390, 66),
        ),
    ),
    (
        "deepseek",
        "openai-compatible",
        Said("Searching.", "Search first.", calls=(_SPACED,), finish="tool-calls", usage=(700, 80)),
    ),
    (
        "vllm",
        "openai-compatible",
        Said("\n\n", "Look it up.", calls=(_SPACED,), finish="tool-calls", usage=(520, 55)),
    ),
    (
        "openrouter",
        "openai-compatible",
        Said(
            "Searching now.",
            "I should search.",
            calls=(_SEARCH,),
            finish="tool-calls",
            usage=(450, 61),
        ),
    ),
]
IDS = [name for name, *_ in PROVIDERS]


def recorded(provider: str) -> Reply:
    return stream((WIRE / f"{provider}.sse").read_bytes())


def as_history(events: Iterable[ModelEvent], turn: str) -> list[ModelMessage]:
    """A step as the agent remembers it, and a result for each call."""
    events = list(events)
    said = summary(events)
    extras = [event.extra for event in events if isinstance(event, CallEnd)]
    thoughts = [event for event in events if isinstance(event, ReasoningPiece)]
    calls = tuple(
        ToolRequest(f"{turn}:{n}", name, arguments, extra)
        for n, ((name, arguments), extra) in enumerate(zip(said.calls, extras, strict=True))
    )
    name = thoughts[0].field if thoughts else ""
    results = [ToolMessage(call.id, call.name, '{"hits":[]}') for call in calls]
    return [AssistantMessage(said.text, calls, said.reasoning, name), *results]


def checked(provider: str, then: Reply) -> Any:
    """A reply that is given only to a request as the documentation wants it."""

    def reply(request: Recorded) -> Reply:
        fault = RULES[provider](request.body)
        return error(400, fault) if fault else then

    return reply


@pytest.mark.req("LP-11")
@pytest.mark.parametrize(("provider", "driver", "said"), PROVIDERS, ids=IDS)
async def test_tools_are_called_their_results_named_and_the_conversation_goes_on(
    provider: str, driver: str, said: Said, stub: LlmStub, make_model: MakeModel
) -> None:
    model = make_model(driver)
    stub.plays(checked(provider, recorded(provider)))
    events = [event async for event in model.stream(REQUEST)]
    assert summary(events) == said

    # The same turn's next step, with the results.
    step = (*REQUEST.messages, *as_history(events, "t1"))
    stub.plays(checked(provider, recorded(provider)))
    again = [event async for event in model.stream(replace(REQUEST, messages=step))]
    assert summary(again) == said
    sent = stub.chats[-1].messages
    results = [message for message in sent if message["role"] == "tool"]
    assert [message["name"] for message in results] == [name for name, _ in said.calls]
    (made,) = [message["tool_calls"] for message in sent if message.get("tool_calls")]
    assert [call["id"] for call in made] == [result["tool_call_id"] for result in results]

    # A second step, whose calls have ids of their own, and the answer without tools.
    step = (*step, *as_history(again, "t2"))
    stub.plays(checked(provider, says("240 hours.")))
    answer, _ = await complete(model, replace(REQUEST, messages=step, tools=()))
    assert answer == "240 hours."
    assert len(stub.chats) == 3


@pytest.mark.req("LP-11")
@pytest.mark.parametrize(
    ("provider", "driver"), [*[(p, d) for p, d, _ in PROVIDERS], ("mistral", "openai-compatible")]
)
async def test_an_earlier_turn_of_another_model_is_taken(
    provider: str, driver: str, stub: LlmStub, make_model: MakeModel
) -> None:
    """The past brings neither thoughts nor signatures; what a server then misses is learned."""
    call = ToolRequest("old:1", "searchPages", '{"query":"x"}')
    past = (
        UserMessage("Before?"),
        AssistantMessage("", (call,)),
        ToolMessage("old:1", "searchPages", "It failed.", is_error=True),
        UserMessage("Never mind."),
        AssistantMessage("Fine."),
    )
    stub.fallback = checked(provider, says("240 hours."))
    request = replace(REQUEST, messages=(*past, *REQUEST.messages))
    assert (await complete(make_model(driver), request))[0] == "240 hours."
    assert len(stub.chats) <= 2


@pytest.mark.req("LP-11")
async def test_geminis_signature_comes_back_as_it_was_with_the_call_that_it_came_with(
    stub: LlmStub, make_model: MakeModel
) -> None:
    model = make_model("gemini")
    stub.plays(recorded("gemini"), says("x"))
    events = [event async for event in model.stream(REQUEST)]
    history = (*REQUEST.messages, *as_history(events, "t1"))
    await complete(model, replace(REQUEST, messages=history))
    (first, second) = next(m["tool_calls"] for m in stub.chats[-1].messages if "tool_calls" in m)
    signature = {"google": {"thought_signature": "RXhhbXBsZSBzaWduYXR1cmUgb25l"}}
    assert first["extra_content"] == signature
    assert "extra_content" not in second


@pytest.mark.req("LP-11")
async def test_a_signature_that_is_lost_does_not_end_the_turn(
    stub: LlmStub, make_model: MakeModel
) -> None:
    call = ToolRequest("t1:0", "searchPages", '{"query":"x"}')
    history = (
        *REQUEST.messages,
        AssistantMessage("", (call,)),
        ToolMessage("t1:0", "searchPages", "{}"),
    )
    stub.fallback = checked("gemini", says("x"))
    assert (await complete(make_model("gemini"), replace(REQUEST, messages=history)))[0] == "x"
    assert len(stub.chats) == 2
