"""docker-compose.yml and the code agree. No engine runs it here; this is how it is checked."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ops.processes import PROCESSES
from shared.core.settings import Settings
from shared.core.tunables import API_END_SECONDS, STORE_STOP_SECONDS, WORKER_END_SECONDS

ROOT = Path(__file__).parent.parent
FILE = (ROOT / "docker-compose.yml").read_text()
SERVICES: dict[str, Any] = yaml.safe_load(FILE)["services"]
OURS = {name: spec for name, spec in SERVICES.items() if name not in ("postgres", "valkey")}


def known_variables() -> set[str]:
    return {str(field.alias) for field in Settings.model_fields.values() if field.alias}


def test_every_process_of_the_code_has_a_service_and_every_service_a_process() -> None:
    started = {spec["command"][2] for spec in OURS.values() if spec["command"][1] == "process"}
    assert started == {process.name for process in PROCESSES}
    assert SERVICES["migrate"]["command"] == ["pageturn", "migrate"]
    assert SERVICES["migrate"]["restart"] == "no"


def test_every_command_is_one_of_the_command_line() -> None:
    from ops.cli import app

    names = {command.name or command.callback.__name__ for command in app.registered_commands}
    for name, spec in OURS.items():
        assert spec["command"][0] == "pageturn", name
        assert spec["command"][1] in names, name


@pytest.mark.parametrize("service", OURS)
def test_every_variable_is_one_that_the_code_reads(service: str) -> None:
    assert set(OURS[service]["environment"]) <= known_variables()


def test_ports_agree_with_what_the_processes_listen_on() -> None:
    assert SERVICES["api"]["environment"]["PAGETURN_PORT"] == "8000"
    assert SERVICES["api"]["ports"] == ["${PAGETURN_PORT:-8000}:8000"]
    assert SERVICES["flower"]["environment"]["PAGETURN_FLOWER_PORT"] == "5555"
    assert SERVICES["flower"]["ports"] == ["${PAGETURN_FLOWER_PORT:-5555}:5555"]
    assert Settings.model_fields["port"].default == 8000
    assert Settings.model_fields["flower_port"].default == 5555
    assert "/healthz" in SERVICES["api"]["healthcheck"]["test"][-1]


def test_flower_has_a_login_and_the_stores_lose_nothing() -> None:
    assert ":?" in SERVICES["flower"]["environment"]["PAGETURN_FLOWER_AUTH"]
    command = SERVICES["valkey"]["command"][-1]
    assert "--appendonly yes" in command
    assert "--maxmemory-policy noeviction" in command
    assert SERVICES["postgres"]["image"] == "pgvector/pgvector:pg18"


def test_models_in_private_networks_are_allowed_only_on_request() -> None:
    for name in ("api", "worker-chat", "worker-rpc", "worker-index"):
        setting = OURS[name]["environment"]["PAGETURN_PRIVATE_MODELS"]
        assert setting == "${PAGETURN_PRIVATE_MODELS:-false}"
    assert "PAGETURN_PRIVATE_MODELS" in FILE.split("x-pageturn")[0]


def seconds(period: str) -> float:
    return float(period.removesuffix("s"))


def test_no_process_is_killed_before_it_has_had_its_time_to_end() -> None:
    grace = {name: seconds(spec.get("stop_grace_period", "10s")) for name, spec in SERVICES.items()}
    settings = Settings.model_validate({"PAGETURN_DRAIN_SECONDS": "30"})
    assert grace["api"] >= settings.drain_seconds + API_END_SECONDS
    for name in ("worker-chat", "worker-rpc", "worker-index"):
        assert grace[name] >= settings.grace_seconds + WORKER_END_SECONDS
    assert min(grace["postgres"], grace["valkey"]) >= STORE_STOP_SECONDS


def test_every_interpolated_variable_is_named_at_the_top() -> None:
    head = FILE.split("x-pageturn")[0]
    required = set(re.findall(r"\$\{(\w+):\?", FILE))
    assert all(name in head for name in required)


def test_only_the_process_that_keeps_no_state_is_scaled() -> None:
    assert "container_name" not in FILE
    assert "ports" not in SERVICES["worker-chat"]
