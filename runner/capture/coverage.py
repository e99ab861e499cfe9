"""How much of a call's GPU time a capture stands for, from its census."""

import re
from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from counters.launches import Summary
from runner.census.model import Chosen
from runner.engine import Evidence
from runner_client.captures import CaptureMode, Coverage

MOST_TOLD = 20
"""Kernels of a census that stand in the result; its file has more."""
_BASE = re.compile(r"^(?:void )?([^<(]+)")


def coverage_of(evidence: Evidence, kernels: Summary | None) -> Coverage | None:
    """Return what is told of a capture; None where there was no profiler."""
    if evidence.mode is None:
        return None
    census = evidence.census
    return Coverage(
        mode=evidence.mode,
        fallback=evidence.fallback,
        share=_share(evidence, kernels) if kernels is not None and kernels.launches else None,
        census=replace(census, counted=census.counted[:MOST_TOLD]) if census else None,
        place=evidence.place,
    )


def _share(evidence: Evidence, kernels: Summary) -> float | None:
    if evidence.mode is CaptureMode.HOT:
        return min(_held(evidence.chosen, (one.name for one in kernels.kernels)), 1.0)
    census, taken = evidence.census, kernels.coverage.total_ns
    if evidence.mode is not CaptureMode.FIRST or census is None or not census.total_ns:
        return None
    return None if taken is None else min(taken / census.total_ns, 1.0)


def _held(chosen: tuple[Chosen, ...], captured: Iterable[str]) -> float:
    """Return the share of those chosen kernels that were captured.

    ncu writes template arguments its own way, so that names are compared without them; where fewer
    instances of a template were captured than chosen, it is the coldest that count.
    """
    met = Counter(base(name) for name in dict.fromkeys(captured))
    held = 0.0
    for one in sorted(chosen, key=lambda kernel: kernel.share):
        name = base(one.demangled)
        if met[name]:
            met[name] -= 1
            held += one.share
    return held


def base(name: str) -> str:
    """Return a kernel's name without return type, template arguments and parameters."""
    found = _BASE.match(name.replace("(anonymous namespace)", "anonymous").strip())
    return found[1].strip() if found else name
