"""Embeddings by a provider: what is sent, what is believed, and how failures are met."""

import asyncio
import itertools
import math
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from pydantic import SecretStr

from shared.core.settings import Settings
from shared.core.tunables import (
    EMBED_REMOTE_CHARS,
    EMBED_REMOTE_TEXTS,
    EMBED_RETRIES,
    EMBED_RETRY_AFTER_SECONDS,
)
from shared.providers.connections import Connection
from tests.fakes.llm_script import CUT, NO_HEAD, RESET, Gate, Reply, error, html, json_reply
from tests.fakes.llm_stub import LlmStub
from workers.clients import Clients
from workers.llm.embeddings import EmbeddingUnavailableError
from workers.llm.remote_embeddings import RemoteEmbedder

KEY = "sk-canary-5b1d77aa90"


@pytest.fixture
async def clients() -> AsyncIterator[Clients]:
    made = Clients(Settings.model_validate({"PAGETURN_PRIVATE_MODELS": True}))
    yield made
    await made.aclose()


def embedder(stub: LlmStub, clients: Clients, **options: Any) -> RemoteEmbedder:
    connection = Connection("openai-compatible", "m", stub.url, SecretStr(KEY), "set")
    return RemoteEmbedder(
        clients.client(connection),
        **{"name": "n", "model": "m", "seconds": 10.0, "retry_seconds": 0.01} | options,
    )


async def failure(stub: LlmStub, clients: Clients, **options: Any) -> EmbeddingUnavailableError:
    with pytest.raises(EmbeddingUnavailableError) as caught:
        await embedder(stub, clients, **options).embed(["some text"])
    assert KEY not in caught.value.message
    assert caught.value.__cause__ is None
    return caught.value


def answer(*vectors: Any, order: list[int] | None = None, **more: Any) -> Reply:
    places = list(range(len(vectors))) if order is None else order
    rows = [{"index": place, "embedding": v} for place, v in zip(places, vectors, strict=True)]
    return json_reply({"object": "list", "data": rows, **more})


async def test_texts_go_as_floats_under_the_key_and_the_provider_counts_the_tokens(
    stub: LlmStub, clients: Clients
) -> None:
    made = embedder(stub, clients)
    first, second, third = await made.embed(["alpha beta", "gamma", "alpha beta"])
    assert first == third != second
    request = stub.embeddings[0]
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "input": ["alpha beta", "gamma", "alpha beta"],
        "model": "m",
        "encoding_format": "float",
    }
    assert made.tokens == 5


async def test_vectors_come_back_at_unit_length_and_in_the_texts_order(
    stub: LlmStub, clients: Clients
) -> None:
    stub.plays_embeddings(answer([0, 5], [3.0, 4.0], order=[1, 0]))
    assert await embedder(stub, clients).embed(["a", "b"]) == [[0.6, 0.8], [0.0, 1.0]]
    stub.plays_embeddings(answer([1e200, 1e200]), answer([1e-200, 0.0]))
    [large] = await embedder(stub, clients).embed(["a"])
    [small] = await embedder(stub, clients).embed(["a"])
    assert math.isclose(math.hypot(*large), 1.0)
    assert small == [1.0, 0.0]


async def test_an_answer_without_places_or_usage_is_taken_as_it_comes(
    stub: LlmStub, clients: Clients
) -> None:
    stub.plays_embeddings(json_reply({"data": [{"embedding": [1.0]}, {"embedding": [-1.0]}]}))
    made = embedder(stub, clients)
    assert await made.embed(["a", "b"]) == [[1.0], [-1.0]]
    assert made.tokens == 0


async def test_no_text_needs_no_call(stub: LlmStub, clients: Clients) -> None:
    assert await embedder(stub, clients).embed([]) == []
    assert stub.requests == []


