"""How a base URL is written, and its origin.

Pure: nothing is resolved here. What a name resolves to is vetted where it is dialled.
"""

import re
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

import idna

from shared.core.errors import InvalidInputError
from shared.core.networks import IPAddress, address_allowed
from shared.core.tunables import MAX_HOST_CHARS, MAX_URL_CHARS

_DEFAULT_PORTS = {"http": 80, "https": 443}
_AUTHORITY = re.compile(r"(?P<host>\[[^\[\]]*\]|[^\[\]:]*)(?::(?P<port>[0-9]*))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_PATH = re.compile(r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*")
_DOTS = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)


class BadBaseUrlError(InvalidInputError):
    """The address cannot be used."""

    code = "bad_base_url"


@dataclass(frozen=True, slots=True)
class _Url:
    scheme: str
    host: str
    port: int
    path: str


def check_base_url(text: str, *, private: bool = True) -> str:
    """The one spelling of a base URL: `scheme://host[:port][/path]`, no slash at the end.

    A host that is an address must be one that `address_allowed` lets pass. Raises
    BadBaseUrlError, which says what is wrong.
    """
    url = _parse(text)
    literal = _literal(url.host)
    if literal is not None and not address_allowed(literal, private=private):
        raise BadBaseUrlError(f"Pageturn may not send requests to {url.host}.")
    port = "" if url.port == _DEFAULT_PORTS[url.scheme] else f":{url.port}"
    return f"{url.scheme}://{url.host}{port}{url.path}"


def origin_of(url: str) -> str:
    """`scheme://host:port` of a base URL, the default port spelled out. Raises BadBaseUrlError."""
    parsed = _parse(url)
    return f"{parsed.scheme}://{parsed.host}:{parsed.port}"


def _parse(text: str) -> _Url:
    text = text.strip()
    if len(text) > MAX_URL_CHARS:
        raise BadBaseUrlError(f"The address is longer than {MAX_URL_CHARS} characters.")
    if any(not char.isprintable() or char.isspace() for char in text):
        raise BadBaseUrlError("The address holds spaces or characters that cannot be seen.")
    scheme, separator, rest = text.partition("://")
    scheme = scheme.lower()
    if not separator or scheme not in _DEFAULT_PORTS:
        raise BadBaseUrlError("The address must begin with http:// or https://.")
    if "?" in rest or "#" in rest:
        raise BadBaseUrlError("The address must end before any ? or #.")
    authority, slash, path = rest.partition("/")
    if "@" in authority:
        raise BadBaseUrlError("The address must not hold a user name or a password.")
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise BadBaseUrlError("The address has no host that can be understood.")
    port = match["port"] or str(_DEFAULT_PORTS[scheme])
    if len(port) > 5 or not 1 <= int(port) <= 65_535:
        raise BadBaseUrlError("The port must be a number from 1 to 65535.")
    return _Url(scheme, _host(match["host"]), int(port), _path(slash + path))


def _host(text: str) -> str:
    """Lower case, ASCII; IPv4 in four numbers, IPv6 in brackets."""
    bad = BadBaseUrlError("The address has no host that can be understood.")
    try:
        name = text if text.isascii() else idna.encode(text, uts46=True).decode()
        name = name.lower().removesuffix(".")
        literal = _literal(name)
    except ValueError as error:  # idna's errors among them
        raise bad from error
    if isinstance(literal, IPv6Address):
        return str(literal.ipv4_mapped or f"[{literal.compressed}]")
    if literal is not None:
        return str(literal)
    if len(name) > MAX_HOST_CHARS or not all(map(_LABEL.fullmatch, name.split("."))):
        raise bad
    return name


def _literal(host: str) -> IPAddress | None:
    """The address that a host spells, None for a name. Raises ValueError when it is neither.

    Resolvers take short, octal and hexadecimal numbers for IPv4: so does this.
    """
    if host.startswith("["):
        if "%" in host:
            raise ValueError(host)
        return IPv6Address(host[1:-1])
    last = host.rpartition(".")[2]
    if not (last.isdigit() or last.startswith("0x")):
        return None
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError as error:
        raise ValueError(host) from error


def _path(text: str) -> str:
    path = text.rstrip("/")
    if _PATH.fullmatch(path) is None or any(map(_DOTS.fullmatch, path.split("/"))):
        raise BadBaseUrlError("The address has a path that cannot be understood.")
    return path
