"""The message that shows how a job goes: edited on a change, at most once in a few seconds."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import discord

from bot.failures import FAILURES
from bot.jobs.model import Job
from bot.reports.neutral import code, inline
from runner_client.wire import Capturing, Exporting, JobEvent, Preparing, Queued, Retrying

log = logging.getLogger(__name__)
EDIT_EVERY_S = 5.0


def first_words(job: Job) -> str:
    """Say what was accepted: shapes, launches, and choices that were made for the author."""
    count = len(job.benchmarks)
    shapes = f"{count} shapes, one report each" if count > 1 else f"shape {_shape(job)}"
    cap = f"at most {job.capture.launch_count} launches a shape"
    notes = [inline(note) for note in job.notes[:3]]
    return "\n".join([f"{shapes}; {cap}", *notes])


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
            return f"🔬 {_place(event.benchmark, job)}: {_kernel(event)}"
        case Retrying():
            cause = FAILURES[event.reason].cause
            again = f"trying again in {event.wait_s:.0f} s"
            return f"⏳ {_place(event.benchmark, job)}: {cause}, {again}"
        case Exporting():
            return f"📦 {_place(event.benchmark, job)}: exporting"
    return None


def _kernel(event: Capturing) -> str:
    if event.kernel == 0:
        return _before_the_first(event)
    name = f" {code(event.name, 80)}" if event.name else ""
    return f"kernel {event.kernel} of at most {event.limit}{name}{_passes(event)}"


def _before_the_first(event: Capturing) -> str:
    if event.connected:
        return "Nsight Compute is connected, running up to the first kernel"
    return "starting under Nsight Compute" if event.limit else "running"


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
    """Coalesces changes into edits. A failed edit is logged and never reaches the job."""

    def __init__(
        self, edit: Callable[[str], Awaitable[object]], every_s: float = EDIT_EVERY_S
    ) -> None:
        self._edit = edit
        self._every_s = every_s
        self._shown = ""
        self._wanted = ""
        self._due = 0.0
        self._task: asyncio.Task[None] | None = None

    def show(self, text: str) -> None:
        """Ask for `text` to be shown as soon as the next edit is due."""
        self._wanted = text
        if text != self._shown and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._catch_up())

    async def close(self) -> None:
        """End the editing; nothing is edited afterwards."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _catch_up(self) -> None:
        loop = asyncio.get_running_loop()
        while self._wanted != self._shown:
            await asyncio.sleep(max(self._due - loop.time(), 0))
            text = self._wanted
            try:
                await self._edit(text)
            except (discord.HTTPException, OSError) as error:
                log.warning("progress could not be shown: %s", error)
            self._shown, self._due = text, loop.time() + self._every_s
