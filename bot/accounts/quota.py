"""Quotas as pure values: a rule of the settings, what counts against it, when it is free again.

Nothing is counted up anywhere: use is read from the jobs themselves, so it cannot drift.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from msgspec import Meta, Struct

from bot.leaderboards.gpus import GpuNames

MOST_JOBS = 1_000_000
LONGEST_S = 31 * 86_400
UNDER_WAY = "under-way"
"""The rule about jobs that have not ended, as overrides name it."""
MOST_KEY = 100
"""Characters of a choice's value in Discord."""
UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


class Quota(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """At most `jobs` in any `window` seconds for each user.

    With `gpu` or `leaderboard` only jobs there count and are refused.
    """

    jobs: Annotated[int, Meta(ge=0, le=MOST_JOBS)]
    window: Annotated[int, Meta(ge=1, le=LONGEST_S)]
    gpu: str | None = None
    leaderboard: str | None = None

    @property
    def place(self) -> str:
        """Say where the rule holds: ` on H200 for qr_v2`, or nothing for everywhere."""
        gpu = f" on {self.gpu}" if self.gpu else ""
        return gpu + (f" for {self.leaderboard}" if self.leaderboard else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How a user stands to one rule.

    `most` is what the rule allows this user; `until` is when the next job is free where none is
    now, None where one is, or where none ever will be (`most` 0).
    """

    quota: Quota
    most: int
    used: int
    until: datetime | None

    @property
    def spent(self) -> bool:
        """Whether another job would be one too many."""
        return self.used >= self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the settings allow every user; `under_way` bounds jobs that have not ended."""

    quotas: tuple[Quota, ...]
    under_way: int
    names: GpuNames

    @property
    def longest(self) -> timedelta:
        """The longest time for which a job can count."""
        return timedelta(seconds=max((quota.window for quota in self.quotas), default=0))

    def key(self, quota: Quota) -> str:
        """Name a rule for overrides; it stays when the number of jobs changes."""
        gpu = self.names.key(quota.gpu) if quota.gpu else "*"
        key = f"{quota.window}/{gpu}/{(quota.leaderboard or '*').casefold()}"
        return key if len(key) <= MOST_KEY else hashlib.sha256(key.encode()).hexdigest()

    def covers(self, quota: Quota, gpu: str, leaderboard: str) -> bool:
        """Whether a rule is about jobs of this leaderboard on this GPU."""
        on_gpu = quota.gpu is None or self.names.key(quota.gpu) == self.names.key(gpu)
        named = quota.leaderboard
        return on_gpu and (named is None or named.casefold() == leaderboard.casefold())

    def most_under_way(self, overrides: Mapping[str, int]) -> int:
        """Return how many jobs of one user may be under way; `overrides` are the user's."""
        return overrides.get(UNDER_WAY, self.under_way)

    def most(self, quota: Quota, overrides: Mapping[str, int]) -> int:
        """Return how many jobs a rule allows one user; `overrides` are the user's."""
        return overrides.get(self.key(quota), quota.jobs)


def span(seconds: int) -> str:
    """Word a length of time: `1 day`, `90 minutes`."""
    size, unit = next((size, unit) for size, unit in UNITS if seconds % size == 0)
    number = seconds // size
    return f"{number} {unit}{'' if number == 1 else 's'}"


def rule_words(quota: Quota, most: int) -> str:
    """Word a rule: `20 jobs in 1 day on H200`."""
    return f"{most} job{'' if most == 1 else 's'} in {span(quota.window)}{quota.place}"
