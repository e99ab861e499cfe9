"""The kernel picker as plain values: which kernels can be chosen, and what a choice shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bot.jobs.model import BenchmarkOutcome
from bot.reports.coverage import census_table
from bot.reports.groups import KernelGroup, group
from bot.reports.kernel_page import kernel_page, render_kernel
from bot.reports.neutral import FENCE_COST, block, clip, plain
from bot.reports.table import duration_text, render_table
from counters.errors import NoTable
from counters.launches import Summary
from counters.raw import RawKernel, iter_raw
from counters.stalls import is_stall

CONTENT_LIMIT = 2_000
MOST_CHOICES = 25
KERNELS_A_PAGE = MOST_CHOICES - 3
"""Beside them stand the way back to the table, to the page before and to the next one."""
TEXT_LIMIT = 100
TABLE = "table"
UNCOUNTED = "A census has no counters to look at"
PLACEHOLDER = "Look at one kernel…"


@dataclass(frozen=True, slots=True)
class Choice:
    """An entry of the menu, within Discord's lengths."""

    value: str
    label: str
    description: str = ""
    chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Picker:
    """A menu over the kernels of one benchmark of a job, hottest first.

    `page` counts from 0. A picker without choices is off, and `placeholder` says why.
    """

    job_id: str
    benchmark: int
    page: int = 0
    choices: tuple[Choice, ...] = ()
    placeholder: str = PLACEHOLDER


@dataclass(frozen=True, slots=True)
class View:
    """What the message shows after a choice: its new content, and the menu under it."""

    content: str
    picker: Picker


def picker_of(
    job_id: str, benchmark: int, report: Summary, page: int = 0, chosen: int | None = None
) -> Picker:
    """Return the menu at `page`; `chosen` is the rank (from 0) of the kernel on show."""
    groups = group(report)
    pages = _pages(groups)
    page = min(page, len(pages) - 1)
    ways = _ways(page, len(pages)) if chosen is not None or len(pages) > 1 else iter(())
    kernels = (_kernel(rank, groups[rank], rank == chosen) for rank in pages[page])
    return Picker(job_id=job_id, benchmark=benchmark, page=page, choices=(*ways, *kernels))


def view_of(job_id: str, benchmark: BenchmarkOutcome, page: int, value: str) -> View | None:
    """Return what the choice `value` shows; None for one that this report does not have.

    Blocks on the disk and the CPU: call it in a thread.
    """
    report, index = benchmark.report, benchmark.result.index
    coverage = benchmark.result.coverage
    if report is None:
        if coverage is None or coverage.census is None or benchmark.uncounted is None:
            return None
        off = Picker(job_id=job_id, benchmark=index, placeholder=UNCOUNTED)
        return View(block(census_table(coverage.census), CONTENT_LIMIT), off)
    word, _, digits = value.partition(":")
    number = int(digits) if digits.isdecimal() else 0
    groups = group(report)
    if word == "kernel" and number < len(groups):
        raw = _raw(benchmark.files, groups[number])
        content = _kernel_text(report, groups[number], raw)
        return View(content, picker_of(job_id, index, report, page, number))
    if word in {TABLE, "page"}:
        return View(table_text(report), picker_of(job_id, index, report, number))
    return None


def table_text(report: Summary) -> str:
    """Return the counter table as a code block that fits a message."""
    text = render_table(report, max_chars=CONTENT_LIMIT - FENCE_COST)
    return block(text, CONTENT_LIMIT)


def _pages(groups: Sequence[KernelGroup]) -> list[range]:
    # One page has room for the way back beside the kernels.
    size = MOST_CHOICES - 1 if len(groups) < MOST_CHOICES else KERNELS_A_PAGE
    starts = range(0, max(len(groups), 1), size)
    return [range(start, min(start + size, len(groups))) for start in starts]


def _ways(page: int, pages: int) -> Iterator[Choice]:
    yield Choice(TABLE, "Back to the table")
    if page > 0:
        yield Choice(f"page:{page - 1}", "Hotter kernels", f"page {page} of {pages}")
    if page + 1 < pages:
        yield Choice(f"page:{page + 1}", "Cooler kernels", f"page {page + 2} of {pages}")


def _kernel(rank: int, found: KernelGroup, chosen: bool) -> Choice:
    launches = f"{found.count} launches" if found.count > 1 else ""
    share = "" if found.share is None else f"{found.share:.1%}"
    time = "" if found.total_ns is None else duration_text(found.total_ns)
    parts = [share, time, launches, found.bound.word.value]
    return Choice(
        value=f"kernel:{rank}",
        label=clip(f"{rank + 1}. {plain(found.label)}", TEXT_LIMIT),
        description=clip(" · ".join(part for part in parts if part), TEXT_LIMIT),
        chosen=chosen,
    )


def _kernel_text(report: Summary, found: KernelGroup, raw: Sequence[RawKernel]) -> str:
    page = kernel_page(report, found, raw)
    text = render_kernel(page, max_chars=CONTENT_LIMIT - FENCE_COST)
    return block(text, CONTENT_LIMIT)


def _raw(files: dict[str, Path], found: KernelGroup) -> tuple[RawKernel, ...]:
    """Return the longest launch of a group on the raw page."""
    wanted = found.every.longest.id, found.name
    path = next((path for name, path in files.items() if name.startswith("ncu-raw.")), None)
    try:
        launches = iter_raw(path, is_stall) if path else iter(())
        return tuple(islice((one for one in launches if (one.id, one.name) == wanted), 1))
    except (NoTable, FileNotFoundError):
        return ()
