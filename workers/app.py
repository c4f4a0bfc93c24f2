"""The Celery application: queues, delivery settings, and what starts with a process.

Messages are acknowledged early and carry ids only; what makes a turn or an index safe is
in PostgreSQL. See docs/decisions/ for what was measured about late acknowledgement.
"""

import os
import threading
from typing import Any, get_args

from celery import Celery
from celery.signals import setup_logging, worker_init, worker_shutting_down

from shared.bus.jobs import BROKER_TRANSPORT, FollowIndex, Job, Queue, SweepExpired
from shared.chat.sweeping import Sweeper
from shared.core.liveness import WORKER_KINDS, beat_forever
from shared.core.logging import configure_logging
from shared.core.settings import get_settings
from shared.core.tunables import FOLLOW_INDEX_SECONDS, SWEEP_EXPIRED_SECONDS
from workers import runtime
from workers.agent import background
from workers.agent import tasks as agent_tasks
from workers.indexing import tasks as indexing_tasks
from workers.maintenance import tasks as maintenance_tasks

__all__ = ["agent_tasks", "app", "indexing_tasks", "maintenance_tasks"]

app = Celery("pageturn", broker=get_settings().require_redis_url())
app.conf.update(
    task_queues={name: {} for name in get_args(Queue)},
    task_default_queue="maintenance",
    task_create_missing_queues=False,
    task_ignore_result=True,
    task_acks_late=False,
    task_serializer="json",
    accept_content=["json"],
    worker_disable_prefetch=True,
    worker_send_task_events=True,
    worker_hijack_root_logger=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_transport_options=BROKER_TRANSPORT,
    enable_utc=True,
    timezone="UTC",
)


def _tick(job: type[Job], seconds: float) -> dict[str, Any]:
    # It never expires: by which clock? Old ones that have piled up are told by `due`.
    return {"task": job.name, "schedule": seconds, "options": {"queue": job.queue}}


app.conf.beat_schedule = {
    job.name: _tick(job, seconds)
    for job, seconds in (
        (FollowIndex, FOLLOW_INDEX_SECONDS),
        (SweepExpired, SWEEP_EXPIRED_SECONDS),
    )
}


def _process() -> str:
    return os.environ.get("PAGETURN_PROCESS", "worker")


def _logging(**_: Any) -> None:
    configure_logging(_process(), get_settings().log_level)


def _start(sender: Any = None, **_: Any) -> None:
    """The threads pool never fires `worker_process_init`, so everything begins here."""
    loop = runtime.start()
    current = loop.runtime
    sweeper = Sweeper(
        current.database, current.redis, current.stream, current.figures, current.settings
    )
    loop.start(sweeper.run())
    queues = {queue.name for queue in sender.app.amqp.queues.consume_from.values()}
    if "chat" in queues:
        background.start(loop)
    for kind in WORKER_KINDS & queues:
        loop.start(beat_forever(current.redis, kind, current.owner))


def _hand_over(**_: Any) -> None:
    """Turns that have not finished within the grace period go to another worker."""
    grace = get_settings().grace_seconds
    timer = threading.Timer(grace, background.keeper().hand_over)
    timer.daemon = True
    timer.start()


setup_logging.connect(_logging)
worker_init.connect(_start)
worker_shutting_down.connect(_hand_over)
