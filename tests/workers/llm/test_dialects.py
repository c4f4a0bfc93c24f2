"""What a provider refuses is learned: one request more, once, and never a failed answer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from shared.core.settings import Settings
from shared.providers.connections import Connection
from tests.fakes.llm_script import Reply, error, json_reply, says
from tests.fakes.llm_stub import LlmStub, Recorded
from tests.workers.llm.conftest import MakeModel
from workers.clients import Clients
from workers.llm.base import (
    AssistantMessage,
    Model,
    ModelError,
    ModelRequest,
    ToolMessage,
    ToolRequest,
    ToolSpec,
    UserMessage,
)
from workers.llm.complete import complete
from workers.llm.drivers import model_for

SIGNED = {"extra_content": {"google": {"thought_signature": "c2lnbmVk"}}}
LOOSE = {"type": "object", "properties": {"q": {"type": "string"}}, "additionalProperties": False}
REQUEST = ModelRequest(
    "m",
    "Be short.",
    (
        UserMessage("Leave?"),
        AssistantMessage("", (ToolRequest("c1", "find", '{"q":"x"}', SIGNED),), "hm", "reasoning"),
        ToolMessage("c1", "find", "[]"),
        AssistantMessage("", (ToolRequest("c2", "find", '{"q":"y"}'),)),
        ToolMessage("c2", "find", "[]"),
    ),
    tools=(ToolSpec("find", "Find pages", LOOSE),),
    max_output_tokens=50,
)

Body = dict[str, Any]


def said(body: Body, role: str) -> list[Body]:
    return [message for message in body["messages"] if message["role"] == role]


def unsigned(body: Body) -> list[Body]:
    calls = [call for message in said(body, "assistant") for call in message.get("tool_calls", [])]
    return [call for call in calls if "extra_content" not in call]


# What a server does not take, and how it says so, in substance as the real ones do.
QUIRKS: list[tuple[str, Callable[[Body], object], Reply]] = [
    (
        "max_tokens",
        lambda b: "max_tokens" in b,
        error(
            400,
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'.",
            param="max_tokens",
            code="unsupported_parameter",
        ),
    ),
    (
        "either limit",
        lambda b: b.keys() & {"max_tokens", "max_completion_tokens"},
        error(400, "Unknown fields: max_tokens, max_completion_tokens"),
    ),
    (
        "stream_options",
        lambda b: "stream_options" in b,
        error(400, "Unrecognized request argument supplied: stream_options"),
    ),
    (
        "stream_options, told by a validator",
        lambda b: "stream_options" in b,
        json_reply(
            {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs not permitted"}]},
            422,
        ),
    ),
    (
        "thoughts",
        lambda b: any("reasoning" in message for message in said(b, "assistant")),
        error(400, "'messages.1': property 'reasoning' is unsupported"),
    ),
    (
        "messages without thoughts",
        lambda b: any("reasoning_content" not in message for message in said(b, "assistant")),
        error(400, "The `reasoning_content` in the thinking mode must be passed back to the API."),
    ),
    (
        "signatures",
        lambda b: len(unsigned(b)) < 2,
        json_reply(
            [{"error": {"message": 'Unknown name "extra_content": Cannot find field.'}}], 400
        ),
    ),
    (
        "calls without a signature",
        unsigned,
        json_reply(
            [{"error": {"message": "Function call is missing a thought_signature in its parts."}}],
            400,
        ),
    ),
    (
        "no text beside calls",
        lambda b: any(message["content"] is None for message in said(b, "assistant")),
        error(400, "messages[1].content: invalid type: null, expected a string"),
    ),
    (
        "names of results",
        lambda b: any("name" in message for message in said(b, "tool")),
        error(400, "messages.2.tool.name: Extra inputs are not permitted"),
    ),
    (
        "a system message",
        lambda b: said(b, "system"),
        error(400, "Developer instruction is not enabled for this one"),
    ),
    (
        "keywords in schemas",
        lambda b: "additionalProperties" in str(b["tools"]),
        error(
            400,
            'Unknown name "additionalProperties" at \'tools[0].function_declarations[0]'
            ".parameters': Cannot find field.",
        ),
    ),
]


@pytest.mark.parametrize(
    ("bad", "refusal"), [(bad, refusal) for _, bad, refusal in QUIRKS], ids=[n for n, *_ in QUIRKS]
)
async def test_a_refusal_is_learned_from_once(
    bad: Callable[[Body], object], refusal: Reply, stub: LlmStub, make_model: MakeModel
) -> None:
    def picky(request: Recorded) -> Reply:
        return refusal if bad(request.body) else says("Fine.")

    stub.fallback = picky
    assert (await complete(make_model(), REQUEST))[0] == "Fine."
    extra = len(stub.chats) - 1
    assert 1 <= extra <= 2
    # Another answer, by another model object: nothing is refused any more.
    assert (await complete(make_model(), REQUEST))[0] == "Fine."
    assert len(stub.chats) == extra + 2
    # What it was not about is as before.
    first, last = stub.chats[0].body, stub.chats[-1].body
    assert [m.get("tool_call_id") for m in last["messages"] if m["role"] != "system"][-1]
    assert first["model"] == last["model"]


async def test_a_server_that_wants_the_tools_described_to_the_last_gets_them(
    stub: LlmStub, make_model: MakeModel
) -> None:
    def picky(request: Recorded) -> Reply:
        if "tools" in request.body:
            return says("Fine.")
        return error(400, "Requests which have tool_result blocks must define `tools`")

    stub.fallback = picky
    assert (await complete(make_model("anthropic"), replace(REQUEST, tools=())))[0] == "Fine."
    last = stub.chats[-1].body
    assert [tool["function"]["name"] for tool in last["tools"]] == ["find"]
    assert last["tool_choice"] == "none"


async def test_many_quirks_at_once_are_learned_one_by_one(
    stub: LlmStub, make_model: MakeModel
) -> None:
    picky = [
        quirk for quirk in QUIRKS if quirk[0] not in ("signatures", "messages without thoughts")
    ]

    def very_picky(request: Recorded) -> Reply:
        for _, bad, refusal in picky:
            if bad(request.body):
                return refusal
        return says("Fine.")

    stub.fallback = very_picky
    assert (await complete(make_model(), REQUEST))[0] == "Fine."
    asked = len(stub.chats)
    assert (await complete(make_model(), REQUEST))[0] == "Fine."
    assert len(stub.chats) == asked + 1


async def test_a_refusal_that_teaches_nothing_is_an_error_at_once(
    stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(error(400, "temperature is out of range"))
    with pytest.raises(ModelError):
        await complete(make_model(), REQUEST)
    assert len(stub.chats) == 1


async def test_a_server_that_refuses_everything_is_not_asked_for_ever(
    stub: LlmStub, make_model: MakeModel
) -> None:
    refusal = "unknown: " + " ".join(
        ("max_tokens max_completion_tokens stream_options reasoning name extra_content schema",)
    )
    stub.fallback = error(400, refusal)
    with pytest.raises(ModelError, match="unknown"):
        await complete(make_model(), REQUEST)
    assert len(stub.chats) < 15


async def test_what_one_model_teaches_counts_for_that_model_alone(
    stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(error(400, "Unknown field stream_options"), says("x"), says("x"))
    await complete(make_model(), REQUEST)
    await complete(make_model(), replace(REQUEST, model="other"))
    assert ["stream_options" in request.body for request in stub.chats] == [True, False, True]


async def test_nothing_is_learned_from_a_refused_key(
    stub: LlmStub, impatient: Settings, clients: Clients
) -> None:
    connection = Connection("openai-compatible", "m", stub.url)
    model: Model = model_for(connection, impatient, clients)
    stub.plays(error(401, "unknown key: stream_options not supported"))
    with pytest.raises(ModelError):
        await complete(model, REQUEST)
    assert clients.quirks(connection, "m") == set()
