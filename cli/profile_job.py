"""What `ncubot profile` does: files to a JobSpec, the engine in this process, tables on stdout."""

import asyncio
import io
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path

import click
import msgspec

from bot.failures import FAILURES
from bot.jobs.errors import FileTooLarge, NcubotError
from bot.jobs.source import decode_source
from bot.jobs.spec import build_spec
from bot.jobs.validate import check_capture, check_ending, check_single_gpu, choose_benchmarks
from bot.leaderboards.task import load_task
from bot.reports.coverage import (
    COUNTING,
    captured_words,
    census_table,
    coverage_lines,
    found_words,
)
from bot.reports.table import render_table
from bot.wording import failure_sentence, sentence
from cli.runner_settings import runner_settings
from counters.names import escaped
from counters.parse import read_summary
from runner.app import create_engine
from runner.engine import Engine
from runner.jobs.events import EventLog
from runner.jobs.job import Executor, LiveJob
from runner.jobs.store import Store
from runner.recorded import BadRecording
from runner.settings import RunnerSettings
from runner_client.captures import (
    TIMED,
    WITHOUT_COUNTERS,
    CaptureMode,
    CaptureOptions,
    KernelNameBase,
    Preset,
    capture_options,
)
from runner_client.wire import (
    MAX_SOURCE_BYTES,
    BenchmarkResult,
    BenchmarkStatus,
    Capturing,
    Exporting,
    JobEvent,
    JobResult,
    JobSpec,
    Preparing,
    Retrying,
)

WEEK_S = 7 * 86_400.0


def ask(submission: Path, problem: Path, options: Mapping[str, str | int | None]) -> JobSpec:
    """Build the job that the command line describes. Raises ClickException."""
    try:
        return _ask(submission, problem, options)
    except NcubotError as error:
        raise click.ClickException(sentence(error)) from error


def _ask(submission: Path, problem: Path, options: Mapping[str, str | int | None]) -> JobSpec:
    # Shared evaluators lie beside the problem's folder: `source: ../eval.py`.
    task = load_task(problem, problem.resolve().parent)
    name = problem.resolve().name
    index = options["benchmark_index"]
    check_single_gpu(name, task)
    check_ending(submission.name, task)
    capture = _capture(options)
    check_capture(capture)
    return build_spec(
        id=uuid.uuid4().hex,
        requester="command line",
        leaderboard=name,
        commit=None,
        gpu="local",
        task=task,
        submission=decode_source(str(submission), read_submission(submission)),
        benchmarks=choose_benchmarks(name, task, index if isinstance(index, int) else None),
        capture=capture,
    )


