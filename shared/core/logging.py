"""Structured logs: one JSON line an event, ids and counts only, never content."""

import logging
import sys
import traceback
from typing import Any

import structlog
from structlog.typing import EventDict, FilteringBoundLogger

from shared.core.tunables import TRACEBACK_FRAMES


def render_exception(_: Any, __: str, event: EventDict) -> EventDict:
    """Where an exception came from and of what type, link by link; never its message, which
    may quote a page, a prompt or a key."""
    info = event.pop("exc_info", None)
    if info is True:
        info = sys.exc_info()
    error = info[1] if isinstance(info, tuple) else info
    chain = []
    while isinstance(error, BaseException):
        frames = traceback.extract_tb(error.__traceback__)
        chain.append(
            {
                "type": f"{type(error).__module__}.{type(error).__qualname__}",
                "at": [f"{f.filename}:{f.lineno} {f.name}" for f in frames[-TRACEBACK_FRAMES:]],
            }
        )
        error = error.__cause__ or error.__context__
    if chain:
        event["exception"] = chain
    return event


def configure_logging(process: str, level: str = "INFO") -> None:
    """Send structlog and the standard library's loggers to standard error as JSON lines."""

    def add_process(_: Any, __: str, event: EventDict) -> EventDict:
        # Not a context variable: those do not reach the threads of a pool.
        event["process"] = process
        return event

    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        add_process,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            *shared,
            render_exception,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level)),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                render_exception,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)


def get_logger(name: str) -> FilteringBoundLogger:
    """A logger whose events carry its module's name."""
    logger: FilteringBoundLogger = structlog.get_logger(module=name)
    return logger
