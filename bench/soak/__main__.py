"""An installation under mixed load for a long time, with a kill every minute.

    make soak MINUTES=60

People ask, follow, leave, come back, stop, save and look; every minute a process of `pageturn up`
is killed with SIGKILL, every tenth time a store. An API and a chat worker beside them live through
it: their memory should be flat. Exit code 1 when a turn did not end, a write happened twice,
something was left over, or something grew.
"""

import argparse
import asyncio
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench.soak.judging import judge
from bench.soak.model import answer
from bench.soak.person import Person
from bench.soak.place import Place, place
from bench.soak.report import table
from bench.soak.watch import Sample, sample
from tests.fakes.llm_stub import StubThread

PEOPLE = 8  # signing in is throttled for an address
SAMPLE_SECONDS = 15.0
KILL_SECONDS = 60.0
VICTIMS = ("worker-chat", "api", "worker-index", "worker-chat", "worker-rpc", "beat", "flower")
STORES = ("valkey", "postgres")


def main() -> int:
    parser = argparse.ArgumentParser(description="An installation under load for a long time.")
    parser.add_argument("--minutes", type=float, default=60.0)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else what was started goes on
    folder = Path(tempfile.mkdtemp(prefix="pageturn-soak-"))
    folder.chmod(0o755)  # as root the stores run as another user
    with StubThread(fallback=answer) as stub, place(folder) as here:
        people = configure(here, stub.url)
        samples = asyncio.run(soak(here, stub, people, arguments.minutes * 60))
        wrong = judge(here, people, samples)
    if wrong:
        print("\n".join(["", "NOT HELD:", *wrong, f"Logs: {folder}"]))
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def configure(here: Place, model_url: str) -> list[Person]:
    owner = here.installation.sign_in()
    settings = {
        "driver": "openai-compatible",
        "baseUrl": model_url,
        "apiKey": "not-needed-here",
        "chatModel": "stub",
    }
    owner.patch("/v1/workspace/ai-settings", json=settings).raise_for_status()
    spaces = owner.get("/v1/spaces").raise_for_status().json()["items"]
    space = spaces[0]
    counts: Counter[str] = Counter()
    people = []
    for number in range(PEOPLE):
        grant = f"{space['slug']}:writer"
        client = here.installation.add_person(f"p{number}@example.org", f"P{number}", grant)
        token = client.headers["authorization"].removeprefix("Bearer ")
        people.append(Person(token, here.urls, space["id"], counts))
    return people


async def soak(here: Place, stub: StubThread, people: list[Person], seconds: float) -> list[Sample]:
    begun, over = time.monotonic(), asyncio.Event()
    samples: list[Sample] = []
    living = [asyncio.create_task(person.live(over)) for person in people]
    beside = [
        asyncio.create_task(_sampling(here, stub, samples, begun, people[0].counts)),
        asyncio.create_task(_killing(here, people[0].counts)),
    ]
    await asyncio.sleep(seconds)
    over.set()
    for task in beside:
        task.cancel()
    await asyncio.gather(*beside, return_exceptions=True)
    await asyncio.gather(*living)
    return samples


async def _sampling(
    here: Place,
    stub: StubThread,
    samples: list[Sample],
    begun: float,
    counts: "Counter[str]",
) -> None:
    while True:
        await asyncio.sleep(SAMPLE_SECONDS)
        stub.requests.clear()  # the stub remembers everything that it was asked
        try:
            samples.append(await asyncio.to_thread(sample, here, begun))
        except Exception as error:  # a store is being started again
            counts[f"no sample: {type(error).__name__}"] += 1
        if len(samples) % 20 == 1:
            heading, row = table(samples[-1:], 1).splitlines()
            print(f"{heading}\n{row}" if len(samples) == 1 else row, flush=True)


async def _killing(here: Place, counts: "Counter[str]") -> None:
    number, order = 0, random.Random().sample(VICTIMS, len(VICTIMS))
    while True:
        await asyncio.sleep(KILL_SECONDS)
        number += 1
        store = STORES[number // 10 % 2] if number % 10 == 0 else None
        name = store or order[number % len(order)]
        counts[f"killed {name}"] += 1
        await asyncio.to_thread(here.kill, name)


if __name__ == "__main__":
    sys.exit(main())
