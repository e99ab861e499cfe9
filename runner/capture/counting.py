"""From a census, and a choice from it, to what the wire says of them."""

from runner.census.model import Census, CensusKernel, Choice, Launcher
from runner.census.notes import notes
from runner.text import one_line
from runner_client.captures import (
    MOST_COUNTED,
    CensusFound,
    CensusNote,
    CensusReport,
    CensusSign,
    Counted,
    Place,
)

MOST_NOTES = 5
MOST_NAME = 1_000


def report_of(census: Census) -> CensusReport:
    """Return a census as a value of the wire, its coldest kernels left to the sums."""
    total = census.total_ns
    unseen = sum(one.total_ns for one in census.kernels if one.launcher is Launcher.OTHER)
    return CensusReport(
        launches=census.launches,
        total_ns=total,
        range_ns=census.range_ns,
        kernels=len(census.kernels),
        processes=census.processes,
        complete=census.complete,
        unseen=unseen / total if total else 0.0,
        counted=tuple(_counted(one) for one in census.kernels[:MOST_COUNTED]),
        notes=_notes(census),
    )


def found_by(census: Census, choice: Choice | None) -> CensusFound:
    """Return what is told of a census while what follows from it is run."""
    return CensusFound(
        launches=census.launches,
        kernels=len({one.name for one in census.kernels}),
        chosen=len(choice.kernels) if choice else 0,
    )


def place_of(choice: Choice) -> Place:
    """Return which launch of each kernel is captured, of how many."""
    counts = [one.fewest for one in choice.kernels]
    return Place(nth=choice.nth, fewest=min(counts), most=max(counts))


def _counted(one: CensusKernel) -> Counted:
    return Counted(
        name=one_line(one.demangled, MOST_NAME),
        grid=one.grid,
        block=one.block,
        launches=one.launches,
        total_ns=one.total_ns,
        min_ns=one.min_ns,
        max_ns=one.max_ns,
        sd_ns=one.sd_ns,
        unseen=one.launcher is Launcher.OTHER,
        in_graphs=one.in_graphs,
    )


def _notes(census: Census) -> tuple[CensusNote, ...]:
    return tuple(
        CensusNote(
            sign=CensusSign(note.sign.value),
            kernel=one_line(note.kernel, MOST_NAME),
            launches=note.launches,
            share=min(max(note.share, 0.0), 1.0),
        )
        for note in notes(census)[:MOST_NOTES]
    )
