"""What a title may be."""

import re
import unicodedata

from shared.core.texts import is_storable
from shared.core.tunables import MAX_TITLE_CHARS
from shared.wiki.errors import InvalidTitleError

_SPACE = re.compile(r"\s+")


def clean_title(title: str) -> str:
    """Space folded and trimmed. Emoji alone will do, invisible characters alone will not.

    Raises InvalidTitleError: empty, longer than 255 characters, NUL, half a surrogate pair.
    """
    if not is_storable(title):
        raise InvalidTitleError("The title has characters that cannot be stored.")
    folded = _SPACE.sub(" ", title)
    kept = "".join(char for char in folded if unicodedata.category(char) != "Cc")
    cleaned = _SPACE.sub(" ", kept).strip()
    if len(cleaned) > MAX_TITLE_CHARS or not has_visible(cleaned):
        raise InvalidTitleError
    return cleaned


def has_visible(text: str) -> bool:
    """Whether anything of a text can be seen."""
    return any(_is_visible(char) for char in text)


def _is_visible(char: str) -> bool:
    # An emoji newer than this Python's tables has no category yet (Cn): it counts.
    return unicodedata.category(char) not in {"Cc", "Cf", "Zs", "Zl", "Zp"}
