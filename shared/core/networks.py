"""Which network addresses Pageturn's own requests may go to.

The networks are those of the IANA special-purpose registries (RFC 6890) and the addresses
at which clouds hand out credentials. `ipaddress` has `is_global`, which lets some pass.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

IPAddress = IPv4Address | IPv6Address

_NEVER_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # "this network": most systems dial themselves
        "100.100.100.200/32",  # metadata (Alibaba)
        "168.63.129.16/32",  # metadata and agents (Azure)
        "169.254.0.0/16",  # link-local, metadata (most clouds)
        "192.0.0.0/24",  # protocol assignments, metadata (Oracle)
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_PRIVATE_V4 = tuple(
    IPv4Network(text)
    for text in (
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT, and overlay networks that borrow it
        "127.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
    )
)
_NEVER_V6 = tuple(
    IPv6Network(text)
    for text in (
        "64:ff9b::/96",  # NAT64: an IPv4 address within
        "64:ff9b:1::/48",  # NAT64 of a network
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: an IPv4 address within
        "3fff::/20",  # documentation
        "fd00:ec2::/32",  # metadata (Amazon)
        "fd20:ce::/32",  # metadata (Google)
        "fe80::/10",  # link-local
        "fec0::/10",  # site-local
        "ff00::/8",  # multicast
    )
)
_PRIVATE_V6 = (IPv6Network("::1/128"), IPv6Network("fc00::/7"))
# The only part of IPv6 that is routed between networks; ::/96 and what is to come are not in it.
_PUBLIC_V6 = IPv6Network("2000::/3")


def address_allowed(ip: IPAddress, *, private: bool) -> bool:
    """Whether a request may go there. Loopback and private networks only where `private`;
    link-local, metadata, multicast and reserved addresses never."""
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if isinstance(ip, IPv4Address):
        return not _within(ip, _NEVER_V4) and (private or not _within(ip, _PRIVATE_V4))
    if _within(ip, _NEVER_V6):
        return False
    return ip in _PUBLIC_V6 or (private and _within(ip, _PRIVATE_V6))


def _within(ip: IPAddress, networks: Sequence[IPv4Network] | Sequence[IPv6Network]) -> bool:
    return any(ip in network for network in networks)
