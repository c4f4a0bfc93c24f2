"""Turns through a real model server that nobody of this project wrote.

    make real-model

Starts the server, starts a Pageturn of its own, connects the one to the other by the settings API,
and asks. Exit code 1 when a turn did not end in exactly one way, when its frames broke the
protocol, or when something else was stored than was sent. A model of this size answers nonsense:
what is looked at is everything around it.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx2

from bench import llama
from bench.turns import HEAD, Outcome, ask
from tests.fakes.installation import Installation

PAGES = {
    "Holidays": "Everyone has **28 days** a year.\n\n## Asking\n\nAsk two weeks before.",
    "Travel": "Trains before planes. Keep the receipts and hand them in within a month.",
    "Office": "The door code changes every quarter. Dogs are welcome on Fridays.",
}
SHORT = ["Hello.", "And then?", "Why?", "Say it in three words.", "What is 2 + 2?", "Thanks."]


def main() -> int:
    parser = argparse.ArgumentParser(description="Turns through a real model server.")
    parser.add_argument("--short-turns", type=int, default=30, help="turns of the one long chat")
    arguments = parser.parse_args()
    llama.install()
    folder = Path(tempfile.mkdtemp(prefix="pageturn-real-model-"))
    pageturn = Installation(folder / "home", extra={"PAGETURN_PRIVATE_MODELS": "true"})
    try:
        with llama.serving(folder / "server.log") as base:
            pageturn.start()
            client = pageturn.sign_in()
            configure(client, base)
            outcomes = list(conversations(client, arguments.short_turns))
    finally:
        if pageturn.process is not None:
            pageturn.stop()
    wrong = [outcome for outcome in outcomes if outcome.wrong]
    print(f"{len(outcomes) - len(wrong)} of {len(outcomes)} turns ended as they should")
    if wrong:
        print(f"Logs: {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


def configure(client: httpx2.Client, base: str) -> None:
    """Connect the workspace to the server, have it tested, and write some pages."""
    settings = {
        "driver": "openai-compatible",
        "baseUrl": base,
        "apiKey": "not-needed-here",
        "chatModel": llama.MODEL_NAME,
        "chatContextWindow": llama.CONTEXT_TOKENS,
    }
    client.patch("/v1/workspace/ai-settings", json=settings).raise_for_status()
    test = {"capability": "chat"}
    answer = client.post("/v1/workspace/ai-settings/test", json=test, timeout=120)
    print(f"test of the settings: {answer.raise_for_status().json()}")
    spaces = client.get("/v1/spaces").raise_for_status().json()["items"]
    for title, markdown in PAGES.items():
        page = {"spaceId": spaces[0]["id"], "title": title, "markdown": markdown}
        client.post("/v1/pages", json=page).raise_for_status()


def conversations(client: httpx2.Client, short: int) -> Iterator[Outcome]:
    """One turn of each kind, then many in one chat, which outgrows the model's window."""
    print(HEAD, flush=True)
    yield shown(ask(client, "plain", "What is the capital of France?"))
    yield shown(ask(client, "should use tools", "Search the wiki: how many days of holidays?"))
    yield shown(ask(client, "babbles", "Write a very long fairy tale about a fox. Never stop."))
    yield shown(ask(client, "stopped", "Count from one to a thousand in words.", stop_after=10))
    chat = None
    for number in range(short):
        outcome = ask(client, f"short {number + 1}", SHORT[number % len(SHORT)], chat=chat)
        chat = outcome.chat
        yield shown(outcome)


def shown(outcome: Outcome) -> Outcome:
    print(outcome.row(), flush=True)
    return outcome


if __name__ == "__main__":
    sys.exit(main())
