"""A key that cannot be read any more is asked for again; nothing else breaks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from sqlalchemy import select

from api.main import create_app
from shared.accounts.tokens import Claims, encode_token, token_key
from shared.core.db import Database
from shared.core.settings import get_settings
from shared.providers.models import ProviderCredential
from tests.api.settings.admin import Admin
from tests.factories.world import World

KEY = "sk-canary-Ab3dEfGh1jKlMn0p"
ASK = {"messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hello?"}]}]}


@asynccontextmanager
async def restarted(
    world: World, monkeypatch: pytest.MonkeyPatch, secret: str
) -> AsyncIterator[Admin]:
    """The owner's requests to an API process that was started with another APP_SECRET."""
    with monkeypatch.context() as environment:
        environment.setenv("APP_SECRET", secret)
        get_settings.cache_clear()
        app = create_app()
        now = datetime.now(UTC)
        claims = Claims(world.users["owner"], world.sessions["owner"], world.workspace_id)
        token = encode_token(
            token_key(secret.encode()), claims, issued_at=now, expires_at=now + timedelta(hours=1)
        )
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        try:
            async with (
                app.router.lifespan_context(app),
                httpx2.AsyncClient(transport=transport, base_url="http://test") as client,
            ):
                yield Admin(client, {"authorization": f"Bearer {token}"})
        finally:
            get_settings.cache_clear()


async def ask(admin: Admin) -> httpx2.Response:
    return await admin.client.post("/v1/ai/chat/tenant", json=ASK, headers=admin.headers)


@pytest.mark.req("PV-07")
async def test_after_a_restart_with_another_secret_the_page_opens_and_the_key_is_entered_again(
    owner: Admin, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = await owner.change(driver="openai", chatModel="gpt-4o", apiKey=KEY)
    assert saved["ready"]
    async with restarted(world, monkeypatch, "another-secret-" + "1" * 32) as again:
        opened = await again.read()
        assert (opened["apiKeyState"], opened["hasApiKey"]) == ("unreadable", False)
        assert (opened["ready"], opened["missing"]) == (False, ["apiKey"])
        answer = await ask(again)
        body = answer.json()
        assert (answer.status_code, body["error"]) == (503, "not_configured")
        assert body["details"] == {"missing": ["apiKey"]}
        assert "enter the key again" in body["message"]
        status = await again.get("/v1/workspace/ai-status")
        assert (status["configured"], status["code"]) == (False, "not_configured")
        failed = await again.test()
        assert failed["error"]["code"] == "not_configured"
        healed = await again.change(apiKey=KEY)
        assert (healed["apiKeyState"], healed["ready"]) == ("set", True)
        assert (await again.get("/v1/workspace/ai-status"))["configured"]
    assert (await owner.read())["apiKeyState"] == "unreadable"


@pytest.mark.req("PV-07")
async def test_a_damaged_key_is_asked_for_again(owner: Admin, database: Database) -> None:
    await owner.change(driver="openai", chatModel="gpt-4o", apiKey=KEY)
    for place in (0, 2, 20, 40, -1):
        async with database.session() as session:
            row = (await session.scalars(select(ProviderCredential))).one()
            assert row.api_key_enc is not None
            damaged = bytearray(row.api_key_enc)
            damaged[place] ^= 1
            row.api_key_enc = bytes(damaged)
        assert (await owner.read())["apiKeyState"] == "unreadable"
        assert (await ask(owner)).status_code == 503
        assert (await owner.change(apiKey=KEY))["apiKeyState"] == "set"


async def test_a_key_is_sealed_anew_each_time(owner: Admin, database: Database) -> None:
    seen = set()
    for _ in range(3):
        await owner.change(driver="openai", chatModel="gpt-4o", apiKey=KEY)
        async with database.session() as session:
            row = (await session.scalars(select(ProviderCredential))).one()
            assert row.api_key_enc is not None
            seen.add(row.api_key_enc)
        await owner.change(apiKey="")
    assert len(seen) == 3
