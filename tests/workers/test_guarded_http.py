"""The client for addresses that people name: where it goes, and how much it takes in."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from tests.fakes.http_peer import LOOPBACK, Dialler, Names, answer, certificate, peer
from workers.guarded_http import (
    AddressRefusedError,
    AnswerRefusedError,
    GuardedBackend,
    guarded_client,
    resolve,
)

PUBLIC = "93.184.216.34"
METADATA = "169.254.169.254"
TIMEOUT = httpx2.Timeout(4.0)


@asynccontextmanager
async def client(**options: Any) -> AsyncIterator[httpx2.AsyncClient]:
    given = {"private": False, "timeout": TIMEOUT, "max_bytes": 1_000}
    async with guarded_client(**(given | options)) as http:
        yield http


@pytest.mark.req("RG-09")
async def test_a_name_that_changes_its_mind_is_dialled_where_it_was_vetted() -> None:
    names, dialler = Names([PUBLIC], [LOOPBACK]), Dialler()
    async with peer(answer(b"hello")) as server, client(resolve=names, dialer=dialler) as http:
        for _ in range(2):  # the second request goes over the connection that there is
            reply = await http.get(f"http://rebinding.example:{server.port}/")
            assert reply.text == "hello"
    assert names.asked == ["rebinding.example"]
    assert dialler.dialled == [PUBLIC]
    assert server.heads[0].count(f"Host: rebinding.example:{server.port}") == 1


@pytest.mark.req("RG-09")
async def test_the_next_connection_is_vetted_again() -> None:
    names, dialler = Names([PUBLIC], [LOOPBACK]), Dialler()
    once = answer(b"hello", length=False)
    async with peer(once) as server, client(resolve=names, dialer=dialler) as http:
        address = f"http://rebinding.example:{server.port}/"
        assert (await http.get(address)).text == "hello"
        with pytest.raises(AddressRefusedError):
            await http.get(address)
    assert (len(names.asked), dialler.dialled, server.connections) == (2, [PUBLIC], 1)


@pytest.mark.req("RG-09")
@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("bad", [METADATA, "fd00:ec2::254", "64:ff9b::7f00:1", "0.0.0.0"])
async def test_one_forbidden_address_condemns_the_name(bad: str, private: bool) -> None:
    names, dialler = Names([PUBLIC, bad]), Dialler()
    async with client(private=private, resolve=names, dialer=dialler) as http:
        with pytest.raises(AddressRefusedError):
            await http.get("http://mixed.example/")
    assert dialler.dialled == []


@pytest.mark.req("RG-09")
@pytest.mark.parametrize(
    "host",
    (
        "127.0.0.1 127.1 0x7f000001 2130706433 017700000001 0177.0.0.1 0 ::1 ::ffff:127.0.0.1 "
        f"::ffff:7f00:1 localhost {METADATA} 2852039166 10.1 fe80::1"
    ).split(),
)
async def test_hosts_in_numbers_are_judged_by_what_the_system_makes_of_them(host: str) -> None:
    dialler = Dialler()
    backend = GuardedBackend(private=False, resolve=resolve, dialer=dialler)
    with pytest.raises(AddressRefusedError):
        await backend.connect_tcp(host, 80, timeout=5)
    assert dialler.dialled == []


async def test_loopback_answers_where_private_addresses_are_allowed() -> None:
    async with peer(answer(b"hello")) as server, client(private=True) as http:
        reply = await http.get(f"http://127.1:{server.port}/v1")
        assert (reply.status_code, reply.text) == (200, "hello")
        with pytest.raises(AddressRefusedError):
            await http.get(f"http://{METADATA}/latest/meta-data/")


@pytest.mark.req("RG-09")
async def test_a_redirect_is_handed_out_and_not_followed() -> None:
    away = answer(b"", f"location: http://{METADATA}/", status="302 Found")
    async with peer(away) as server, client(private=True) as http:
        reply = await http.get(f"http://{LOOPBACK}:{server.port}/")
        assert reply.status_code == 302
        with pytest.raises(AddressRefusedError):
            await http.get(f"http://{LOOPBACK}:{server.port}/", follow_redirects=True)


async def test_the_environments_proxies_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with peer(answer(b"proxy")) as proxy, peer(answer(b"direct")) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://{LOOPBACK}:{proxy.port}")
        async with client(private=True) as http:
            reply = await http.get(f"http://{LOOPBACK}:{server.port}/")
    assert (reply.text, proxy.connections) == ("direct", 0)


async def test_an_address_that_is_silent_leaves_time_for_the_next_one() -> None:
    names, dialler = Names(["2606:4700::1111", PUBLIC]), Dialler("2606:4700::1111")
    short = httpx2.Timeout(5.0, connect=0.2)
    async with (
        peer(answer(b"hello")) as server,
        client(resolve=names, dialer=dialler, timeout=short) as http,
    ):
        assert (await http.get(f"http://two.example:{server.port}/")).text == "hello"
    assert dialler.dialled == ["2606:4700::1111", PUBLIC]


async def test_a_host_that_never_answers_costs_the_time_to_connect_and_no_more() -> None:
    short = httpx2.Timeout(5.0, connect=0.1)
    async with client(resolve=Names([PUBLIC]), dialer=Dialler(PUBLIC), timeout=short) as http:
        with pytest.raises(httpx2.ConnectTimeout):
            await http.get("http://silent.example/")


async def test_a_name_server_that_never_answers_costs_the_time_to_connect_too() -> None:
    async def never(host: str, port: int) -> list[Any]:
        return await asyncio.get_running_loop().create_future()

    short = httpx2.Timeout(5.0, connect=0.1)
    async with client(resolve=never, timeout=short) as http:
        with pytest.raises(httpx2.ConnectTimeout):
            await http.get("http://silent.example/")


@pytest.mark.parametrize("host", ["no-such-name.invalid", "a" * 64 + ".example"])
async def test_a_name_that_cannot_be_resolved_is_a_failed_connection(host: str) -> None:
    async with client() as http:
        with pytest.raises(httpx2.ConnectError, match="cannot be resolved"):
            await http.get(f"http://{host}/")


async def test_no_more_connections_are_opened_than_allowed() -> None:
    timeout = httpx2.Timeout(5.0, pool=0.1)
    async with (
        peer(answer(b"hello")) as server,
        client(private=True, max_connections=1, timeout=timeout) as http,
        http.stream("GET", f"http://{LOOPBACK}:{server.port}/"),
    ):
        with pytest.raises(httpx2.PoolTimeout):
            await http.get(f"http://{LOOPBACK}:{server.port}/")


EVENTS = "content-type: text/event-stream; charset=utf-8"


@pytest.mark.parametrize("length", [True, False])
@pytest.mark.parametrize(("header", "limit"), [("x-nothing: 1", 1_000), (EVENTS, 5_000)])
async def test_a_body_is_read_to_its_limit_and_refused_beyond(
    header: str, limit: int, length: bool
) -> None:
    right = answer(b"x" * limit, header, length=length)
    too_large = answer(b"x" * (limit + 1), header, length=length)
    async with (
        peer(too_large) as server,
        client(private=True, max_stream_bytes=5_000, max_connections=1) as http,
    ):
        address = f"http://{LOOPBACK}:{server.port}/"
        with pytest.raises(AnswerRefusedError, match="larger"):
            await http.get(address)
        with pytest.raises(AnswerRefusedError, match="larger"):
            async with http.stream("GET", address) as reply:
                async for _ in reply.aiter_bytes():
                    pass
        server.reply = right
        assert len((await http.get(address)).content) == limit  # over the one connection's place


@pytest.mark.parametrize("header", ["content-encoding: gzip", "Content-Encoding: identity, br"])
async def test_compressed_bodies_are_neither_asked_for_nor_unpacked(header: str) -> None:
    bomb = gzip.compress(b"0" * 10_000_000)[:900]
    async with peer(answer(bomb, header)) as server, client(private=True) as http:
        with pytest.raises(AnswerRefusedError, match="compressed"):
            await http.get(
                f"http://{LOOPBACK}:{server.port}/", headers={"accept-encoding": "gzip, br"}
            )
    assert "accept-encoding: identity" in server.heads[0].lower()
    assert "gzip" not in server.heads[0]


@asynccontextmanager
async def tls_peer(folder: Path, seen: list[str | None]) -> AsyncIterator[tuple[int, Any]]:
    """A server whose certificate is for models.example; its port, and a context that trusts it."""
    file = folder / "certificate.pem"
    file.write_bytes(certificate("models.example"))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(file)
    tls.sni_callback = lambda _socket, name, _context: seen.append(name)
    async with peer(answer(b"hello"), tls) as server:
        yield server.port, ssl.create_default_context(cafile=file)


async def test_tls_goes_on_checking_the_hosts_name(tmp_path: Path) -> None:
    seen: list[str | None] = []
    names, dialler = Names([PUBLIC]), Dialler()
    async with (
        tls_peer(tmp_path, seen) as (port, trusting),
        client(ssl_context=trusting, resolve=names, dialer=dialler) as http,
    ):
        assert (await http.get(f"https://models.example:{port}/")).text == "hello"
        for wrong in ("other.example", PUBLIC):
            with pytest.raises(httpx2.ConnectError, match=r"(?i)certificate"):
                await http.get(f"https://{wrong}:{port}/")
    assert seen[:2] == ["models.example", "other.example"]
    assert dialler.dialled == [PUBLIC] * 3


async def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    async with (
        tls_peer(tmp_path, []) as (port, _),
        client(resolve=Names([PUBLIC]), dialer=Dialler()) as http,
    ):
        with pytest.raises(httpx2.ConnectError, match=r"(?i)certificate"):
            await http.get(f"https://models.example:{port}/")


async def test_the_openai_client_goes_through_it() -> None:
    models = answer(b'{"object": "list", "data": []}', "content-type: application/json")
    async with peer(models) as server, client(private=True) as http:
        provider = openai.AsyncOpenAI(
            api_key="sk-test", base_url=f"http://{LOOPBACK}:{server.port}/v1", http_client=http
        )
        assert provider.timeout == TIMEOUT
        assert (await provider.models.list()).data == []
    assert "GET /v1/models" in server.heads[0]
    assert "accept-encoding: identity" in server.heads[0].lower()


async def test_the_openai_client_hands_refusals_on_without_trying_again() -> None:
    names = Names([LOOPBACK])
    async with client(resolve=names) as http:
        provider = openai.AsyncOpenAI(
            api_key="sk-test", base_url="http://models.example/v1", http_client=http, max_retries=2
        )
        with pytest.raises(AddressRefusedError):
            await provider.models.list()
    assert len(names.asked) == 1
    async with peer(answer(b"x" * 1_001)) as server, client(private=True) as http:
        provider = openai.AsyncOpenAI(
            api_key="sk-test", base_url=f"http://{LOOPBACK}:{server.port}/v1", http_client=http
        )
        with pytest.raises(AnswerRefusedError):
            await provider.models.list()
    assert len(server.heads) == 1
