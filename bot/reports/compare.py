"""Two captures side by side: kernels matched by name and shape, and what became of their counters.

A difference below 1 % is called the same: repeated captures of one kernel differ by as much.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from bot.reports.groups import KernelGroup, group, group_of
from counters.columns import (
    DRAM,
    DURATION,
    MEMORY,
    OCCUPANCY,
    REGISTERS,
    SM,
    Column,
)
from counters.launches import Shape, Summary
from counters.raw import RawKernel
from counters.stalls import stalls

NOISE = 0.01
MOST_STALLS = 4


class Verdict(StrEnum):
    """What a difference means for the second capture."""

    GAIN = "gain"
    LOSS = "loss"
    SAME = "same"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class About:
    """What a manifest says of a capture; None where it does not say.

    `mode` is the one that was used in the end, `fallback` why it is not the one that was asked for.
    `place` is the launch of each kernel that was captured, 0 where it was not chosen.
    """

    gpu: str | None = None
    ncu_version: str | None = None
    shape: str | None = None
    capture: tuple[tuple[str, str], ...] = ()
    mode: str | None = None
    fallback: str = ""
    place: int = 0


@dataclass(frozen=True, slots=True)
class Side:
    """One capture: how it is called, its kernels, its raw page's stalls and manifest if known."""

    name: str
    report: Summary
    raw: tuple[RawKernel, ...] = ()
    about: About = About()


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure before (`a`) and after (`b`), in `unit`; `change` is relative to `a`."""

    what: str
    unit: str
    a: float | None
    b: float | None
    change: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Pair:
    """One kernel in both captures, under its name and shape in the first one."""

    a: KernelGroup
    b: KernelGroup
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that is said about two captures; pairs in the order of A, the hottest first."""

    a: str
    b: str
    total: Difference
    warnings: tuple[str, ...]
    pairs: tuple[Pair, ...]
    only_a: tuple[KernelGroup, ...]
    only_b: tuple[KernelGroup, ...]


_NamedShape = tuple[str, Shape]
# Less is better of time, registers and waiting; more is better of what the hardware gives.
_FIGURES: tuple[tuple[str, str, Column, bool], ...] = (
    ("duration", "ns", DURATION, True),
    ("SM throughput", "%", SM, False),
    ("memory throughput", "%", MEMORY, False),
    ("DRAM throughput", "%", DRAM, False),
    ("occupancy", "%", OCCUPANCY, False),
    ("registers/thread", "", REGISTERS, True),
)


def compare(a: Side, b: Side) -> Comparison:
    """Compare two captures. Durations and counters of repeated launches are medians."""
    left, right = a.report.coverage.total_ns, b.report.coverage.total_ns
    matched, only_a, only_b = _matched(_by_shape(a.report), _by_shape(b.report))
    ordered = sorted(matched, key=lambda pair: -(pair[0].total_ns or 0.0))
    return Comparison(
        a=a.name,
        b=b.name,
        total=difference("captured time", "ns", left, right, less=True),
        warnings=tuple(_warnings(a, b, only_a, only_b)),
        pairs=tuple(Pair(x, y, tuple(_differences(x, y, a.raw, b.raw))) for x, y in ordered),
        only_a=only_a,
        only_b=only_b,
    )


def difference(what: str, unit: str, a: float | None, b: float | None, *, less: bool) -> Difference:
    """Judge one figure; `less` says that a smaller one is better."""
    change = (b - a) / abs(a) if a and b is not None else None
    return Difference(what, unit, a, b, change, _verdict(a, b, change, less=less))


def _verdict(a: float | None, b: float | None, change: float | None, *, less: bool) -> Verdict:
    if a is None or b is None:
        return Verdict.UNKNOWN
    if a == b or (change is not None and abs(change) < NOISE):
        return Verdict.SAME
    return Verdict.GAIN if (b < a) is less else Verdict.LOSS


def _by_shape(summary: Summary) -> dict[_NamedShape, list[KernelGroup]]:
    """Group the launches of each name and shape; variants of one name stay in capture order.

    Labels are those of the whole capture.
    """
    found: defaultdict[_NamedShape, list[KernelGroup]] = defaultdict(list)
    for whole in sorted(group(summary), key=lambda whole: whole.first):
        for shape, launches in whole.every.by_shape().items():
            part = group_of(launches, whole.label, summary.coverage.total_ns)
            found[whole.name, shape].append(part)
    for variants in found.values():
        variants.sort(key=_first)
    return dict(sorted(found.items(), key=lambda item: _first(item[1][0])))


