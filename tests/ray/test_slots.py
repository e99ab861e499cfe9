"""The GPUs of a cluster as slots, and how the queue follows them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks.ray_slots import Course
from runner.cluster.link import Node
from runner.cluster.slots import kind_of, problem_of, slots_of
from runner.engine import Engine
from runner.jobs.job import Executor, LiveJob, failed
from runner.jobs.scheduler import Scheduler
from runner.jobs.store import Store
from runner.recorded import RecordedEngine
from runner.settings import RunnerSettings
from runner_client.wire import Failure, FailureKind, JobResult, System
from tests.runner.waiting import until
from tests.standin.problem import job

NODES = (Node("aaaa", "H200", 2), Node("bbbb", "H200", 1), Node("cccc", "B200", 4))


def test_each_gpu_of_the_kind_is_a_slot() -> None:
    assert slots_of(NODES, kind_of(NODES, "h200")) == ("aaaa-0", "aaaa-1", "bbbb-0")


@pytest.mark.parametrize(
    ("nodes", "wanted", "problem"),
    [
        (NODES, "H200", ""),
        (NODES[:2], "", ""),
        ((), "", "no node of the cluster offers a GPU: start one with `ncubot node`"),
        (NODES, "T4", "no node of the cluster offers a T4, only B200, H200"),
        (
            NODES,
            "",
            "the cluster offers B200, H200: say with --gpu which of them this runner is for",
        ),
    ],
)
def test_what_keeps_jobs_from_running(nodes: tuple[Node, ...], wanted: str, problem: str) -> None:
    assert problem_of(nodes, wanted) == problem


class Waiting(Executor):
    """Jobs that end when they are cancelled."""

    async def execute(self, job: LiveJob) -> JobResult:
        """Wait for it."""
        await job.cancel.wait()
        return failed(Failure(kind=FailureKind.CANCELLED), System(gpu=""))


async def test_the_queue_follows_nodes_that_come_and_go(tmp_path: Path) -> None:
    settings = RunnerSettings(data=tmp_path)
    store = Store(tmp_path)
    engine: Engine = RecordedEngine(settings, ())
    scheduler = Scheduler(store, Waiting(engine, store, settings))
    store.open()
    await scheduler.start()
    specs = [job(requester=f"user-{n % 2}") for n in range(8)]
    scheduler.resize(("a-0", "a-1", "b-0", "b-1"))
    for spec in specs:
        await scheduler.submit(spec)
    assert (scheduler.running, scheduler.queued) == (4, 4)
    # Half of the cluster dies: nothing begins until what had begun fits again.
    scheduler.resize(("a-0", "a-1"))
    for spec in specs[:2]:
        await scheduler.cancel(spec.id)
    await until(lambda: (scheduler.running, scheduler.queued) == (2, 4))
    await scheduler.cancel(specs[2].id)
    await until(lambda: (scheduler.running, scheduler.queued) == (2, 3))
    scheduler.resize(("a-0", "a-1", "c-0"))
    assert (scheduler.running, scheduler.queued) == (3, 2)
    await scheduler.close()


def test_slots_count_as_long_as_their_node_is_alive() -> None:
    now = datetime.now(UTC)
    kills = [now + timedelta(seconds=after) for after in (10, 30)]
    course = Course(now, now + timedelta(seconds=40), kills)
    # Sixteen for 10 s, twelve for 20 s, eight for 10 s.
    assert course.alive == 12
