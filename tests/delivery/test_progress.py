"""The progress message: what it says, how often it changes, and that it never harms a job."""

import asyncio
import dataclasses
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from bot.delivery.progress import Progress, first_words, progress_words
from bot.delivery.ways import Unclear, WayClosed
from runner_client.captures import CaptureMode, CaptureOptions, CensusFound
from runner_client.wire import (
    Capturing,
    Ended,
    Exporting,
    FailureKind,
    JobEvent,
    Preparing,
    Queued,
    Retrying,
)
from tests.reports.outcomes import failed, outcome

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ONE = outcome(failed(0, FailureKind.CANCELLED), notes=("gpu H200 was typed, @everyone",)).job
TWO = outcome(failed(0, FailureKind.CANCELLED), failed(2, FailureKind.CANCELLED), cap=4).job
BUSY = "Another tool, such as DCGM, holds the GPU's counters"
FOUND = CensusFound(launches=831_561, kernels=12, chosen=4)
CAPTURING = Capturing(number=3, at=NOW, benchmark=2, kernel=0, limit=4)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Queued(number=1, at=NOW, ahead=0), "⏳ next in the queue"),
        (Queued(number=1, at=NOW, ahead=3), "⏳ in the queue, 3 ahead"),
        (Preparing(number=2, at=NOW), "🔧 preparing the submission"),
        (CAPTURING, "🔬 benchmark 2 (2 of 2): starting under Nsight Compute"),
        (replace(CAPTURING, limit=0), "🔬 benchmark 2 (2 of 2): starting"),
        (
            replace(CAPTURING, limit=0, counting=True),
            "🔬 benchmark 2 (2 of 2): census: counting the kernels of the call, without ncu",
        ),
        (
            replace(CAPTURING, census=FOUND),
            (
                "🔬 benchmark 2 (2 of 2): census: 831,561 launches of 12 kernels; "
                "now capturing 4 of them"
            ),
        ),
        (
            replace(CAPTURING, census=FOUND, connected=True),
            (
                "🔬 benchmark 2 (2 of 2): census: 831,561 launches of 12 kernels; "
                "now capturing 4 of them, running up to the first kernel"
            ),
        ),
        (
            replace(CAPTURING, census=FOUND, kernel=1, name="add", percent=40),
            "🔬 benchmark 2 (2 of 2): kernel 1 of at most 4 `add`, 40 % of its passes",
        ),
        (
            replace(CAPTURING, connected=True),
            "🔬 benchmark 2 (2 of 2): Nsight Compute is connected, running up to the first kernel",
        ),
        (
            replace(CAPTURING, kernel=1, name="add", percent=40),
            "🔬 benchmark 2 (2 of 2): kernel 1 of at most 4 `add`, 40 % of its passes",
        ),
        (
            replace(CAPTURING, kernel=1, name="add", percent=100, passes=38),
            "🔬 benchmark 2 (2 of 2): kernel 1 of at most 4 `add`, 38 passes done",
        ),
        (
            Retrying(number=4, at=NOW, benchmark=2, reason=FailureKind.COUNTERS_BUSY, wait_s=10.0),
            f"⏳ benchmark 2 (2 of 2): {BUSY}, trying again in 10 s",
        ),
        (
            replace(CAPTURING, kernel=2, name="a`<@1>\x1b[31m"),
            "🔬 benchmark 2 (2 of 2): kernel 2 of at most 4 `a'<\u200b@\u200b1>`",
        ),
        (Exporting(number=4, at=NOW, benchmark=2), "📦 benchmark 2 (2 of 2): exporting"),
        (Ended(number=5, at=NOW), None),
    ],
)
def test_each_event_has_its_words(event: JobEvent, words: str | None) -> None:
    assert progress_words(event, TWO) == words


def test_one_benchmark_is_not_counted() -> None:
    event = replace(CAPTURING, benchmark=0)
    assert progress_words(event, ONE) == "🔬 benchmark 0: starting under Nsight Compute"


