"""What `ncubot verify` does: three jobs with the engine in this process, and their record."""

import asyncio
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

import click

from bot.jobs.errors import NcubotError
from bot.jobs.source import decode_source
from bot.jobs.spec import all_benchmarks, build_spec
from bot.jobs.validate import check_capture, check_single_gpu, choose_benchmarks
from bot.leaderboards.check.folder import Located, locate
from bot.leaderboards.git import head_commit
from bot.leaderboards.verify import Observation, Runs, observe, two_shapes
from bot.wording import sentence
from cli.profile_job import copy_artifacts, read_submission, run_jobs
from cli.runner_settings import runner_settings
from counters.errors import NoTable
from counters.model import KernelReport
from counters.names import escaped
from counters.parse import read_report
from runner.jobs.store import Store
from runner_client.captures import CaptureOptions
from runner_client.wire import Benchmark, JobResult, JobSpec, Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A problem that is verified and how."""

    problem: Located
    commit: str | None
    submission: str
    capture: CaptureOptions
    out: Path


def verify(
    directory: Path, submission: Path | None, kernel_name: str | None, launches: int, out: Path
) -> int:
    """Run everything, print the record; return the exit status. Raises ClickException."""
    try:
        asked = _ask(
            directory,
            submission,
            CaptureOptions(kernel_name=kernel_name, launch_count=launches),
            out,
        )
        profile = _spec(asked, Mode.PROFILE, two_shapes(asked.problem.task))
    except NcubotError as error:
        raise click.ClickException(sentence(error)) from error
    runs = _run(asked, profile)
    seen = observe(asked.problem.task, asked.submission, runs)
    click.echo(escaped_lines(record(asked, profile, runs, seen)))
    return 0 if all(one.seen for one in seen) else 1


def _ask(directory: Path, submission: Path | None, capture: CaptureOptions, out: Path) -> Asked:
    problem = locate(directory)
    check_single_gpu(problem.name, problem.task)
    check_capture(capture)
    choose_benchmarks(problem.name, problem.task, None)
    with tempfile.TemporaryDirectory(prefix="ncubot-verify-") as scratch:
        commit = asyncio.run(head_commit(directory, Path(scratch)))
    return Asked(
        problem=problem,
        commit=commit,
        submission=_submission(problem, directory, submission),
        capture=capture,
        out=out,
    )


def _submission(problem: Located, directory: Path, given: Path | None) -> str:
    if given is not None:
        return decode_source(str(given), read_submission(given))
    language = "CUDA" if problem.task.submission_name.endswith(".cu") else "Python"
    templates = problem.task.templates
    if language in templates:
        return templates[language]
    beside = directory / problem.task.submission_name
    if beside.is_file():
        return decode_source(str(beside), read_submission(beside))
    if templates:
        return next(iter(templates.values()))
    raise click.ClickException(f"{directory} has no template: name a file with --submission")


def _spec(asked: Asked, mode: Mode, benchmarks: tuple[Benchmark, ...]) -> JobSpec:
    return build_spec(
        id=uuid.uuid4().hex,
        requester="command line",
        leaderboard=asked.problem.name,
        commit=asked.commit,
        gpu="local",
        task=asked.problem.task,
        submission=asked.submission,
        benchmarks=benchmarks,
        capture=asked.capture,
        mode=mode,
    )


def _run(asked: Asked, profile: JobSpec) -> Runs:
    tests = all_benchmarks(asked.problem.task, Mode.TEST)
    specs = [profile, _spec(asked, Mode.BENCHMARK, profile.benchmarks)]
    if tests:
        specs.append(_spec(asked, Mode.TEST, tests))
    with tempfile.TemporaryDirectory(prefix="ncubot-verify-") as folder:
        settings = runner_settings(None, {"data": Path(folder), "engine": "local"})
        store = Store(settings.folder)
        results = asyncio.run(run_jobs(specs, settings, store))
        copy_artifacts(store.artifacts(profile.id), asked.out)
    test = results[2] if tests else None
    return Runs(results[0], test, results[1], _reports(results[0], asked.out))


def _reports(result: JobResult, out: Path) -> dict[int, KernelReport]:
    """Read the details that were exported from the saved reports: opening them again."""
    found: dict[int, KernelReport] = {}
    for one in result.benchmarks:
        file = out / f"ncu-details.{one.index}.csv"
        if any(artifact.name == file.name for artifact in one.artifacts):
            try:
                found[one.index] = read_report(file)
            except NoTable:
                continue
    return found


def record(asked: Asked, profile: JobSpec, runs: Runs, seen: tuple[Observation, ...]) -> list[str]:
    """Return the Markdown of a pull request: what was run where, and what was observed."""
    system = runs.profile.system
    indices = ", ".join(f"{one.index} (`{one.spec}`)" for one in profile.benchmarks)
    tools = f"driver {system.driver}, Nsight Compute {system.ncu_version}, torch {system.torch}"
    lines = [
        f"### {asked.problem.name}: profile verified"
        if all(one.seen for one in seen)
        else f"### {asked.problem.name}: profile NOT verified",
        "",
        f"- Problem directory: `{asked.problem.directory}`",
        f"- Commit: {asked.commit or 'none, the files belong to no commit'}",
        f"- GPU: {system.gpu} ({tools})",
        f"- Benchmarks: {indices}",
        f"- Kernel filter: {asked.capture.kernel_name or 'none'}",
        f"- Launch limit: {asked.capture.launch_count}",
        f"- Configuration: sha256 {profile.config_sha256}",
        "",
        "| observation | seen | what |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {one.title} | {_word(one)} | {_cell(one.detail)} |" for one in seen]
    lines += ["", "| artifact | bytes | sha256 |", "| --- | --- | --- |"]
    for result in runs.profile.benchmarks:
        for artifact in result.artifacts:
            lines.append(f"| {artifact.name} | {artifact.size} | {artifact.sha256} |")
    return lines


def _word(one: Observation) -> str:
    return "yes" if one.seen else "**no**"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def escaped_lines(lines: list[str]) -> str:
    """Join lines for a terminal: names of kernels may contain anything."""
    return "\n".join(escaped(line) for line in lines)