def read_submission(path: Path) -> bytes:
    """Return a file's bytes. Raises FileTooLarge, also for a device that has no end."""
    try:
        if (size := path.stat().st_size) > MAX_SOURCE_BYTES:
            raise FileTooLarge(str(path), size, MAX_SOURCE_BYTES)
        with path.open("rb") as file:
            return file.read(MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {error.strerror}") from error


def profile(spec: JobSpec, out: Path, engine: str | None) -> int:
    """Run `spec`, write its artifacts to `out`, print its tables; return the exit status."""
    with tempfile.TemporaryDirectory(prefix="ncubot-profile-") as folder:
        settings = runner_settings(None, {"data": Path(folder), "engine": engine})
        store = Store(settings.folder)
        [result] = asyncio.run(run_jobs([spec], settings, store))
        copy_artifacts(store.artifacts(spec.id), out)
    _print_failure_of_job(result)
    origin = f", recorded on {result.recorded_on}" if result.recorded_on else ""
    for benchmark in result.benchmarks:
        _print_benchmark(benchmark, out, origin)
    fine = all(one.status is BenchmarkStatus.SUCCEEDED for one in result.benchmarks)
    return 0 if fine and result.failure is None else 1


async def run_jobs(
    specs: Iterable[JobSpec], settings: RunnerSettings, store: Store
) -> tuple[JobResult, ...]:
    """Run jobs one after the other with the engine in this process, telling of it on stderr.

    Raises ClickException where this machine cannot profile.
    """
    engine = _engine(settings)
    problems = await engine.problems()
    if problems:
        raise click.ClickException("; ".join(problems))
    gpu = await engine.gpu()
    store.open()
    try:
        here = (msgspec.structs.replace(spec, gpu=gpu) for spec in specs)
        return tuple([await _run(spec, engine, settings, store) for spec in here])
    finally:
        store.close()


async def _run(spec: JobSpec, engine: Engine, settings: RunnerSettings, store: Store) -> JobResult:
    store.create(spec)
    job = LiveJob(spec, EventLog(store, spec.id, []))
    teller = asyncio.create_task(_tell(job.log))
    try:
        return await Executor(engine, store, settings).execute(job)
    finally:
        job.log.close()
        await teller


def _engine(settings: RunnerSettings) -> Engine:
    try:
        return create_engine(settings)
    except BadRecording as error:
        raise click.ClickException(str(error)) from error


async def _tell(log: EventLog) -> None:
    seen = 0
    # A closed log answers at once, with nothing after its last event.
    while events := await log.after(seen, WEEK_S):
        for event in events:
            click.echo(_line(event), err=True)
        seen = events[-1].number


def _line(event: JobEvent) -> str:
    match event:
        case Preparing():
            return "preparing"
        case Capturing():
            return f"benchmark {event.benchmark}: {_capturing(event)}"
        case Retrying():
            cause = FAILURES[event.reason].cause
            again = f"trying again in {event.wait_s:.0f} s"
            return f"benchmark {event.benchmark}: {cause}, {again}"
        case Exporting():
            return f"benchmark {event.benchmark}: exporting"
        case _:
            return "done"


def _capturing(event: Capturing) -> str:
    if event.counting:
        return COUNTING
    if event.kernel == 0 and event.census is not None and not event.connected:
        return found_words(event.census)
    if event.kernel == 0:
        return "ncu is connected" if event.connected else "running"
    done = f"{event.passes} passes" if event.passes else f"{event.percent} %"
    place = f"kernel {event.kernel} of at most {event.limit}"
    return f"{place}, {done}: {escaped(event.name)}"


def _capture(options: Mapping[str, str | int | None]) -> CaptureOptions:
    mode, preset, base = (options[name] for name in ("capture", "preset", "kernel_name_base"))
    name, count = options["kernel_name"], options["launch_count"]
    try:
        chosen = capture_options(
            mode=CaptureMode(str(mode)) if mode is not None else None,
            preset=Preset(str(preset)) if preset is not None else None,
            kernel_name=None if name is None else str(name),
            kernel_name_base=KernelNameBase(str(base)) if base is not None else None,
            launch_count=None if count is None else int(count),
        )
        return msgspec.convert(msgspec.to_builtins(chosen), CaptureOptions)
    except msgspec.ValidationError as error:
        raise click.ClickException(f"capture options: {error}") from error


def copy_artifacts(folder: Path, out: Path) -> None:
    """Copy what a job left to where the user wants it. Raises ClickException."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.iterdir()):
            shutil.copyfile(path, out / path.name)
    except OSError as error:
        raise click.ClickException(f"{out} cannot be written: {error.strerror}") from error


def _print_failure_of_job(result: JobResult) -> None:
    if result.failure is not None:
        click.echo(f"ncubot: {escaped(failure_sentence(result.failure))}", err=True)


def _print_benchmark(result: BenchmarkResult, out: Path, origin: str) -> None:
    # A terminal whose encoding lacks a character gets a question mark, not a traceback.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    if result.failure is not None:
        said = f"benchmark {result.index}: {failure_sentence(result.failure)}"
        click.echo(f"ncubot: {escaped(said)}", err=True)
    if result.kernels:
        captured = captured_words(result.coverage, result.kernels)
        title = f"benchmark {result.index} · {result.spec}: {captured}"
        click.echo(escaped(title + origin) + _verdict(result))
        click.echo(render_table(read_summary(out / f"ncu-details.{result.index}.csv")))
    _print_coverage(result, origin)


def _print_coverage(result: BenchmarkResult, origin: str) -> None:
    coverage = result.coverage
    if coverage is None or not (result.kernels or coverage.census or result.artifacts):
        return
    if coverage.mode in WITHOUT_COUNTERS and result.failure is None:
        title = f"benchmark {result.index} · {result.spec}: {coverage.mode.value}"
        click.echo(escaped(title + origin) + _verdict(result))
    if coverage.mode is CaptureMode.CENSUS and coverage.census is not None:
        click.echo(census_table(coverage.census))
    for line in coverage_lines(coverage, result.kernels):
        click.echo(escaped(line))


def _verdict(result: BenchmarkResult) -> str:
    if result.coverage is not None and result.coverage.mode in TIMED:
        return ", not checked"
    if result.check is None:
        return ""
    if result.check.passed:
        return ", evaluator said: pass"
    return f", evaluator said: FAIL {escaped(result.check.message)}".rstrip()
