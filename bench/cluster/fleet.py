"""The processes of a cluster by name: started, killed, held down, asked whether they serve."""

import signal
from collections.abc import Mapping

from redis import Redis

from bench.cluster.members import Wrap, member, take_turns
from bench.cluster.tending import Tending
from ops import ports
from ops.home import Home
from ops.readiness import missing_parts
from shared.core.settings import Settings
from tests.fakes.installation import wait_for

KINDS = ("api", "worker-chat", "worker-rpc", "worker-index", "beat")
READY_SECONDS = 90.0


class Fleet:
    """Needs `settings`, `home` and `redis` before the first process is added; `env` goes to every
    process. `kinds`: name → kind."""

    settings: Settings
    home: Home
    redis: "Redis"

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = dict(env)
        self._ports: dict[str, int] = {}
        self.kinds: dict[str, str] = {}
        self.tending = Tending()

    def add(
        self,
        name: str,
        kind: str,
        *,
        env: Mapping[str, str] | None = None,
        wrap: Wrap | None = None,
    ) -> None:
        """Start one more process: one of KINDS. `wrap` gets its argument list and gives the one
        that is run."""
        port = self._ports[name] = ports.pick()
        settings = self.settings.model_copy(update={"port": port})
        self.kinds[name] = kind
        self.tending.add(member(name, kind, settings, self.home, self._env | dict(env or {}), wrap))

    def remove(self, name: str) -> None:
        """Kill a process and do not start it again."""
        self.tending.remove(name)
        del self.kinds[name]

    def names(self, kind: str) -> list[str]:
        return [name for name, known in self.kinds.items() if known == kind]

    @property
    def workers(self) -> list[str]:
        """The chat workers."""
        return self.names("worker-chat")

    @property
    def apis(self) -> list[str]:
        return self.names("api")

    def pid(self, name: str) -> int | None:
        return self.tending.pid(name)

    def kill(self, name: str, *, hold: bool = False) -> float:
        """SIGKILL; started again at once, unless `hold`: then by `let_go`. The moment of it."""
        return self.tending.kill(name, hold=hold)

    def hold(self, name: str) -> None:
        self.tending.hold(name)

    def let_go(self, name: str) -> None:
        self.tending.let_go(name)

    def signal(self, name: str, number: signal.Signals) -> float:
        return self.tending.signal(name, number)

    def only(self, *names: str) -> None:
        """Of the chat workers only these take turns that wait; the others go on with what they
        hold. One that is started anew takes turns, whatever was said before."""
        for name in self.workers:
            if self.pid(name) is not None:
                take_turns(name, wanted=name in names)

    def log(self, name: str) -> str:
        """A process's or a store's log."""
        path = self.home.log(name)
        return path.read_text(errors="replace") if path.exists() else ""

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self._ports[name]}"

    def urls(self) -> list[str]:
        """The APIs that live, or all when none does."""
        alive = [self.url(name) for name in self.apis if self.pid(name) is not None]
        return alive or [self.url(name) for name in self.apis]

    def ready(self, name: str) -> bool:
        """Whether a process serves: an API answers, a worker has said that it lives."""
        pid = self.pid(name)
        kind = self.kinds[name]
        if pid is None or kind == "beat":
            return pid is not None
        if kind == "api":
            return set(missing_parts(self.url(name))) <= self._absent()
        said = self.redis.zrange(f"pt:alive:{kind.removeprefix('worker-')}", 0, -1)
        return any(owner.split(b":")[1] == b"%d" % pid for owner in said)

    def _absent(self) -> set[str]:
        """What an API misses that this cluster was made without."""
        return {f"{kind.removeprefix('worker-')}Worker" for kind in KINDS if not self.names(kind)}

    def wait_ready(self, *names: str, seconds: float = READY_SECONDS) -> None:
        """Until these processes serve; all of them when none is named."""
        for name in names or list(self.kinds):
            wait_for(lambda name=name: self.ready(name), seconds, f"{name} serves")
