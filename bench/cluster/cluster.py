"""The cluster: stores, processes, the model, people and their browsers, for one `with` block."""

import asyncio
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import httpx2
from pydantic import SecretStr
from redis import Redis

from bench.cluster.database import Row, Sql
from bench.cluster.fleet import KINDS, Fleet
from bench.cluster.people import Person, make_people, sign_owner_in
from bench.cluster.reader import Reader
from bench.cluster.readers import Done, Readers, Wanted
from bench.cluster.stores import Store
from bench.cluster.stub import Stub
from bench.cluster.surroundings import interrupting, own_environment
from bench.cluster.watch import Watch
from ops import children
from ops.environment import export
from ops.home import open_home
from ops.postgres import Postgres
from ops.preparing import prepare_alone
from ops.secret import with_secrets
from ops.valkey import Valkey
from shared.core.settings import Settings
from tests.fakes.installation import wait_for

REST_SECONDS = 60.0  # for the turns that still run when a row is over


class Cluster(Fleet):
    """Names of processes: api-1 …, chat-1 …, rpc-1 …, index-1 …, beat-1 …; of stores: postgres,
    valkey.

    `env` goes to every process: by default everything is as a person has it who sets nothing.
    `keep` leaves the folder with the logs behind. Enter it on the main thread.
    """

    def __init__(
        self,
        *,
        apis: int = 2,
        chats: int = 2,
        rpcs: int = 1,
        indexes: int = 1,
        beats: int = 1,
        env: Mapping[str, str] | None = None,
        keep: bool = False,
    ) -> None:
        super().__init__(env or {})
        self._keep = keep
        counts = (apis, chats, rpcs, indexes, beats)
        self._counts = dict(zip(KINDS, counts, strict=True))
        self._cleanup = ExitStack()
        self.stub = Stub()

    def __enter__(self) -> Self:
        assert threading.current_thread() is threading.main_thread()
        try:
            self._begin()
        except BaseException:
            self._cleanup.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()

    def _begin(self) -> None:
        self._cleanup.enter_context(interrupting())
        self.folder = Path(tempfile.mkdtemp(prefix="pageturn-cluster-"))
        self.folder.chmod(0o755)  # as root the stores run as another user
        if not self._keep:
            self._cleanup.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self._cleanup.enter_context(own_environment())
        self.home = open_home(self.folder / "home")
        self._cleanup.callback(self._require_nothing_left)
        self._start_stores()
        self._prepare()
        self._cleanup.enter_context(self.stub)
        self._cleanup.callback(self.tending.stop)
        self._start_processes()
        self._start_watching()
        self.wait_ready()
        self.owner = asyncio.run(sign_owner_in(self.settings))
        self._use_stub()

    def _start_stores(self) -> None:
        self.stores: dict[str, Store] = {}
        urls = {}
        for server in (Postgres(self.home), Valkey(self.home)):
            store = self.stores[server.name] = Store(server)
            self._cleanup.callback(store.stop)
            urls[server.setting] = SecretStr(server.url)
        own = {"home": self.home.root, "private_models": True} | urls
        self.settings = with_secrets(Settings().model_copy(update=own), self.home)

    def _prepare(self) -> None:
        export(self.settings)
        prepare_alone(self.settings)
        url = self.stores["postgres"].server.url
        self._sql = Sql(url)
        self._cleanup.callback(self._sql.close)
        self.redis: Redis = Redis.from_url(self.stores["valkey"].server.url, socket_timeout=5)
        self._cleanup.callback(self.redis.close)

    def _start_processes(self) -> None:
        self.tending.start()
        short = {"worker-chat": "chat", "worker-rpc": "rpc", "worker-index": "index"}
        for kind, count in self._counts.items():
            for number in range(1, count + 1):
                self.add(f"{short.get(kind, kind)}-{number}", kind)

    def _start_watching(self) -> None:
        self.watch = Watch(Sql(self.stores["postgres"].server.url))
        self.watch.start()
        self._cleanup.callback(self.watch.stop)
        self.readers = Readers(self.urls)
        self.readers.start()
        self._cleanup.callback(self.readers.stop)

    def _use_stub(self) -> None:
        settings = {
            "driver": "openai-compatible",
            "baseUrl": self.stub.url,
            "apiKey": "not-needed-here",
            "chatModel": "stub",
        }
        with self.client(self.owner) as client:
            client.patch("/v1/workspace/ai-settings", json=settings).raise_for_status()

    def wait_rest(self, seconds: float = REST_SECONDS) -> None:
        """Until no turn runs and no answer is played, everything being let go and thawed."""
        for store in self.stores.values():
            store.thaw()
            store.start()
        for name in self.kinds:
            self.let_go(name)
            if self.pid(name) is not None:
                self.signal(name, signal.SIGCONT)
        self.stub.release_all()
        self.wait_ready()
        self.only(*self.workers)
        running = "SELECT 1 FROM turns WHERE status IN ('queued','running') LIMIT 1"
        wait_for(lambda: not self.sql(running), seconds, "no turn runs any more")

    def give_up(self) -> int:
        """Strike out the turns that do not end, so that others can be tried; how many."""
        struck = "UPDATE turns SET status = 'error' WHERE status IN ('queued','running')"
        return len(self.sql(f"{struck} RETURNING 1"))

    # Stores.

    def start_store(self, name: str) -> None:
        self.stores[name].start()

    def stop_store(self, name: str) -> None:
        """End it cleanly; nobody starts it again but `start_store`."""
        self.stores[name].stop()

    def kill_store(self, name: str) -> float:
        """SIGKILL; nobody starts it again but `start_store`. The moment of it."""
        moment = time.monotonic()
        self.stores[name].kill()
        return moment

    def sql(self, query: str, *params: Any) -> list[Row]:
        """A query's rows, on a connection of the harness's own (autocommit)."""
        return self._sql(query, *params)

    def transaction(self) -> Any:
        """A psycopg connection in a transaction of its own, rolled back at the end: for locks."""
        return self._sql.transaction()

    def connect(self) -> Any:
        """A psycopg connection of the caller's own (autocommit)."""
        return self._sql.connect(autocommit=True)

    # Turns.

    def people(self, count: int) -> list[Person]:
        return asyncio.run(make_people(self.settings, count))

    def client(self, person: Person, api: str | None = None) -> httpx2.Client:
        """An HTTP client of a person's, for everything but the stream of an answer."""
        base = self.urls()[0] if api is None else self.url(api)
        # With `verify` a client begins by reading the system's certificates, a tenth of a second.
        options = {"timeout": 30, "trust_env": False, "verify": False}
        return httpx2.Client(base_url=base, headers=person.headers, **options)

    def together(self, wanted: Sequence[Wanted], **more: Any) -> list[Done]:
        """Requests of different people, beside each other, each at some API that lives: at once,
        or at a random instant of `within` seconds."""
        return self.readers.together(wanted, **more)

    def ask(self, person: Person, text: str, *, api: str | None = None, **more: Any) -> Reader:
        """Ask what the stub understands (`plays`), in the chat named by the trial, and follow."""
        trial = dict(word.split("=", 1) for word in text.split() if "=" in word)["trial"]
        self.watch.follow(trial)
        url = None if api is None else self.url(api)
        return self.readers.ask(person, trial, text, url=url, **more)

    def follow(self, person: Person, trial: str, *, api: str | None = None, **more: Any) -> Reader:
        """Another tab of a person's."""
        url = None if api is None else self.url(api)
        return self.readers.follow(person, trial, url=url, **more)

    def holder(self, trial: str) -> str | None:
        """The name of the worker that holds the trial's turn now (by its id or its trial's)."""
        rows = self.sql(
            "SELECT t.lease_owner FROM turns t JOIN ai_chats c ON c.id = t.chat_id"
            " WHERE (c.alias = %s OR t.id::text = %s) AND t.lease_owner IS NOT NULL",
            trial,
            trial,
        )
        pids = {str(self.pid(name)): name for name in self.workers}
        return next((pids.get(owner.split(":")[1]) for (owner,) in rows), None)

    def wait_for(self, condition: Callable[[], Any], seconds: float, what: str) -> Any:
        """What the condition gives, once it gives something true. Raises AssertionError."""
        return wait_for(condition, seconds, what)

    def _require_nothing_left(self) -> None:
        left = [path.stem for path in self.home.run.glob("*.lock") if children.held(path)]
        if left:
            wait_for(
                lambda: not any(children.held(self.home.lock(name)) for name in left),
                30,
                f"these have ended: {left}",
            )
