"""The engine that hands each benchmark to a node of a Ray cluster."""

import asyncio
import contextlib
import itertools
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import msgspec

from runner.capture.artifacts import export_names
from runner.capture.command import BINARY as BINARY_FILE
from runner.capture.progress import Progress
from runner.capture.workspace import Workspace
from runner.cluster import record
from runner.cluster.attempt import Attempt, Show, Stopped, Terms
from runner.cluster.counting import census_of
from runner.cluster.errors import Broken, Lost
from runner.cluster.link import Link, Node, Work, connect, disconnect
from runner.cluster.messages import (
    BINARY,
    PIECE_BYTES,
    REPORT,
    ExportOrder,
    JobLimits,
    Left,
    Order,
    encode,
)
from runner.cluster.slots import kind_of, problem_of, slots_of
from runner.engine import Evidence, Exports, Watch
from runner.isolation.halt import Stop
from runner.isolation.limits import Limits
from runner.settings import RunnerSettings
from runner.text import one_line, seconds_words
from runner_client.wire import (
    Benchmark,
    CudaEvaluator,
    Failure,
    FailureKind,
    Finding,
    JobSpec,
    Mode,
    System,
)

logger = logging.getLogger(__name__)
MOST_LOST = 3
"""A benchmark that took so many nodes with it, or had such bad luck, is given up."""
LOOK_S = 1.0
"""How often the cluster is asked for its nodes."""
AGAIN_S = 0.5
"""Pause before work goes out again that a dead node had not begun: Ray may not know yet."""
SEND_S = 60.0
PROBLEM = "problem"
Begin = Callable[[str], Work]


class GivenUp(Exception):  # noqa: N818 - named for what happened
    """Every node that took the work was lost with it."""


