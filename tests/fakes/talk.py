"""What a real model does when it is asked once more: it says something else."""

from secrets import token_hex

from tests.fakes.llm_script import DONE, Action, Reply, finish, stream, text, usage
from tests.fakes.llm_stub import Recorded

EVER = 100_000  # words: more than any test waits for


class Talk:
    """A scripted reply: so many words, other ones each time, with a pause of seconds after each.

    `said` holds the whole answer of each request, whether or not it was heard to its end.
    """

    def __init__(self, words: int = 40, pause: float = 0.1) -> None:
        self._words, self._pause = words, pause
        self.said: list[str] = []

    def __call__(self, request: Recorded) -> Reply:
        words = [token_hex(3) for _ in range(self._words)]
        self.said.append(" ".join(words))
        pieces: list[Action | list[bytes]] = []
        for word in words:
            pieces += [text(f"{word} "), self._pause]
        return stream(*pieces, finish(), usage(10, self._words), DONE)
