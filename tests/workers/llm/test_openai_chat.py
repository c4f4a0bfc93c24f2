"""The driver over real HTTP: every way in which an answer can come and end."""

import asyncio
import contextlib
import email.utils
import re
import socket
import ssl
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest
import structlog
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from shared.core.networks import IPAddress
from shared.core.settings import Settings
from shared.providers.connections import Connection
from tests.fakes.llm_script import (
    DONE,
    NO_HEAD,
    RESET,
    Gate,
    Reply,
    data,
    error,
    finish,
    html,
    json_reply,
    says,
    stream,
    text,
    usage,
)
from tests.fakes.llm_stub import LlmStub
from tests.workers.llm.conftest import MakeModel
from tests.workers.llm.odd_streams import ODD_STREAMS, Odd, Said, summary
from workers.clients import Clients
from workers.guarded_http import guarded_client
from workers.llm.base import (
    ContextTooLongError,
    Model,
    ModelError,
    ModelEvent,
    ModelRequest,
    Usage,
    UserMessage,
)
from workers.llm.complete import complete
from workers.llm.drivers import model_for
from workers.llm.openai_chat import OpenAIChatModel

QUESTION = ModelRequest("m", "Be short.", (UserMessage("Hello?"),))


async def ask(model: Model, request: ModelRequest = QUESTION) -> tuple[Said, ModelError | None]:
    events: list[ModelEvent] = []
    try:
        async for event in model.stream(request):
            events.append(event)
    except ModelError as failure:
        return summary(events, failure.code), failure
    return summary(events), None


