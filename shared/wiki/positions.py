"""Fractional positions: strings in byte order, with room between any two.

A position is an integer part and a fraction, digits of base 62. The first character of the
integer part tells its length (`a` one digit, `b` two, …; `Z` one digit below zero, `Y` two),
so that adding at either end keeps positions short. The fraction never ends in a zero.
The scheme is the one of David Greenspan's "Implementing Fractional Indexing" (2020).
"""

from shared.core.errors import InvalidInputError

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BASE = len(_DIGITS)
_ZERO = "a0"


def between(before: str | None, after: str | None) -> str:
    """A position after `before` and before `after`; None is the end of the row.

    Raises InvalidInputError unless `before` < `after`.
    """
    if before is None and after is None:
        return _ZERO
    if before is None:
        assert after is not None
        return _below(after)
    if after is None:
        return _above(before)
    if before >= after:
        raise InvalidInputError("These two positions have no room between them.")
    whole, fraction = _split(before)
    upper_whole, upper_fraction = _split(after)
    if whole == upper_whole:
        return whole + _midpoint(fraction, upper_fraction)
    raised = _step(whole, up=True)
    return raised if raised is not None and raised < after else whole + _midpoint(fraction, None)


def _below(after: str) -> str:
    whole, fraction = _split(after)
    if fraction:
        return whole
    lowered = _step(whole, up=False)
    if lowered is None:  # after 62^26 pages put in front of all others
        raise InvalidInputError("There is no room before this position.")
    return lowered


def _above(before: str) -> str:
    whole, fraction = _split(before)
    raised = _step(whole, up=True)
    return raised if raised is not None else whole + _midpoint(fraction, None)


def _split(position: str) -> tuple[str, str]:
    length = _whole_length(position[0])
    return position[:length], position[length:]


def _whole_length(head: str) -> int:
    """Characters of an integer part that begins so, the first one counted."""
    if "a" <= head <= "z":
        return ord(head) - ord("a") + 2
    return ord("Z") - ord(head) + 2


def _step(whole: str, *, up: bool) -> str | None:
    """The next integer part in a direction; None past the last."""
    head, digits = whole[0], whole[1:]
    edge, wrapped, by = (_DIGITS[-1], "0", 1) if up else ("0", _DIGITS[-1], -1)
    kept = digits.rstrip(edge)
    if kept:
        moved = _DIGITS[_DIGITS.index(kept[-1]) + by]
        return head + kept[:-1] + moved + wrapped * (len(digits) - len(kept))
    if head == ("Z" if up else "a"):
        return ("a" if up else "Z") + wrapped
    if head == ("z" if up else "A"):
        return None
    new_head = chr(ord(head) + by)
    return new_head + wrapped * (_whole_length(new_head) - 1)


def _midpoint(low: str, high: str | None) -> str:
    """A fraction between two; `high` None is one."""
    shared = 0
    if high is not None:
        while shared < len(high) and (low[shared] if shared < len(low) else "0") == high[shared]:
            shared += 1
    if high is not None and shared:
        return high[:shared] + _midpoint(low[shared:], high[shared:])
    first = _DIGITS.index(low[0]) if low else 0
    last = _DIGITS.index(high[0]) if high else _BASE
    if last - first > 1:
        return _DIGITS[(first + last) // 2]
    if high is not None and len(high) > 1:
        return high[0]
    return _DIGITS[first] + _midpoint(low[1:], None)
