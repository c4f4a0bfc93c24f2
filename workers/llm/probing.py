"""One call of a provider, to see whether it answers."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from shared.chat import generations
from shared.core.logging import get_logger
from shared.core.secrets import UnreadableSecretError
from shared.core.tunables import PROVIDER_MESSAGE_CHARS, PROVIDER_TEST_TOKENS
from shared.providers import catalogue, rpc
from shared.providers.probes import Outcome, Probe
from shared.providers.scrubbing import without_key
from workers.llm.base import ModelError, ModelRequest, Usage, UserMessage
from workers.llm.drivers import model_for
from workers.llm.embeddings import EmbeddingUnavailableError
from workers.llm.local_embeddings import local_embedder
from workers.llm.remote_embeddings import RemoteEmbedder
from workers.runtime import Runtime

log = get_logger(__name__)

_QUESTION = "Answer with the single word: ready"


@dataclass(slots=True)
class _Call:
    """What a call has cost and brought so far."""

    input_tokens: int = 0
    output_tokens: int = 0
    dimensions: int | None = None


_SEALED_ELSEWHERE = "The worker has another APP_SECRET than the API: start both with the same one."


async def answer_probe(runtime: Runtime, request_id: UUID) -> None:
    """Make the call that a request describes, once, and tell whoever waits how it went."""
    try:
        taken = await rpc.take(runtime.database, runtime.secrets, request_id)
    except UnreadableSecretError:
        outcome = Outcome(code="not_configured", message=_SEALED_ELSEWHERE)
    else:
        if taken is None:
            return
        wanted = Probe.model_validate_json(taken.payload)
        outcome = await probe(runtime, taken.workspace_id, wanted)
    await rpc.answer(runtime.redis, request_id, outcome.model_dump_json().encode())


async def probe(runtime: Runtime, workspace_id: UUID, wanted: Probe) -> Outcome:
    """Make the call and account for it. What went wrong is in the outcome, without the key."""
    async with runtime.database.session() as session:
        entry = await catalogue.find(session, workspace_id, wanted.driver, wanted.model)
        opened = await generations.begin(
            session,
            workspace_id=workspace_id,
            user_id=wanted.user_id,
            chat_id=None,
            kind="test",
            object="chat" if wanted.purpose == "chat" else "search",
            driver=wanted.driver,
            model=wanted.model,
            price=generations.price_of(entry),
            settings_version=wanted.settings_version,
        )
    call = _Call()
    begun = asyncio.get_running_loop().time()
    outcome = await _attempt(runtime, wanted, call)
    outcome.time_ms = round((asyncio.get_running_loop().time() - begun) * 1000)
    async with runtime.database.session() as session:
        await generations.end(
            session,
            opened,
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            error_code=outcome.code,
        )
    return outcome


async def _attempt(runtime: Runtime, wanted: Probe, call: _Call) -> Outcome:
    seconds = runtime.settings.test_seconds
    try:
        async with asyncio.timeout(seconds):
            await (_chat if wanted.purpose == "chat" else _embed)(runtime, wanted, call)
    except (ModelError, EmbeddingUnavailableError) as error:
        # A provider may repeat in its answer what it was sent, the key among it.
        message = without_key(error.message, wanted.api_key)[:PROVIDER_MESSAGE_CHARS]
        return Outcome(code=error.code, message=message, status=error.status)
    except TimeoutError:
        message = f"The provider did not answer within {seconds:g} seconds."
        return Outcome(code="provider_timeout", message=message)
    except Exception as error:
        log.warning("probe_failed", driver=wanted.driver, error=type(error).__name__)
        return Outcome(code="internal", message="Something went wrong here. It has been logged.")
    return Outcome(dimensions=call.dimensions)


async def _chat(runtime: Runtime, wanted: Probe, call: _Call) -> None:
    request = ModelRequest(
        model=wanted.model,
        system="",
        messages=(UserMessage(_QUESTION),),
        max_output_tokens=PROVIDER_TEST_TOKENS,
    )
    model = model_for(wanted.connection, runtime.settings, runtime.clients)
    async for event in model.stream(request):
        if isinstance(event, Usage):  # told of an answer that fails, too
            call.input_tokens, call.output_tokens = event.input_tokens, event.output_tokens


async def _embed(runtime: Runtime, wanted: Probe, call: _Call) -> None:
    if wanted.driver == "local":
        local = local_embedder(runtime.settings, threads=1, executor=runtime.query_slot)
        [vector] = await local.embed([_QUESTION])
    else:
        remote = RemoteEmbedder(
            runtime.clients.client(wanted.connection),
            name=wanted.model,
            model=wanted.model,
            seconds=runtime.settings.test_seconds,
            retry_seconds=0,
            retries=0,
            key=wanted.api_key,
            quoting=True,
        )
        [vector] = await remote.embed([_QUESTION])
        call.input_tokens = remote.tokens
    call.dimensions = len(vector)
