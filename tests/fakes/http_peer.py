"""A small HTTP server on loopback, a name server that changes its mind, and a dialler that
notes where it is sent: what a guarded client is held against."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address

import httpcore2
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

LOOPBACK = "127.0.0.1"


def answer(
    body: bytes = b"{}", *headers: str, status: str = "200 OK", length: bool = True
) -> bytes:
    """A whole answer; without a length the body ends with the connection."""
    lines = [f"HTTP/1.1 {status}", *headers]
    lines.append(f"content-length: {len(body)}" if length else "connection: close")
    return "\r\n".join([*lines, "", ""]).encode() + body


class Peer:
    """Gives the same answer to every request and keeps the requests' heads."""

    def __init__(self, reply: bytes) -> None:
        self.reply = reply
        self.heads: list[str] = []
        self.connections = 0
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head.decode())
                writer.write(self.reply)
                await writer.drain()
                if b"content-length" not in self.reply:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def peer(reply: bytes, tls: ssl.SSLContext | None = None) -> AsyncIterator[Peer]:
    """A running server; ended with its connections."""
    one = Peer(reply)
    server = await asyncio.start_server(one.serve, LOOPBACK, 0, ssl=tls)
    one.port = server.sockets[0].getsockname()[1]
    try:
        yield one
    finally:
        server.close()


class Names:
    """Answers the first question with the first list of addresses, and so on; the last stays."""

    def __init__(self, *answers: Iterable[str]) -> None:
        self._answers = [[ip_address(text) for text in answer] for answer in answers]
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[IPv4Address | IPv6Address]:
        self.asked.append(host)
        return self._answers[min(len(self.asked), len(self._answers)) - 1]


class Dialler(httpcore2.AnyIOBackend):
    """Notes the address and connects to loopback in its place; `silent` ones never answer."""

    def __init__(self, *silent: str) -> None:
        self._silent = silent
        self.dialled: list[str] = []

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *rest: object
    ) -> httpcore2.AsyncNetworkStream:
        self.dialled.append(host)
        if host in self._silent:
            try:
                async with asyncio.timeout(timeout):
                    await asyncio.Event().wait()
            except TimeoutError as error:
                raise httpcore2.ConnectTimeout from error
        return await super().connect_tcp(LOOPBACK, port, timeout)


def certificate(name: str) -> bytes:
    """A self-signed certificate for one host name with its key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private + built.public_bytes(Encoding.PEM)
