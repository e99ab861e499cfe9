"""The seam between a job and what runs its benchmarks."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from runner.capture.progress import Progress
from runner.capture.workspace import Workspace
from runner.census.model import Chosen
from runner.isolation.halt import Stop
from runner.isolation.limits import Budget
from runner_client.captures import CaptureMode, CensusReport, Place
from runner_client.wire import Benchmark, Failure, Finding, JobSpec, System


@dataclass(frozen=True, slots=True)
class Watch:
    """How a running benchmark is followed and stopped; `budget` is what its job has left."""

    cancel: asyncio.Event
    progress: Callable[[Progress], None]
    budget: Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the program left in a run of its own, by which it is judged: ncu ended the other."""

    exit_code: int
    stdout: str
    stderr: str
    log: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one evaluator process left; the same from every engine, and not believed.

    `exit_code` is ncu's, or the evaluator's where there is no ncu. `report` is a path that the
    submission could write to, whether or not there is a file. `exports` is the folder of a replay
    that has its exports already. `failure` is set where the engine could not run the benchmark at
    all.

    `stopped` and its `figure` are the runner's own. `proven`: on this machine the runner's own
    kernel was profiled, so that a claim of closed counters is not ncu's. `last_kernel` is the last
    name that ncu's output gave, however long that was.

    `mode` is the capture that was made, None without a profiler; `fallback` says why it is not the
    one that was asked for. `census` is what was counted in a run before, `chosen` the kernels that
    ncu was then asked for, and `place` which launch of each. `duration_s` is of all runs together.
    """

    exit_code: int = 0
    stopped: Stop | None = None
    figure: str = ""
    proven: bool = False
    last_kernel: str = ""
    stdout: str = ""
    stderr: str = ""
    log: dict[str, str] = field(default_factory=dict)
    duration_s: float = 0.0
    report: Path | None = None
    exports: Path | None = None
    failure: Failure | None = None
    mode: CaptureMode | None = None
    fallback: str = ""
    judged: Judged | None = None
    census: CensusReport | None = None
    chosen: tuple[Chosen, ...] = ()
    place: Place | None = None

    @property
    def of_program(self) -> "Evidence":
        """Return the evidence of the run by which the program is judged."""
        own = self.judged
        if own is None:
            return self
        return replace(
            self, exit_code=own.exit_code, stdout=own.stdout, stderr=own.stderr, log=own.log
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Exports:
    """Files made from a report after the submission's processes are dead; None where not made.

    `kernels_csv` is of a timeline, the others of ncu's report.
    """

    details_csv: Path | None = None
    details_txt: Path | None = None
    raw_csv: Path | None = None
    kernels_csv: Path | None = None
    problem: str = ""


class Engine(Protocol):
    """Runs benchmarks. Implementations: local, recorded, ray."""

    name: str
    recorded_on: str | None

    async def system(self) -> System:
        """Describe the machine; blank where something cannot be found out."""

    async def gpu(self) -> str:
        """Return the GPU's name as competition YAMLs write it, or an empty text."""

    async def problems(self) -> tuple[str, ...]:
        """Return what keeps this engine from profiling, one sentence each."""

    async def gpus(self) -> tuple[str, ...]:
        """Return the GPUs that jobs may use, one job a GPU, as CUDA_VISIBLE_DEVICES names them."""

    async def sandbox_fault(self) -> str:
        """Return why programs cannot be contained, found by starting one; empty where they can."""

    async def prepare(
        self, spec: JobSpec, work: Workspace, cancel: asyncio.Event
    ) -> Failure | None:
        """Compile or import the submission once; a failure ends the job."""

    async def capture(
        self, spec: JobSpec, benchmark: Benchmark, work: Workspace, watch: Watch
    ) -> Evidence:
        """Run one evaluator process; when this returns, none of its processes is alive."""

    async def export(
        self,
        evidence: Evidence,
        index: int,
        report: Path,
        work: Workspace,
        cancel: asyncio.Event,
    ) -> Exports:
        """Turn `report`, a copy out of the submission's reach, into files beside it."""


@runtime_checkable
class Elastic(Protocol):
    """An engine whose GPUs come and go; it must be open to be used."""

    def opened(
        self, changed: Callable[[tuple[str, ...]], None]
    ) -> AbstractAsyncContextManager[None]:
        """Connect, and let `changed` know what `gpus` answers from then on."""

    async def census(self) -> Finding:
        """Return what was found of counting kernels where they run."""
