"""Which ended jobs go first."""

from hypothesis import given
from hypothesis import strategies as st

from runner.jobs.retention import YOUNGEST_S, Bounds, Kept, expired

NOW = 1_000_000.0
DAY = 86_400.0
ROOMY = Bounds(seconds=7 * DAY, jobs=100, size=1_000)
KEPT = st.lists(
    st.builds(
        Kept,
        job_id=st.uuids().map(str),
        ended_at=st.floats(NOW - 20 * DAY, NOW),
        size=st.integers(0, 500),
    ),
    max_size=30,
)
BOUNDS = st.builds(
    Bounds,
    seconds=st.floats(1.0, 10 * DAY),
    jobs=st.integers(0, 10),
    size=st.integers(0, 2_000),
)


def ended(job_id: str, days_ago: float, size: int = 10) -> Kept:
    return Kept(job_id, NOW - days_ago * DAY, size)


def test_after_a_week_a_job_goes() -> None:
    kept = [ended("new", 1), ended("old", 8), ended("older", 9)]
    assert expired(kept, ROOMY, NOW) == ["older", "old"]


def test_the_oldest_go_when_there_are_too_many() -> None:
    kept = [ended("a", 3), ended("b", 2), ended("c", 1)]
    assert expired(kept, Bounds(7 * DAY, 2, 1_000), NOW) == ["a"]


def test_the_oldest_go_when_they_are_too_large() -> None:
    kept = [ended("a", 3, 400), ended("b", 2, 400), ended("c", 1, 400)]
    assert expired(kept, ROOMY, NOW) == ["a"]


def test_one_that_is_too_large_alone_leaves_room_for_older_ones() -> None:
    kept = [ended("small", 3, 400), ended("huge", 2, 5_000), ended("new", 1, 400)]
    assert expired(kept, ROOMY, NOW) == ["huge"]


def test_what_has_just_ended_can_still_be_fetched() -> None:
    assert expired([Kept("new", NOW - 1, 5_000)], Bounds(7 * DAY, 0, 0), NOW) == []


@given(KEPT, BOUNDS)
def test_what_stays_is_within_the_bounds(kept: list[Kept], bounds: Bounds) -> None:
    going = set(expired(kept, bounds, NOW))
    stays = [job for job in kept if job.job_id not in going]
    assert all(NOW - job.ended_at <= bounds.seconds for job in stays)
    old = [job for job in stays if NOW - job.ended_at > YOUNGEST_S]
    young = len(stays) - len(old)
    assert len(old) <= max(0, bounds.jobs - young)
    assert sum(job.size for job in old) <= bounds.size
