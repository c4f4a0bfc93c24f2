"""Which addresses a document may link to or show."""

import re
import unicodedata

from shared.core.tunables import MAX_URL_CHARS

LINK_SCHEMES = frozenset({"http", "https", "mailto", "tel"})
IMAGE_SCHEMES = frozenset({"http", "https"})

_SCHEME = re.compile(r"([^/?#]*?):")


def is_safe_link(url: str) -> bool:
    """True for http, https, mailto and tel addresses and for relative ones."""
    return _is_safe(url, LINK_SCHEMES)


def is_safe_image(url: str) -> bool:
    """True for http and https addresses and for relative ones."""
    return _is_safe(url, IMAGE_SCHEMES)


def _is_safe(url: str, schemes: frozenset[str]) -> bool:
    if not url or len(url) > MAX_URL_CHARS or url != url.strip():
        return False
    if any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in url):
        return False
    scheme = _SCHEME.match(url)
    # Anything before a first colon is a scheme to us: browsers skip invisible characters in it.
    return scheme is None or scheme[1].lower() in schemes
