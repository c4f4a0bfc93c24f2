"""What stands in the index for some pages, looked at all the time while a block runs."""

import threading
from collections.abc import Iterable
from typing import Self

from bench.cluster import Cluster
from bench.cluster.database import Sql
from bench.faults.subjects import Subject, marks

LOOK_SECONDS = 0.05
_ROWS = """
SELECT page_id::text, content, metadata->>'version' FROM page_embeddings WHERE page_id = ANY(%s)
"""


class ChunkWatch:
    """`faults`: by page, what may never be seen; `seen`: by page, the versions, in order."""

    def __init__(self, cluster: Cluster, pages: Iterable[Subject]) -> None:
        self._sql = Sql(cluster.stores["postgres"].server.url)
        self._pages = [subject.page_id for subject in pages]
        self.faults: dict[str, list[str]] = {page: [] for page in self._pages}
        self.seen: dict[str, list[int]] = {page: [] for page in self._pages}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="chunks", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._sql.close()

    def _run(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            found: dict[str, set[int]] = {}
            for page, content, told in self._sql(_ROWS, self._pages):
                versions = {version for version, _ in marks(content)}
                found.setdefault(page, set()).update(versions, [int(told)])
            for page, versions in found.items():
                self._note(page, versions)

    def _note(self, page: str, versions: set[int]) -> None:
        seen, faults = self.seen[page], self.faults[page]
        if len(versions) > 1:
            faults.append("chunks of different versions stood together")
        if seen and min(versions) < seen[-1]:
            faults.append("an older chunk was seen after a newer one")
        if not seen or max(versions) > seen[-1]:
            seen.append(max(versions))
