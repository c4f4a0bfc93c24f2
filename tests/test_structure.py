"""What import contracts cannot say."""

import ast
from pathlib import Path

import pytest

from shared.bus.jobs import JOBS

ROOT = Path(__file__).parent.parent


def test_the_top_level_holds_just_the_packages_of_the_architecture() -> None:
    packages = {
        path.parent.name
        for path in ROOT.glob("*/__init__.py")
        if path.parent.name not in {"tests", ".venv"}
    }
    assert packages == {"api", "workers", "shared", "ops"}


def test_the_api_has_no_mcp_client_and_no_model_client() -> None:
    imported = set()
    for path in (ROOT / "api").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.split(".")[0])
    assert not imported & {"mcp", "openai", "anthropic", "onnxruntime", "workers"}


def test_every_job_has_a_registered_task_on_a_queue_that_a_worker_serves() -> None:
    from workers.app import app

    app.finalize()
    served = set(app.conf.task_queues)
    for job in JOBS:
        assert job.name in app.tasks, job.name
        assert job.queue in served


@pytest.mark.parametrize("job", JOBS)
def test_jobs_carry_ids_only(job: type) -> None:
    from shared.bus.jobs import Job

    assert issubclass(job, Job)
    for name, info in job.model_fields.items():
        assert name.endswith("_id"), name
        assert str(info.annotation) == "<class 'uuid.UUID'>"
