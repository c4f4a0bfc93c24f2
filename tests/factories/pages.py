"""Making pages over the API."""

from typing import Any

import httpx2

from tests.factories.world import World


class MakePage:
    """`await make_page("Title", markdown="…")` creates a page and gives its JSON.

    In WIKI as the writer, unless `space` and `by` say otherwise.
    """

    def __init__(self, client: httpx2.AsyncClient, world: World) -> None:
        self._client = client
        self._world = world

    async def __call__(
        self, title: str = "Leave", *, by: str = "writer", space: str = "WIKI", **body: Any
    ) -> dict[str, Any]:
        answer = await self._client.post(
            "/v1/pages",
            json={"spaceId": str(self._world.space(space)), "title": title, **body},
            headers=self._world.headers(by),
        )
        assert answer.status_code == 201, answer.text
        page: dict[str, Any] = answer.json()
        return page
