"""The whole chain at load: 200 users, 1,000 jobs, two runners, one killed on the way.

Each user profiles five times and types as soon as the last result is there, so that 200 jobs are
under way. The bot is the process of `ncubot run`, on PostgreSQL; the small Discord of the tests
keeps Discord's limits; the runners are processes of `ncubot runner` with two GPUs each, with queue,
sandbox, export and files on the disk. Only ncu is a program that sleeps and has a recording's
exports. At a third of the results a runner gets SIGKILL, with what it works on, and is back half a
minute later, when the bot has given what waited there to the other one.

It ends with an error where an accepted job did not come to its author, or came twice.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.bot_figures import bot_figures, most_called
from benchmarks.chain_check import Check, checked, is_outcome
from benchmarks.fake_ncu import install
from benchmarks.figures import Figure, markdown
from benchmarks.letterbox import Letterbox, letterbox
from benchmarks.memory import Peaks
from bot.storage.database import upgrade_database
from tests.discord.bot import LAG
from tests.discord.client import small_discord
from tests.discord.lag import Lag, read
from tests.discord.orders import Counts, Slash, Upload
from tests.discord.stage import GOOD, Stage, channel_of, settings
from tests.postgresql import running
from tests.soak.letters import BOARD, make
from tests.soak.machine import TOKEN, Machine

USERS, JOBS_EACH = 200, 5
GPUS_EACH, CAPTURE_S = 2, 0.5
KILL_AT, DOWN_S = 1 / 3, 30.0
ALONE = 5
IDLE_S = 5.0
REGISTER_AT_ONCE = 20
BETWEEN_S = 0.02
AGAIN_S = 2.0
MOST_SENTENCES, LOG_CHARACTERS = 5, 2_000
WITHIN_S = 1_500.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much there is to do, and for how long the killed runner is away."""

    users: int = USERS
    jobs_each: int = JOBS_EACH
    down_s: float = DOWN_S

    @property
    def jobs(self) -> int:
        """Return the jobs of all users."""
        return self.users * self.jobs_each


