"""A bot's services on a small problem repository and a scripted runner."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.jobs.model import ProfileRequest
from bot.services import Services, open_services
from bot.settings import BotSettings
from runner_client.secret import Secret
from tests.jobs.place import Place, two_runners
from tests.jobs.runner import ScriptedRunner
from tests.leaderboards.repository import make

USER = 2**63 - 1
REQUEST = ProfileRequest(
    user_id=USER, file_name="k.py", source=b"print()", leaderboard="qr", gpu="H200"
)


@pytest.fixture
def runner() -> ScriptedRunner:
    return ScriptedRunner()


@pytest.fixture
async def services(
    tmp_path: Path, runner: ScriptedRunner, database_url: str
) -> AsyncIterator[Services]:
    async with runner.serving() as address:
        settings = BotSettings(
            data=tmp_path / "data",
            database_url=Secret(database_url),
            problems=make(tmp_path / "repository"),
            runners=(address,),
            runner_patience=1.0,
        )
        opened = await open_services(settings)
        await opened.accounts.register(USER, "somebody")
        yield opened
        await opened.close()


@pytest.fixture
def patience() -> float:
    return 20.0


@pytest.fixture
async def place(tmp_path: Path, database_url: str, patience: float) -> AsyncIterator[Place]:
    async with two_runners(tmp_path, database_url, patience) as opened:
        await opened.services.accounts.register(USER, "somebody")
        yield opened
