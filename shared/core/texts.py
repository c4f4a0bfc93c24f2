"""What a text must not hold to be stored."""


def is_storable(text: str) -> bool:
    """Whether PostgreSQL takes the text: no NUL, no half of a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)