def _first(found: KernelGroup) -> int:
    return found.first


_Pairs = list[tuple[KernelGroup, KernelGroup]]
_Groups = tuple[KernelGroup, ...]


def _matched(
    left: dict[_NamedShape, list[KernelGroup]], right: dict[_NamedShape, list[KernelGroup]]
) -> tuple[_Pairs, _Groups, _Groups]:
    pairs = [
        pair
        for shape in dict.fromkeys([*left, *right])
        for pair in zip_longest(left.get(shape, ()), right.get(shape, ()))
    ]
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    only_a = tuple(a for a, b in pairs if b is None and a is not None)
    only_b = tuple(b for a, b in pairs if a is None and b is not None)
    return both, only_a, only_b


def _differences(
    a: KernelGroup, b: KernelGroup, raw_a: Sequence[RawKernel], raw_b: Sequence[RawKernel]
) -> Iterable[Difference]:
    for what, unit, column, less in _FIGURES:
        yield difference(what, unit, a.value(column), b.value(column), less=less)
    waits_a, waits_b = _waits(a, raw_a), _waits(b, raw_b)
    if waits_a and waits_b:
        worst = sorted(
            waits_a | waits_b,
            key=lambda reason: -max(waits_a.get(reason, 0.0), waits_b.get(reason, 0.0)),
        )
        for reason in worst[:MOST_STALLS]:
            a_cycles, b_cycles = waits_a.get(reason, 0.0), waits_b.get(reason, 0.0)
            what = f"stall {reason.replace('_', ' ')}"
            yield difference(what, "cycle", a_cycles, b_cycles, less=True)


def _waits(group: KernelGroup, raw: Sequence[RawKernel]) -> dict[str, float]:
    """Return the cycles that the first launch found waits for each reason."""
    ids = frozenset(group.launches)
    launch = next((one for one in raw if one.id in ids and one.name == group.name), None)
    found = stalls(launch.metrics.values()) if launch else ()
    return {stall.reason: stall.cycles for stall in found if stall.cycles is not None}


def _warnings(a: Side, b: Side, only_a: _Groups, only_b: _Groups) -> Iterable[str]:
    yield from _other_captures(a.about, b.about)
    chips_a, chips_b = a.report.chips, b.report.chips
    if chips_a != chips_b:
        yield f"compute capability differs: {', '.join(chips_a)} and {', '.join(chips_b)}"
    for side, report in (("A", a.report), ("B", b.report)):
        if report.left_out.kernels:
            yield f"{report.left_out.kernels} cold kernels of {side} are not compared"
    others = {group.name for group in only_a} & {group.name for group in only_b}
    if others:
        kernels = "1 kernel has" if len(others) == 1 else f"{len(others)} kernels have"
        yield f"{kernels} another grid, block or variant"


def _other_modes(a: About, b: About) -> Iterable[str]:
    if a.mode and b.mode and a.mode != b.mode:
        yield f"capture mode differs: {a.mode} and {b.mode}, so other launches were measured"
    elif a.place and b.place and a.place != b.place:
        yield f"launch {a.place:,} of each kernel was captured in A, {b.place:,} in B"
    if a.fallback != b.fallback:
        for side, about in (("A", a), ("B", b)):
            if about.fallback:
                yield f"{side} was to be hot and is {about.mode}: {about.fallback}"


def _other_captures(a: About, b: About) -> Iterable[str]:
    yield from _other_modes(a, b)
    for what, of in _KNOWN:
        left, right = of(a), of(b)
        if left and right and left != right:
            yield f"{what} differs: {left} and {right}"
    capture_a, capture_b = dict(a.capture), dict(b.capture)
    for option in sorted(capture_a.keys() & capture_b.keys()):
        if capture_a[option] != capture_b[option]:
            yield f"capture differs: {option} {capture_a[option]} and {capture_b[option]}"


_KNOWN: tuple[tuple[str, Callable[[About], str | None]], ...] = (
    ("GPU", lambda about: about.gpu),
    ("ncu version", lambda about: about.ncu_version),
    ("benchmark shape", lambda about: about.shape),
)
