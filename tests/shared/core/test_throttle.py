"""A throttle guards money and logins: over all processes, and when its memory is away."""

import asyncio
from typing import Any

import pytest

from shared.core.errors import RateLimitedError, UnavailableError
from shared.core.redis import make_redis
from shared.core.settings import Settings, get_settings
from shared.core.throttle import Throttle
from tests.fakes.installation import free_port


def throttle(settings: Settings, per_minute: int = 10) -> Throttle:
    """As one process has it, with connections of its own."""
    return Throttle(
        settings.require_redis_url(),
        make_redis(settings),
        per_minute=per_minute,
        namespace="test",
        too_many="Too many.",
        away="Away.",
    )


@pytest.mark.req("RG-03")
async def test_a_burst_from_several_processes_gets_through_exactly_as_often_as_allowed(
    redis: Any,
) -> None:
    processes = [throttle(get_settings()) for _ in range(4)]
    tries = [processes[n % 4].check("ada") for n in range(100)]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert outcomes.count(None) == 10
    refused = [outcome for outcome in outcomes if outcome is not None]
    assert len(refused) == 90
    assert all(isinstance(outcome, RateLimitedError) for outcome in refused)
    await processes[0].check("eve")  # another person has a count of their own


async def test_a_burst_larger_than_the_connections_of_a_process_waits_for_them(
    redis: Any,
) -> None:
    guard = throttle(get_settings(), per_minute=1_000)
    outcomes = await asyncio.gather(*(guard.check("ada") for _ in range(400)))
    assert outcomes == [None] * 400


@pytest.mark.req("RG-03")
async def test_without_redis_nobody_gets_through() -> None:
    gone = get_settings().model_copy(
        update={"redis_url": Settings.model_validate({"REDIS_URL": _nowhere()}).redis_url}
    )
    guard = throttle(gone)
    for _ in range(3):
        with pytest.raises(UnavailableError, match="Away"):
            await guard.check("ada")


def _nowhere() -> str:
    return f"redis://127.0.0.1:{free_port()}/0"
