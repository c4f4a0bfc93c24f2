"""Testing a provider from the settings page: what is asked of a worker, and what it answers.

The values of the form count before what is stored, saved or not. A stored key is sent to
the origin that it was entered for and nowhere else.
"""

from dataclasses import dataclass
from typing import Self
from uuid import UUID

from pydantic import BaseModel, SecretStr, field_serializer
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.bus.jobs import TestProvider
from shared.core.db import Database
from shared.core.errors import UnavailableError
from shared.core.secrets import SecretBox
from shared.providers import credentials, repository, rpc
from shared.providers.choosing import find_driver, model_of
from shared.providers.connections import (
    NOTHING_TYPED,
    Connection,
    KeyState,
    Purpose,
    Typed,
    connection,
    describe,
)
from shared.providers.errors import SettingsForbiddenError


class NoWorkerError(UnavailableError):
    """No worker made the test in time: try again in a moment."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The values of a form; None: what is saved."""

    driver: str | None = None
    model: str | None = None
    typed: Typed = NOTHING_TYPED


class Probe(BaseModel):
    """The call that a worker shall make. `settings_version`: of the settings that say just
    this; None for values that are not saved."""

    purpose: Purpose
    user_id: UUID
    settings_version: int | None
    driver: str
    model: str
    base_url: str | None
    api_key: SecretStr | None

    @field_serializer("api_key", when_used="json")
    def _plain(self, key: SecretStr | None) -> str | None:
        return None if key is None else key.get_secret_value()

    @classmethod
    def of(cls, purpose: Purpose, user_id: UUID, version: int | None, found: Connection) -> Self:
        return cls(
            purpose=purpose,
            user_id=user_id,
            settings_version=version,
            driver=found.driver,
            model=found.model,
            base_url=found.base_url,
            api_key=found.api_key,
        )

    @property
    def connection(self) -> Connection:
        key_state: KeyState = "none" if self.api_key is None else "set"
        return Connection(self.driver, self.model, self.base_url, self.api_key, key_state)


class Outcome(BaseModel):
    """How a test went: with a `code` it failed, and `message` says why. `time_ms` is the
    call's, `dimensions` the length of the vector that came back."""

    time_ms: int = 0
    dimensions: int | None = None
    code: str | None = None
    message: str | None = None
    status: int | None = None


async def prepare(
    session: AsyncSession,
    actor: Actor,
    purpose: Purpose,
    draft: Draft,
    box: SecretBox,
    *,
    private: bool,
) -> Probe | Outcome:
    """What to ask of a worker; an Outcome where something is missing, and nothing is called.

    Raises SettingsForbiddenError, UnknownDriverError, OnlyModelError, BadBaseUrlError and
    the errors of `shared.providers.credentials`.
    """
    if not actor.is_admin:
        raise SettingsForbiddenError
    ai = await repository.get(session, actor.workspace_id)
    chat = purpose == "chat"
    now = (ai.driver, ai.chat_model) if chat else (ai.embedding_driver, ai.embedding_model)
    rows = await repository.credentials(session, ai.workspace_id)
    driver = find_driver(purpose, draft.driver or now[0])
    found = describe(
        driver,
        model=model_of(purpose, driver, draft.model, now[1]),
        row=rows.get(driver.name),
        purpose=purpose,
        box=box,
        typed=credentials.checked(driver, purpose, draft.typed, private=private),
    )
    if not found.ready:
        return Outcome(code="not_configured", message=found.wanted)
    saved = found == connection(ai, rows.get(now[0]), purpose, box)
    return Probe.of(purpose, actor.user_id, ai.version if saved else None, found)


async def run(
    database: Database,
    redis: "Redis",
    box: SecretBox,
    workspace_id: UUID,
    probe: Probe,
    *,
    wait_seconds: float,
) -> Outcome:
    """Have a worker make the call. Raises NoWorkerError. Call it without an open session."""
    answer = await rpc.ask(
        database,
        redis,
        box,
        TestProvider,
        workspace_id,
        probe.model_dump_json().encode(),
        wait_seconds=wait_seconds,
        # A call that nobody waits for any more shall not be made.
        life_seconds=wait_seconds,
    )
    if answer is None:
        raise NoWorkerError
    return Outcome.model_validate_json(answer)
