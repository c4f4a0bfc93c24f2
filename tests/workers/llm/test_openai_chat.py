"""The driver over real HTTP: every way in which an answer can come and end."""

from typing import Any

import pytest

from tests.fakes.llm_stub import LlmStub
from tests.workers.llm.conftest import MakeModel
from tests.workers.llm.odd_streams import ODD_STREAMS, Odd, Said, summary
from workers.llm.base import Model, ModelError, ModelEvent, ModelRequest, UserMessage

QUESTION = ModelRequest("m", "Be short.", (UserMessage("Hello?"),))


async def ask(model: Model, request: ModelRequest = QUESTION) -> tuple[Said, ModelError | None]:
    events: list[ModelEvent] = []
    try:
        async for event in model.stream(request):
            events.append(event)
    except ModelError as error:
        return summary(events, error.code), error
    return summary(events), None


@pytest.mark.parametrize("odd", ODD_STREAMS, ids=lambda odd: odd.name)
async def test_an_odd_stream_comes_to_what_it_says(
    odd: Odd, stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(*odd.replies)
    said, _ = await ask(make_model())
    assert said == odd.said
    assert len(stub.chats) == len(odd.replies)