def test_the_first_answer_says_how_much_was_asked() -> None:
    assert first_words(TWO) == "2 shapes, one report each; at most 4 launches a shape"
    assert first_words(ONE).splitlines() == [
        "shape `0 · batch: 20; n: 32`; at most 10 launches a shape",
        "gpu H200 was typed, @\u200beveryone",
    ]


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        (CaptureMode.RANGE, "the call as one"),
        (CaptureMode.CENSUS, "kernels are counted, without counters"),
        (CaptureMode.TIMELINE, "a timeline, without counters"),
    ],
)
def test_a_mode_without_launches_promises_none(mode: CaptureMode, words: str) -> None:
    job = dataclasses.replace(TWO, capture=CaptureOptions(mode=mode))
    assert first_words(job) == f"2 shapes, one report each; {words}"


def test_a_timeline_is_not_under_ncu() -> None:
    job = dataclasses.replace(ONE, capture=CaptureOptions(mode=CaptureMode.TIMELINE))
    event = replace(CAPTURING, benchmark=0, limit=0)
    assert progress_words(event, job) == "🔬 benchmark 0: recording under Nsight Systems"


class Shown:
    """The message, and what is to go wrong with edits of it."""

    def __init__(self, **faults: Exception) -> None:
        self.texts: list[str] = []
        self.faults = faults

    async def edit(self, text: str) -> None:
        self.texts.append(text)
        if text in self.faults:
            raise self.faults[text]


def later(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


async def rested() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def until(progress: Progress) -> None:
    """Wait until nothing is left to be shown."""
    assert progress._task is not None
    await progress._task


async def test_changes_between_two_edits_become_one() -> None:
    message = Shown()
    progress = Progress(message.edit, later(60), every_s=0.05)
    for text in ("a", "a", "b", "c"):
        progress.show(text)
        await rested()
    await until(progress)
    assert message.texts == ["a", "c"]
    progress.show("c")
    await progress.close()
    assert message.texts == ["a", "c"]


async def test_what_stands_there_already_is_not_edited() -> None:
    message = Shown()
    progress = Progress(message.edit, later(60), shown="a")
    progress.show("a")
    await progress.close()
    assert message.texts == []


async def test_nothing_is_edited_after_the_close() -> None:
    message = Shown()
    progress = Progress(message.edit, later(60), every_s=60)
    progress.show("a")
    await rested()
    progress.show("b")
    await progress.close()
    assert message.texts == ["a"]


async def test_an_edit_under_way_ends_before_the_close_does() -> None:
    message, gate = Shown(), asyncio.Event()

    async def slow(text: str) -> None:
        await gate.wait()
        await message.edit(text)

    progress = Progress(slow, later(60))
    progress.show("a")
    await rested()
    closing = asyncio.create_task(progress.close())
    await rested()
    assert not closing.done()
    gate.set()
    await closing
    assert message.texts == ["a"]


async def test_nothing_is_edited_when_the_token_is_too_old() -> None:
    message = Shown()
    progress = Progress(message.edit, later(-1))
    progress.show("a")
    await until(progress)
    await progress.close()
    assert message.texts == []


async def test_a_failed_edit_is_logged_and_the_next_one_tried(
    caplog: pytest.LogCaptureFixture,
) -> None:
    message = Shown(a=Unclear("busy"))
    progress = Progress(message.edit, later(60), every_s=0)
    progress.show("a")
    await until(progress)
    progress.show("b")
    await until(progress)
    assert message.texts == ["a", "b"]
    assert "progress could not be shown: busy" in caplog.text
    await progress.close()


async def test_a_closed_way_is_tried_once() -> None:
    message = Shown(a=WayClosed("gone"))
    progress = Progress(message.edit, later(60), every_s=0)
    progress.show("a")
    await until(progress)
    progress.show("b")
    await until(progress)
    assert message.texts == ["a"]
    await progress.close()


async def test_the_last_line_stays() -> None:
    message = Shown()
    progress = Progress(message.edit, later(60), every_s=0)
    progress.show("a")
    progress.show_last("later")
    progress.show("b")
    await until(progress)
    assert message.texts == ["a\nlater"]
    await progress.close()
