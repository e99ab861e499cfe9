"""From a job's outcome to the request for its pictures, and from what was drawn to the reply."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.jobs.model import BenchmarkOutcome, JobOutcome
from bot.reports.groups import KernelGroup, group
from bot.reports.message import TITLE_LIMIT
from bot.reports.neutral import clip, inline
from bot.reports.pictures.values import Bar, Kind, PictureRequest, Pictures, Skipped
from bot.reports.pictures.worker import CannotDrawError, PictureWorker
from bot.reports.uploads import Upload, upload

log = logging.getLogger(__name__)
MOST_KERNELS = 200
"""Cooler ones are drawn as one: the pictures have room for few."""
NOT_DRAWN = Pictures(skipped=tuple(Skipped(kind=kind, why="drawing failed") for kind in Kind))
TOO_LARGE = "over Discord's limit"
TITLES = {
    Kind.TIME: "time by kernel",
    Kind.ROOFLINE: "roofline",
    Kind.STALLS: "warp stalls",
}


@dataclass(frozen=True, slots=True)
class Illustration:
    """The pictures of one benchmark, ready for Discord; `missing` says which are not there."""

    title: str
    missing: str
    files: tuple[Upload, ...]


def picture_request(outcome: JobOutcome, benchmark: BenchmarkOutcome) -> PictureRequest | None:
    """Return what is to be drawn, None for a benchmark without counters.

    The pictures go beside the benchmark's own files.
    """
    report = benchmark.report
    table = next((path for path in benchmark.files.values() if path.suffix == ".csv"), None)
    if report is None or not report.kernels or table is None:
        return None
    raws = (path for name, path in benchmark.files.items() if name.startswith("ncu-raw."))
    raw = next(raws, None)
    return PictureRequest(
        index=benchmark.result.index,
        gpu=outcome.result.system.gpu or outcome.job.gpu,
        bars=tuple(map(_bar, group(report)[:MOST_KERNELS])),
        raw=str(raw) if raw else None,
        folder=str(table.parent),
    )


async def illustrated(worker: PictureWorker, outcome: JobOutcome) -> dict[int, Pictures]:
    """Draw the pictures of every benchmark that has counters, by its index.

    After a failure no more are drawn: the reply must not wait for one time limit after another.
    """
    drawn: dict[int, Pictures] = {}
    broken = False
    for benchmark in outcome.benchmarks:
        request = await asyncio.to_thread(picture_request, outcome, benchmark)
        if request is None:
            continue
        try:
            drawn[request.index] = NOT_DRAWN if broken else await worker.draw(request)
        except CannotDrawError as error:
            log.warning("pictures could not be drawn: %s", error)
            drawn[request.index], broken = NOT_DRAWN, True
    return drawn


def _bar(found: KernelGroup) -> Bar:
    return Bar(
        label=found.label,
        total_ns=found.total_ns,
        share=found.share,
        count=found.count,
        bound=found.bound.word.value,
        ids=found.launches,
    )


def illustrations(
    outcome: JobOutcome, drawn: Mapping[int, Pictures], limit: int
) -> tuple[Illustration, ...]:
    """Return what is shown of the pictures, one a benchmark; files have at most `limit` bytes.

    A benchmark of which there is nothing to show has none. Blocks on the disk.
    """
    board = outcome.job.leaderboard
    every = (
        _illustration(clip(f"{board} · benchmark {index}", TITLE_LIMIT), pictures, limit)
        for index, pictures in drawn.items()
    )
    return tuple(one for one in every if one.files or one.missing)


def _illustration(title: str, pictures: Pictures, limit: int) -> Illustration:
    files = [(picture.kind, upload(picture.path, picture.alt)) for picture in pictures.drawn]
    large = [Skipped(kind=kind, why=TOO_LARGE) for kind, file in files if file.size > limit]
    fitting = tuple(file for _, file in files if file.size <= limit)
    return Illustration(title, _skipped_words((*pictures.skipped, *large)), fitting)


def _skipped_words(every: Sequence[Skipped]) -> str:
    if not every:
        return ""
    reasons: dict[str, list[str]] = {}
    for skipped in every:
        reasons.setdefault(skipped.why, []).append(TITLES[skipped.kind])
    said = "; ".join(f"{', '.join(kinds)} ({inline(why)})" for why, kinds in reasons.items())
    return f"No picture of {said}."
