"""Two profiles of the bot's own side by side, as a message."""

from dataclasses import dataclass, replace
from pathlib import Path

from bot.jobs.errors import NoCounters, ResultGone
from bot.jobs.model import JobOutcome
from bot.reports.compare import Side, compare
from bot.reports.compare_files import read_side
from bot.reports.compare_text import render_comparison
from bot.reports.neutral import FENCE_COST, block
from bot.reports.picker import CONTENT_LIMIT
from counters.errors import NoTable


@dataclass(frozen=True, slots=True)
class ComparedProfiles:
    """The text of a message, and all of it as a file where the message has no room."""

    content: str
    whole: bytes | None


def compare_profiles(a: JobOutcome, b: JobOutcome) -> ComparedProfiles:
    """Compare the first benchmarks of two outcomes; blocks, so use a thread.

    Raises ResultGone, NoCounters.
    """
    comparison = compare(_side(a), _side(b))
    whole = render_comparison(comparison)
    shown = block(
        render_comparison(comparison, max_chars=CONTENT_LIMIT - FENCE_COST), CONTENT_LIMIT
    )
    cut = len(whole) > CONTENT_LIMIT - FENCE_COST
    return ComparedProfiles(shown, whole.encode() if cut else None)


def _side(outcome: JobOutcome) -> Side:
    uncounted = outcome.benchmarks[0].uncounted
    if uncounted is not None:
        raise NoCounters(outcome.job.id, uncounted.value)
    try:
        side = read_side(_table(outcome))
    except (NoTable, FileNotFoundError):
        raise ResultGone(outcome.job.id) from None
    benchmark = outcome.benchmarks[0].result.index
    return replace(side, name=f"{outcome.job.file_name}, {outcome.job.id[:8]}, {benchmark}")


def _table(outcome: JobOutcome) -> Path:
    files = outcome.benchmarks[0].files
    found = (path for name, path in files.items() if name.startswith("ncu-details."))
    table = next((path for path in found if path.suffix == ".csv"), None)
    if table is None:
        raise ResultGone(outcome.job.id)
    return table
