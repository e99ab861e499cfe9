"""Past jobs in words: a list, and the messages that bring a job's files again."""

from collections.abc import Iterator
from pathlib import Path

from bot.jobs.history import Page
from bot.jobs.model import JobOutcome, JobPhase, PastJob
from bot.reports.message import (
    DESCRIPTION_LIMIT,
    TITLE_LIMIT,
    ReplyMessage,
    Tone,
    left_on_disk,
)
from bot.reports.neutral import clip, closed, code, inline, plain
from bot.reports.parts import MOST_FILES
from bot.reports.reply import attached
from bot.reports.uploads import Upload, pack, size_words

NONE_YET = "Nothing yet: /profile makes the first."
OVER_LIMIT = "over Discord's upload limit"
SHORT = 8
"""Digits of a job's id that people are shown; any start of six or more names it."""
_WORDS = {
    JobPhase.ACCEPTED: "accepted",
    JobPhase.QUEUED: "queued",
    JobPhase.RUNNING: "running",
    JobPhase.FETCHED: "on its way to you",
    JobPhase.DELIVERING: "on its way to you",
    JobPhase.DELIVERED: "done",
    JobPhase.FAILED: "failed",
    JobPhase.CANCELLED: "cancelled",
}


def short_id(job_id: str) -> str:
    """Return the start of a job's id, as people are shown it."""
    return job_id[:SHORT]


def list_text(page: Page) -> str:
    """Return a page of the list, ready for an embed's description."""
    if not page.jobs:
        return NONE_YET
    return closed("\n".join(_line(job) for job in page.jobs), DESCRIPTION_LIMIT)


def page_words(page: Page) -> str:
    """Say where a page is: `23 jobs · page 1 of 3`."""
    jobs = "1 job" if page.total == 1 else f"{page.total} jobs"
    return f"{jobs} · page {page.number + 1} of {page.pages}"


def label(job: PastJob) -> str:
    """Name a job in one plain line: `a1b2c3d4 · 2026-01-01 12:00 · qr_v2 on H200 · a.py · done`."""
    when = f"{job.created_at:%Y-%m-%d %H:%M}"
    where = f"{job.leaderboard} on {job.gpu}"
    text = f"{short_id(job.id)} · {when} · {where} · {job.file_name} · {_state(job)}"
    return " ".join(plain(text).split())


def file_messages(job: PastJob, outcome: JobOutcome, limit: int) -> tuple[ReplyMessage, ...]:
    """Return the messages that bring a job's files, as many as Discord lets one have.

    `limit` is in bytes a file. Blocks on the disk: call it in a thread.
    """
    packed = pack(_files(outcome), limit)
    title = clip(plain(f"Files of {job.leaderboard} on {job.gpu}"), TITLE_LIMIT)
    starts = range(0, max(len(packed.uploads), 1), MOST_FILES)
    some = [packed.uploads[start : start + MOST_FILES] for start in starts]
    messages = [
        ReplyMessage(title=title, tone=Tone.GOOD, description=_names(job, files_), files=files_)
        for files_ in some
    ]
    if packed.kept:
        line = left_on_disk(packed.kept, OVER_LIMIT)
        text = f"{messages[-1].description}\n{line}"
        messages[-1] = ReplyMessage(
            title=title, tone=Tone.WARNING, description=text, files=messages[-1].files
        )
    return tuple(messages)


def _files(outcome: JobOutcome) -> Iterator[tuple[str, Path]]:
    """Yield the files under the names that the reply gave them, the manifest first."""
    if outcome.manifest is not None:
        yield outcome.manifest.name, outcome.manifest
    several = len(outcome.job.benchmarks) > 1
    for benchmark in outcome.benchmarks:
        yield from attached(benchmark.files, several=several)


def _names(job: PastJob, files: tuple[Upload, ...]) -> str:
    lines = (f"{code(file.name)} {size_words(file.size)}" for file in files)
    return "\n".join([f"Job {code(short_id(job.id))}, {inline(job.file_name, 100)}", *lines])


def _line(job: PastJob) -> str:
    where = f"{inline(job.leaderboard, 80)} on {inline(job.gpu, 40)}"
    shapes = f"{len(job.benchmarks)} shape{'' if len(job.benchmarks) == 1 else 's'}"
    when = f"<t:{int(job.created_at.timestamp())}:R>"
    return (
        f"{code(short_id(job.id))} {when} · {where} · {inline(job.file_name, 60)} · {shapes} · "
        f"**{_state(job)}**{_kept(job)}"
    )


def _state(job: PastJob) -> str:
    words = _WORDS[job.phase]
    named = job.failure_kind is not None and job.phase is not JobPhase.CANCELLED
    return f"{words}, {plain(job.failure_kind or '')}" if named else words


def _kept(job: PastJob) -> str:
    """Say what of its files is here."""
    if job.files_gone_at is not None:
        return f" · files gone <t:{int(job.files_gone_at.timestamp())}:d>"
    return f" · {size_words(job.size)}" if job.size else ""
