"""Ports on this machine: is one free, and which one to take."""

import secrets
import socket

from ops.errors import PortInUseError, StoreError

# Below the range that systems hand out for outgoing connections.
_FIRST, _LAST = 20_000, 32_000


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen there now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def pick() -> int:
    """A free port of the loopback address."""
    for _ in range(200):
        port = _FIRST + secrets.randbelow(_LAST - _FIRST)
        if is_free(port):
            return port
    raise StoreError("No free port was found on 127.0.0.1")


def require_free(host: str, port: int, variable: str) -> None:
    """Raises PortInUseError, naming the port and the variable that changes it."""
    if not is_free(port, host):
        raise PortInUseError(f"Port {port} on {host} is in use: choose another with {variable}")
