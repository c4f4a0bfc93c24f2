"""Embedded Valkey: durable (append-only file), never evicting, on loopback with a password."""

import os
import signal
from typing import ClassVar

import redis

from ops.children import Child
from ops.programs import valkey_program
from ops.server import Server, seen_from
from shared.core.tunables import STORE_CONNECT_SECONDS


class Valkey(Server):
    """The data folder's Valkey."""

    name: ClassVar[str] = "valkey"
    setting: ClassVar[str] = "redis_url"
    gentle: ClassVar[signal.Signals] = signal.SIGTERM

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def prepare(self) -> None:
        """Write the configuration; the password stands there, not on the command line."""
        config = self.folder / "valkey.conf"
        lines = [
            "bind 127.0.0.1",
            f"port {self.port}",
            f"requirepass {self.password}",
            "dir ./",
            f"appendonly {'yes' if self.durable else 'no'}",
            "appendfsync everysec",
            'save ""',
            "maxmemory-policy noeviction",
            "daemonize no",
            "always-show-logo no",
        ]
        config.unlink(missing_ok=True)
        descriptor = os.open(config, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write("\n".join(lines) + "\n")
        self.own(config)

    def child(self) -> Child:
        return Child(
            argv=[
                str(valkey_program(self.home.root, self.identity)),
                f"{seen_from(self.folder)}/valkey.conf",
            ],
            lock=self.home.lock(self.name),
            log=self.home.log(self.name),
            cwd=self.folder,
            env={name: os.environ[name] for name in ("PATH", "TZ") if name in os.environ},
            identity=self.identity,
            death_signal=signal.SIGTERM,
        )

    def answers(self) -> bool:
        client = redis.Redis.from_url(self.url, socket_timeout=STORE_CONNECT_SECONDS)
        try:
            return bool(client.ping())
        except redis.RedisError:  # not there yet, or still reading its file
            return False
        finally:
            client.close()

    def settle(self) -> None:
        """Nothing: an empty Valkey is a whole one."""
