"""Links between imported files, made to lead to the pages that the files became."""

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from ops.importing.source import SourcePage
from shared.wiki.document import JsonDict

_FILE_SUFFIX = re.compile(r"(?:/?index)?\.(?:md|markdown|html?)$", re.IGNORECASE)


class Addresses:
    """Which page an address within the imported folder means."""

    def __init__(self, pages: Iterable[SourcePage]) -> None:
        self._keys: dict[str, PurePosixPath] = {}
        pages = list(pages)
        # A file's own place wins over what another one claims to have been called.
        for page in pages:
            self._keys.setdefault(_normal(str(page.key)), page.key)
            self._keys.setdefault(_normal(str(page.path)), page.key)
        for page in pages:
            for address in page.addresses:
                self._keys.setdefault(_normal(address), page.key)

    def resolve(self, page: SourcePage, href: str) -> PurePosixPath | None:
        """The page that `href` in `page` leads to; None for one outside, or to itself."""
        try:
            parts = urlsplit(href)
        except ValueError:
            return None
        if parts.scheme or parts.netloc or not parts.path:
            return None
        path = unquote(parts.path)
        if path.startswith("/"):
            return self._keys.get(_normal(path))
        # Relative to the file, as in a repository; or to the page's address, as on a site.
        for base in (str(page.path.parent), str(page.key)):
            key = self._keys.get(_normal(posixpath.join(base, path)))
            if key is not None:
                return key
        return self._keys.get(_normal(path))


def with_links(
    document: JsonDict, page: SourcePage, addresses: Addresses, urls: Mapping[PurePosixPath, str]
) -> JsonDict:
    """The document with its resolvable links leading to `urls`; the others as they are."""

    def rewritten(href: str) -> str:
        key = addresses.resolve(page, href)
        return href if key is None else urls.get(key, href)

    result: JsonDict = _map_links(document, rewritten)
    return result


def redirect_document(target: str) -> JsonDict:
    """A page that holds only a link."""
    link = {"type": "link", "attrs": {"href": target}}
    words = [{"type": "text", "text": target, "marks": [link]}]
    return {"type": "doc", "content": [{"type": "paragraph", "content": words}]}


def _map_links(node: Any, change: Callable[[str], str]) -> Any:
    if isinstance(node, list):
        return [_map_links(item, change) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("type") == "link" and isinstance(node.get("attrs"), dict):
        attrs = dict(node["attrs"])
        if isinstance(attrs.get("href"), str):
            attrs["href"] = change(attrs["href"])
        return {**node, "attrs": attrs}
    return {key: _map_links(value, change) for key, value in node.items()}


def _normal(address: str) -> str:
    """One spelling: no slashes at the ends, no file suffix, no case."""
    path = posixpath.normpath(address.strip().strip("/") or ".").lower()
    return _FILE_SUFFIX.sub("", path).strip("/")
