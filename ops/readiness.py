"""Asks the API whether every part of Pageturn serves."""

import json
import urllib.error
import urllib.request

from shared.core.tunables import READY_PROBE_SECONDS

# Loopback is never behind a proxy, whatever the environment says.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def missing_parts(address: str) -> list[str]:
    """The names of what does not serve yet; `["api"]` while the API itself does not answer."""
    try:
        with _OPENER.open(f"{address}/readyz", timeout=READY_PROBE_SECONDS):
            return []
    except urllib.error.HTTPError as answer:
        return _named(answer.read()) or ["api"]
    except OSError:
        return ["api"]


def _named(body: bytes) -> list[str]:
    try:
        checks = json.loads(body)["checks"]
        return [name for name, answer in checks.items() if answer != "ok"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
