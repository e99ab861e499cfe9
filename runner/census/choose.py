"""Which launches ncu captures, so that they stand for the GPU time of the call."""

import re
from collections.abc import Iterable

from runner.census.model import Census, CensusKernel, Choice, Chosen, Launcher
from runner.census.notes import Sign, notes

TARGET = 0.95
"""Share of the GPU time that the chosen kernels are to hold."""
BASE = "mangled"
"""The names of the driver: they tell template arguments apart, and hardly need an escape."""
MAX_PATTERN = 16_384
"""Characters of the pattern; the kernel that would make it longer is left out."""
RUN_THROUGH = 300
"""Launches that ncu lets pass before a capture; on an H200 0.25 ms each for eigh, 30 for geqrf."""
TUNED_THROUGH = 3
"""A launch of a tuner's candidates that is still reached under ncu: tuners launch for a given time,
and where launches are slow there are some hundred times fewer."""
_TUNED = frozenset({Sign.AUTOTUNING, Sign.CACHE_FLUSH})
_PLAIN = re.compile(r"[A-Za-z0-9_]")


def choose(census: Census, cap: int) -> Choice | None:
    """Choose the hottest kernels until they hold 95 % of the GPU time, at most `cap` launches.

    None where the census has no kernel that ncu can capture.
    """
    total = census.total_ns
    seen = [one for one in census.kernels if one.launcher is Launcher.RANGE]
    taken = _taken(_by_name(seen), total, cap)
    if not taken or not total:
        return None
    nth = _nth(taken, sum(one.launches for one in seen))
    if any(note.sign in _TUNED for note in notes(census)):
        nth = min(nth, TUNED_THROUGH)
    expected = sum(_processes(group) for group in taken)
    kernels = tuple(_chosen(group, total) for group in taken)
    unseen = sum(one.total_ns for one in census.kernels if one.launcher is Launcher.OTHER)
    return Choice(
        kernel_id_option=f"::regex:{_pattern(kernels)}:{nth}",
        base=BASE,
        count=expected,
        nth=nth,
        expected=expected,
        share=sum(one.share for one in kernels),
        unseen=unseen / total,
        kernels=kernels,
    )


def escaped(name: str) -> str:
    """Return a pattern for exactly `name`: ncu splits its option at colons, so none is left."""
    return "".join(each if _PLAIN.match(each) else f"\\x{ord(each):02x}" for each in name)


def _by_name(kernels: Iterable[CensusKernel]) -> list[list[CensusKernel]]:
    groups: dict[str, list[CensusKernel]] = {}
    for one in kernels:
        groups.setdefault(one.name, []).append(one)
    return sorted(groups.values(), key=lambda group: -_time(group))


def _taken(groups: list[list[CensusKernel]], total: int, cap: int) -> list[list[CensusKernel]]:
    taken: list[list[CensusKernel]] = []
    held, launches, length = 0, 0, len("^()$")
    for group in groups:
        name = group[0].name
        more = len(escaped(name)) + 1 if name.isascii() and name.isprintable() else MAX_PATTERN
        if held >= TARGET * total:
            break
        if launches + _processes(group) > cap or length + more > MAX_PATTERN:
            continue
        taken.append(group)
        held += _time(group)
        launches += _processes(group)
        length += more
    return taken


def _nth(taken: list[list[CensusKernel]], launches: int) -> int:
    """Return a launch in the middle of every chosen kernel's run that ncu comes to soon."""
    fewest = min(group[0].fewest for group in taken)
    rarest = min(sum(one.launches for one in group) for group in taken)
    soon = RUN_THROUGH * rarest // launches if launches else 1
    return max(1, min(fewest // 2, soon))


def _chosen(group: list[CensusKernel], total: int) -> Chosen:
    return Chosen(
        name=group[0].name,
        demangled=group[0].demangled,
        launches=sum(one.launches for one in group),
        fewest=group[0].fewest,
        share=_time(group) / total,
    )


def _pattern(kernels: tuple[Chosen, ...]) -> str:
    return f"^({'|'.join(escaped(one.name) for one in kernels)})$"


def _time(group: list[CensusKernel]) -> int:
    return sum(one.total_ns for one in group)


def _processes(group: list[CensusKernel]) -> int:
    return max(one.processes for one in group)
