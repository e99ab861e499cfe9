"""A cluster of several nodes on this machine, with the stand-in programs on each."""

import asyncio
import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import ray
from msgspec.structs import replace
from ray._private.node import Node
from ray.cluster_utils import Cluster

from runner.cluster import record
from runner.cluster.names import PREFIX, QUIET
from runner.settings import EngineName, RunnerSettings
from runner_client.wire import Finding, System
from tests.runner.processes import of_jobs

LOOK_S = 0.02
STORE_BYTES = 100_000_000
# A dead node is found out in a second or two, as against a quarter of a minute.
QUICK = {
    "health_check_initial_delay_ms": 1_000,
    "health_check_period_ms": 400,
    "health_check_failure_threshold": 3,
}


@dataclass(frozen=True, slots=True)
class Nodes:
    """The cluster; nodes are added to it by a name and killed."""

    cluster: Cluster
    folder: Path
    temp: Path
    settings: RunnerSettings
    alive: dict[str, Node] = field(default_factory=dict)
    census: dict[str, Finding] = field(default_factory=dict)
    """What the doctor of a node, by its name, found of counting kernels."""

    @property
    def address(self) -> str:
        """Return where the head answers."""
        return str(self.cluster.address)

    def runner_settings(self, data: Path) -> RunnerSettings:
        """Return settings of a runner that uses the cluster."""
        return replace(self.settings, data=data, engine=EngineName.RAY, ray_address=self.address)

    def add(self, *names: str, gpus: int = 1, gpu: str = "H200") -> None:
        """Start nodes whose doctor found GPUs, and wait for them."""
        for name in names:
            self.alive[name] = self._started(name, gpus, gpu)
        self.cluster.wait_for_nodes()

    def kill(self, name: str) -> None:
        """Let a node vanish as a machine does whose power is cut."""
        node = self.alive.pop(name)
        for infos in node.all_processes.values():
            for info in infos:
                info.process.send_signal(signal.SIGKILL)
                info.process.wait()
        self.cluster.worker_nodes.discard(node)

    def busy(self) -> list[str]:
        """Return the living nodes on which programs of a job run."""
        return [name for name in self.alive if self.programs(name)]

    async def first_busy(self) -> str:
        """Wait until programs of a job run, and return the node on which they do."""
        while not (busy := self.busy()):  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(LOOK_S)
        return busy[0]

    def programs(self, name: str) -> list[int]:
        """Return the processes of jobs on a node."""
        return of_jobs(self.folder / name / "workers")

    def kill_workers(self, name: str) -> None:
        """Kill the processes in which a node follows its programs, as a lack of memory might."""
        mark = f"NCUBOT_TEST_NODE={name}".encode()
        everybody = [path for path in Path("/proc").iterdir() if path.name.isdecimal()]
        for path in everybody:
            if _is_worker(path, mark):
                os.kill(int(path.name), signal.SIGKILL)

    def _started(self, name: str, gpus: int, gpu: str) -> Node:
        data = self.folder / name
        data.mkdir(exist_ok=True)
        settings = replace(self.settings, data=data, gpu=gpu)
        known = record.NodeRecord(settings, System(gpu=gpu, hostname=name), self.census.get(name))
        file = record.write(known, data)
        added: Node = self.cluster.add_node(
            wait=False,
            num_cpus=gpus + 1,
            num_gpus=gpus,
            resources={PREFIX + gpu: gpus},
            object_store_memory=STORE_BYTES,
            env_vars=QUIET | {record.VARIABLE: str(file), "NCUBOT_TEST_NODE": name},
        )
        return added


def _is_worker(path: Path, mark: bytes) -> bool:
    try:
        return mark in (path / "environ").read_bytes().split(b"\0") and (
            path / "cmdline"
        ).read_bytes().startswith(b"ray::_")
    except OSError:
        return False


@contextmanager
def ray_folder() -> Iterator[Path]:
    """Make a folder for Ray's sockets and logs, whose path must be short.

    A `Cluster` writes its address below RAY_TMPDIR whatever folder it has: without it, where Ray
    commands of this machine's users look.
    """
    with (
        tempfile.TemporaryDirectory(prefix="nr-", ignore_cleanup_errors=True) as root,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("RAY_TMPDIR", root)
        folder = Path(root) / "ray"
        folder.mkdir()
        try:
            yield folder
        finally:
            ray.shutdown()


@contextmanager
def cluster(settings: RunnerSettings, folder: Path) -> Iterator[Nodes]:
    """Start a head; everything is gone afterwards."""
    os.environ.update(QUIET)
    with ray_folder() as temp:
        made = _head(temp)
        try:
            yield Nodes(made, folder, temp, settings)
        finally:
            ray.shutdown()
            made.shutdown()  # type: ignore[no-untyped-call]


def _head(temp: Path) -> Cluster:
    return Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "num_gpus": 0,
            "include_dashboard": False,
            "object_store_memory": STORE_BYTES,
            "temp_dir": str(temp),
            "env_vars": dict(QUIET),
            "_system_config": QUICK,
        },
    )
