"""What a census tells of work that belongs before the range: autotuning and compilation."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from runner.census.model import Census, CensusKernel

CANDIDATES = 4
"""Block shapes of one name above which it is a tuner that tries them, not the problem's sizes."""
VARIANTS = 8
"""Instances of one template that are launched equally often: a library's search."""
FLUSHES = 20
FLUSH_NS = 20_000
"""Fills that take less than this write less than a GPU's L2 cache holds."""
FLUSH_SHARE = 0.2
IDLE_NS = 300_000_000
IDLE_EACH_NS = 2_000_000
"""Idle GPU time, in all and for each launch, above which the host must have been compiling."""
_FILL = re.compile(r"fill|memset|flush", re.IGNORECASE)
_TEMPLATE = re.compile(r"^(?:void )?([^<(]+)<")


class Sign(StrEnum):
    """What was recognised."""

    AUTOTUNING = "autotuning"
    CACHE_FLUSH = "cache_flush"
    COMPILATION = "compilation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A sign and the kernel that it shows in, by its demangled name.

    `launches` are that kernel's; `share` is its part of the GPU time, for `COMPILATION` the part of
    the range for which the GPU had nothing to do (0 to 1).
    """

    sign: Sign
    kernel: str
    launches: int
    share: float


def notes(census: Census) -> tuple[Note, ...]:
    """Return the signs, the one with the largest share of time first."""
    if not census.kernels or not census.total_ns:
        return ()
    found = [*_flushes(census), *_candidates(census), *_variants(census), *_idle(census)]
    return tuple(sorted(found, key=lambda note: -note.share))


def _flushes(census: Census) -> Iterable[Note]:
    for name, group in _groups((one.name, one) for one in census.kernels):
        launches, total = _sums(group)
        big = total >= FLUSH_NS * launches and launches >= FLUSHES
        if big and _FILL.search(name) and launches >= FLUSH_SHARE * census.launches:
            yield _note(Sign.CACHE_FLUSH, group, census)


def _candidates(census: Census) -> Iterable[Note]:
    """Find names, as a tuner compiles them again and again, with many block shapes."""
    for _, group in _groups((one.name, one) for one in census.kernels):
        blocks = {one.block for one in group if any(one.block)}
        shapes = {(one.grid, one.block) for one in group}
        if len(blocks) > 1 and len(shapes) >= CANDIDATES and _alike(group):
            yield _note(Sign.AUTOTUNING, group, census)


def _variants(census: Census) -> Iterable[Note]:
    named = ((_TEMPLATE.match(one.demangled), one) for one in census.kernels)
    for _, group in _groups((match[1], one) for match, one in named if match):
        if len({one.name for one in group}) >= VARIANTS and _alike(group):
            yield _note(Sign.AUTOTUNING, group, census)


def _idle(census: Census) -> Iterable[Note]:
    idle = census.range_ns - census.total_ns
    if idle >= IDLE_NS and idle >= IDLE_EACH_NS * census.launches:
        first = min(census.kernels, key=lambda one: one.first_ns)
        yield Note(
            sign=Sign.COMPILATION,
            kernel=first.demangled,
            launches=first.launches,
            share=idle / census.range_ns,
        )


def _alike(group: list[CensusKernel]) -> bool:
    """Return whether no instance is launched far more often than the median one."""
    counts = sorted(one.launches for one in group)
    return counts[0] > 1 and counts[-1] <= 100 * counts[len(counts) // 2]


def _groups(pairs: Iterable[tuple[str, CensusKernel]]) -> Iterable[tuple[str, list[CensusKernel]]]:
    groups: dict[str, list[CensusKernel]] = {}
    for key, one in pairs:
        groups.setdefault(key, []).append(one)
    return groups.items()


def _sums(group: list[CensusKernel]) -> tuple[int, int]:
    return sum(one.launches for one in group), sum(one.total_ns for one in group)


def _note(sign: Sign, group: list[CensusKernel], census: Census) -> Note:
    launches, total = _sums(group)
    kernel = max(group, key=lambda one: one.total_ns)
    return Note(
        sign=sign, kernel=kernel.demangled, launches=launches, share=total / census.total_ns
    )