@dataclass(slots=True)
class House:
    """Everything that runs, how long people waited for results, and what was said in their place.

    `refused` counts sentences by which a job was not taken.
    """

    stage: Stage
    box: Letterbox
    machines: tuple[Machine, ...]
    waits: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    async def profile(self, user: int) -> None:
        """Let a user type /profile until it is taken, and wait until it is over."""
        while True:
            if await self._profiled(user):
                return
            await asyncio.sleep(AGAIN_S)

    async def _profiled(self, user: int) -> bool:
        """Let a user type it once; tell whether it was taken."""
        began = time.monotonic()
        typed = await self.stage.discord.slash(
            Slash(
                user=user,
                command=("profile",),
                options={"leaderboard": BOARD, "gpu": "H200", "benchmark": 0},
                files={"submission": Upload(name="submission.py", content=GOOD.encode())},
                channel=channel_of(user),
            )
        )
        answer = await self.box.get(typed.token)
        if not is_outcome(answer.message):
            self.refused[answer.words] += 1
            return False
        self.waits.append(answer.at - began)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What came of a load. `alone_s` are waits of a job with nothing else to do."""

    load: Load
    seconds: float
    waits_s: tuple[float, ...]
    alone_s: tuple[float, ...]
    check: Check
    refused: Counter[str]
    idle: Lag
    busy: Lag
    counts: Counts
    runner_bytes: tuple[int, ...]


async def _course(folder: Path, database_url: str, load: Load) -> Course:
    async with _house(folder, database_url) as house, Peaks.taken(house.machines) as peaks:
        users = range(1, load.users + 1)
        await house.stage.start()
        for first in users[::REGISTER_AT_ONCE]:
            await house.stage.register(*users[first - 1 : first - 1 + REGISTER_AT_ONCE])
        for user in users[:ALONE]:
            await house.profile(user)
        alone, house.waits = tuple(house.waits), []
        await house.stage.stop()
        idle = folder / "idle"
        await house.stage.start(**{LAG: str(idle)})
        await asyncio.sleep(IDLE_S)
        await house.stage.stop()
        busy = folder / "busy"
        await house.stage.start(**{LAG: str(busy)})
        seconds = await _loaded(house, load)
        check = await checked(house.stage.discord, database_url, users)
        counts = await house.stage.discord.counts()
        await house.stage.stop()
        return Course(
            load=load,
            seconds=seconds,
            waits_s=tuple(house.waits),
            alone_s=alone,
            check=check,
            refused=house.refused,
            idle=read(idle),
            busy=read(busy),
            counts=counts,
            runner_bytes=peaks.bytes,
        )


async def _loaded(house: House, load: Load) -> float:
    """Let everybody profile, and a runner die meanwhile; return the seconds that it took."""
    began = time.monotonic()
    async with asyncio.timeout(WITHIN_S), asyncio.TaskGroup() as bystanders:
        dying = bystanders.create_task(_dies(house.stage))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_kill(house, load))
            for user in range(1, load.users + 1):
                tasks.create_task(_user(house, user, load.jobs_each))
                await asyncio.sleep(BETWEEN_S)
        dying.cancel()
    # The runner may be away for longer than people were busy.
    return max(began, *house.box.moments) - began


async def _dies(stage: Stage) -> None:
    """End the run where the bot dies, which nobody here does to it."""
    if stage.bot is not None:
        code = await stage.bot.wait()
        log = await asyncio.to_thread(stage.log.read_text, encoding="utf-8")
        raise RuntimeError(f"the bot ended with status {code}: {log[-LOG_CHARACTERS:]}")


async def _user(house: House, user: int, jobs: int) -> None:
    for _ in range(jobs):
        await house.profile(user)


async def _kill(house: House, load: Load) -> None:
    await house.box.reach(len(house.box.moments) + int(load.jobs * KILL_AT))
    await house.machines[-1].kill()
    await asyncio.sleep(load.down_s)
    await house.machines[-1].start()


@asynccontextmanager
async def _house(folder: Path, database_url: str) -> AsyncIterator[House]:
    tools = install(folder / "programs", CAPTURE_S)
    machines = tuple(Machine(tools, folder / f"runner-{name}") for name in ("one", "two"))
    async with AsyncExitStack() as stack:
        discord = await stack.enter_async_context(small_discord(folder / "discord"))
        box = await stack.enter_async_context(letterbox(folder / "discord"))
        for machine in machines:
            machine.folder.mkdir()
            stack.push_async_callback(machine.kill)
            await machine.start()
        environ = settings(folder, make(folder / "problems"), "", TOKEN) | {
            "NCUBOT_RUNNERS": _runners(machines),
            "DATABASE_URL": database_url,
        }
        stage = Stage(discord, folder, environ)
        stack.push_async_callback(stage.kill)
        yield House(stage, box, machines)


def _runners(machines: tuple[Machine, ...]) -> str:
    return json.dumps(
        [
            {"name": one.folder.name, "url": one.address.url, "gpu": "H200", "token": TOKEN}
            for one in machines
        ]
    )


def course(load: Load) -> Course:
    """Measure once, in a folder and a database that go afterwards."""
    with tempfile.TemporaryDirectory(prefix="ncubot-bench-") as folder, running() as server:
        url = server.url(server.create())
        asyncio.run(upgrade_database(url))
        return asyncio.run(_course(Path(folder), url, load))


def measure(load: Load | None = None) -> list[Figure]:
    """Measure and return a figure for each thing that was asked for."""
    found = course(load or Load())
    who = f"{found.load.jobs} jobs of {found.load.users} users, two runners"
    print(found.check.words())
    print(f"not taken, and typed again: {found.refused.total()}")
    for words, count in found.refused.most_common(MOST_SENTENCES):
        print(f"  {count} times: {words}")
    print(f"calls of Discord: {most_called(found.counts)}")
    found.check.demand()
    return [
        *_pace(who, found),
        *bot_figures(who, found.busy, found.idle, found.counts),
        Figure(
            name=f"{who}: memory of a runner at most, each process",
            values=tuple(size / 1e6 for size in found.runner_bytes),
            baseline="the bot",
            baseline_values=(found.busy.memory_bytes / 1e6,),
            unit="MB",
        ),
    ]


def _pace(who: str, found: Course) -> list[Figure]:
    """Return figures of how many came how fast."""
    waits = sorted(found.waits_s)
    slots = 2 * GPUS_EACH
    figures = [
        Figure(
            name=f"{who}: accepted jobs that came to their authors once",
            values=(float(found.check.once),),
            baseline="accepted jobs",
            baseline_values=(float(found.check.accepted),),
            unit="jobs",
        ),
        Figure(
            name=f"{who}: jobs a second",
            values=(len(waits) / found.seconds,),
            baseline=f"captures of {CAPTURE_S:g} s over {slots} GPUs",
            baseline_values=(slots / CAPTURE_S,),
            unit="1/s",
        ),
    ]
    shares = (("half of the results", 0.5), ("99 of 100", 0.99))
    return figures + [
        Figure(
            name=f"{who}: from typing to the result, {share}",
            values=(waits[int(len(waits) * part)],),
            baseline="one job at a time",
            baseline_values=found.alone_s,
        )
        for share, part in shares
    ]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("--jobs-each", type=int, default=JOBS_EACH)
    parser.add_argument("--down", type=float, default=DOWN_S, help="seconds that a runner is away")
    asked = parser.parse_args()
    load = Load(users=asked.users, jobs_each=asked.jobs_each, down_s=asked.down)
    print(markdown(measure(load)))


if __name__ == "__main__":
    main()
