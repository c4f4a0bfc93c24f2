"""One answer of the stub as it is played: random words, random ids, and how far it has come.

The person's own words say what a turn should do, in `key=value` pairs:

    trial=ab12 plan=write-then-talk words=80 pause=0.03

- `trial`, which comes first: whose turn it is. It stands in what is written, so that effects can
  be counted.
- `plan`: the steps of the turn, joined by `-then-`. What each of them does is in `STEPS`; after
  the last one the model only talks.
- `words`: pieces of text in a talk, of `size` characters at least; `pause`: seconds between two
  of them. When the same step is asked for again, after a crash, the pauses are a fifth: a trial
  waits for the end.
- further keys go to the steps: `page=<id>` to edit, `space=<id>` to write into.
"""

import random
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.llm_script import DONE, Action, call, finish, text, usage
from tests.fakes.llm_stub import Recorded

WORDS = ("alpha", "river", "stone", "maple", "orbit", "glass", "лето", "мост", "湖", "橋", "é")
LOOK_SECONDS = 0.02  # between two looks of a held answer whether it may go on
AGAIN_SHARE = 0.2  # of the pauses, when a step is asked for again


@dataclass(frozen=True)
class Wish:
    """What the person's words and the request tell of the answer that is wanted."""

    trial: str
    step: int  # from 1: how many answers of this turn the model has given before, and one
    kind: str  # one of STEPS
    keys: dict[str, str]

    def number(self, key: str, default: float) -> float:
        return float(self.keys.get(key, default))


def understand(request: Recorded) -> Wish | None:
    """The last message of the person's decides; a request without tools can only talk. None: it
    is no turn's (a title, a summary, which quote the person)."""
    messages = request.messages
    asked = max((n for n, m in enumerate(messages) if m["role"] == "user"), default=0)
    words = str(messages[asked]["content"]).split()
    if not words or not words[0].startswith("trial="):
        return None
    keys = dict(word.split("=", 1) for word in words if "=" in word)
    done = sum(m["role"] == "assistant" for m in messages[asked:])
    plan = keys.get("plan", "talk").split("-then-")
    kind = plan[done] if done < len(plan) and request.body.get("tools") else "talk"
    return Wish(keys.get("trial", ""), done + 1, kind, keys)


@dataclass(eq=False)
class Play:
    """An answer on its way. Written by the stub's thread, read by any."""

    wish: Wish
    again: bool  # whether this step of this trial has been asked for before
    held: Callable[["Play"], bool]
    request: Recorded
    piece: int = 0  # pieces of text and of arguments that have been sent
    said: list[str] = field(default_factory=list)  # the words of a talk, as far as it has come
    waiting: bool = False  # held before the next piece
    done: bool = False  # played to its end
    begun: float = field(default_factory=time.monotonic)

    @property
    def gone(self) -> bool:
        """Whether the worker closed the connection before the end."""
        return self.request.closed_at is not None

    def actions(self) -> Iterator[Action]:
        """The body, made as it is sent: a stream of an hour costs no memory."""
        share = AGAIN_SHARE if self.again else 1.0
        pause = self.wish.number("pause", 0.03) * share
        pieces, reason = STEPS[self.wish.kind](self.wish)
        for piece in pieces:
            yield from self._hold()
            word = piece if isinstance(piece, str) else ""
            yield text(word)[0] if word else piece
            self.piece += 1
            self.said += [word] if word else []
            if pause:
                yield pause
        yield from self._hold()
        yield finish(reason)
        yield usage(50, self.piece)
        self.done = True
        yield DONE

    def _hold(self) -> Iterator[Action]:
        while self.held(self):
            self.waiting = True
            yield LOOK_SECONDS
        self.waiting = False


def nonce() -> str:
    return secrets.token_hex(4)


def talk(count: int, size: int = 0) -> Iterator[str]:
    """Words, each said again and again until it has so many characters."""
    words = (random.choice(WORDS) for _ in range(count))
    return (word * max(1, -(-size // len(word))) + " " for word in words)


def asked(
    name: str, arguments: dict[str, Any], *, words: int = 3, pieces: int = 4
) -> list[str | bytes]:
    """A few words, and one call of a tool with an id of its own."""
    frames = call(name, arguments, call_id=f"call_{nonce()}{nonce()}", pieces=pieces)
    return [*talk(words), *frames]


def title_of(wish: Wish) -> str:
    """The title of what a trial's step makes; its end is another one each time it is asked."""
    return f"Trial {wish.trial} step {wish.step} {nonce()}"


Pieces = Iterable[str | bytes]  # words, and frames as they are
Step = Callable[[Wish], tuple[Pieces, str]]


def _talk(wish: Wish) -> tuple[Pieces, str]:
    return talk(int(wish.number("words", 40)), int(wish.number("size", 0))), "stop"


def _write(wish: Wish) -> tuple[Pieces, str]:
    content = " ".join([wish.trial, *random.choices(WORDS, k=20)])
    page = {"spaceId": wish.keys["space"], "title": title_of(wish), "content": content}
    return asked("createPage", page), "tool_calls"


def _edit(wish: Wish) -> tuple[Pieces, str]:
    """Adds its mark to a page: `edit:<trial>:<step>:` stands there as often as it was done."""
    mark = f"edit:{wish.trial}:{wish.step}:{nonce()}"
    edit = {"find": "here:", "replace": f"here: {mark}"}
    return asked("editPageText", {"pageId": wish.keys["page"], "edits": [edit]}), "tool_calls"


def _read(_: Wish) -> tuple[Pieces, str]:
    return asked("searchPages", {"query": random.choice(WORDS)}), "tool_calls"


def _remote(wish: Wish) -> tuple[Pieces, str]:
    return asked("sendRemote", {"trial": wish.trial, "nonce": nonce()}), "tool_calls"


# What a step of a plan does: its pieces, and the finish reason.
STEPS: dict[str, Step] = {
    "talk": _talk,
    "write": _write,
    "edit": _edit,
    "read": _read,
    "remote": _remote,
}
