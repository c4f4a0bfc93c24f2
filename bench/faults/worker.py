"""The workers' application with one tool more, which calls another system: `celery -A
bench.faults.worker`."""

from bench.faults.remote import SEND_REMOTE
from shared.tools import registry
from workers.app import app

registry.TOOLS = (*registry.TOOLS, SEND_REMOTE)

__all__ = ["app"]
