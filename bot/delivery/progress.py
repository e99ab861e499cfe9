"""What is shown while a job is under way: edited on a change, at most once in a few seconds."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime

from bot.delivery.ways import Unclear, WayClosed
from bot.failures import FAILURES
from bot.jobs.model import Job
from bot.reports.coverage import COUNTING, found_words
from bot.reports.neutral import code, inline
from runner_client.captures import CaptureMode
from runner_client.wire import Capturing, Exporting, JobEvent, Preparing, Queued, Retrying

log = logging.getLogger(__name__)
EDIT_EVERY_S = 5.0
_CONNECTED = ", running up to the first kernel"
_WHOLE = {
    CaptureMode.RANGE: "the call as one",
    CaptureMode.CENSUS: "kernels are counted, without counters",
    CaptureMode.TIMELINE: "a timeline, without counters",
}
LATER = "This takes longer than Discord lets this message change: the result comes as a new one."


def first_words(job: Job) -> str:
    """Say what was accepted: shapes, launches, and choices that were made for the author."""
    count = len(job.benchmarks)
    shapes = f"{count} shapes, one report each" if count > 1 else f"shape {_shape(job)}"
    cap = f"at most {job.capture.launch_count} launches a shape"
    notes = [inline(note) for note in job.notes[:3]]
    return "\n".join([f"{shapes}; {_WHOLE.get(job.capture.mode, cap)}", *notes])


def _shape(job: Job) -> str:
    return code(f"{job.benchmarks[0].index} · {job.benchmarks[0].spec}") if job.benchmarks else "?"


def progress_words(event: JobEvent, job: Job) -> str | None:
    """Say where a job stands, or None for an event that nobody need see."""
    match event:
        case Queued():
            return (
                f"⏳ in the queue, {event.ahead} ahead" if event.ahead else "⏳ next in the queue"
            )
        case Preparing():
            return "🔧 preparing the submission"
        case Capturing():
            return f"🔬 {_place(event.benchmark, job)}: {_kernel(event, job)}"
        case Retrying():
            cause = FAILURES[event.reason].cause
            again = f"trying again in {event.wait_s:.0f} s"
            return f"⏳ {_place(event.benchmark, job)}: {cause}, {again}"
        case Exporting():
            return f"📦 {_place(event.benchmark, job)}: exporting"
    return None


def _kernel(event: Capturing, job: Job) -> str:
    if event.kernel == 0:
        return _before_the_first(event, job)
    name = f" {code(event.name, 80)}" if event.name else ""
    return f"kernel {event.kernel} of at most {event.limit}{name}{_passes(event)}"


def _before_the_first(event: Capturing, job: Job) -> str:
    if event.counting:
        return COUNTING
    if event.census is not None:
        return f"{found_words(event.census)}{_CONNECTED if event.connected else ''}"
    if event.connected:
        return f"Nsight Compute is connected{_CONNECTED}"
    if job.capture.mode is CaptureMode.TIMELINE:
        return "recording under Nsight Systems"
    return "starting under Nsight Compute" if event.limit else "starting"


def _passes(event: Capturing) -> str:
    if event.passes:
        return f", {event.passes} passes done"
    return f", {event.percent} % of its passes" if event.percent else ""


def _place(index: int, job: Job) -> str:
    order = [benchmark.index for benchmark in job.benchmarks]
    if len(order) < 2 or index not in order:
        return f"benchmark {index}"
    return f"benchmark {index} ({order.index(index) + 1} of {len(order)})"


class Progress:
    """Coalesces changes into edits, until the moment `until`.

    A failed edit is logged and never reaches the job; `shown` stands there already.
    """

    def __init__(
        self,
        edit: Callable[[str], Awaitable[object]],
        until: datetime,
        *,
        every_s: float = EDIT_EVERY_S,
        shown: str = "",
    ) -> None:
        self._edit = edit
        self._until = until
        self._every_s = every_s
        self._shown = self._wanted = shown
        self._due = asyncio.get_running_loop().time() + every_s if shown else 0.0
        self._is_last = False
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def show(self, text: str) -> None:
        """Ask for `text` to be shown as soon as the next edit is due."""
        if self._is_last:
            return
        self._wanted = text
        if text != self._shown and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._catch_up())

    def show_last(self, line: str) -> None:
        """Ask for a line under what is shown, and for nothing else afterwards."""
        self.show(f"{self._wanted}\n{line}")
        self._is_last = True

    async def close(self) -> None:
        """End the editing. An edit under way is waited for: it must not overtake the result."""
        self._closing.set()
        if self._task is not None:
            await self._task

    async def _catch_up(self) -> None:
        loop = asyncio.get_running_loop()
        while self._wanted != self._shown:
            if await self._closed_within(self._due - loop.time()):
                return
            text = self._wanted
            await self._try(text)
            self._shown, self._due = text, loop.time() + self._every_s

    async def _closed_within(self, seconds: float) -> bool:
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), seconds)
        return self._closing.is_set() or datetime.now(UTC) >= self._until

    async def _try(self, text: str) -> None:
        try:
            await self._edit(text)
        except (WayClosed, Unclear) as error:
            log.warning("progress could not be shown: %s", error.reason)
            if isinstance(error, WayClosed):
                self._closing.set()
