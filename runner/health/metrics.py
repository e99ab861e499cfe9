"""What an operator counts: Prometheus metrics of one service, in a registry of its own."""

from collections.abc import Callable

from aiohttp import web
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
)
from prometheus_client.exposition import generate_latest

from runner_client.wire import (
    BenchmarkResult,
    BenchmarkStatus,
    Finding,
    JobResult,
    Level,
    Mode,
    System,
)

WAIT_BUCKETS = (0.1, 1.0, 5.0, 15.0, 60.0, 180.0, 600.0, 1_800.0, 7_200.0, 28_800.0)
ENDED = "succeeded"
NONE = "none"


class Metrics:
    """Counts jobs as they end; the gauges are read when somebody scrapes."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._wait = Histogram(
            "ncubot_queue_wait_seconds",
            "Time between a job's acceptance and its start.",
            registry=self._registry,
            buckets=WAIT_BUCKETS,
        )
        self._in_ncu = self._counter("ncubot_ncu_seconds", "Time of ncu with its program.")
        self._outside = self._counter(
            "ncubot_outside_ncu_seconds", "Time of jobs outside ncu: compiling, exports, copies."
        )
        self._jobs = self._counter(
            "ncubot_jobs", "Jobs that ended; outcome is succeeded or a failure's kind.",
            "mode", "outcome",
        )  # fmt: skip
        self._benchmarks = self._counter(
            "ncubot_benchmarks", "Benchmarks that ended; kind is the failure's.",
            "mode", "status", "kind",
        )  # fmt: skip
        self._bytes = self._counter("ncubot_artifact_bytes", "Bytes of results.", "kind")
        self._build = Info("ncubot_build", "What runs where.", registry=self._registry)

    def watch(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Add a gauge whose value is asked for at each scrape."""
        Gauge(name, text, registry=self._registry).set_function(value)

    def watch_findings(self, findings: Callable[[], tuple[Finding, ...]]) -> None:
        """Add a gauge of the last check's findings, one series a level."""
        gauge = Gauge(
            "ncubot_findings", "Findings of the last check.", ["level"], registry=self._registry
        )
        for level in Level:
            gauge.labels(level.value).set_function(_count(findings, level))

    def describe(self, version: str, engine: str, gpu: str, system: System) -> None:
        """Say what this runner is."""
        self._build.info(
            {
                "version": version,
                "engine": engine,
                "gpu": gpu,
                "driver": system.driver,
                "ncu_version": system.ncu_version,
                "torch": system.torch,
            }
        )

    def started(self, waited_s: float) -> None:
        """Count a job's time in the queue."""
        self._wait.observe(max(waited_s, 0.0))

    def ran(self, mode: Mode, result: JobResult, ran_s: float) -> None:
        """Share out the `ran_s` seconds that a job took from its start to its result."""
        in_ncu = sum(one.duration_s for one in result.benchmarks) if mode is Mode.PROFILE else 0.0
        self._in_ncu.inc(in_ncu)
        self._outside.inc(max(ran_s - in_ncu, 0.0))

    def ended(self, mode: Mode, result: JobResult) -> None:
        """Count a job, one that never started too."""
        self._jobs.labels(mode.value, outcome_of(result)).inc()
        for one in result.benchmarks:
            self._benchmarks.labels(mode.value, one.status.value, _kind(one)).inc()
            for file in one.artifacts:
                self._bytes.labels(file.name.rpartition(".")[2]).inc(file.size)

    def answer(self) -> web.Response:
        """Return everything in Prometheus's text form."""
        body = generate_latest(self._registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, registry=self._registry)


def outcome_of(result: JobResult) -> str:
    """Return `succeeded`, or the kind of the first failure."""
    if result.failure is not None:
        return result.failure.kind.value
    failed = (one for one in result.benchmarks if one.status is not BenchmarkStatus.SUCCEEDED)
    return next((_kind(one) for one in failed), ENDED)


def _kind(result: BenchmarkResult) -> str:
    return result.failure.kind.value if result.failure is not None else NONE


def _count(findings: Callable[[], tuple[Finding, ...]], level: Level) -> Callable[[], float]:
    return lambda: float(sum(one.level is level for one in findings()))
