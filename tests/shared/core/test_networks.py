"""Where requests may go, address by address."""

from ipaddress import ip_address

import pytest

from shared.core.networks import address_allowed

PUBLIC = [
    "1.1.1.1",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "223.255.255.255",
    "2001:200::1",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "::ffff:1.1.1.1",
]
PRIVATE = [
    "10.0.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.255.255",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:c0a8:1",
    "fc00::1",
    "fd12:3456:789a::1",
]
NEVER = [
    "0.0.0.0",
    "0.1.2.3",
    "100.100.100.200",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "192.0.0.8",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::127.0.0.1",
    "::10.0.0.1",
    "::ffff:0:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0.0.0.0",
    "64:ff9b::1.1.1.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "100::1",
    "2001::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fe80::1",
    "fe80::1%2",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed_everywhere(address: str) -> None:
    assert address_allowed(ip_address(address), private=False)
    assert address_allowed(ip_address(address), private=True)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_allowed_only_where_that_was_said(address: str) -> None:
    assert not address_allowed(ip_address(address), private=False)
    assert address_allowed(ip_address(address), private=True)


@pytest.mark.parametrize("address", NEVER)
def test_metadata_link_local_and_reserved_addresses_are_never_allowed(address: str) -> None:
    assert not address_allowed(ip_address(address), private=False)
    assert not address_allowed(ip_address(address), private=True)
