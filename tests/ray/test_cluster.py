"""Jobs on a cluster of several nodes: what a user gets, also when nodes die under it."""

import asyncio
import json
import logging
import socket
from pathlib import Path

import pytest
from aiohttp import web

from runner.capture.workspace import workspace
from runner.engine import Evidence
from runner.health.doctor import examine
from runner.service import keys
from runner_client.captures import CaptureMode, CaptureOptions
from runner_client.wire import BenchmarkStatus, Capturing, FailureKind, Level, Mode
from tests.ray.cluster import Nodes
from tests.runner.api import Api
from tests.runner.waiting import until
from tests.standin.problem import cuda_job, job, replaying

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    # The first test starts the cluster.
    pytest.mark.timeout(150),
]
GOOD_RUN = replaying("ok-triton-1024")
SLOW_RUN = replaying("ok-triton-1024", lag_s=0.1)
HANG = replaying("partial-hang-terminated")
CALLER = """
import socket
from pathlib import Path

PORTS = {ports}
FOLDER = "{folder}"


def reached():
    found = []
    for host in ("127.0.0.1", "{host}"):
        for port in PORTS:
            try:
                socket.create_connection((host, port), timeout=1).close()
                found.append(port)
            except OSError:
                pass
    return [*found, *map(str, Path(FOLDER).glob("**/*"))]


def custom_kernel(line):
    found = reached()
    if found:
        raise PermissionError(str(found))
    return line.upper()
"""


async def test_jobs_over_two_nodes(api: Api, nodes: Nodes) -> None:
    specs = [job(GOOD_RUN, count=2) for _ in range(3)]
    for result in await asyncio.gather(*(api.run(spec) for spec in specs)):
        assert result.failure is None
        assert [one.status for one in result.benchmarks] == [BenchmarkStatus.SUCCEEDED] * 2
        assert [len(one.artifacts) for one in result.benchmarks] == [4, 4]
    events = await api.events(specs[0].id)
    assert any(isinstance(event, Capturing) and event.kernel for event in events)
    health = await api.health()
    assert (health.engine, health.gpu, health.slots) == ("ray", "H200", 2)


async def test_hot_falls_back_on_a_node_that_cannot_count(api: Api) -> None:
    benchmark = await api.run_one(job(GOOD_RUN, capture=CaptureOptions(mode=CaptureMode.HOT)))
    assert benchmark.coverage is not None
    assert benchmark.coverage.mode is CaptureMode.FIRST
    assert benchmark.coverage.fallback == "the CUDA toolkit has no headers of CUPTI and NVTX"
    asked = CaptureOptions(mode=CaptureMode.CENSUS)
    benchmark = await api.run_one(job(GOOD_RUN, capture=asked))
    assert benchmark.failure is not None
    assert benchmark.failure.kind is FailureKind.CAPTURE_UNAVAILABLE


async def test_cancelled_jobs_leave_no_process_on_their_nodes(api: Api, nodes: Nodes) -> None:
    specs = [job(HANG) for _ in range(2)]
    for spec in specs:
        await api.post(spec)
        await api.until_kernel(spec.id)
    assert nodes.busy() == ["a", "b"]
    for spec in specs:
        await api.call("DELETE", f"/jobs/{spec.id}")
        (benchmark,) = (await api.result(spec.id)).benchmarks
        assert benchmark.failure is not None
        assert benchmark.failure.kind is FailureKind.CANCELLED
        # ncu was asked to end first, and wrote what it had.
        assert benchmark.kernels
    assert nodes.busy() == []


async def test_the_time_limit_reaches_the_node(api: Api, nodes: Nodes) -> None:
    benchmark = await api.run_one(job(HANG, timeout_s=0.1))
    assert benchmark.status is BenchmarkStatus.PARTIAL
    assert benchmark.failure is not None
    assert benchmark.failure.kind is FailureKind.TIME_LIMIT
    assert benchmark.failure.detail.startswith("1 s")
    assert nodes.busy() == []


async def test_sources_are_compiled_once_and_the_program_travels(api: Api) -> None:
    assert (await api.run_one(cuda_job("int x;", Mode.TEST))).status is BenchmarkStatus.SUCCEEDED
    result = await api.run(cuda_job("standin-compile-error", Mode.TEST))
    assert result.failure is not None
    assert result.failure.kind is FailureKind.COMPILE_ERROR


