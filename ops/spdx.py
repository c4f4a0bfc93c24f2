"""Licence expressions as SPDX defines them (annex "SPDX license expressions")."""

import re

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression


def canonical(expression: str) -> str | None:
    """The expression in SPDX's own spelling, or None where it is not one."""
    try:
        return canonicalize_license_expression(expression)
    except InvalidLicenseExpression:
        return None


def permits(expression: str, listed: set[str]) -> bool:
    """Does a canonical SPDX expression leave a way to use only these licences? AND binds tighter
    than OR; a licence WITH an exception is listed as such."""
    tokens = re.findall(r"[()]|[^\s()]+(?: WITH [^\s()]+)?", expression)

    def any_of() -> bool:
        found = all_of()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            found |= all_of()
        return found

    def all_of() -> bool:
        found = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            found &= one()
        return found

    def one() -> bool:
        if (licence := tokens.pop(0)) != "(":
            return licence in listed
        found = any_of()
        tokens.pop(0)
        return found

    return any_of()
