"""Quotas as pure values."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.accounts.quota import Charge, Limits, Quota, rule_words, span
from bot.leaderboards.gpus import GpuNames

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
HOUR = 3_600


def limits(*quotas: Quota) -> Limits:
    return Limits(quotas=quotas, under_way=5, names=GpuNames())


def charge(minutes_ago: int, gpu: str = "H200", board: str = "qr") -> Charge:
    return Charge(NOW - timedelta(minutes=minutes_ago), gpu, board)


def test_the_next_job_is_free_when_the_oldest_leaves_the_window() -> None:
    (use,) = limits(Quota(jobs=2, window=HOUR)).uses([charge(50), charge(20)], {}, NOW)
    assert (use.used, use.most, use.spent) == (2, 2, True)
    assert use.until == NOW + timedelta(minutes=10)


def test_with_more_used_than_allowed_several_must_leave_first() -> None:
    rule = limits(Quota(jobs=3, window=HOUR))
    (use,) = rule.uses([charge(50), charge(20), charge(5)], {rule.key(rule.quotas[0]): 1}, NOW)
    assert use.until == NOW + timedelta(minutes=55)


def test_what_left_the_window_counts_no_more() -> None:
    (use,) = limits(Quota(jobs=1, window=HOUR)).uses([charge(60)], {}, NOW)
    assert (use.used, use.spent, use.until) == (0, False, None)


def test_a_rule_of_no_jobs_is_never_free() -> None:
    (use,) = limits(Quota(jobs=0, window=HOUR)).uses([], {}, NOW)
    assert (use.spent, use.until) == (True, None)


@pytest.mark.parametrize(
    ("quota", "used"),
    [
        (Quota(jobs=9, window=HOUR), 4),
        (Quota(jobs=9, window=HOUR, gpu="NVIDIA H200 SXM"), 2),
        (Quota(jobs=9, window=HOUR, leaderboard="QR"), 2),
        (Quota(jobs=9, window=HOUR, gpu="b200", leaderboard="qr"), 1),
    ],
)
def test_a_rule_counts_jobs_of_its_gpu_and_leaderboard(quota: Quota, used: int) -> None:
    jobs = [
        charge(1),
        charge(2, "h200-sxm", "eigh"),
        charge(3, "B200"),
        charge(4, "B200", "eigh"),
    ]
    (use,) = limits(quota).uses(jobs, {}, NOW)
    assert use.used == used


def test_an_override_is_for_one_rule_and_outlives_a_changed_number() -> None:
    old, new = Quota(jobs=5, window=HOUR, gpu="H200"), Quota(jobs=8, window=HOUR, gpu="H200 SXM")
    overrides = {limits(old).key(old): 50}
    uses = limits(new, Quota(jobs=3, window=HOUR)).uses([], overrides, NOW)
    assert [use.most for use in uses] == [50, 3]


def test_a_rule_in_words() -> None:
    everywhere = Quota(jobs=1, window=86_400)
    assert rule_words(everywhere, 1) == "1 job in 1 day"
    here = Quota(jobs=20, window=5_400, gpu="H200", leaderboard="qr")
    assert rule_words(here, 20) == "20 jobs in 90 minutes on H200 for qr"
    assert span(7) == "7 seconds"


@given(
    st.lists(st.integers(0, 3 * HOUR), max_size=20), st.integers(1, 10), st.integers(1, 2 * HOUR)
)
def test_until_is_the_first_moment_at_which_a_job_is_free(
    ages: list[int], most: int, window: int
) -> None:
    jobs = [Charge(NOW - timedelta(seconds=age), "H200", "qr") for age in ages]
    rule = limits(Quota(jobs=most, window=window))
    (use,) = rule.uses(jobs, {}, NOW)
    assert (use.until is None) is not use.spent
    if use.until is not None:
        (then,) = rule.uses(jobs, {}, use.until)
        assert not then.spent
        (before,) = rule.uses(jobs, {}, use.until - timedelta(microseconds=1))
        assert before.spent
