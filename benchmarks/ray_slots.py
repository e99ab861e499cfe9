"""How well a cluster's GPUs are kept at work, undisturbed and while half of the nodes die.

A real Ray cluster on this machine: four nodes with four GPUs each by name, and in ncu's place a
program that sleeps, so that sixteen of them run on two cores. Everything else is real: queue,
placement, sandbox, export, the way back, the judgement. Baseline: the sleep times the number of
benchmarks over the slots. With dying nodes it is that work, and once more what lost captures had
run, over the slots alive at each moment of the run. How long it took until a loss was known is a
figure of its own. A result that is missing or comes twice ends the run.
"""

import argparse
import asyncio
import itertools
import os
import signal
import time
import uuid
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import ray
from aiohttp.test_utils import TestServer
from ray._private.node import Node
from ray.cluster_utils import Cluster

from benchmarks.fake_ncu import install, python_of
from benchmarks.figures import Figure, markdown
from runner.app import create_app
from runner.cluster import record
from runner.cluster.names import PREFIX, QUIET
from runner.jobs.scheduler import Scheduler
from runner.service import keys
from runner.settings import EngineName, RunnerSettings
from runner_client.captures import CaptureOptions
from runner_client.wire import (
    Benchmark,
    BenchmarkStatus,
    Capturing,
    Ended,
    JobEvent,
    JobSpec,
    Mode,
    PythonEvaluator,
    SourceFile,
    System,
)
from tests.ray.cluster import ray_folder
from tests.standin.tools import Tools

NODES, GPUS, USERS = 4, 4, 48
JOBS, SLEEP_S = 1_000, 10.0
ALLOWED = 1.15
KILL_AT = (0.3, 0.6)
"""Shares of the jobs after whose end a node is killed."""
FILES = 4
STORE_BYTES = 100_000_000
CODE = "def custom_kernel(data):\n    return data\n"


@dataclass(slots=True)
class Course:
    """One run. Times are the wall clock's; `events` holds those of each job."""

    began: datetime
    ended: datetime
    kills: list[datetime] = field(default_factory=list)
    events: list[tuple[JobEvent, ...]] = field(default_factory=list)

    @property
    def wall_s(self) -> float:
        """Return the seconds from the first submit to the last end."""
        return (self.ended - self.began).total_seconds()

    @property
    def alive(self) -> float:
        """Return how many slots were alive, on average over the time of the run."""
        dead_s = sum((self.ended - at).total_seconds() for at in self.kills)
        return GPUS * (NODES - dead_s / self.wall_s)

    def losses(self) -> list[tuple[float, float]]:
        """Return for each lost capture the seconds that it had run, and until it was known."""
        begins = [[e.at for e in events if _is_begin(e)] for events in self.events]
        return [
            self._loss(first, again)
            for times in begins
            for first, again in itertools.pairwise(times)
        ]

    def _loss(self, first: datetime, again: datetime) -> tuple[float, float]:
        kill = max(at for at in self.kills if at < again)
        return max(0.0, (kill - first).total_seconds()), (again - kill).total_seconds()


def _is_begin(event: JobEvent) -> bool:
    return isinstance(event, Capturing) and not event.connected and event.kernel == 0


def measure(jobs: int = JOBS, sleep_s: float = SLEEP_S) -> list[Figure]:
    """Run all jobs twice: undisturbed, and with two of four nodes killed on the way."""
    quiet, hurt = _run(jobs, sleep_s, ()), _run(jobs, sleep_s, KILL_AT)
    losses = hurt.losses()
    lost_s = sum(ran for ran, _ in losses)
    ideal = jobs * sleep_s / (NODES * GPUS)
    return [
        Figure(
            name=f"{jobs} benchmarks of {sleep_s:g} s over {NODES * GPUS} slots of a cluster",
            values=(quiet.wall_s,),
            baseline="work over slots",
            baseline_values=(ideal,),
            target=ALLOWED * ideal,
        ),
        Figure(
            name=f"the same with {len(KILL_AT)} of {NODES} nodes killed on the way",
            values=(hurt.wall_s,),
            baseline=f"work, and {lost_s:.0f} s of {len(losses)} lost captures again, over "
            f"{hurt.alive:.1f} slots alive on average",
            baseline_values=((jobs * sleep_s + lost_s) / hurt.alive,),
        ),
        Figure(
            name="from the kill of a node until a lost capture is known and goes out again",
            values=tuple(known for _, known in losses) or (0.0,),
            baseline="one capture",
            baseline_values=(sleep_s,),
        ),
        Figure(
            name="results with nodes killed, each once",
            values=(float(len(hurt.events)),),
            baseline="benchmarks",
            baseline_values=(float(jobs),),
            unit="results",
        ),
    ]