async def test_many_texts_go_in_several_requests_and_keep_their_order(
    stub: LlmStub, clients: Clients
) -> None:
    texts = [f"word{n}" for n in range(EMBED_REMOTE_TEXTS + 5)]
    vectors = await embedder(stub, clients).embed([*texts, "x" * EMBED_REMOTE_CHARS, "y"])
    assert [len(request.body["input"]) for request in stub.embeddings] == [
        EMBED_REMOTE_TEXTS,
        5,
        1,
        1,
    ]
    assert vectors[EMBED_REMOTE_TEXTS] == (await embedder(stub, clients).embed([texts[-5]]))[0]


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_provider_that_takes_fewer_texts_gets_them_in_halves(
    stub: LlmStub, clients: Clients, status: int
) -> None:
    stub.plays_embeddings(error(status, "batch size 4 > maximum allowed batch size 2"))
    vectors = await embedder(stub, clients).embed(["a", "b", "c", "d"])
    assert [len(request.body["input"]) for request in stub.embeddings] == [4, 2, 2]
    assert len(vectors) == 4


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(html(200, "<h1>Welcome</h1>"), id="a web page"),
        pytest.param(Reply(200, [b"{"], {}, "application/json", "length"), id="half of it"),
        pytest.param(json_reply([]), id="a list"),
        pytest.param(json_reply({"data": "none"}), id="no list of vectors"),
        pytest.param(json_reply({"data": [None]}), id="nothing"),
        pytest.param(answer(), id="no vector"),
        pytest.param(answer([1.0], [1.0]), id="one too many"),
        pytest.param(answer([1.0], order=[7]), id="another place"),
        pytest.param(answer([]), id="no dimension"),
        pytest.param(answer([0.0, 0.0]), id="zeros"),
        pytest.param(answer([1e400, 1.0]), id="infinity"),
        pytest.param(answer(["1.0"]), id="texts"),
        pytest.param(answer([True]), id="truths"),
        pytest.param(answer("AACAPw=="), id="base64"),
        pytest.param(answer([1.0] * 16_001), id="too many dimensions"),
        pytest.param(
            Reply(200, [b'{"data": [{"embedding": [NaN]}]}'], {}, "application/json", "length"),
            id="not a number",
        ),
    ],
)
async def test_an_answer_that_is_no_vectors_is_refused_and_not_asked_for_again(
    stub: LlmStub, clients: Clients, reply: Reply
) -> None:
    stub.plays_embeddings(reply)
    assert (await failure(stub, clients)).code == "provider_bad_response"
    assert len(stub.embeddings) == 1


async def test_vectors_of_different_lengths_are_refused(stub: LlmStub, clients: Clients) -> None:
    stub.plays_embeddings(answer([1.0], [1.0, 0.0]))
    with pytest.raises(EmbeddingUnavailableError, match="different lengths"):
        await embedder(stub, clients).embed(["a", "b"])
    texts = ["t"] * (EMBED_REMOTE_TEXTS + 1)
    stub.plays_embeddings(answer(*[[1.0]] * EMBED_REMOTE_TEXTS), answer([1.0, 0.0]))
    with pytest.raises(EmbeddingUnavailableError, match="changed its model"):
        await embedder(stub, clients).embed(texts)


@pytest.mark.req("RA-05")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (error(401, f"Incorrect API key provided: {KEY}"), "provider_auth"),
        (error(403, "forbidden"), "provider_auth"),
        (error(402, "pay"), "provider_quota"),
        (error(429, "no more", code="insufficient_quota"), "provider_quota"),
        (error(404, "model 'm' not found"), "model_not_found"),
        (error(400, "bad"), "provider_error"),
        (html(418, f"<title>{KEY}</title>"), "provider_error"),
    ],
)
async def test_a_refusal_is_final_and_does_not_repeat_the_providers_words(
    stub: LlmStub, clients: Clients, reply: Reply, code: str
) -> None:
    stub.plays_embeddings(reply)
    refused = await failure(stub, clients)
    assert (refused.code, refused.status) == (code, reply.status)
    assert len(stub.embeddings) == 1


async def test_whoever_tests_a_provider_sees_its_words_without_the_key(
    stub: LlmStub, clients: Clients
) -> None:
    stub.plays_embeddings(error(401, f"Incorrect API key provided: {KEY}"))
    refused = await failure(stub, clients, key=SecretStr(KEY), quoting=True)
    assert "Incorrect API key provided" in refused.message


