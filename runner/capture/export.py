"""`ncu --import` of a report into text and CSV files, each with a time and a size limit."""

import asyncio
from pathlib import Path
from typing import BinaryIO

from runner.capture import command
from runner.capture.artifacts import export_names, kernel_sums_name
from runner.capture.environment import base_environment
from runner.capture.workspace import Workspace, report_suffix
from runner.engine import Exports
from runner.isolation.halt import Stop
from runner.isolation.jail import Jail
from runner.isolation.process import CannotStart, Command, Finished, run
from runner.settings import RunnerSettings
from runner.text import one_line
from runner_client.captures import CaptureMode

KERNELS = "kernels_csv"


class _Limited:
    """Writes to a file up to a size; says whether anything was cut."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file, self._room = file, limit
        self.cut = False

    def feed(self, chunk: bytes) -> None:
        kept = chunk[: self._room]
        self.cut = self.cut or len(kept) < len(chunk)
        self._room -= self._file.write(kept)


async def export(
    report: Path,
    index: int,
    work: Workspace,
    settings: RunnerSettings,
    jail: Jail,
    cancel: asyncio.Event,
) -> Exports:
    """Make the exports of benchmark `index` beside its report; one that fails is left out.

    `problem` says what went wrong with the first that failed.
    """
    made: dict[str, Path] = {}
    problems: list[str] = []
    for field, export_it in (await _commands(report, work, settings, jail)).items():
        target = report.parent / _name(field, index)
        problem = await _export_one(export_it, target, settings.max_export_bytes, cancel)
        if problem:
            problems.append(problem)
            target.unlink(missing_ok=True)
        else:
            made[field] = target
        if cancel.is_set():
            break
    return Exports(
        details_csv=made.get("details_csv"),
        details_txt=made.get("details_txt"),
        raw_csv=made.get("raw_csv"),
        kernels_csv=made.get(KERNELS),
        problem=problems[0] if problems else "",
    )


def _name(field: str, index: int) -> str:
    return kernel_sums_name(index) if field == KERNELS else export_names(index)[field]


async def _commands(
    report: Path, work: Workspace, settings: RunnerSettings, jail: Jail
) -> dict[str, Command]:
    seen = await jail.places(work, report.parent)
    cell = await jail.export(work, report)
    return {
        field: Command(
            argv=argv,
            cwd=seen.safe,
            env=base_environment(seen.safe, seen.safe),
            wall_s=settings.export_timeout_s,
            cell=cell,
        )
        for field, argv in _argvs(settings, seen.reports / report.name, seen.safe).items()
    }


def _argvs(settings: RunnerSettings, report: Path, scratch: Path) -> dict[str, tuple[str, ...]]:
    if report.suffix == report_suffix(CaptureMode.TIMELINE):
        return {KERNELS: command.kernel_sums(settings.nsys, report, scratch)}
    return command.exports(settings.ncu, report)


async def _export_one(
    export_it: Command, target: Path, max_bytes: int, cancel: asyncio.Event
) -> str:
    with target.open("wb") as file:
        limited = _Limited(file, max_bytes)
        try:
            finished = await run(export_it, cancel=cancel, on_stdout=limited.feed)
        except CannotStart as error:
            return one_line(str(error))
    return "the export is too large" if limited.cut else _problem(finished, _what(export_it))


def _what(export_it: Command) -> str:
    return "nsys stats" if export_it.argv[1] == "stats" else "ncu --import"


def _problem(finished: Finished, what: str) -> str:
    if finished.stopped is Stop.CANCELLED:
        return "the export was cancelled"
    if finished.stopped is not None:
        return f"{what} did not end in time"
    if finished.exit_code != 0:
        said = [line for line in finished.stdout.splitlines() if line.startswith("==ERROR==")]
        return one_line(said[0] if said else f"{what} ended with {finished.exit_code}")
    return ""
