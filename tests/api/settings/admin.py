"""One person's requests for the AI settings."""

from typing import Any

import httpx2

SETTINGS = "/v1/workspace/ai-settings"
TEST = f"{SETTINGS}/test"


class Admin:
    """Each method expects the answer that its name says."""

    def __init__(self, client: httpx2.AsyncClient, headers: dict[str, str]) -> None:
        self.client, self.headers = client, headers

    async def read(self) -> dict[str, Any]:
        answer = await self.client.get(SETTINGS, headers=self.headers)
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    async def change(self, **change: Any) -> dict[str, Any]:
        answer = await self.client.patch(SETTINGS, json=change, headers=self.headers)
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    async def refused(self, **change: Any) -> dict[str, Any]:
        """The error of a change that must be refused with 422."""
        answer = await self.client.patch(SETTINGS, json=change, headers=self.headers)
        assert answer.status_code == 422, answer.text
        body: dict[str, Any] = answer.json()
        return body

    async def test(self, capability: str = "chat", **values: Any) -> dict[str, Any]:
        body = {"capability": capability, **values}
        answer = await self.client.post(TEST, json=body, headers=self.headers)
        assert answer.status_code == 200, answer.text
        outcome: dict[str, Any] = answer.json()
        return outcome

    async def get(self, path: str) -> Any:
        answer = await self.client.get(path, headers=self.headers)
        assert answer.status_code == 200, answer.text
        return answer.json()