@pytest.mark.parametrize(
    "reply",
    [
        error(429, "slow down"),
        error(500, "oops"),
        error(503, "busy"),
        html(502, "<h1>Bad gateway</h1>"),
        Reply(NO_HEAD, [RESET]),
        Reply(200, [b'{"data":', CUT], {}, "application/json"),
    ],
    ids=["429", "500", "503", "502", "reset", "cut"],
)
async def test_what_may_pass_is_tried_again(stub: LlmStub, clients: Clients, reply: Reply) -> None:
    stub.plays_embeddings(reply, reply)
    assert len(await embedder(stub, clients).embed(["a"])) == 1
    assert len(stub.embeddings) == 3


async def test_the_pauses_grow_and_the_tries_end(stub: LlmStub, clients: Clients) -> None:
    stub.plays_embeddings(*[error(500, "oops")] * (EMBED_RETRIES + 1))
    failed = await failure(stub, clients, retry_seconds=0.05)
    assert (failed.code, failed.status) == ("provider_error", 500)
    came = [request.arrived for request in stub.embeddings]
    pauses = [after - before for before, after in itertools.pairwise(came)]
    assert len(pauses) == EMBED_RETRIES
    for number, pause in enumerate(pauses):
        assert pause >= 0.05 * 2**number


async def test_a_provider_that_names_its_pause_gets_it(stub: LlmStub, clients: Clients) -> None:
    in_a_second = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    stub.plays_embeddings(
        error(429, "slow down", {"retry-after": "1"}),
        error(503, "busy", {"retry-after": in_a_second}),
    )
    await embedder(stub, clients, retry_seconds=0).embed(["a"])
    first, second, _ = (request.arrived for request in stub.embeddings)
    assert second - first >= 1.0


async def test_a_provider_that_asks_for_much_patience_is_left_to_a_later_task(
    stub: LlmStub, clients: Clients
) -> None:
    patience = str(int(EMBED_RETRY_AFTER_SECONDS) + 1)
    stub.plays_embeddings(error(429, "slow down", {"retry-after": patience}))
    assert (await failure(stub, clients)).code == "provider_rate_limit"


@pytest.mark.req("RA-05")
async def test_a_provider_that_hangs_is_not_waited_for_beyond_the_batchs_time(
    stub: LlmStub, clients: Clients
) -> None:
    gate = Gate()
    stub.plays_embeddings(Reply(200, [b'{"data":', gate], {}, "application/json"))
    begun = time.monotonic()
    assert (await failure(stub, clients, seconds=0.3)).code == "provider_timeout"
    assert time.monotonic() - begun < 5
    await stub.until(lambda: stub.embeddings[0].closed_at is not None)


async def test_tries_and_pauses_share_the_batchs_time(stub: LlmStub, clients: Clients) -> None:
    stub.plays_embeddings(error(500, "oops"))
    failed = await failure(stub, clients, seconds=0.3, retry_seconds=30)
    assert failed.code == "provider_timeout"


async def test_a_provider_that_is_not_there_is_a_clear_error(clients: Clients) -> None:
    async with LlmStub() as gone:
        pass
    assert (await failure(gone, clients)).code == "provider_network"


async def test_an_address_that_may_not_be_asked_is_not_asked(stub: LlmStub) -> None:
    strict = Clients(Settings.model_validate({"PAGETURN_PRIVATE_MODELS": False}))
    refused = await failure(stub, strict)
    assert refused.code == "provider_network"
    assert "private or reserved" in refused.message
    assert stub.requests == []
    await strict.aclose()


async def test_a_cancelled_call_ends_at_once(stub: LlmStub, clients: Clients) -> None:
    gate = Gate()
    stub.plays_embeddings(Reply(200, [gate], {}, "application/json"))
    call = asyncio.create_task(embedder(stub, clients).embed(["a"]))
    await stub.until(lambda: stub.embeddings)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await stub.until(lambda: stub.embeddings[0].closed_at is not None)
