"""A leaderboard service on an empty database, and a small repository."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.check.model import CheckResult, Finding, Verdict
from bot.leaderboards.model import Task
from bot.leaderboards.service import LeaderboardService
from bot.settings import BotSettings
from bot.storage.database import Database, open_database
from runner_client.secret import Secret
from tests.leaderboards.repository import make
from tests.leaderboards.syncing import Syncing


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "repository")


@pytest.fixture
def settings(tmp_path: Path, database_url: str) -> BotSettings:
    return BotSettings(
        data=tmp_path / "data",
        problems=tmp_path / "repository",
        database_url=Secret(database_url),
    )


@pytest.fixture
async def database(settings: BotSettings) -> AsyncIterator[Database]:
    opened = await open_database(settings.database)
    yield opened
    await opened.close()


def checked(task: Task, gpus: tuple[str, ...]) -> CheckResult:
    """Stand in for the check of evaluators: booleans are warned of, and AMD is not NVIDIA."""
    found = [
        Finding("bool-as-text", "task.yml", None, f"`{key}` is text")
        for case in task.benchmarks
        for key, value in case.items()
        if isinstance(value, bool)
    ]
    verdict = Verdict.NOT_NVIDIA if "MI300" in gpus else Verdict.NCU
    return CheckResult(verdict, (*found, Finding("late-range", "eval.py", 3, "not of the spec")))


@pytest.fixture
def syncing(settings: BotSettings, database: Database) -> Syncing:
    catalogue = Catalogue()
    return Syncing(LeaderboardService(database, catalogue, settings, checked), catalogue, settings)
