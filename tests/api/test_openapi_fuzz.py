"""Every operation of the schema with made-up input: no 5xx, and answers as declared."""

import asyncio

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from shared.core.db import Database
from tests.factories.pages import MakePage
from tests.factories.world import World

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
# They end the sessions that the others need, count attempts, stream, or wait for workers.
SPARED = (
    r"^/v1/auth/(sign-|sessions|password)|^/v1/ai/chat/|^/readyz|^/v1/workspace/ai-settings/test"
)
EXAMPLES = 40  # an operation


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
async def test_made_up_input_to_every_operation_gives_no_5xx(
    database: Database, world: World, live_server: str
) -> None:
    async with httpx2.AsyncClient(base_url=live_server) as client:
        page = await MakePage(client, world)(by="owner")
    real = {"space_id": str(world.space("WIKI")), "page_id": page["id"]}
    tried = await asyncio.to_thread(_fuzz, live_server, world.headers("owner"), real)
    assert tried >= 20


def _fuzz(address: str, headers: dict[str, str], real: dict[str, str]) -> int:
    """Every operation that is not spared; how many there were."""
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    tried = 0
    for found in schema.exclude(path_regex=SPARED).get_all_operations():
        operation = found.ok()

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(), exists=st.booleans())
        def run(case: schemathesis.Case, exists: bool) -> None:
            if exists:
                _aim(case, real)
            case.call_and_validate(base_url=address, headers=headers, checks=CHECKS)

        run()
        tried += 1
    return tried


def _aim(case: schemathesis.Case, real: dict[str, str]) -> None:
    """Put what is there in the place of made-up ids."""
    for name, value in real.items():
        if name in (case.path_parameters or {}):
            case.path_parameters[name] = value
    if isinstance(case.body, dict) and "spaceId" in case.body:
        case.body["spaceId"] = real["space_id"]
