"""Identifiers: UUID version 7, so that rows made later sort later (RFC 9562)."""

from uuid import UUID

from uuid_utils.compat import uuid7


def new_id() -> UUID:
    """A fresh UUIDv7."""
    return uuid7()