def _run(jobs: int, sleep_s: float, kill_at: tuple[float, ...]) -> Course:
    with ray_folder() as folder, _cluster(folder, sleep_s) as (cluster, nodes):
        settings = RunnerSettings(
            data=folder / "runner",
            engine=EngineName.RAY,
            gpu="H200",
            ray_address=str(cluster.address),
            self_test=False,
        )
        return asyncio.run(_work(settings, jobs, nodes, [int(jobs * at) for at in kill_at]))


async def _work(
    settings: RunnerSettings, jobs: int, nodes: list[Node], kill_at: list[int]
) -> Course:
    app = await asyncio.to_thread(create_app, settings)
    async with TestServer(app):
        scheduler, numbers = app[keys.SCHEDULER], deque(range(jobs))
        now = datetime.now(UTC)
        course = Course(now, now)

        async def user(name: str) -> None:
            while numbers:
                numbers.popleft()
                course.events.append(await _profiled(scheduler, name))
                if kill_at and len(course.events) >= kill_at[0]:
                    kill_at.pop(0)
                    course.kills.append(datetime.now(UTC))
                    await asyncio.to_thread(_kill, nodes.pop())

        async with asyncio.TaskGroup() as users:
            for number in range(USERS):
                users.create_task(user(f"user-{number}"))
        course.ended = datetime.now(UTC)
    assert len(course.events) == jobs
    return course


async def _profiled(scheduler: Scheduler, requester: str) -> tuple[JobEvent, ...]:
    """Run one job to its end; its one result must be there, whole."""
    spec = _spec(requester)
    await scheduler.submit(spec)
    events: tuple[JobEvent, ...] = ()
    while not (events and isinstance(events[-1], Ended)):
        events = (*events, *await scheduler.events(spec.id, len(events), 60.0))
    result = (await scheduler.status(spec.id)).result
    assert result is not None
    (benchmark,) = result.benchmarks
    assert benchmark.status is BenchmarkStatus.SUCCEEDED, benchmark.failure
    assert len(benchmark.artifacts) == FILES
    assert sum(isinstance(event, Ended) for event in events) == 1
    return events


def _spec(requester: str) -> JobSpec:
    return JobSpec(
        id=uuid.uuid4().hex,
        requester=requester,
        leaderboard="slots",
        problem_commit=None,
        gpu="H200",
        mode=Mode.PROFILE,
        evaluator=PythonEvaluator(main="eval.py"),
        files=(SourceFile(name="eval.py", content=""),),
        submission=SourceFile(name="submission.py", content=CODE),
        benchmarks=(Benchmark(index=0, spec="n: 1"),),
        capture=CaptureOptions(),
        timeout_s=60.0,
        seed=None,
        config_sha256="0" * 64,
        submission_sha256="0" * 64,
    )


@contextmanager
def _cluster(folder: Path, sleep_s: float) -> Iterator[tuple[Cluster, list[Node]]]:
    os.environ.update(QUIET)
    programs = install(folder / "programs", sleep_s)
    head = {
        "num_cpus": 1,
        "num_gpus": 0,
        "include_dashboard": False,
        "object_store_memory": STORE_BYTES,
        "temp_dir": str(folder),
        "env_vars": dict(QUIET),
    }
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        yield cluster, [_node(cluster, folder / f"n{n}", programs) for n in range(NODES)]
    finally:
        ray.shutdown()
        cluster.shutdown()  # type: ignore[no-untyped-call]


def _node(cluster: Cluster, data: Path, programs: Tools) -> Node:
    data.mkdir()
    settings = RunnerSettings(
        data=data, gpu="H200", ncu=str(programs.ncu), python=str(python_of(programs))
    )
    file = record.write(record.NodeRecord(settings, System(gpu="H200")), data)
    node: Node = cluster.add_node(
        num_cpus=GPUS + 1,
        num_gpus=GPUS,
        resources={PREFIX + "H200": GPUS},
        object_store_memory=STORE_BYTES,
        env_vars=QUIET | {record.VARIABLE: str(file)},
    )
    return node


def _kill(node: Node) -> None:
    for infos in node.all_processes.values():
        for info in infos:
            info.process.send_signal(signal.SIGKILL)
            info.process.wait()


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--sleep", type=float, default=SLEEP_S)
    options = parser.parse_args()
    began = time.perf_counter()
    print(markdown(measure(options.jobs, options.sleep)))
    print(f"\n{os.cpu_count()} cores, {time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
