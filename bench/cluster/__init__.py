"""A whole Pageturn of several processes on this machine, to be broken on purpose.

    with Cluster(apis=2, chats=2, indexes=1, beats=1) as cluster:
        people = cluster.people(10)                      # signed-in members, made at once
        reader = cluster.ask(people[0], "trial=t1 plan=write-then-talk words=80")
        cluster.stub.wait_at("t1", step=1, piece=20)     # the model is in its 20th word
        cluster.kill(cluster.holder("t1"))               # SIGKILL of the worker that holds it
        reader.wait(30)
        assert reader.faults == []                       # one whole answer, as it is stored
        cluster.sql("SELECT status FROM turns")

- `cluster.py`, `fleet.py`: stores and processes, killed and started again (`tending.py`,
  `members.py`, `stores.py`), and many people at once (`people.py`).
- `stub.py`, `plays.py`: the model; what a turn should do stands in the person's own words, what
  is said is random each time it is asked; a trial can be held at a word.
- `readers.py`, `reader.py`, `stored.py`: browsers, hundreds of them on one thread.
- `watch.py`: what became of each turn, and when, by a look at the database 20 times a second.

A trial's id is also its chat's `alias`, so that everything is found by it.
"""

from bench.cluster.cluster import Cluster
from bench.cluster.people import Person
from bench.cluster.reader import Reader
from bench.cluster.stub import Stub
from bench.cluster.watch import Sight, Watch

__all__ = ["Cluster", "Person", "Reader", "Sight", "Stub", "Watch"]
