"""A model server that is told beforehand what to answer to which question.

Small calls (a chat's title) go to a model of their own, `SMALL`, and never use up an answer.
"""

from collections import defaultdict
from typing import Any, Self
from uuid import uuid4

import httpx2

from tests.fakes.llm_script import Reply, error, says
from tests.fakes.llm_stub import Recorded, Scripted, StubThread

MODEL, SMALL = "stub", "stub-small"
KEY = "k-0123456789-of-the-stub"
TEST_QUESTION = "Answer with the single word: ready"  # what a test of the settings asks


class ToldModel:
    """A context manager. Requests find their answer by the last question in them that has one."""

    def __init__(self) -> None:
        self.server = StubThread(models=[MODEL, SMALL], fallback=self._answer)
        self._answers: dict[str, list[Scripted]] = defaultdict(list)

    def __enter__(self) -> Self:
        self.server.__enter__()
        return self

    def __exit__(self, *given: object) -> None:
        self.server.__exit__(*given)

    def plays(self, question: str, *replies: Scripted) -> None:
        """The next answers to this question, one a request."""
        self._answers[question] += replies

    def asked(self, question: str) -> list[Recorded]:
        """The requests about a question, without the small ones."""
        return [r for r in self.server.chats if r.body["model"] != SMALL and question in said(r)]

    def serve(self, owner: httpx2.Client, **settings: Any) -> None:
        """Make it the model of the owner's workspace."""
        chosen = {
            "driver": "openai-compatible",
            "baseUrl": self.server.url,
            "apiKey": KEY,
            "chatModel": MODEL,
            "smallModel": SMALL,
            **settings,
        }
        answer = owner.patch("/v1/workspace/ai-settings", json=chosen)
        assert answer.status_code == 200, answer.text

    def _answer(self, request: Recorded) -> Reply:
        if request.body["model"] == SMALL:
            return says("A title")
        for words in reversed(said(request)):
            # A note of ours may stand above what the person says.
            replies = self._answers.get(words) or self._answers.get(words.rpartition("\n\n")[2])
            if replies:
                reply = replies.pop(0)
                return reply if isinstance(reply, Reply) else reply(request)
        return error(500, "nobody has said what to answer to this")


def said(request: Recorded) -> list[str]:
    """What the person says in a request, message by message."""
    return [str(m["content"]) for m in request.messages if m["role"] == "user"]


def new_question(about: str = "How much leave carries over?") -> str:
    """A question that nobody has asked before."""
    return f"{about} ({uuid4().hex[:8]})"
