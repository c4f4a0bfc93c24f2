"""Base URLs: one spelling each, and a reason for every one that is refused."""

import contextlib

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.core.addresses import BadBaseUrlError, check_base_url, origin_of

SPELLINGS = [
    ("https://api.openai.com/v1", "https://api.openai.com/v1", "https://api.openai.com:443"),
    (" HTTPS://API.OpenAI.com:443/v1/ ", "https://api.openai.com/v1", "https://api.openai.com:443"),
    ("http://ollama:11434/", "http://ollama:11434", "http://ollama:11434"),
    ("http://my_ollama:80//", "http://my_ollama", "http://my_ollama:80"),
    ("http://example.com.", "http://example.com", "http://example.com:80"),
    ("https://example.com:/a%20b", "https://example.com/a%20b", "https://example.com:443"),
    (
        "https://bücher.example",
        "https://xn--bcher-kva.example",
        "https://xn--bcher-kva.example:443",
    ),
    (
        "http://[2606:4700::1111]:80/v1",
        "http://[2606:4700::1111]/v1",
        "http://[2606:4700::1111]:80",
    ),
    ("http://[0:0:0:0:0:0:0:1]:1/", "http://[::1]:1", "http://[::1]:1"),
]
# The numbers that resolvers take for 127.0.0.1.
LOOPBACK = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7F.1",
    "0177.0.0.1",
    "017700000001",
    "１２７。0。0。1",
    "[::ffff:127.0.0.1]",
    "[::FFFF:7f00:1]",
    "127.0.0.1.",
]
METADATA = ["169.254.169.254", "2852039166", "0xa9.0xfe.0xa9.0xfe", "0251.0376.0251.0376"]
BAD = [
    ("", "begin with"),
    ("example.com", "begin with"),
    ("//example.com", "begin with"),
    ("ftp://example.com", "begin with"),
    ("file:///etc/passwd", "begin with"),
    ("javascript:alert(1)//http://example.com", "begin with"),
    ("http://", "no host"),
    ("http:///v1", "no host"),
    ("http://:80", "no host"),
    ("http://exa_mple..com", "no host"),
    ("http://-a.example", "no host"),
    ("http://" + "a" * 64 + ".example", "no host"),
    ("http://" + "a." * 126 + "example", "no host"),
    ("http://1.2.3.4.5", "no host"),
    ("http://256.1.1.1", "no host"),
    ("http://1.2.3.0x", "no host"),
    ("http://example.com\\@127.0.0.1", "user name"),
    ("http://example.com\\.evil.example", "no host"),
    ("http://%31%32%37.0.0.1", "no host"),
    ("http://[::1", "no host"),
    ("http://[fe80::1%25eth0]", "no host"),
    ("http://[::1]x", "no host"),
    ("http://::1", "no host"),
    ("http://example.com:http", "no host"),
    ("http://example.com:٣", "no host"),
    ("http://example.com:0", "1 to 65535"),
    ("http://example.com:65536", "1 to 65535"),
    ("http://example.com:99999999999999999999", "1 to 65535"),
    ("http://ada@example.com", "user name"),
    ("http://ada:word@example.com", "user name"),
    ("http://example.com?key=1", r"\?"),
    ("http://example.com/v1?", r"\?"),
    ("http://example.com#part", r"\?"),
    ("http://example.com/a b", "spaces"),
    ("http://exa\tmple.com", "spaces"),
    ("http://example.com/\r\nHost: evil", "spaces"),
    ("http://example.com/\x00", "spaces"),
    ("http://exam\u200bple.com", "spaces"),
    ("http://example.com/../admin", "path"),
    ("http://example.com/v1/%2E%2e/admin", "path"),
    ("http://example.com/%zz", "path"),
    ("http://example.com/ключ", "path"),
    ("http://example.com/" + "a" * 2048, "longer"),
]


@pytest.mark.parametrize(("text", "base_url", "origin"), SPELLINGS)
def test_a_base_url_has_one_spelling_and_one_origin(text: str, base_url: str, origin: str) -> None:
    assert check_base_url(text) == base_url
    assert origin_of(text) == origin_of(base_url) == origin


@pytest.mark.parametrize("host", LOOPBACK)
def test_numbers_are_read_as_the_address_that_resolvers_make_of_them(host: str) -> None:
    assert check_base_url(f"http://{host}:11434/") == "http://127.0.0.1:11434"
    with pytest.raises(BadBaseUrlError, match="may not send requests"):
        check_base_url(f"http://{host}:11434/", private=False)


@pytest.mark.parametrize("host", [*METADATA, "[fd00:ec2::254]", "[fe80::1]", "0", "[::127.0.0.1]"])
def test_metadata_and_reserved_addresses_are_refused_in_every_spelling(host: str) -> None:
    with pytest.raises(BadBaseUrlError, match="may not send requests"):
        check_base_url(f"http://{host}/latest", private=True)


@pytest.mark.parametrize(("text", "reason"), BAD)
def test_what_is_no_base_url_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(BadBaseUrlError, match=reason):
        check_base_url(text)
    with pytest.raises(BadBaseUrlError, match=reason):
        origin_of(text)


HOSTS = st.text("aZ0123x.-_éß。[]:%@\\", max_size=12)
PATHS = st.text("aZ0/.%2eé~;", max_size=10)


@given(st.builds("http{}://{}/{}".format, st.sampled_from(["", "s"]), HOSTS, PATHS))
@example("http://a.b:8080/c/")
@example("http://[::1]:8080/c/")
def test_the_client_reads_a_checked_base_url_as_we_do(text: str) -> None:
    with contextlib.suppress(BadBaseUrlError):
        checked = check_base_url(text)
        assert check_base_url(checked) == checked
        read = httpx2.URL(checked)
        assert str(read) == checked
        host = f"[{read.host}]" if ":" in read.host else read.raw_host.decode()
        port = read.port or {"http": 80, "https": 443}[read.scheme]
        assert f"{read.scheme}://{host}:{port}" == origin_of(checked)
