"""`kill -9` of the bot and of the runner at any instant and at every step of a delivery.

Each accepted job comes to its author exactly once, as a result or as a reason; none is lost, none
comes twice.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.delivery.steps import Step
from tests.postgresql import Server
from tests.soak.authors import Author
from tests.soak.conftest import is_whole
from tests.soak.house import House, house
from tests.soak.letters import MAX_LAUNCHES
from tests.soak.settled import check, until_settled
from tests.standin.tools import Tools

USERS = range(100, 110 if is_whole() else 104)
SETTLED_S = 120.0
WITHIN_S = 1_500 if is_whole() else 120
AT_RANDOM = {"postgresql": 135, "sqlite": 10}
AT_STEPS = {"postgresql": 52, "sqlite": 13}
"""Kills of a whole soak."""
LEAST = {"postgresql": 200, "sqlite": 20}
SAMPLE_SHARE = 60


@pytest.fixture(params=sorted(AT_RANDOM))
def backend(request: pytest.FixtureRequest) -> str:
    """Return which database the test is about."""
    return str(request.param)


@pytest.fixture
def url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a new database; the bot makes SQLite's tables, PostgreSQL has them."""
    if backend == "sqlite":
        return f"sqlite:///{tmp_path}/bot.db"
    server: Server = request.getfixturevalue("postgresql")
    return server.url(server.create(request.getfixturevalue("postgresql_template")))


@pytest.fixture(autouse=True)
def few_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the runner refuse what asks for more launches."""
    monkeypatch.setenv("NCUBOT_RUNNER_MAX_JOB_LAUNCHES", str(MAX_LAUNCHES))


@pytest.mark.timeout(WITHIN_S)
async def test_no_kill_loses_a_result_or_sends_it_twice(
    backend: str, url: str, tools: Tools, tmp_path: Path, dice: random.Random
) -> None:
    async with house(tmp_path, tools, url, dice) as built:
        await _register(built)
        authors = [Author(user, built.discord, dice) for user in USERS]
        async with _ending(authors):
            await _under_kills(built, authors, _lives(backend, dice))
            jobs = await until_settled(url, SETTLED_S)
        assert jobs
        assert built.kills.all >= (LEAST[backend] if is_whole() else 1)
        await check(built.discord, jobs, USERS)
        assert await built.stage.stop() == 0
    print(f"{built.kills.all} kills of {built.kills}, {len(jobs)} jobs")


async def _register(built: House) -> None:
    await built.stage.start()
    async with asyncio.TaskGroup() as people:
        for user in USERS:
            people.create_task(built.stage.register(user))
    await built.stage.kill()


async def _under_kills(
    built: House, authors: list[Author], lives: list[tuple[Step, int] | None]
) -> None:
    """Let the bot live so often while people use it, then a last time for what is left."""
    done = asyncio.Event()
    async with asyncio.TaskGroup() as people:
        for author in authors:
            people.create_task(author.work(done))
        for life in lives:
            await (built.live() if life is None else built.live_until(*life))
        await built.stage.start()
        done.set()


@asynccontextmanager
async def _ending(authors: list[Author]) -> AsyncIterator[None]:
    """Let jobs that would hold the runner's GPUs be cancelled, also those that nobody waits for."""
    cancelling = [asyncio.create_task(author.end_all()) for author in authors]
    try:
        yield
    finally:
        for task in cancelling:
            task.cancel()
        await asyncio.gather(*cancelling, return_exceptions=True)


def _lives(backend: str, dice: random.Random) -> list[tuple[Step, int] | None]:
    """Return where each life ends: at a step, or anywhere."""
    share = 1 if is_whole() else SAMPLE_SHARE
    at_random = max(AT_RANDOM[backend] // share, 1)
    at_steps = max(AT_STEPS[backend] // share, 1)
    every = dice.sample(list(Step), len(Step)) * at_steps
    steps: list[tuple[Step, int] | None] = [(step, dice.randint(1, 2)) for step in every]
    lives: list[tuple[Step, int] | None] = [*steps[:at_steps], *[None] * at_random]
    dice.shuffle(lives)
    return lives
