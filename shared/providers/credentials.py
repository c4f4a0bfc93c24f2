"""Storing a driver's address and key. A key is sealed for its row and bound to its origin."""

from uuid import UUID

from pydantic import SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from shared.core.addresses import check_base_url, origin_of
from shared.core.ids import new_id
from shared.core.secrets import SecretBox
from shared.providers import repository
from shared.providers.connections import Purpose, Typed, bound_to, column, open_key, stored_url
from shared.providers.drivers import Driver
from shared.providers.errors import (
    BadKeyError,
    KeyWithoutAddressError,
    NoAddressTakenError,
    NoKeyTakenError,
    at_field,
)
from shared.providers.models import ProviderCredential


def checked(driver: Driver, purpose: Purpose, typed: Typed, *, private: bool) -> Typed:
    """What was typed, in the form in which it is kept and used; `private`: the address may
    lead to this machine or a private network.

    Raises BadBaseUrlError, NoAddressTakenError, NoKeyTakenError, BadKeyError.
    """
    chat = purpose == "chat"
    with at_field("baseUrl" if chat else "embeddingBaseUrl"):
        base_url = _checked_url(driver, typed.base_url, private)
    with at_field("apiKey" if chat else "embeddingApiKey"):
        return Typed(base_url, _checked_key(driver, typed.api_key))


def _checked_url(driver: Driver, text: str | None, private: bool) -> str | None:
    if text is None or not text.strip():
        return None if text is None else ""
    if not driver.base_url_allowed:
        raise NoAddressTakenError
    return check_base_url(text, private=private)


def _checked_key(driver: Driver, key: SecretStr | None) -> SecretStr | None:
    if key is None:
        return None
    text = key.get_secret_value().strip()
    if text and not driver.key_allowed:
        raise NoKeyTakenError
    # It travels in a header.
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise BadKeyError
    return SecretStr(text)


async def store(
    session: AsyncSession,
    box: SecretBox,
    workspace_id: UUID,
    driver: Driver,
    purpose: Purpose,
    typed: Typed,
) -> bool:
    """Keep what was typed (and checked) for a driver; whether anything differs now.

    The caller holds the workspace's settings row. Raises KeyWithoutAddressError.
    """
    row = await repository.credential(session, workspace_id, driver.name)
    if row is None:
        if not (typed.base_url or (typed.api_key and typed.api_key.get_secret_value())):
            return False
        row = ProviderCredential(id=new_id(), workspace_id=workspace_id, driver=driver.name)
        session.add(row)
    differs = False
    if typed.base_url is not None and (typed.base_url or None) != stored_url(row, purpose):
        setattr(row, column(purpose, "base_url"), typed.base_url or None)
        differs = True
    if typed.api_key is not None:
        differs = _store_key(row, box, driver, purpose, typed.api_key) or differs
    await session.flush()
    return differs


def _store_key(
    row: ProviderCredential, box: SecretBox, driver: Driver, purpose: Purpose, key: SecretStr
) -> bool:
    base_url = stored_url(row, purpose) or driver.default_base_url
    known, state = open_key(row, purpose, base_url, box)
    if not key.get_secret_value():
        sealed, origin = None, None
        differs = state != "none"
    elif base_url is None:
        with at_field("baseUrl" if purpose == "chat" else "embeddingBaseUrl"):
            raise KeyWithoutAddressError
    else:
        plain = key.get_secret_value().encode()
        sealed = box.seal(plain, bound_to=bound_to(row.workspace_id, row.id, purpose))
        origin = origin_of(base_url)
        differs = known != key
    if differs:
        setattr(row, column(purpose, "api_key_enc"), sealed)
        setattr(row, column(purpose, "api_key_origin"), origin)
    return differs
