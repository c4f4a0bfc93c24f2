"""The table of processes: secrets only in the environment, Flower on loopback without a login."""

import pytest

from ops.errors import OpsError
from ops.processes import PROCESSES, address_of, environment_of, flower_host, process_named
from shared.core.settings import Settings

SECRETS = {
    "DATABASE_URL": "postgresql://pageturn:database-word@127.0.0.1/pageturn",
    "REDIS_URL": "redis://:redis-word@127.0.0.1/0",
    "APP_SECRET": "secret-word" * 4,
    "APP_SECRET_PREVIOUS": "former-word" * 4,
    "PAGETURN_FLOWER_AUTH": "ada:flower-word",
    "PAGETURN_OWNER_PASSWORD": "owner-word",
}


def settings(**values: str) -> Settings:
    return Settings.model_validate(SECRETS | values)


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.name)
def test_no_secret_stands_on_a_command_line(process: object) -> None:
    found = process_named(process.name)  # type: ignore[attr-defined]
    line = " ".join(found.argv(settings()))
    names = ("database", "redis", "secret", "former", "flower", "owner")
    words = [f"{name}-word" for name in names]
    assert not any(word in line for word in words)


def test_a_process_gets_what_it_needs_and_no_more() -> None:
    api = environment_of(process_named("api"), settings(), SECRETS | {"PATH": "/bin"})
    assert api["DATABASE_URL"] == SECRETS["DATABASE_URL"]
    assert api["APP_SECRET"] == SECRETS["APP_SECRET"]
    assert api["APP_SECRET_PREVIOUS"] == SECRETS["APP_SECRET_PREVIOUS"]
    assert (api["PATH"], api["PAGETURN_PROCESS"]) == ("/bin", "api")
    assert not any(word in value for value in api.values() for word in ("owner-word", "flower-w"))


def test_flower_without_a_login_stays_on_loopback_and_cannot_be_used_to_stop_workers() -> None:
    plain = settings(PAGETURN_FLOWER_AUTH="", PAGETURN_HOST="0.0.0.0")
    assert flower_host(plain) == "127.0.0.1"
    environment = environment_of(process_named("flower"), plain, {})
    assert environment["FLOWER_UNAUTHENTICATED_API"] == "true"
    assert environment["FLOWER_READ_ONLY"] == "true"


def test_flower_with_a_login_goes_where_the_api_goes() -> None:
    open_to_all = settings(PAGETURN_HOST="0.0.0.0")
    assert flower_host(open_to_all) == "0.0.0.0"
    environment = environment_of(process_named("flower"), open_to_all, {})
    assert environment["FLOWER_BASIC_AUTH"] == "ada:flower-word"
    assert "FLOWER_UNAUTHENTICATED_API" not in environment


@pytest.mark.parametrize("login", ["ada", ":word", "ada:", "ada:one,eve:two"])
def test_a_login_that_flower_would_misread_is_refused(login: str) -> None:
    with pytest.raises(OpsError, match="PAGETURN_FLOWER_AUTH"):
        environment_of(process_named("flower"), settings(PAGETURN_FLOWER_AUTH=login), {})


def test_an_unknown_process_is_answered_with_the_known_ones() -> None:
    with pytest.raises(OpsError, match="api, worker-chat, worker-rpc, worker-index, beat, flower"):
        process_named("worker")


def test_addresses_are_such_as_can_be_opened() -> None:
    assert address_of("0.0.0.0", 8000) == "http://127.0.0.1:8000"
    assert address_of("::1", 8000) == "http://[::1]:8000"
