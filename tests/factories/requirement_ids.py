"""Which requirement ids the tests carry, and which of them pass."""

from collections import defaultdict

import pytest


class RequirementIds:
    """Collects the `req` markers' ids with the outcome of their tests, also under xdist."""

    def __init__(self) -> None:
        self._outcomes: dict[str, list[bool]] = defaultdict(list)

    @staticmethod
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
        """Write the ids into the report, which travels from a worker to the terminal."""
        outcome = yield
        ids = {name for mark in item.iter_markers("req") for name in mark.args}
        outcome.get_result().user_properties.extend(("req", name) for name in sorted(ids))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.failed or report.skipped:
            for key, value in report.user_properties:
                if key == "req":
                    self._outcomes[str(value)].append(report.passed)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._outcomes:
            return
        passed = sorted(name for name, runs in self._outcomes.items() if all(runs))
        total = len(self._outcomes)
        terminalreporter.section("requirements")
        terminalreporter.write_line(
            f"requirement ids: {len(passed)} pass of {total} carried by tests"
        )
        terminalreporter.write_line(" ".join(passed))
        failed = sorted(set(self._outcomes) - set(passed))
        if failed:
            terminalreporter.write_line("not passed: " + " ".join(failed))
