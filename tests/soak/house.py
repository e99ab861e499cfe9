"""A small Discord, a bot and a runner on one database, the latter two killed all the time."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.delivery.steps import Step
from tests.discord.bot import KILL_AT
from tests.discord.client import SmallDiscord, small_discord
from tests.discord.stage import Stage, settings
from tests.soak import letters
from tests.soak.machine import TOKEN, Machine
from tests.standin.tools import Tools

RUNNER_SHARE = 0.2
"""In so many lives of the bot the runner is killed as well, or instead."""
LONGEST_LIFE_S = 2.5
STEP_WITHIN_S = 15.0


@dataclass(slots=True)
class Kills:
    """How often what was killed."""

    bot: int = 0
    runner: int = 0
    steps: dict[Step, int] = field(default_factory=dict)

    @property
    def all(self) -> int:
        """Return the number of kills."""
        return self.bot + self.runner


@dataclass(slots=True)
class House:
    """Everything that runs, and where."""

    stage: Stage
    machine: Machine
    dice: random.Random
    kills: Kills = field(default_factory=Kills)

    @property
    def discord(self) -> SmallDiscord:
        """Return the small Discord."""
        return self.stage.discord

    async def live(self) -> None:
        """Let the bot live for a while, then kill it, or the runner, or both."""
        await self.stage.start()
        await asyncio.sleep(self.dice.uniform(0.1, LONGEST_LIFE_S))
        if self.dice.random() < RUNNER_SHARE:
            await self.machine.kill()
            self.kills.runner += 1
            await asyncio.sleep(self.dice.uniform(0.0, 0.5))
            await self.machine.start()
        await self.stage.kill()
        self.kills.bot += 1

    async def live_until(self, step: Step, times: int) -> None:
        """Let the bot live until it is killed where it reaches `step` for the n-th time."""
        bot = await self.stage.spawn(**{KILL_AT: f"{step}:{times}"})
        try:
            async with asyncio.timeout(STEP_WITHIN_S):
                await bot.wait()
            self.kills.steps[step] = self.kills.steps.get(step, 0) + 1
        except TimeoutError:
            await self.stage.kill()
        self.kills.bot += 1


@asynccontextmanager
async def house(
    folder: Path, tools: Tools, database_url: str, dice: random.Random
) -> AsyncIterator[House]:
    """Build everything and start all but the bot."""
    machine = Machine(tools, folder / "runner")
    machine.folder.mkdir()
    async with small_discord(folder / "discord") as discord:
        environ = settings(folder, letters.make(folder / "problems"), machine.address.url, TOKEN)
        environ |= {
            "DATABASE_URL": database_url,
            "NCUBOT_RUNNER_POLL": "0.5",
            "NCUBOT_MAX_UNDER_WAY": "50",
        }
        built = House(Stage(discord, folder, environ), machine, dice)
        await machine.start()
        try:
            yield built
        finally:
            await built.stage.kill()
            await machine.kill()
