"""Every way to the author, and what happens when each call on it goes wrong."""

from collections.abc import Callable

import pytest

from bot.delivery.address import WayName
from bot.delivery.steps import Step
from bot.delivery.ways import TooLarge, Unclear, WayClosed
from bot.jobs.model import JobPhase
from tests.delivery.conftest import Bot
from tests.delivery.discord import Fault
from tests.delivery.killing import killed_at
from tests.jobs.conftest import USER
from tests.jobs.runner import ScriptedRunner

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
REPLY, DIRECT, THREAD = WayName.REPLY, WayName.DIRECT, WayName.THREAD
TITLES = ["qr · benchmark 0", "qr · benchmark 1"]
DELIVERED = [
    JobPhase.ACCEPTED,
    JobPhase.QUEUED,
    JobPhase.RUNNING,
    JobPhase.FETCHED,
    JobPhase.DELIVERING,
    JobPhase.DELIVERED,
]


def closed() -> Exception:
    return WayClosed("403 Forbidden (error code: 50013)")


def unclear() -> Exception:
    return Unclear("500 Internal Server Error")


async def test_the_reply_is_edited_and_the_job_is_over(bot: Bot) -> None:
    job = await bot.profile()
    assert bot.discord.filled() == [(REPLY, title) for title in TITLES]
    assert bot.discord.shown[0].startswith("2 shapes, one report each")
    assert await bot.phases(job) == DELIVERED
    assert await bot.services.deliveries.load(job.id) is None


async def test_nothing_of_the_token_is_left_when_the_job_is_over(bot: Bot) -> None:
    await bot.profile()
    engine = bot.services.jobs._database.engine
    async with engine.connect() as connection:
        tokens = await connection.exec_driver_sql("SELECT token FROM deliveries")
        assert tokens.scalars().all() == [None]


@pytest.mark.parametrize("error", [closed, unclear])
@pytest.mark.parametrize(
    ("faulty", "arrived"),
    [
        ([(REPLY, "fill")], [DIRECT, DIRECT]),
        ([(REPLY, "open")], [REPLY, DIRECT]),
        ([(REPLY, "fill"), (DIRECT, "open")], [THREAD, THREAD]),
        ([(REPLY, "fill"), (DIRECT, "fill")], [THREAD, THREAD]),
        ([(REPLY, "open"), (DIRECT, "open")], [REPLY, THREAD]),
    ],
)
async def test_the_next_way_is_taken_for_what_is_left(
    bot: Bot,
    error: Callable[[], Exception],
    faulty: list[tuple[WayName, str]],
    arrived: list[WayName],
) -> None:
    bot.discord.faults = [Fault(way, call, error) for way, call in faulty]
    job = await bot.profile()
    assert bot.discord.filled() == list(zip(arrived, TITLES, strict=True))
    assert await bot.phases(job) == DELIVERED


@pytest.mark.parametrize("way", [REPLY, DIRECT, THREAD])
@pytest.mark.parametrize("call", ["open", "fill", "show"])
@pytest.mark.parametrize("done", [False, True])
async def test_an_answer_that_was_lost_doubles_nothing(
    bot: Bot, way: WayName, call: str, done: bool
) -> None:
    bot.discord.offered = bot.discord.offered[bot.discord.offered.index(way) :]
    bot.discord.faults = [Fault(way, call, unclear, times=1, done=done)]
    await bot.profile()
    assert bot.discord.filled() == [(way, title) for title in TITLES]
    # A private follow-up cannot be found again: its empty placeholder is all that may be left.
    strays = 1 if (way, call, done) == (REPLY, "open", True) else 0
    assert len(bot.discord.only_opened()) == strays


@pytest.mark.parametrize("looked", [closed, unclear])
async def test_where_nothing_can_be_opened_nor_found_the_next_way_is_taken(
    bot: Bot, looked: Callable[[], Exception]
) -> None:
    bot.discord.offered = (DIRECT, THREAD)
    bot.discord.faults = [Fault(DIRECT, "open", unclear), Fault(DIRECT, "find", looked)]
    await bot.profile()
    assert bot.discord.filled() == [(THREAD, title) for title in TITLES]
    assert bot.discord.calls.count("direct open") <= 2


async def test_while_discord_is_away_from_every_way_the_result_waits_and_is_not_kept(
    bot: Bot,
) -> None:
    bot.discord.offered = (DIRECT, THREAD)
    bot.discord.faults = [
        Fault(way, call, unclear, times=8) for way in (DIRECT, THREAD) for call in ("open", "find")
    ]
    job = await bot.profile()
    assert bot.discord.filled() == [(DIRECT, title) for title in TITLES]
    assert bot.discord.only_opened() == []
    assert await bot.phases(job) == DELIVERED


