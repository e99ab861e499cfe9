"""What a runner that was killed takes up again, and what it does not do twice."""

import asyncio
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from runner.jobs.files import append_line, read_lines
from runner.jobs.leftovers import end_leftovers
from runner.jobs.records import Records
from runner.jobs.store import Store
from runner_client.wire import (
    Artifact,
    BenchmarkResult,
    BenchmarkStatus,
    Capturing,
    Ended,
    Exporting,
    FailureKind,
    JobEvent,
    JobState,
    Mode,
    Preparing,
)
from tests.runner.api import Api
from tests.runner.processes import of_jobs
from tests.runner.test_restart import HANG, Running, arguments, started
from tests.runner.waiting import until
from tests.standin.problem import job, replaying
from tests.standin.tools import Tools

GOOD_RUN = replaying("ok-triton-1024")


def hang_in_exports(tools: Tools, *, after: str = "") -> Path:
    """Make exports hang, but those whose command line holds `after`; removing the file mends it."""
    flag = tools.ncu.with_name("hang")
    flag.touch()
    real = tools.ncu.rename(tools.ncu.with_name("real-ncu"))
    fine = f"*{after}*) ;; " if after else ""
    hang = f'case "$*" in {fine}*"--import "*) [ -e {flag} ] && sleep 600;; esac'
    tools.ncu.write_text(f'#!/bin/sh\n{hang}\nexec {real} "$@"\n', encoding="utf-8")
    tools.ncu.chmod(0o755)
    return flag


async def killed(runner: Running) -> None:
    runner.process.kill()
    await runner.process.wait()


def captures(events: list[JobEvent]) -> list[int]:
    return [e.benchmark for e in events if isinstance(e, Capturing) and not e.connected]


async def test_what_was_captured_is_only_exported_anew(tools: Tools, tmp_path: Path) -> None:
    data, spec = tmp_path / "data", job(GOOD_RUN, count=2)
    flag = hang_in_exports(tools)
    async with started(tools, data) as runner:
        await runner.api.post(spec)
        await runner.api.until(spec.id, Exporting)
        await killed(runner)
    flag.unlink()
    async with started(tools, data) as runner:
        result = await runner.api.result(spec.id)
        assert [one.status for one in result.benchmarks] == [BenchmarkStatus.SUCCEEDED] * 2
        assert [len(one.artifacts) for one in result.benchmarks] == [4, 4]
        events = await runner.api.events(spec.id)
        first_again = events.index(next(e for e in events if isinstance(e, Exporting))) + 1
        assert set(captures(events[first_again:])) == {1}
        assert [e.benchmark for e in events if isinstance(e, Exporting)] == [0, 0, 1]


async def test_a_finished_benchmark_is_kept(tools: Tools, tmp_path: Path) -> None:
    data, spec = tmp_path / "data", job(GOOD_RUN, count=2)
    flag = hang_in_exports(tools, after="profile.0")
    async with started(tools, data) as runner:
        await runner.api.post(spec)
        progress = data / "jobs" / spec.id / "progress"
        await until((progress / "captured.1.json").is_file)
        finished = progress / "result.0.json"
        before = msgspec.json.decode(finished.read_bytes(), type=BenchmarkResult)
        await killed(runner)
    flag.unlink()
    async with started(tools, data) as runner:
        result = await runner.api.result(spec.id)
        assert result.benchmarks[0] == before
        assert result.benchmarks[1].status is BenchmarkStatus.SUCCEEDED
        events = await runner.api.events(spec.id)
        again = max(n for n, event in enumerate(events) if isinstance(event, Preparing))
        assert captures(events[again:]) == []


async def test_a_cancel_is_remembered(tools: Tools, tmp_path: Path) -> None:
    data, spec = tmp_path / "data", job(HANG.replace("lag: 0.0", "lag: 600"))
    async with started(tools, data) as runner:
        await runner.api.post(spec)
        await runner.api.until(spec.id, Capturing)
        cancelling = asyncio.create_task(runner.api.call("DELETE", f"/jobs/{spec.id}"))
        await until((data / "jobs" / spec.id / "progress" / "cancelled").is_file)
        await killed(runner)
        await asyncio.gather(cancelling, return_exceptions=True)
    async with started(tools, data) as runner:
        result = await runner.api.result(spec.id)
        failures = [result.failure, *(one.failure for one in result.benchmarks)]
        assert {one.kind for one in failures if one} == {FailureKind.CANCELLED}


