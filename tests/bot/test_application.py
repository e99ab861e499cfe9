"""The end of `ncubot run`: Discord is heard until the bot has ended what it was at."""

import asyncio

import pytest

from bot.application import _listen
from bot.client import NcuBot
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
