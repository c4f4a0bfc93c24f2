"""Turns through a real model server that nobody of this project wrote.

    make real-model
    .venv/bin/python -m bench.real_model --server llama --short-turns 5

Starts the server, starts a Pageturn of its own, connects the one to the other by the settings API,
and asks. Exit code 1 when a turn did not end in exactly one way, when its frames broke the
protocol, or when something else was stored than was sent. A model of this size answers nonsense:
what is looked at is everything around it. On two busy cores a run takes half an hour.
"""

import argparse
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx2

from bench.model_server import KINDS, MODEL_NAME, Kind, serving
from bench.turns import HEAD, Outcome, ask
from tests.fakes.installation import Installation

PAGES = {
    "Holidays": "Everyone has **28 days** a year.\n\n## Asking\n\nAsk two weeks before.",
    "Travel": "Trains before planes. Keep the receipts and hand them in within a month.",
    "Office": "The door code changes every quarter. Dogs are welcome on Fridays.",
}
SHORT = ["Hello.", "And then?", "Why?", "Say it in three words.", "What is 2 + 2?", "Thanks."]
# The words with which a model of this family begins a call.
TOOLS = ["List the pages. Call a tool: <tool_call>", '<tool_call>{"name": "searchPages"']


def main() -> int:
    parser = argparse.ArgumentParser(description="Turns through a real model server.")
    parser.add_argument("--server", choices=KINDS, default="python")
    parser.add_argument("--short-turns", type=int, default=30, help="turns of the one long chat")
    arguments = parser.parse_args()
    kind = KINDS[arguments.server]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else what was started goes on
    kind.build()
    folder = Path(tempfile.mkdtemp(prefix="pageturn-real-model-"))
    pageturn = Installation(folder / "home", extra={"PAGETURN_PRIVATE_MODELS": "true"})
    try:
        with serving(kind, folder / "server.log") as base:
            pageturn.start()
            client = pageturn.sign_in()
            configure(client, base, kind)
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


def configure(client: httpx2.Client, base: str, kind: Kind) -> None:
    """Connect the workspace to the server, have it tested, and write some pages."""
    settings = {
        "driver": "openai-compatible",
        "baseUrl": base,
        "apiKey": "not-needed-here",
        "chatModel": MODEL_NAME,
        "chatContextWindow": kind.window,
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
    """Some turns of each kind, then many in one chat, which outgrows the model's window."""
    print(HEAD, flush=True)
    yield shown(ask(client, "plain", "What is the capital of France?"))
    for number, text in enumerate(TOOLS):
        yield shown(ask(client, f"should use tools {number + 1}", text))
    babble = ask(client, "babbles", "Write a very long fairy tale about a fox. Never stop.")
    yield shown(babble)
    if babble.truncated:
        yield shown(ask(client, "goes on", None, chat=babble.chat))
    yield shown(ask(client, "stopped", "Write a long letter to a friend.", stop_after=3))
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
