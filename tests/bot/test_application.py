"""`ncubot run` is alone on its database, and hears Discord until it has ended what it was at."""

import asyncio
from pathlib import Path

import pytest

from bot import application
from bot.application import _listen, _unless_taken
from bot.client import NcuBot
from bot.settings import BotSettings
from bot.storage.errors import DatabaseTakenError
from bot.storage.sole import sole_use
from runner_client.secret import Secret


class Ending(NcuBot):
    """A bot without Discord, which needs a while to end."""

    def __init__(self) -> None:
        self.hears, self.ended = asyncio.Event(), asyncio.Event()
        self.heard_while_ending = False

    async def start(self, token: str, *, reconnect: bool = True) -> None:
        self.hears.set()
        await self.ended.wait()
        self.hears.clear()

    async def close(self) -> None:
        await asyncio.sleep(0)
        self.heard_while_ending = self.hears.is_set()
        self.ended.set()


async def test_commands_are_answered_while_the_bot_ends() -> None:
    bot = Ending()
    listening = asyncio.create_task(_listen(bot, Secret("a.b.c")))
    await bot.hears.wait()
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    assert bot.heard_while_ending


async def test_a_second_bot_on_one_database_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.sole.WAIT_S", 0.0)
    settings = BotSettings(data=tmp_path / "data", problems=tmp_path)
    async with sole_use(settings.database):
        with pytest.raises(DatabaseTakenError):
            await application.serve(settings, Secret("a.b.c"))


async def test_a_bot_whose_database_another_one_has_taken_ends(tmp_path: Path) -> None:
    bot = Ending()
    async with sole_use(f"sqlite:///{tmp_path}/a.db") as sole:
        serving = asyncio.create_task(_unless_taken(sole, _listen(bot, Secret("a.b.c"))))
        await bot.hears.wait()
        sole.lost.set()
        with pytest.raises(DatabaseTakenError):
            await serving
    assert bot.ended.is_set()
