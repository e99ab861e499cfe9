"""Which ended jobs are removed from the disk. Those that have not ended never stand here."""

from collections.abc import Iterable
from dataclasses import dataclass

YOUNGEST_S = 900.0
"""An ended job younger than this is kept whatever its size: its bot may still be fetching."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An ended job on disk: when it ended (seconds since the epoch), and its bytes."""

    job_id: str
    ended_at: float
    size: int


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long and how much is kept."""

    seconds: float
    jobs: int
    size: int


def expired(kept: Iterable[Kept], bounds: Bounds, now: float) -> list[str]:
    """Return the ids to remove, oldest first."""
    going: list[str] = []
    jobs = size = 0
    for job in sorted(kept, key=lambda job: job.ended_at, reverse=True):
        jobs, size = jobs + 1, size + job.size
        age = now - job.ended_at
        too_much = jobs > bounds.jobs or size > bounds.size
        if age > bounds.seconds or (too_much and age > YOUNGEST_S):
            going.append(job.job_id)
            jobs, size = jobs - 1, size - job.size
    return going[::-1]
