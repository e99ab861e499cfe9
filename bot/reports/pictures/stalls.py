"""What the warps of the hottest kernels wait for."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from bot.reports.pictures.launches import Launches, launches_of
from bot.reports.pictures.values import Bar
from counters import stalls as counted

MOST_KERNELS = 5
MOST_REASONS = 7
OTHER = "other"

# What the names that say little stand for.
_MEANINGS = {
    "long_scoreboard": "L1TEX",
    "short_scoreboard": "MIO",
    "wait": "fixed latency",
    "imc_miss": "constants",
    "gmma": "wgmma",
}


@dataclass(frozen=True, slots=True)
class StallBar:
    """One kernel: the share (0..1) of each reason in all waiting, and cycles for each instruction.

    `cycles` is None where only samples were taken.
    """

    label: str
    cycles: float | None
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Stalls:
    """The hottest kernels; `reasons` name the shares in order, the last one is all others."""

    reasons: tuple[str, ...]
    bars: tuple[StallBar, ...]


def stalls(bars: Sequence[Bar], launches: Launches) -> Stalls | str:
    """Return the breakdown of the hottest kernels, or in a few words why there is none."""
    kernels = [(bar.label, _kernel(bar, launches)) for bar in bars[:MOST_KERNELS]]
    known = [(label, found) for label, found in kernels if found]
    if not known:
        return "the report has no counters of warp states"
    reasons = _reasons([found for _, found in known])
    return Stalls(
        (*map(_words, reasons), OTHER),
        tuple(_bar(label, found, reasons) for label, found in known),
    )


def _words(reason: str) -> str:
    name, meaning = reason.replace("_", " "), _MEANINGS.get(reason)
    return f"{name} ({meaning})" if meaning else name


def _kernel(bar: Bar, launches: Launches) -> list[counted.Stall]:
    """Average each reason over the kernel's launches."""
    counts = [counted.stalls(launch.metrics.values()) for launch in launches_of(bar, launches)]
    seen = [found for found in counts if found]
    shares: dict[str, float] = {}
    cycles: dict[str, float] = {}
    for stall in chain.from_iterable(seen):
        shares[stall.reason] = shares.get(stall.reason, 0.0) + stall.share / len(seen)
        if stall.cycles is not None:
            cycles[stall.reason] = cycles.get(stall.reason, 0.0) + stall.cycles / len(seen)
    return [counted.Stall(reason, share, cycles.get(reason)) for reason, share in shares.items()]


def _reasons(kernels: list[list[counted.Stall]]) -> list[str]:
    """Return the reasons that weigh most, each kernel counted alike."""
    weights: dict[str, float] = {}
    for stall in chain.from_iterable(kernels):
        weights[stall.reason] = weights.get(stall.reason, 0.0) + stall.share
    return sorted(weights, key=lambda reason: -weights[reason])[:MOST_REASONS]


def _bar(label: str, found: list[counted.Stall], reasons: list[str]) -> StallBar:
    shares = {stall.reason: stall.share for stall in found}
    shown = [shares.get(reason, 0.0) for reason in reasons]
    cycles = [stall.cycles for stall in found if stall.cycles is not None]
    return StallBar(label, sum(cycles) if cycles else None, (*shown, max(1 - sum(shown), 0.0)))
