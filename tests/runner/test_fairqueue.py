"""The fair queue against what users are promised, over random lives of a queue."""

from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.jobs.fairqueue import FairQueue

USERS = st.sampled_from("ABCD")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), USERS),
        st.tuples(st.just("pop"), st.just("")),
        st.tuples(st.just("remove"), st.integers(0, 30).map(str)),
    ),
    max_size=60,
)
Step = tuple[str, str]


def user(job_id: str) -> str:
    return job_id[0]


def number(job_id: str) -> int:
    return int(job_id[1:])


def play(steps: list[Step], queue: FairQueue) -> list[tuple[str, tuple[str, ...]]]:
    """Return each popped id with the order before it."""
    numbers = count()
    popped = []
    for what, argument in steps:
        if what == "push":
            queue.push(f"{argument}{next(numbers)}", argument)
        elif what == "pop" and len(queue):
            before = queue.order()
            popped.append((queue.pop(), before))
        elif what == "remove":
            place = int(argument)
            if place < len(queue):
                assert queue.remove(queue.order()[place])
    return popped


def test_the_first_job_of_another_passes_ten_of_one() -> None:
    queue = FairQueue()
    queue.push("A0", "A")
    assert queue.pop() == "A0"
    for n in range(1, 11):
        queue.push(f"A{n}", "A")
    queue.push("B0", "B")
    queue.push("B1", "B")
    assert queue.order()[:4] == ("B0", "A1", "B1", "A2")


def test_one_user_is_served_in_his_order() -> None:
    queue = FairQueue()
    for n in range(5):
        queue.push(f"A{n}", "A")
    assert [queue.pop() for _ in range(5)] == ["A0", "A1", "A2", "A3", "A4"]


def test_who_takes_jobs_back_has_not_used_his_turns() -> None:
    queue = FairQueue()
    for n in range(9):
        queue.push(f"A{n}", "A")
    for n in range(8):
        queue.remove(f"A{n}")
    queue.push("B0", "B")
    queue.push("B1", "B")
    assert queue.order() == ("A8", "B0", "B1")


def test_users_take_turns_whatever_order_their_jobs_came_in() -> None:
    queue = FairQueue()
    for job_id in ("A0", "B1", "B2", "A3"):
        queue.push(job_id, user(job_id))
    assert [queue.pop() for _ in range(4)] == ["A0", "B1", "A3", "B2"]


def test_an_empty_queue_has_nothing() -> None:
    queue = FairQueue()
    assert queue.order() == ()
    assert not queue.remove("A0")
    with pytest.raises(LookupError):
        queue.pop()


def test_after_a_rest_everybody_is_new() -> None:
    queue = FairQueue()
    queue.push("A0", "A")
    queue.pop()
    queue.rest()
    queue.push("A1", "A")
    queue.push("B0", "B")
    assert queue.order() == ("A1", "B0")


def test_a_rest_takes_nobody_s_place() -> None:
    queue = FairQueue()
    queue.push("A0", "A")
    queue.push("A1", "A")
    queue.pop()
    queue.rest()
    queue.push("B0", "B")
    assert queue.order() == ("B0", "A1")


@given(STEPS)
def test_the_order_says_who_starts_next(steps: list[Step]) -> None:
    for popped, before in play(steps, FairQueue()):
        assert popped == before[0]


@given(STEPS)
def test_the_order_comes_true_when_nobody_comes_or_goes(steps: list[Step]) -> None:
    queue = FairQueue()
    play(steps, queue)
    order = queue.order()
    assert len(order) == len(queue) == len(set(order))
    assert all(job_id in queue for job_id in order)
    assert tuple(queue.pop() for _ in order) == order
    assert len(queue) == 0


@given(STEPS)
def test_each_user_s_jobs_keep_their_order(steps: list[Step]) -> None:
    queue = FairQueue()
    popped = [job_id for job_id, _ in play(steps, queue)]
    for name in "ABCD":
        for numbers in (
            [number(one) for one in popped if user(one) == name],
            [number(one) for one in queue.order() if user(one) == name],
        ):
            assert all(first < second for first, second in pairwise(numbers))
        waiting = sum(user(one) == name for one in queue.order())
        assert queue.waiting(name) == waiting


@given(STEPS)
def test_nobody_is_passed_twice_by_one_user_while_he_waits(steps: list[Step]) -> None:
    popped = play(steps, FairQueue())
    for name in "ABCD":
        passed: dict[str, int] = {}
        for job_id, before in popped:
            if user(job_id) == name or not any(user(one) == name for one in before):
                passed = {}
            else:
                passed[user(job_id)] = passed.get(user(job_id), 0) + 1
                assert passed[user(job_id)] <= 1
