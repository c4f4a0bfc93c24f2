"""A provider that answers at random, as real models do: words, pauses, calls and their ids."""

import random
import string

from tests.fakes.llm_script import (
    DONE,
    Action,
    Reply,
    call,
    error,
    finish,
    json_reply,
    stream,
    text,
    usage,
)
from tests.fakes.llm_stub import Recorded

LONG_SHARE = 0.08  # of the answers: half a minute, so that a kill finds them
WRITE_SHARE = 0.25  # of the questions: answered after a page was made
READ_SHARE = 0.2
BUSY_SHARE = 0.01  # of the requests: refused at first, as busy providers do

_WORDS = [
    "alpha",
    "river",
    "stone",
    "quiet",
    "seven",
    "maple",
    "orbit",
    "candle",
    "winter",
    "glass",
    "harbour",
    "violet",
]


def answer(request: Recorded) -> Reply:
    """The reply to one request; a question's mark (`[…]` in its text) goes into what it writes."""
    dice = random.Random()
    if not request.body.get("stream"):
        return _small(dice)
    if dice.random() < BUSY_SHARE:
        return error(529, "busy, try again")
    last = request.messages[-1]
    if last["role"] == "user":
        question = str(last["content"])
        mark = question.partition("[")[2].partition("]")[0]
        chance = dice.random()
        if mark and chance < WRITE_SHARE:
            page = {"title": f"Soak {mark}", "content": _words(dice, 40)}
            return _asks(dice, "createPage", page | _space(question))
        if chance < WRITE_SHARE + READ_SHARE:
            return _asks(dice, "searchPages", {"query": _words(dice, 2)})
    return _talks(dice)


def _space(question: str) -> dict[str, str]:
    return {"spaceId": question.partition("space=")[2].split(" ")[0]}


def _asks(dice: random.Random, name: str, arguments: dict[str, str]) -> Reply:
    call_id = "call_" + "".join(dice.choices(string.ascii_letters, k=12))
    frames = text(_words(dice, 4)) + call(name, arguments, call_id=call_id)
    return stream(frames, finish("tool_calls"), usage(50, 20), DONE)


def _talks(dice: random.Random) -> Reply:
    pieces = dice.randint(600, 900) if dice.random() < LONG_SHARE else dice.randint(15, 70)
    actions: list[Action] = []
    for _ in range(pieces):
        actions += [*text(dice.choice(_WORDS) + " "), dice.uniform(0.02, 0.06)]
    return stream(actions, finish(), usage(100, pieces), DONE)


def _small(dice: random.Random) -> Reply:
    message = {"role": "assistant", "content": _words(dice, 4)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    tokens = {"prompt_tokens": 20, "completion_tokens": 4, "total_tokens": 24}
    return json_reply(
        {"id": "x", "object": "chat.completion", "choices": [choice], "usage": tokens}
    )


def _words(dice: random.Random, count: int) -> str:
    return " ".join(dice.choices(_WORDS, k=count))
