"""What docs/operations.md and its alert rules say of figures, settings and limits is so."""

import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from ops.processes import PROCESSES
from shared.core import tunables
from shared.core.settings import Settings
from tests.factories.world import World

DOCS = Path(__file__).parent.parent / "docs"
TEXT = (DOCS / "operations.md").read_text()
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((DOCS / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
METRIC = re.compile(r"\bpageturn_[a-z_]+[a-z]\b")


@pytest.fixture
async def samples(client: httpx2.AsyncClient, world: World) -> set[str]:
    """The names of all samples that /metrics has."""
    await client.get("/healthz")  # so that a request has been counted
    text = (await client.get("/metrics")).text
    return {s.name for family in text_string_to_metric_families(text) for s in family.samples}


async def test_every_figure_that_is_named_is_told(samples: set[str]) -> None:
    named = {name for rule in RULES for name in METRIC.findall(rule["expr"])}
    assert named
    assert named <= samples
    families = {re.sub(r"_(bucket|count|sum|created)$", "", name) for name in samples}
    written = set(METRIC.findall(TEXT)) - {"pageturn_http"}
    assert written <= families | samples


async def test_every_figure_of_ours_has_an_alarm_or_is_explained(samples: set[str]) -> None:
    families = {re.sub(r"_(bucket|count|sum|created)$", "", name) for name in samples}
    ours = {name for name in families if name.startswith("pageturn_")}
    silent = {name for name in ours if name not in TEXT}
    assert silent <= {"pageturn_http_request_seconds", "pageturn_http_requests"}


def test_every_alarm_has_a_line_and_every_line_an_alarm() -> None:
    listed = re.findall(r"^\| `(Pageturn\w+)` \|", TEXT, re.MULTILINE)
    assert [rule["alert"] for rule in RULES] == listed
    for rule in RULES:
        assert rule["annotations"]["summary"]
        assert rule["labels"]["severity"] in ("page", "ticket")


def test_figures_of_the_installation_are_not_added_up_over_processes() -> None:
    own = ("pageturn_http", "pageturn_event_lag", "pageturn_stream_readers", "pageturn_store_up")
    for rule in RULES:
        if not any(name.startswith(own) for name in METRIC.findall(rule["expr"])):
            assert "max" in rule["expr"], rule["alert"]
            assert "sum(" not in rule["expr"], rule["alert"]


def test_the_processes_settings_and_limits_are_those_of_the_code() -> None:
    table = re.findall(r"^\| `([a-z-]+)` \|", TEXT.split("### PostgreSQL")[0], re.MULTILINE)
    assert table == [process.name for process in PROCESSES]
    aliases = {str(field.alias) for field in Settings.model_fields.values()}
    named = set(re.findall(r"`((?:PAGETURN|APP|DATABASE|REDIS)_[A-Z_]+)`", TEXT))
    assert named - aliases <= {name for name in named if hasattr(tunables, name)}
    fields = Settings.model_fields
    lines = " ".join(TEXT.split())
    for text in (
        f"`api` | {tunables.DB_POOL_SIZE} (`DB_POOL_SIZE`)",
        f"each worker | {tunables.DB_POOL_SIZE + tunables.LEASE_POOL_SIZE} (",
        f"a command at the shell | {tunables.COMMAND_POOL_SIZE} |",
        f"`PAGETURN_CHAT_CONCURRENCY` ({fields['chat_concurrency'].default})",
        f"`PAGETURN_DRAIN_SECONDS` ({fields['drain_seconds'].default:.0f};",
        f"`PAGETURN_GRACE_SECONDS` ({fields['grace_seconds'].default:.0f})",
        f"its lease ends after {fields['lease_seconds'].default:.0f} s",
        f"ping ({fields['ping_seconds'].default:.0f} s)",
        f"(after {tunables.API_KEEP_ALIVE_SECONDS} s)",
        f"at most {tunables.MIGRATE_TRY_SECONDS:.0f} s at a time",
        f"has {tunables.API_GRACE_SECONDS} s for other requests",
        f"a body of {tunables.MAX_BODY_BYTES // 1024**2} MB",
        f"after {tunables.STALLED_READER_SECONDS:.0f} s or {tunables.READER_QUEUE_SIZE:,} messages",
    ):
        assert text in lines, text
