"""Fixtures for every folder of tests, and the rule about skips."""

import os
import shutil
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
HAS_GPU = bool(shutil.which("ncu") and shutil.which("nvidia-smi"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Material that lies beside the checkout: recorded runs, Discord's API description."""
    if not SHARED.is_dir():
        pytest.skip("../shared is absent")
    return SHARED


@pytest.fixture(scope="session")
def recordings(shared: Path) -> Path:
    """Return the folder of recorded ncu runs."""
    return shared / "recordings"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a GPU where there is none."""
    if HAS_GPU:
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU and ncu"))


class NoSkips:
    """Fails the run when anything but a `gpu` test was skipped. CI switches it on."""

    def __init__(self) -> None:
        self.skipped: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note each skip that is not allowed."""
        if report.skipped and "gpu" not in report.keywords:
            self.skipped.append(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Turn a clean exit status into a failed one."""
        if self.skipped:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the tests that must not be skipped here."""
        for nodeid in self.skipped:
            terminalreporter.write_line(f"must not be skipped in CI: {nodeid}", red=True)


def pytest_configure(config: pytest.Config) -> None:
    """Switch the skip rule on where the environment asks for it."""
    if os.environ.get("NCUBOT_NO_SKIPS") == "1":
        config.pluginmanager.register(NoSkips())
