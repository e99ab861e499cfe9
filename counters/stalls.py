"""Why warps waited: the stall reasons of the raw page."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from counters.model import Metric

_CYCLES = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
_SAMPLES = re.compile(r"smsp__pcsamp_warps_issue_stalled_(\w+?)(?<!_not_issued)")
# A warp that was selected did not wait.
_ISSUING = "selected"
_SAME = {"no_instructions": "no_instruction", "warpgroup_arrive": "gmma"}


@dataclass(frozen=True, slots=True)
class Stall:
    """One reason: `share` (0..1) of all waiting; `cycles` a warp waits for each instruction issued.

    `cycles` is None where only samples were taken.
    """

    reason: str
    share: float
    cycles: float | None


def is_stall(name: str) -> bool:
    """Whether a metric of the raw page counts a stall reason."""
    return bool(_CYCLES.fullmatch(name) or _SAMPLES.fullmatch(name))


def stalls(metrics: Iterable[Metric]) -> tuple[Stall, ...]:
    """Return the reasons that were seen, the longest first: measured cycles, or else PC samples."""
    given = tuple(metrics)
    cycles = _found(given, _CYCLES)
    found = cycles or _found(given, _SAMPLES)
    total = sum(found.values())
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return tuple(
        Stall(reason, value / total, value if cycles else None) for reason, value in ordered
    )


def _found(metrics: Iterable[Metric], pattern: re.Pattern[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for metric in metrics:
        match = pattern.fullmatch(metric.name)
        if match and match[1] != _ISSUING and metric.value is not None and metric.value > 0:
            reason = _SAME.get(match[1], match[1])
            found[reason] = found.get(reason, 0.0) + metric.value
    return found
