"""Addresses of pages in the web application."""

import re
import secrets
import string
import unicodedata

from shared.core.tunables import SLUG_ID_CHARS, TITLE_SLUG_CHARS

_ALPHABET = string.ascii_lowercase + string.digits
_SLUG_ID = re.compile(rf"[a-z0-9]{{{SLUG_ID_CHARS}}}")


def new_slug_id() -> str:
    """A fresh page's short id."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(SLUG_ID_CHARS))


def slugify(title: str) -> str:
    """Letters, marks and digits of any script, joined by hyphens; empty if there are none."""
    folded = unicodedata.normalize("NFKC", title).lower()
    kept = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in folded)
    return "-".join(kept.split())[:TITLE_SLUG_CHARS].strip("-")


def page_url(space_slug: str, title: str, slug_id: str, block_id: str | None = None) -> str:
    """`/s/{space}/p/{title}-{slug id}`, and `#{block}` for one of its blocks."""
    slug = slugify(title)
    name = f"{slug}-{slug_id}" if slug else slug_id
    anchor = "" if block_id is None else f"#{block_id}"
    return f"/s/{space_slug}/p/{name}{anchor}"


def resolve_slug(name: str) -> str | None:
    """The slug id in the last part of a page's address, whatever its title says by now;
    None when there is none."""
    slug_id = name.rpartition("-")[2]
    return slug_id if _SLUG_ID.fullmatch(slug_id) else None
