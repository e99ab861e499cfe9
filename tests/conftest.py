"""Fixtures for every folder of tests, and the rule about skips."""

import asyncio
import os
import random
import secrets
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.postgresql import Server, running

BACKENDS = ("sqlite", "postgresql")

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


@pytest.fixture
def dice() -> random.Random:
    """Return random numbers from NCUBOT_SEED, or a new seed that a failure prints."""
    seed = int(os.environ.get("NCUBOT_SEED") or secrets.randbelow(1_000_000))
    print(f"NCUBOT_SEED={seed}")
    return random.Random(seed)  # noqa: S311 - repeatable, no secret


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """Run a PostgreSQL server, one for the session of a worker."""
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def postgresql_template(postgresql: Server) -> str:
    """Return the name of a database that has the newest tables; it is only copied."""
    name = postgresql.create()
    _upgrade(postgresql.url(name))
    return name


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a SQLite file that has the newest tables; it is only copied."""
    file = tmp_path_factory.mktemp("sqlite") / "ncubot.db"
    _upgrade(f"sqlite:///{file}")
    return file


@pytest.fixture(params=BACKENDS)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URL of a database of this test's own, with the newest tables and no rows."""
    if request.param == "sqlite":
        file = tmp_path / "database" / "ncubot.db"
        file.parent.mkdir()
        shutil.copy(request.getfixturevalue("sqlite_template"), file)
        yield f"sqlite:///{file}"
        return
    server: Server = request.getfixturevalue("postgresql")
    name = server.create(request.getfixturevalue("postgresql_template"))
    yield server.url(name)
    server.drop(name)


@pytest.fixture(params=BACKENDS)
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URL of a database of this test's own, without tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/new/ncubot.db"
        return
    server: Server = request.getfixturevalue("postgresql")
    name = server.create()
    yield server.url(name)
    server.drop(name)


def _upgrade(url: str) -> None:
    """Make the tables, in a thread, since there may be a loop in this one.

    The database is imported here: a runner's tests do without SQLAlchemy.
    """
    from bot.storage.database import upgrade_database  # noqa: PLC0415

    with ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(lambda: asyncio.run(upgrade_database(url))).result()


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
