"""Characters that no stored text may hold."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROLS = str.maketrans({"\0": None, "\x0b": " ", "\x0c": " "})


def clean_text(text: str) -> str:
    """Without NULs, with U+FFFD for lone surrogates and spaces for page controls."""
    return _SURROGATE.sub("\ufffd", text.translate(_CONTROLS))
