"""What a life of the bot finds that another one has left."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from bot.delivery.address import WayName
from bot.delivery.progress import LATER
from bot.delivery.steps import Step
from bot.delivery.ways import WayClosed
from bot.jobs.model import JobPhase
from bot.reports.message import ReplyMessage
from bot.storage.deliveries import Deliveries
from tests.delivery.conftest import Bot, address
from tests.delivery.discord import Fault, OneWay
from tests.delivery.killing import Killed, killed_at, step_reached
from tests.delivery.test_ways import DELIVERED, DIRECT, REPLY, THREAD, TITLES
from tests.jobs.conftest import USER
from tests.jobs.runner import ScriptedRunner

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def rest(way: WayName) -> tuple[WayName, ...]:
    every = (REPLY, DIRECT, THREAD)
    return every[every.index(way) :]


async def test_a_job_that_was_only_a_row_is_handed_over_by_the_next_life(bot: Bot) -> None:
    with killed_at(Step.AFTER_ROW), pytest.raises(Killed):
        await bot.submit()
    await bot.next_life()
    assert bot.discord.filled() == [(REPLY, title) for title in TITLES]


async def test_why_a_job_failed_is_told_by_the_next_life(bot: Bot, runner: ScriptedRunner) -> None:
    runner.status_of = {"POST jobs": 401}
    with killed_at(Step.AFTER_FAILED):
        await bot.profile()
    assert bot.discord.filled() == []
    runner.status_of = {}
    await bot.next_life()
    assert bot.discord.filled() == [(REPLY, "qr on H200: no counters")]
    (message,) = [one.filled for one in bot.discord.messages.values() if one.filled]
    assert "does not accept this bot's token" in message.description


async def test_the_runner_gets_a_job_once_more_under_the_same_id(
    bot: Bot, runner: ScriptedRunner
) -> None:
    with killed_at(Step.AFTER_HAND_OVER):
        job = await bot.profile()
    await bot.next_life()
    first, second = runner.specs
    assert first == second
    assert await bot.phases(job) == DELIVERED


async def test_a_life_long_after_the_token_died_writes_directly(bot: Bot) -> None:
    with killed_at(Step.AFTER_FETCHED):
        job = await bot.submit(expires_at=datetime.now(UTC) - timedelta(hours=2))
        await bot.office.accept(job, address())
        await bot.ended()
    bot.discord.offered = rest(DIRECT)
    await bot.next_life()
    assert bot.discord.filled() == [(DIRECT, title) for title in TITLES]


async def test_a_way_that_was_given_up_stays_so(bot: Bot) -> None:
    bot.discord.faults = [Fault(REPLY, "fill", lambda: WayClosed("401"), times=1)]
    with killed_at(Step.AFTER_FILL):
        await bot.profile()
    await bot.next_life()
    assert bot.discord.filled() == [(DIRECT, title) for title in TITLES]


async def test_a_database_that_is_away_for_a_while_delays_and_loses_nothing(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("bot.delivery.office.TROUBLE_WAIT_S", 0)
    left = {"unfinished": 2, "load": 2, "filled": 1}

    def away(name: str) -> None:
        call = getattr(Deliveries, name)

        async def sometimes(*given: object) -> object:
            if left[name] > 0:
                left[name] -= 1
                raise OSError("no route to the database")
            return await call(*given)

        monkeypatch.setattr(Deliveries, name, sometimes)

    for name in left:
        away(name)
    await bot.submit()
    await bot.office.resume()
    await bot.ended()
    assert set(left.values()) == {0}
    assert bot.discord.filled() == [(REPLY, title) for title in TITLES]
    assert "trouble on the way, trying again: OSError" in caplog.text


async def test_two_starts_make_one_courier(bot: Bot) -> None:
    await bot.submit()
    await asyncio.gather(bot.office.resume(), bot.office.resume())
    await bot.ended()
    assert bot.discord.filled() == [(REPLY, title) for title in TITLES]


async def test_a_job_that_no_runner_has_yet_is_cancelled_at_once(
    bot: Bot, runner: ScriptedRunner
) -> None:
    runner.status_of = {"POST jobs": 503}
    job = await bot.submit()
    await bot.office.accept(job, address())
    assert not await bot.office.belongs(job.id, USER - 1)
    assert await bot.office.belongs(job.id, USER)
    await bot.office.cancel(job.id, USER)
    await bot.ended()
    assert bot.discord.filled() == [(REPLY, "qr on H200: cancelled")]
    assert (await bot.phases(job))[-1] is JobPhase.CANCELLED


async def test_the_author_is_told_before_the_reply_can_change_no_more(
    bot: Bot, runner: ScriptedRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.delivery.office.EDIT_EVERY_S", 0.0)
    runner.running = 1_000_000
    soon = datetime.now(UTC) + timedelta(seconds=20.2)
    job = await bot.submit(expires_at=soon)
    with step_reached(Step.AFTER_FETCHED) as fetched:
        bot.office._start(job.id, resumed=True)
        while not bot.discord.shown or LATER not in bot.discord.shown[-1]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        runner.running = 0
        await fetched.wait()
    await bot.ended()
    assert bot.discord.filled() == [(REPLY, title) for title in TITLES]


class Gate:
    """Holds the first fill up until it is opened."""

    def __init__(self, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.opened = asyncio.Event(), asyncio.Event()
        fill = OneWay.fill

        async def held(way: OneWay, message_id: int, message: ReplyMessage) -> None:
            self.reached.set()
            await self.opened.wait()
            await fill(way, message_id, message)

        monkeypatch.setattr(OneWay, "fill", held)


async def test_a_delivery_under_way_ends_before_the_bot_does(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(bot, monkeypatch)
    await bot.office.accept(await bot.submit(), address())
    await gate.reached.wait()
    closing = asyncio.create_task(bot.office.close(30))
    await asyncio.sleep(0)
    gate.opened.set()
    await closing
    assert bot.discord.filled() == [(REPLY, title) for title in TITLES]


async def test_what_takes_too_long_is_for_the_next_start(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(bot, monkeypatch)
    await bot.office.accept(await bot.submit(), address())
    await gate.reached.wait()
    await bot.office.close(0)
    assert bot.discord.filled() == []
    gate.opened.set()
    await bot.next_life()
    assert bot.discord.filled() == [(REPLY, title) for title in TITLES]


async def test_nothing_more_is_sent_once_another_bot_has_the_database(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(bot, monkeypatch)
    await bot.office.accept(await bot.submit(), address())
    await gate.reached.wait()
    bot.office.give_way()
    await bot.ended()
    gate.opened.set()
    assert bot.discord.filled() == []
    await bot.next_life()
    assert bot.discord.filled() == [(REPLY, title) for title in TITLES]


async def test_a_job_on_a_runner_does_not_hold_the_bot_up(bot: Bot, runner: ScriptedRunner) -> None:
    runner.running = 1_000_000
    with step_reached(Step.AFTER_RUNNING) as running:
        await bot.office.accept(await bot.submit(), address())
        await running.wait()
    await bot.office.close(3_600)
    runner.running = 0
    await bot.next_life()
    assert bot.discord.filled() == [(REPLY, title) for title in TITLES]
