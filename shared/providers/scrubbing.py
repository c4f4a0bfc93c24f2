"""Taking a key out of a text that comes from where the key was sent."""

from itertools import groupby

from pydantic import SecretStr

from shared.core.tunables import KEY_PART_CHARS

_MASK = "***"


def without_key(text: str, key: SecretStr | None) -> str:
    """The text without the key, whole or in parts of KEY_PART_CHARS or more, in either case."""
    secret = "" if key is None else key.get_secret_value()
    if not secret:
        return text
    size = min(KEY_PART_CHARS, len(secret))
    parts = {secret[at : at + size].casefold() for at in range(len(secret) - size + 1)}
    masked = [False] * len(text)
    for at in range(len(text) - size + 1):
        if text[at : at + size].casefold() in parts:
            masked[at : at + size] = [True] * size
    runs = groupby(zip(text, masked, strict=True), key=lambda pair: pair[1])
    return "".join(_MASK if hidden else "".join(c for c, _ in run) for hidden, run in runs)