async def test_jobs_go_on_after_sigterm(tools: Tools, tmp_path: Path) -> None:
    data, running, waiting = tmp_path / "data", job(HANG), job(mode=Mode.TEST)
    async with started(tools, data) as runner:
        await runner.api.post(running)
        await runner.api.post(waiting)
        before = await runner.api.until_kernel(running.id)
        runner.process.send_signal(signal.SIGTERM)
        assert await runner.process.wait() == 0
    assert of_jobs(data / "work") == []
    assert list((data / "work").iterdir()) == []
    async with started(tools, data) as runner:
        assert (await runner.api.status(running.id)).state is JobState.RUNNING
        # The first life may have told of its kernel once more before it ended.
        later: list[JobEvent] = []
        while not any(isinstance(event, Preparing) for event in later):
            later += await runner.api.events(running.id, len(before) + len(later), wait=10)
        assert (await runner.api.status(waiting.id)).state is JobState.QUEUED
        assert Records(data / "jobs" / running.id / "progress", Path()).begin() == 1
        await runner.api.call("DELETE", f"/jobs/{running.id}")
        await runner.api.result(waiting.id)


async def test_a_job_that_takes_the_runner_down_is_given_up(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCUBOT_RUNNER_MAX_STARTS", "2")
    data, bad, other = tmp_path / "data", job(HANG), job(mode=Mode.TEST)
    for _ in range(2):
        async with started(tools, data) as runner:
            await runner.api.post(bad)
            await runner.api.post(other)
            await runner.api.until_kernel(bad.id)
            await killed(runner)
    async with started(tools, data) as runner:
        failure = (await runner.api.result(bad.id)).failure
        assert failure is not None
        assert failure.kind is FailureKind.RUNNER_LOST
        assert failure.detail == "it was begun 2 times"
        assert (await runner.api.result(other.id)).failure is None


async def test_a_report_whose_export_takes_the_runner_down_goes_out_alone(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCUBOT_RUNNER_MAX_STARTS", "1")
    hang_in_exports(tools)
    data, spec = tmp_path / "data", job(GOOD_RUN)
    async with started(tools, data) as runner:
        await runner.api.post(spec)
        await runner.api.until(spec.id, Exporting)
        await killed(runner)
    async with started(tools, data) as runner:
        (benchmark,) = (await runner.api.result(spec.id)).benchmarks
        assert benchmark.failure is not None
        assert benchmark.failure.kind is FailureKind.RUNNER_LOST
        assert [file.name[-8:] for file in benchmark.artifacts] == [".ncu-rep"]


async def test_a_job_that_cannot_be_read_ends(tools: Tools, tmp_path: Path) -> None:
    data, spec, next_one = tmp_path / "data", job(), job(mode=Mode.TEST)
    store = Store(data)
    store.open()
    store.create(spec)
    store.close()
    (data / "jobs" / spec.id / "spec.json").write_text('{"id": "of another version"}')
    async with started(tools, data) as runner:
        failure = (await runner.api.result(spec.id)).failure
        assert failure is not None
        assert failure.kind is FailureKind.RUNNER_ERROR
        assert (await runner.api.post(spec))[0] == 409
        await runner.api.run(next_one)


async def test_a_folder_has_one_runner(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    monkeypatch.setattr("runner.jobs.store.LOCK_WAIT_S", 0.0)
    async with started(tools, data):
        with pytest.raises(OSError, match="another runner works in this folder"):
            Store(data).open()
    store = Store(data)
    store.open()
    store.open()
    store.close()


def test_events_after_a_power_cut_are_those_that_can_be_read(tmp_path: Path) -> None:
    store, spec = Store(tmp_path), job()
    store.open()
    store.create(spec)
    log = tmp_path / "jobs" / spec.id / "events.jsonl"
    fine = b'{"event":"preparing","number":1,"at":"2026-01-01T00:00:00Z"}\n'
    log.write_bytes(fine + b"\0\0\0\n" + fine + b'{"event":"ca')
    assert [event.number for event in store.events(spec.id)] == [1]
    assert log.read_bytes() == fine
    assert not store.is_told(spec.id)
    store.close()


def test_a_half_made_job_is_made_again(tmp_path: Path) -> None:
    store, spec = Store(tmp_path), job()
    (tmp_path / "jobs" / f"{spec.id}.new" / "artifacts").mkdir(parents=True)
    store.create(spec)
    assert store.spec(spec.id) == spec
    (tmp_path / "jobs" / "half.new").mkdir()
    (tmp_path / "jobs" / "half.old").mkdir()
    store.open()
    assert store.ids() == [spec.id]
    store.close()


def test_records_that_do_not_fit_their_files_count_as_absent(tmp_path: Path) -> None:
    store, spec = Store(tmp_path), job()
    store.create(spec)
    records = store.records(spec.id)
    progress, artifacts = tmp_path / "jobs" / spec.id / "progress", store.artifacts(spec.id)
    progress.mkdir()
    (progress / "result.0.json").write_text("{", encoding="utf-8")
    report = Artifact(name="profile.1.ncu-rep", size=4, sha256="0" * 64)
    capture = {"evidence": {}, "report": msgspec.to_builtins(report)}
    (progress / "captured.1.json").write_bytes(msgspec.json.encode(capture))
    (artifacts / report.name).write_bytes(b"abc")
    assert not records.reached().any
    assert list(artifacts.iterdir()) == []
    (artifacts / report.name).write_bytes(b"abcd")
    assert records.reached().captures[1].report == report


@contextmanager
def files_end_at(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [0, 3])
def test_a_line_that_the_disk_does_not_take_leaves_no_torn_one(tmp_path: Path, room: int) -> None:
    path = tmp_path / "events.jsonl"
    append_line(path, b"first")
    with files_end_at(len(b"first\n") + room), pytest.raises(OSError, match=r"too large|3 bytes"):
        append_line(path, b"second")
    assert path.read_bytes() == b"first\n"
    path.write_bytes(path.read_bytes() + b"torn")
    assert read_lines(path) == [b"first"]
    append_line(path, b"second")
    assert read_lines(path) == [b"first", b"second"]


@pytest.mark.parametrize("mark", ["environment", "folder", "command line"])
def test_leftovers_are_found_by_what_they_show(tmp_path: Path, mark: str) -> None:
    work = tmp_path / "work"
    home = work / "job" / "home"
    home.mkdir(parents=True)
    program = (sys.executable, "-c", "import time\ntime.sleep(600)")
    child = subprocess.Popen(
        (*program, str(home)) if mark == "command line" else program,
        cwd=home if mark == "folder" else "/",
        env={"HOME": str(home)} if mark == "environment" else {},
        start_new_session=True,
    )
    bystander = subprocess.Popen(program, cwd="/", env={"HOME": f"{work}-of-another"})
    try:
        while b"time.sleep" not in Path(f"/proc/{child.pid}/cmdline").read_bytes():
            pass
        assert end_leftovers(work)
        assert child.wait() == -signal.SIGKILL
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


async def test_a_result_is_written_once(api: Api, tmp_path: Path) -> None:
    spec = job(mode=Mode.TEST)
    result = await api.run(spec)
    store = Store(tmp_path / "data")
    store.save_result(spec.id, msgspec.structs.replace(result, benchmarks=()))
    assert (await api.status(spec.id)).result == result
    assert isinstance((await api.events(spec.id))[-1], Ended)


async def test_a_runner_ends_with_its_stdin(tools: Tools, tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "from cli.main import main; main()", "runner"),
        *arguments(tools, tmp_path / "data", "--end-with-stdin"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert (await process.stdout.readline()).startswith(b"listening on ")
    process.stdin.write(b"not yet\n")
    await process.stdin.drain()
    assert process.returncode is None
    process.stdin.close()
    assert await process.wait() == 0