async def test_a_way_that_is_only_busy_is_tried_again_by_the_next_life(bot: Bot) -> None:
    bot.discord.offered = (DIRECT, THREAD)
    bot.discord.faults = [
        Fault(DIRECT, "open", unclear, times=2),
        Fault(THREAD, "open", closed, times=1),
    ]
    with killed_at(Step.BEFORE_OPEN, nth=3):
        await bot.profile()
    await bot.next_life()
    assert bot.discord.filled() == [(DIRECT, title) for title in TITLES]


async def test_a_fill_that_took_but_is_never_confirmed_is_read_back(bot: Bot) -> None:
    bot.discord.faults = [Fault(REPLY, "fill", unclear, done=True)]
    await bot.profile()
    assert bot.discord.filled() == [(REPLY, title) for title in TITLES]


async def test_while_nothing_can_be_told_no_other_way_is_taken(bot: Bot) -> None:
    bot.discord.faults = [
        Fault(REPLY, "fill", unclear, times=9, done=True),
        Fault(REPLY, "holds", unclear, times=3),
    ]
    await bot.profile()
    assert bot.discord.filled() == [(REPLY, title) for title in TITLES]
    assert [call for call in bot.discord.calls if not call.startswith("reply")] == []


@pytest.mark.parametrize(
    ("times", "files"),
    [(1, [[], ["ncu-details.1.csv"]]), (0, [["ncu-details.0.csv"], ["ncu-details.1.csv"]])],
)
async def test_a_refused_upload_leaves_the_text(
    bot: Bot, times: int, files: list[list[str]]
) -> None:
    bot.discord.faults = [Fault(REPLY, "fill", TooLarge, times=times)]
    await bot.profile()
    filled = [one.filled for one in bot.discord.messages.values() if one.filled]
    assert [[file.name for file in message.files] for message in filled] == files
    said = "Discord refused the upload as too large" in filled[0].description
    assert said == (times > 0)


async def test_a_text_that_is_refused_too_goes_another_way(bot: Bot) -> None:
    bot.discord.faults = [Fault(REPLY, "fill", TooLarge)]
    await bot.profile()
    assert bot.discord.filled() == [(DIRECT, title) for title in TITLES]


async def test_without_any_way_the_result_is_kept_and_told_once(bot: Bot) -> None:
    bot.discord.faults = [Fault(way, "fill", closed) for way in (REPLY, DIRECT, THREAD)]
    job = await bot.profile()
    assert await bot.phases(job) == DELIVERED[:-1]
    await bot.next_life()
    assert bot.discord.filled() == []
    assert await bot.office.kept_for(USER - 1) == ()
    (kept,) = await bot.office.kept_for(USER)
    assert (kept.job.id, kept.words) == (job.id, None)
    await bot.office.told(kept)
    assert await bot.phases(job) == DELIVERED
    await bot.next_life()
    assert await bot.office.kept_for(USER) == ()


async def test_why_a_job_failed_goes_the_same_ways(bot: Bot, runner: ScriptedRunner) -> None:
    runner.status_of = {"GET events": 404}
    bot.discord.faults = [Fault(REPLY, "fill", closed)]
    job = await bot.profile()
    assert bot.discord.filled() == [(DIRECT, "qr on H200: no counters")]
    (message,) = [one.filled for one in bot.discord.messages.values() if one.filled]
    assert message.description.startswith("Runner")
    assert "no longer knows job" in message.description
    assert (await bot.phases(job))[-1] is JobPhase.FAILED
    await bot.next_life()
    assert len(bot.discord.filled()) == 1


async def test_a_kept_failure_has_its_words(bot: Bot, runner: ScriptedRunner) -> None:
    runner.status_of = {"POST jobs": 401}
    bot.discord.faults = [Fault(way, "fill", closed) for way in (REPLY, DIRECT, THREAD)]
    await bot.profile()
    (kept,) = await bot.office.kept_for(USER)
    assert "does not accept this bot's token" in (kept.words or "")


async def test_a_courier_that_breaks_midway_leaves_what_was_sent(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot.discord.faults = [Fault(REPLY, "open", ZeroDivisionError, times=1)]
    await bot.profile()
    assert bot.discord.filled() == [(REPLY, TITLES[0]), (REPLY, "qr on H200: no counters")]
    await bot.next_life()
    assert len(bot.discord.filled()) == 2


async def test_a_courier_that_breaks_tells_its_author(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("bot.delivery.courier.compose", broken)
    job = await bot.profile()
    (message,) = [one.filled for one in bot.discord.messages.values() if one.filled]
    assert message.description.startswith(
        "Something broke on our side, not yours: tell an admin the number "
    )
    assert (await bot.phases(job))[-1] is JobPhase.FAILED
    assert "ZeroDivisionError" in caplog.text
