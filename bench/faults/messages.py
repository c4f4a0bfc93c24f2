"""The messages that Redis is given, as it tells by MONITOR while a block runs."""

import threading
from typing import Self

from redis import Redis

from bench.cluster import Cluster


class Messages:
    """Those of some queues, each as the text of its command."""

    def __init__(self, cluster: Cluster, *queues: str) -> None:
        self._cluster = cluster
        # Without a limit of time: one that has passed would end the monitoring unnoticed.
        self._redis = Redis.from_url(cluster.stores["valkey"].server.url)
        self._prefixes = tuple(f"LPUSH {queue} " for queue in queues)
        self._sent: list[str] = []
        self._over = threading.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="messages", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._cluster.redis.ping()  # one more command to hear of
        self._thread.join()
        self._redis.close()

    def count(self, text: str) -> int:
        """How many messages hold this."""
        return sum(text in sent for sent in list(self._sent))

    def _run(self) -> None:
        with self._redis.monitor() as monitor:
            self._ready.set()
            while not self._over.is_set():
                command = monitor.next_command()["command"]
                if command.startswith(self._prefixes):
                    self._sent.append(command)
