"""Which provider a turn goes to: the workspace's, by its settings of now, in every worker."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import select

from shared.core.errors import NotConfiguredError
from shared.core.settings import get_settings
from shared.providers import service
from shared.providers.connections import Typed
from shared.providers.models import AiSettings, ProviderCredential
from shared.providers.service import AiSettingsChange
from tests.fakes.llm_script import says
from tests.fakes.llm_stub import LlmStub
from tests.fakes.turns import Stage
from workers.agent.attempt import attempt
from workers.runtime import Runtime


@pytest.fixture
async def workers(database: object, redis: object) -> AsyncIterator[tuple[Stage, Stage]]:
    """Two worker processes' runtimes."""
    settings = get_settings().model_copy(update={"private_models": True})
    async with contextlib.AsyncExitStack() as stack:
        stages = []
        for _ in range(2):
            runtime = Runtime(settings)
            stack.push_async_callback(runtime.close)
            stages.append(Stage(runtime))
        yield stages[0], stages[1]


async def choose(
    stage: Stage,
    world: Any,
    who: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    **values: Any,
) -> None:
    typed = Typed(base_url, None if api_key is None else SecretStr(api_key))
    async with stage.database.session() as session:
        await service.change_settings(
            session,
            world.actor(who),
            AiSettingsChange(values, chat=typed),
            stage.runtime.secrets,
            private=True,
        )


async def ask(stage: Stage, world: Any, who: str) -> str:
    turn_id = await stage.send(world.actor(who), "Q?")
    await attempt(stage.runtime, stage.keeper, turn_id)
    assert (await stage.turn(turn_id)).status == "completed"
    return (await stage.answer(turn_id)).content


def authorization(stub: LlmStub) -> list[str | None]:
    return [request.headers.get("authorization") for request in stub.chats]


@pytest.mark.req("PV-06")
async def test_a_change_takes_effect_with_the_next_message_in_every_worker(
    workers: tuple[Stage, Stage], world: Any
) -> None:
    async with (
        LlmStub(fallback=says("first")) as first,
        LlmStub(fallback=says("second")) as second,
    ):
        one = {"driver": "openai-compatible", "chat_model": "m"}
        await choose(workers[0], world, "owner", **one, base_url=first.url, api_key="key-one-11111")
        assert [await ask(worker, world, "writer") for worker in workers] == ["first"] * 2
        await choose(workers[0], world, "owner", base_url=second.url, api_key="key-two-22222")
        assert [await ask(worker, world, "writer") for worker in workers] == ["second"] * 2
        assert authorization(first) == ["Bearer key-one-11111"] * 2
        assert authorization(second) == ["Bearer key-two-22222"] * 2


@pytest.mark.req("PV-06")
async def test_two_workspaces_use_their_own_keys_at_the_same_time(
    workers: tuple[Stage, Stage], world: Any
) -> None:
    async with LlmStub(fallback=says("yes")) as stub:
        for who, key in (("owner", "key-acme-11111"), ("other", "key-other-2222")):
            await choose(
                workers[0],
                world,
                who,
                driver="openai-compatible",
                chat_model="m",
                base_url=stub.url,
                api_key=key,
            )
        for who in ("writer", "other", "writer"):
            await ask(workers[0], world, who)
        assert authorization(stub) == [
            "Bearer key-acme-11111",
            "Bearer key-other-2222",
            "Bearer key-acme-11111",
        ]


@pytest.mark.req("PV-08")
async def test_switching_the_driver_and_back_keeps_each_ones_key(
    workers: tuple[Stage, Stage], world: Any
) -> None:
    async with LlmStub(fallback=says("yes")) as stub:
        await choose(
            workers[0],
            world,
            "owner",
            driver="openai",
            chat_model="m",
            base_url=stub.url,
            api_key="key-openai-111",
        )
        await choose(workers[0], world, "owner", driver="gemini", api_key="key-gemini-222")
        await choose(workers[0], world, "owner", driver="openai")
        await ask(workers[0], world, "writer")
        assert authorization(stub) == ["Bearer key-openai-111"]
        async with workers[0].database.session() as session:
            rows = list(await session.scalars(select(ProviderCredential.driver)))
            assert sorted(rows) == ["gemini", "openai"]


@pytest.mark.req("PV-04")
async def test_ollama_is_asked_without_a_key(workers: tuple[Stage, Stage], world: Any) -> None:
    async with LlmStub(fallback=says("yes")) as stub:
        await choose(workers[0], world, "owner", driver="ollama", chat_model="m", base_url=stub.url)
        await ask(workers[0], world, "writer")
        assert authorization(stub) == [None]


async def test_a_turn_that_waited_while_the_driver_changed_uses_the_new_ones_model(
    workers: tuple[Stage, Stage], world: Any
) -> None:
    async with LlmStub(fallback=says("yes")) as stub:
        turn_id = await workers[0].send(world.actor("writer"), "Q?")  # offline, as it began
        await choose(
            workers[0], world, "owner", driver="ollama", chat_model="big", base_url=stub.url
        )
        await attempt(workers[0].runtime, workers[0].keeper, turn_id)
        assert [request.body["model"] for request in stub.chats] == ["big"]
        turn = await workers[0].turn(turn_id)
        assert (turn.status, turn.driver, turn.model) == ("completed", "ollama", "big")
        async with workers[0].database.session() as session:
            ai = await session.get_one(AiSettings, world.workspace_id)
            assert ai.driver == "ollama"


async def test_a_turn_whose_provider_was_taken_away_ends_with_what_is_missing(
    workers: tuple[Stage, Stage], world: Any
) -> None:
    turn_id = await workers[0].send(world.actor("writer"), "Q?")
    await choose(workers[0], world, "owner", driver="openai", chat_model="m")
    await attempt(workers[0].runtime, workers[0].keeper, turn_id)
    turn = await workers[0].turn(turn_id)
    assert (turn.status, turn.error_code) == ("error", "not_configured")
    assert (await workers[0].answer(turn_id)).meta["errorCode"] == "not_configured"
    with pytest.raises(NotConfiguredError) as refused:
        await workers[0].send(world.actor("writer"), "Again?")
    assert refused.value.details["missing"] == ["apiKey"]