class RayEngine:
    """Benchmarks on the nodes of a cluster, each on one GPU of one kind. Needs `opened` first."""

    name: str = "ray"
    recorded_on: str | None = None

    def __init__(self, settings: RunnerSettings) -> None:
        self._settings = settings
        self._link: Link | None = None
        self._nodes: tuple[Node, ...] = ()

    @asynccontextmanager
    async def opened(self, changed: Callable[[tuple[str, ...]], None]) -> AsyncIterator[None]:
        """Connect; `changed` gets the slots when nodes come and go. Raises NoCluster, Lost."""
        self._link = await asyncio.to_thread(connect, self._settings)
        self._nodes = await self._link.nodes()
        watching = asyncio.create_task(self._watch(changed), name="runner-nodes")
        try:
            yield
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching
            await asyncio.to_thread(disconnect)

    async def system(self) -> System:
        """Describe one of the nodes: those of one kind of GPU should be alike."""
        gpu = await self.gpu()
        ours = [node for node in self._nodes if node.gpu == gpu]
        for node in ours:
            known = await self._record(node)
            if known is None:
                continue
            count = sum(node.count for node in ours)
            hosts = f"{len(ours)} nodes" if len(ours) > 1 else known.system.hostname
            return msgspec.structs.replace(known.system, device_count=count, hostname=hosts)
        return System(gpu=gpu)

    async def census(self) -> Finding:
        """Return what the nodes' doctors found of counting kernels."""
        gpu = await self.gpu()
        ours = [node for node in self._nodes if node.gpu == gpu]
        records = [await self._record(node) for node in ours]
        return census_of([known for known in records if known is not None])

    async def _record(self, node: Node) -> record.NodeRecord | None:
        """Ask a node for its record; None where it does not answer."""
        with contextlib.suppress(Lost, Broken, msgspec.DecodeError):
            return record.decode(await self._linked.record(node.id))
        return None

    async def gpu(self) -> str:
        """Return the configured name, else that of the one kind that the cluster has."""
        return kind_of(self._nodes, self._settings.gpu)

    async def problems(self) -> tuple[str, ...]:
        """Say so where no node has such a GPU."""
        if self._link is None:
            return ("engine `ray` works in `ncubot runner` only",)
        problem = problem_of(self._nodes, self._settings.gpu)
        return (problem,) if problem else ()

    async def gpus(self) -> tuple[str, ...]:
        """Return a slot for each GPU of the kind in the cluster."""
        return slots_of(self._nodes, await self.gpu())

    async def sandbox_fault(self) -> str:
        """Nothing is run here; a node without a sandbox does not join."""
        return ""

    async def prepare(
        self, spec: JobSpec, work: Workspace, cancel: asyncio.Event
    ) -> Failure | None:
        """Compile CUDA sources once, on any node; the import is run with each benchmark."""
        if not isinstance(spec.evaluator, CudaEvaluator):
            return None
        gpu, deadline = await self.gpu(), time.monotonic() + self._settings.job_timeout_s

        def begin(key: str) -> Work:
            order = self._order(spec, spec.benchmarks[0], deadline)
            return self._linked.prepare(gpu, key, encode(order))

        try:
            left, folder = await self._done(begin, work, self._terms(cancel, deadline))
        except (Stopped, GivenUp, Broken) as error:
            return _failure(error)
        if left.failure is None:
            await asyncio.to_thread((folder / BINARY).rename, work.given / BINARY_FILE)
        return left.failure

    async def capture(
        self, spec: JobSpec, benchmark: Benchmark, work: Workspace, watch: Watch
    ) -> Evidence:
        """Prepare, capture and export on a node; again on another where it is lost."""
        gpu, deadline = await self.gpu(), watch.budget.deadline
        binary = await asyncio.to_thread(_binary, work)

        def begin(key: str) -> Work:
            order = self._order(spec, benchmark, deadline, binary)
            return self._linked.benchmark(gpu, key, encode(order))

        terms = self._terms(watch.cancel, deadline)
        try:
            left, folder = await self._done(begin, work, terms, watch.progress)
        except Stopped as error:
            figure = seconds_words(self._settings.job_timeout_s)
            stopped = error.reason
            return Evidence(stopped=stopped, figure=figure if stopped is not Stop.CANCELLED else "")
        except (GivenUp, Broken) as error:
            return Evidence(failure=_failure(error))
        await asyncio.to_thread((folder / PROBLEM).write_text, left.problem)
        report = folder / REPORT if spec.mode is Mode.PROFILE else None
        return replace(left.evidence, report=report, exports=folder)

    async def export(
        self,
        evidence: Evidence,
        index: int,
        report: Path,
        work: Workspace,
        cancel: asyncio.Event,
    ) -> Exports:
        """Lay out what came with the capture; after a restart of the runner it is made anew."""
        folder = evidence.exports
        if folder is not None and await asyncio.to_thread(folder.is_dir):
            return await asyncio.to_thread(_laid_out, folder, index, report.parent)
        gpu, deadline = await self.gpu(), time.monotonic() + self._settings.job_timeout_s
        order = encode(ExportOrder(index=index, limits=self._limits, report=report.name))

        def begin(key: str) -> Work:
            return self._linked.export(gpu, key, order, _pieces(report))

        try:
            left, folder = await self._done(begin, work, self._terms(cancel, deadline))
        except (Stopped, GivenUp, Broken) as error:
            return Exports(problem=_failure(error).detail or "the export was cancelled")
        await asyncio.to_thread((folder / PROBLEM).write_text, left.problem)
        return await asyncio.to_thread(_laid_out, folder, index, report.parent)

    async def _done(
        self, begin: Begin, work: Workspace, terms: Terms, show: Show = lambda _: None
    ) -> tuple[Left, Path]:
        """Let the work be done, each attempt after the end of the one before it."""
        lost = 0
        for number in itertools.count(1):
            folder = work.root / "received" / f"{uuid.uuid4().hex}-{number}"
            began = await asyncio.to_thread(begin, folder.name)
            attempt = Attempt(began, folder, show)
            try:
                return await attempt.run(terms), folder
            except Lost as error:
                lost += bool(attempt.node)
                where = attempt.node or "a node that had not begun"
                logger.warning("a benchmark is lost with %s (%s)", where, error)
            if lost == MOST_LOST:
                break
            show(Progress(0, 0, "", connected=False))
            await asyncio.sleep(AGAIN_S)
        raise GivenUp(f"its node was lost {MOST_LOST} times")

    def _order(
        self, spec: JobSpec, benchmark: Benchmark, deadline: float, binary: bytes = b""
    ) -> Order:
        left_s = max(0.0, deadline - time.monotonic())
        return Order(spec, benchmark.index, self._limits, left_s, binary)

    def _terms(self, cancel: asyncio.Event, deadline: float) -> Terms:
        settings = self._settings
        return Terms(
            cancel=cancel,
            deadline=deadline,
            slack_s=settings.grace_s + 3 * settings.export_timeout_s + SEND_S,
            largest_report=Limits.of(settings).largest_report,
            largest_file=settings.max_export_bytes,
        )

    @property
    def _limits(self) -> JobLimits:
        settings = self._settings
        return JobLimits(
            replay_factor=settings.replay_factor,
            job_timeout_s=settings.job_timeout_s,
            max_report_bytes=settings.max_report_bytes,
            max_job_bytes=settings.max_job_bytes,
        )

    @property
    def _linked(self) -> Link:
        if self._link is None:
            raise Lost("the engine is not open")
        return self._link

    async def _watch(self, changed: Callable[[tuple[str, ...]], None]) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                nodes = await self._linked.nodes()
            except Lost as error:
                logger.warning("the cluster does not answer (%s)", error)
                continue
            if nodes != self._nodes:
                self._nodes = nodes
                logger.info("the cluster has %d nodes with GPUs", len(nodes))
                changed(await self.gpus())


def _failure(error: Stopped | GivenUp | Broken) -> Failure:
    if isinstance(error, Stopped):
        return Failure(kind=FailureKind(error.reason.value))
    kind = FailureKind.RUNNER_LOST if isinstance(error, GivenUp) else FailureKind.RUNNER_ERROR
    return Failure(kind=kind, detail=one_line(str(error)))


def _binary(work: Workspace) -> bytes:
    path = work.given / BINARY_FILE
    return path.read_bytes() if path.is_file() else b""


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while data := file.read(PIECE_BYTES):
            yield data


def _laid_out(received: Path, index: int, folder: Path) -> Exports:
    """Move the exports beside the report, under their names."""
    made = {}
    for field, name in export_names(index).items():
        if (received / field).is_file():
            made[field] = (received / field).replace(folder / name)
    return Exports(**made, problem=(received / PROBLEM).read_text(encoding="utf-8"))