async def test_a_submission_reaches_none_of_rays_ports(api: Api, nodes: Nodes) -> None:
    host = nodes.address.partition(":")[0]
    ports = [port for port in _listening() if _answers(host, port)]
    # Whoever is not in a sandbox does reach them.
    assert int(nodes.address.rpartition(":")[2]) in ports
    assert list(nodes.temp.glob("**/*"))
    source = CALLER.format(ports=json.dumps(ports), folder=nodes.temp, host=host)
    benchmark = await api.run_one(job(source, Mode.TEST))
    assert (benchmark.failure, benchmark.status) == (None, BenchmarkStatus.SUCCEEDED)


async def test_a_process_that_dies_three_times_is_the_operators_failure(
    api: Api, nodes: Nodes
) -> None:
    spec = job(HANG)
    await api.post(spec)
    for _ in range(3):
        nodes.kill_workers(await nodes.first_busy())
        await until(lambda: not nodes.busy())
    (benchmark,) = (await api.result(spec.id)).benchmarks
    assert benchmark.failure is not None
    assert benchmark.failure.kind is FailureKind.RUNNER_LOST
    assert benchmark.failure.detail == "its node was lost 3 times"


async def test_an_export_is_made_anew_where_the_runner_was_restarted(
    api: Api, app: web.Application, tmp_path: Path
) -> None:
    report = tmp_path / "profile.0.ncu-rep"
    report.write_text("ok-triton-1024", encoding="utf-8")
    gone = Evidence(exports=tmp_path / "received-by-the-runner-before")
    with workspace(tmp_path, "0" * 32) as work:
        made = await app[keys.ENGINE].export(gone, 0, report, work, asyncio.Event())
    assert made.problem == ""
    assert made.details_csv == tmp_path / "ncu-details.0.csv"
    assert "Kernel Name" in made.details_csv.read_text(encoding="utf-8")


async def test_the_doctor_of_a_runner_profiles_on_a_node(
    api: Api, app: web.Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = tmp_path / "selftest"
    problem.mkdir()
    (problem / "eval.py").touch()
    (problem / "submission.py").write_text(GOOD_RUN, encoding="utf-8")
    monkeypatch.setattr("runner.health.selfcheck.PROBLEM", problem)
    found = await examine(app[keys.ENGINE], app[keys.SETTINGS], tmp_path)
    told = {one.check: one for one in found}
    assert {one.level for one in found} <= {Level.OK, Level.WARNING}
    assert told["nodes"].text == "2 x H200 in the cluster"
    assert told["counters"].level is Level.OK
    # So that a bot does not offer it.
    assert told["census"].level is Level.WARNING
    assert told["census"].text == "1 of 2 nodes count no kernels; a: not available: no toolkit"
    assert told["census"].mend == "install one"


async def test_the_job_of_a_dead_node_runs_elsewhere_and_has_one_result(
    api: Api, nodes: Nodes, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    spec = job(SLOW_RUN)
    await api.post(spec)
    name = await nodes.first_busy()
    nodes.kill(name)
    result = await api.result(spec.id)
    (benchmark,) = result.benchmarks
    assert (benchmark.failure, benchmark.status) == (None, BenchmarkStatus.SUCCEEDED)
    assert [len(one.artifacts) for one in result.benchmarks] == [4]
    assert nodes.programs(name) == []
    while (await api.health()).slots != 1:  # noqa: ASYNC110 - Ray finds out in its own time
        await asyncio.sleep(0.1)
    nodes.add(name)
    while (await api.health()).slots != 2:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.1)
    # Ray says so with pages of a node's log; here that is a line of our own.
    heard = [one.getMessage() for one in caplog.records if one.message.startswith("Ray: ")]
    assert any("marked dead" in line or "Raylet is terminated" in line for line in heard)
    assert all("\n" not in line for line in heard)
    assert capfd.readouterr().out == ""


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def _listening() -> list[int]:
    """Return the TCP ports on which anybody listens here."""
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text(encoding="ascii").splitlines()[1:]
    ]
    return sorted({int(line[1].rpartition(":")[2], 16) for line in lines if line[3] == "0A"})
