"""The built web application: its files, and its first page for every address of its own."""

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

DIST = Path(__file__).parent.parent / "web" / "dist"
_MISSING = (
    "Pageturn's web application has not been built.\n"
    "Run `make run`, which builds it, or `npm ci && npm run build` in the folder web.\n"
    "The API is there all the same: see /openapi.json.\n"
)
_FOREVER = "public, max-age=31536000, immutable"  # an asset's name holds its content's hash


class Frontend:
    """Answers what no route has taken. Below /v1 and for missing assets that is a 404."""

    def __init__(self, directory: Path = DIST) -> None:
        self._index = directory / "index.html"
        self._files = StaticFiles(directory=directory, check_dir=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        response = await self._response(scope)
        await response(scope, receive, send)

    async def _response(self, scope: Scope) -> Response:
        path = str(scope["path"])
        if scope["method"] not in ("GET", "HEAD") or path == "/v1" or path.startswith("/v1/"):
            raise HTTPException(404)
        if not self._index.is_file():
            return PlainTextResponse(_MISSING, status_code=503)
        try:
            response = await self._files.get_response(path.lstrip("/") or "index.html", scope)
        except HTTPException as error:
            if error.status_code != 404 or path.startswith("/assets/"):
                raise HTTPException(404) from None
            response = await self._files.get_response("index.html", scope)
        cache = _FOREVER if path.startswith("/assets/") else "no-cache"
        response.headers["cache-control"] = cache
        return response