@pytest.mark.parametrize("odd", ODD_STREAMS, ids=lambda odd: odd.name)
async def test_an_odd_stream_comes_to_what_it_says(
    odd: Odd, stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(*odd.replies)
    said, _ = await ask(make_model())
    assert said == odd.said
    assert len(stub.chats) == len(odd.replies)


async def fails(model: Model, request: ModelRequest = QUESTION) -> ModelError:
    said, failure = await ask(model, request)
    assert failure is not None, f"it answered: {said}"
    return failure


# The wordings are the providers' own in substance, not in their words.
REFUSALS = [
    ("a key that is not accepted", error(401, "Incorrect API key"), "provider_auth"),
    ("a key without the right", error(403, "Forbidden for your region"), "provider_auth"),
    ("Google's refusal of a key", error(400, "API key not valid. Pass one."), "provider_auth"),
    ("payment required", error(402, "Insufficient balance"), "provider_quota"),
    (
        "a quota that is used up",
        error(429, "You exceeded your quota", code="insufficient_quota"),
        "provider_quota",
    ),
    ("no credit", error(400, "Your credit balance is too low"), "provider_quota"),
    ("an unknown model", error(404, "The model `m` does not exist"), "model_not_found"),
    ("Ollama's unknown model", error(404, 'model "m" not found, pull it'), "model_not_found"),
    (
        "an unknown model as a bad request",
        error(400, "m is not a valid model ID"),
        "model_not_found",
    ),
    ("an unknown path", html(404, "<html><title>Not Found</title></html>"), "provider_error"),
    ("no tools", error(400, "registry/m does not support tools"), "tools_unsupported"),
    (
        "no tools anywhere",
        error(404, "No endpoints found that support tool use"),
        "tools_unsupported",
    ),
    ("a body too large", html(413, "<title>Request Entity Too Large</title>"), "context_too_long"),
    ("a filter", error(400, "Filtered", code="content_filter"), "content_filter"),
    ("another bad request", error(400, "temperature must be below 2"), "provider_error"),
    ("a redirect", Reply(302, headers={"location": "/elsewhere"}), "provider_error"),
    ("a teapot without a word", Reply(418), "provider_error"),
]


@pytest.mark.parametrize(("_", "reply", "code"), REFUSALS, ids=[name for name, *_ in REFUSALS])
async def test_a_refusal_has_a_code_and_is_not_repeated(
    _: str, reply: Reply, code: str, stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(reply)
    failure = await fails(make_model())
    assert (failure.code, failure.status) == (code, reply.status)
    assert f"({reply.status})" in failure.message
    assert len(stub.chats) == 1


TOO_LONG = [
    "This model's maximum context length is 8192 tokens, but you asked for 9000.",
    "Please reduce the length of the messages or completion.",
    "Input tokens exceed the configured limit of 272000 tokens.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "the request exceeds the available context size, try increasing it",
    "prompt too long; exceeded max context length by 12 tokens",
    "This model's maximum prompt length is 131072 but the request has 200000 tokens",
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    "Your request exceeded model token limit: 131072",
    "Input validation error: `inputs` must have less than 4096 tokens",
    "Number of tokens to keep from the initial prompt is greater than the context",
    "Input is too long for requested model.",
]


@pytest.mark.parametrize("words", TOO_LONG)
async def test_a_conversation_that_is_too_long_is_told_apart(
    words: str, stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(error(400, words), stream(data({"error": {"message": words}})))
    assert isinstance(await fails(make_model()), ContextTooLongError)
    assert isinstance(await fails(make_model()), ContextTooLongError)


async def test_a_code_alone_tells_that_it_is_too_long(stub: LlmStub, make_model: MakeModel) -> None:
    stub.plays(error(400, "Bad request", code="context_length_exceeded"))
    assert (await fails(make_model())).code == "context_too_long"


@pytest.mark.req("ST-06")
async def test_a_providers_words_come_with_the_status_and_without_the_key(
    stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(
        *[error(429, f"Slow down,\n\tsk-test-1234567! Bearer abc.def sk-proj-9*****{'x' * 400}")]
        * 4
    )
    failure = await fails(make_model(key="sk-test-1234567"))
    assert (failure.code, failure.status) == ("provider_rate_limit", 429)
    assert "(429): Slow down, ***! *** ***" in failure.message
    assert len(failure.message) < 400
    assert not re.search(r"sk-|abc|\n|\t", failure.message)


async def test_html_is_told_by_its_title(stub: LlmStub, make_model: MakeModel) -> None:
    stub.plays(html(418, "<html><head><title>Bad &amp; ugly</title></head><body>x</body></html>"))
    assert (await fails(make_model())).message.endswith("(418): Bad & ugly")


async def test_what_was_sent_is_not_told_back(stub: LlmStub, make_model: MakeModel) -> None:
    fault = {"loc": ["body", "x"], "msg": "Extra inputs", "input": [{"content": "SECRET"}]}
    stub.plays(
        json_reply({"detail": [fault]}, 422),
        error(400, str([{"type": "extra", "msg": "Extra inputs", "input": "SECRET"}])),
    )
    for _ in range(2):
        message = (await fails(make_model())).message
        assert "Extra inputs" in message
        assert "SECRET" not in message


async def test_a_gateway_passes_its_providers_words_on(
    stub: LlmStub, make_model: MakeModel
) -> None:
    raw = orjson.dumps({"error": {"message": "prompt is too long: 9 > 8"}}).decode()
    stub.plays(error(400, "Provider returned error", metadata={"raw": raw}))
    failure = await fails(make_model())
    assert failure.code == "context_too_long"
    assert "Provider returned error: prompt is too long" in failure.message


@pytest.mark.req("LP-09")
async def test_an_overloaded_provider_is_asked_again(stub: LlmStub, make_model: MakeModel) -> None:
    stub.plays(error(529, "Overloaded"), error(529, "Overloaded"), says("Here."))
    said, _ = await ask(make_model())
    assert said.text == "Here."
    assert len(stub.chats) == 3


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_what_may_pass_is_tried_four_times(
    status: int, stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(*[error(status, "Busy")] * 4)
    assert (await fails(make_model())).status == status
    assert len(stub.chats) == 4


@pytest.mark.req("LP-09")
async def test_the_pauses_double(stub: LlmStub, make_model: MakeModel) -> None:
    stub.plays(*[error(503, "Busy")] * 4)
    await fails(make_model(model_retry_seconds=0.05))
    asked = [request.arrived for request in stub.chats]
    pauses = [after - before for before, after in pairwise(asked)]
    assert all(pause > 0.05 * 2**n * 0.8 for n, pause in enumerate(pauses))


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": "0.2"},
        {"retry-after-ms": "200", "retry-after": "20"},
        {"retry-after": "soon", "retry-after-ms": "200"},
    ],
)
async def test_a_provider_that_says_how_long_is_left_in_peace(
    headers: dict[str, str], stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(error(429, "Slow down", headers), says("x"))
    assert (await ask(make_model()))[0].text == "x"
    assert 0.2 <= stub.chats[1].arrived - stub.chats[0].arrived < 5


async def test_a_date_says_how_long_too(stub: LlmStub, make_model: MakeModel) -> None:
    at = email.utils.formatdate(time.time() + 2, usegmt=True)
    stub.plays(error(429, "Slow down", {"retry-after": at}), says("x"))
    assert (await ask(make_model()))[0].text == "x"
    assert 0.9 <= stub.chats[1].arrived - stub.chats[0].arrived < 5


async def test_a_provider_that_asks_for_too_much_patience_is_not_asked_again(
    stub: LlmStub, make_model: MakeModel
) -> None:
    at = email.utils.formatdate(time.time() + 7300, usegmt=True)
    for headers, when in (
        ({"retry-after": "90"}, "in 90 seconds"),
        ({"retry-after": "600"}, "in 10 minutes"),
        ({"retry-after": at}, "in 2 hours"),
    ):
        stub.plays(error(429, "Slow down", headers))
        failure = await fails(make_model())
        assert failure.code == "provider_rate_limit"
        assert failure.message.endswith(f"It says to try again {when}.")
    assert len(stub.chats) == 3


async def test_google_speaks_of_quota_where_it_only_asks_to_wait(
    stub: LlmStub, make_model: MakeModel
) -> None:
    quota = {"code": 429, "message": "You exceeded your quota: check plan and billing details"}
    wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.1s"}
    stub.plays(json_reply([{"error": {**quota, "details": [wait]}}], 429), says("x"))
    assert (await ask(make_model()))[0].text == "x"
    stub.plays(json_reply([{"error": quota}], 429))
    assert (await fails(make_model())).code == "provider_quota"


@pytest.mark.req("ST-10")
async def test_a_connection_reset_before_the_first_byte_is_tried_again(
    stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(Reply(NO_HEAD, [RESET]), says("Here."))
    assert (await ask(make_model()))[0].text == "Here."
    assert len(stub.chats) == 2


@pytest.mark.req("ST-10")
async def test_after_the_first_word_nothing_is_tried_again(
    stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(stream(text("Half"), RESET))
    said, failure = await ask(make_model())
    assert said == Said("Half", error="provider_network")
    assert failure is not None
    assert "broke off" in failure.message
    assert len(stub.chats) == 1


@pytest.mark.req("ST-10")
@pytest.mark.parametrize("spoken", [[], text("Half"), [b": still here\n\n"]])
async def test_silence_over_the_limit_ends_the_answer(
    spoken: list[bytes], stub: LlmStub, impatient: Settings
) -> None:
    stub.plays(stream(spoken, Gate()))
    settings = impatient.model_copy(update={"model_silence_seconds": 0.2})
    failure = await fails(model_for(Connection("ollama", "m", stub.url), settings))
    assert failure.code == "provider_timeout"
    assert "0.2 seconds" in failure.message
    await stub.until(lambda: stub.chats[0].closed_at)
    assert len(stub.chats) == 1


async def test_silence_before_the_headers_is_silence_too(
    stub: LlmStub, impatient: Settings
) -> None:
    stub.plays(Reply(NO_HEAD, [Gate()]))
    settings = impatient.model_copy(update={"model_silence_seconds": 0.2})
    model = model_for(Connection("ollama", "m", stub.url), settings)
    assert (await fails(model)).code == "provider_timeout"


async def test_the_limit_is_for_each_silence_not_for_the_answer(
    stub: LlmStub, impatient: Settings
) -> None:
    pauses = [part for piece in text(*"abcdef") for part in (piece, 0.15)]
    stub.plays(stream(pauses, finish(), DONE))
    settings = impatient.model_copy(update={"model_silence_seconds": 0.5})
    model = model_for(Connection("ollama", "m", stub.url), settings)
    assert (await ask(model))[0].text == "abcdef"


async def test_a_stream_that_lingers_after_the_last_word_is_left(
    stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(
        stream(text("x"), finish(), Gate()), stream(text("x"), finish(), usage(7, 3), DONE, Gate())
    )
    for tokens in (None, (7, 3)):
        begun = time.monotonic()
        assert (await ask(make_model()))[0] == Said("x", finish="stop", usage=tokens)
        assert time.monotonic() - begun < 3
    await stub.until(lambda: all(request.closed_at for request in stub.chats))


@pytest.mark.req("ST-10")
async def test_a_connection_serves_one_answer_after_another(
    stub: LlmStub, make_model: MakeModel
) -> None:
    model = make_model()
    for _ in range(3):
        stub.plays(says("x"))
        await ask(model)
    assert stub.connections == 1


async def test_nobody_listening_is_a_network_error(impatient: Settings) -> None:
    async with LlmStub() as gone:
        url = gone.url
    model = model_for(Connection("ollama", "m", url), impatient)
    failure = await fails(model)
    assert (failure.code, failure.status) == ("provider_network", None)
    assert failure.message.startswith("The provider cannot be reached")


async def test_a_name_without_an_address_is_a_network_error(impatient: Settings) -> None:
    async def resolve(host: str, port: int) -> list[IPAddress]:
        raise socket.gaierror("no such host")

    failure = await fails(guarded_model(impatient, "http://nowhere.example/v1", resolve=resolve))
    assert failure.code == "provider_network"
    assert "cannot be resolved" in failure.message


async def test_a_certificate_that_nobody_vouches_for_is_a_network_error(
    stub: LlmStub, impatient: Settings, tmp_path: Path
) -> None:
    certificate = self_signed(tmp_path)
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=certificate)
    port = server.sockets[0].getsockname()[1]
    async with server:
        failure = await fails(guarded_model(impatient, f"https://127.0.0.1:{port}/v1"))
    assert failure.code == "provider_network"
    assert "certificate" in failure.message.lower()


async def test_an_address_that_may_not_be_asked_is_not(stub: LlmStub, impatient: Settings) -> None:
    settings = impatient.model_copy(update={"private_models": False})
    failure = await fails(model_for(Connection("ollama", "m", stub.url), settings))
    assert failure.code == "provider_network"
    assert "private" in failure.message
    assert stub.connections == 0


async def test_an_answer_larger_than_allowed_is_refused(stub: LlmStub, impatient: Settings) -> None:
    stub.plays(says("x" * 5000), json_reply({"x": "y" * 5000}))
    for _ in range(2):
        model = guarded_model(impatient, stub.url, max_bytes=2000)
        assert (await fails(model)).code == "provider_bad_response"


async def test_a_key_that_no_header_can_carry_is_told_at_once(make_model: MakeModel) -> None:
    for key in ("ключ", "sk-1\nx: y"):
        assert (await fails(make_model(key=key))).code == "provider_auth"


async def test_cancelling_closes_the_connection_at_once(
    stub: LlmStub, make_model: MakeModel
) -> None:
    spoken = asyncio.Event()

    async def listen() -> None:
        async for _ in make_model().stream(QUESTION):
            spoken.set()

    stub.plays(stream(text("Half"), Gate()))
    task = asyncio.create_task(listen())
    await spoken.wait()
    cancelled = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await stub.until(lambda: stub.chats[0].closed_at)
    assert stub.chats[0].closed_at - cancelled < 1


async def test_cancelling_before_the_headers_closes_the_connection_too(
    stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(Reply(NO_HEAD, [Gate()]))
    task = asyncio.create_task(ask(make_model()))
    await stub.until(lambda: stub.chats)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await stub.until(lambda: stub.chats[0].closed_at)


async def test_a_listener_that_leaves_closes_the_connection(
    stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(stream(text("a", "b"), Gate()))
    async with contextlib.aclosing(make_model().stream(QUESTION)) as events:
        async for _ in events:
            break
    await stub.until(lambda: stub.chats[0].closed_at)


async def test_the_log_says_code_status_and_driver_and_nothing_else(
    stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(error(400, "Your secret prompt is bad"))
    with structlog.testing.capture_logs() as lines:
        await fails(make_model("gemini", key="sk-secret-123"))
    assert [{**line, "module": ""} for line in lines] == [
        {
            "event": "model_failed",
            "log_level": "warning",
            "code": "provider_error",
            "status": 400,
            "driver": "gemini",
            "module": "",
        }
    ]


@pytest.mark.req("LP-10")
async def test_an_answer_has_no_bound_of_ours_unless_it_is_asked_for(
    stub: LlmStub, make_model: MakeModel
) -> None:
    stub.plays(says("x"), says("x"), says("x"))
    await ask(make_model("openai"))
    await ask(make_model("openai"), replace(QUESTION, max_output_tokens=50))
    await ask(make_model("ollama"), replace(QUESTION, max_output_tokens=50))
    bounds = [
        {k: v for k, v in request.body.items() if k.startswith("max_")} for request in stub.chats
    ]
    assert bounds == [{}, {"max_completion_tokens": 50}, {"max_tokens": 50}]


async def test_a_whole_answer_can_be_had_at_once(stub: LlmStub, make_model: MakeModel) -> None:
    stub.plays(says("A", " title"), stream(text("x"), finish(), DONE))
    assert await complete(make_model(), QUESTION) == ("A title", Usage(10, 2))
    assert await complete(make_model(), QUESTION) == ("x", None)


def guarded_model(settings: Settings, url: str, *, max_bytes: int = 10_000, **more: Any) -> Model:
    """A model whose HTTP client is made in another way than the usual."""

    def http(settings: Settings) -> httpx2.AsyncClient:
        timeout = httpx2.Timeout(settings.model_silence_seconds)
        return guarded_client(private=True, timeout=timeout, max_bytes=max_bytes, **more)

    return OpenAIChatModel(Connection("ollama", "m", url), settings, Clients(settings, http=http))


def self_signed(folder: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context
