"""What a job has reached before its result is there, so that a crash repeats no capture.

    progress/starts            how often a run began and did not come to an end
             cancelled         somebody asked for the job's end
             captured.I.json   benchmark I left this evidence and this report: only export it
             result.I.json     benchmark I is finished

A record that cannot be read counts as absent. All methods block.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from runner.engine import Evidence
from runner.jobs.files import read_if_there, settle, write_atomic
from runner_client.values import Index
from runner_client.wire import Artifact, Benchmark, BenchmarkResult

T = TypeVar("T")


class Capture(Struct, frozen=True):
    """The evidence of one evaluator process, and its report among the artifacts."""

    evidence: Evidence
    report: Artifact


@dataclass(frozen=True, slots=True)
class Reached:
    """What an earlier run of the job has reached, by benchmark."""

    results: dict[Index, BenchmarkResult]
    captures: dict[Index, Capture]

    @property
    def any(self) -> bool:
        """Return whether there is anything."""
        return bool(self.results or self.captures)

    def has(self, benchmark: Benchmark) -> bool:
        """Return whether a benchmark needs no program of the submission any more."""
        return benchmark.index in self.results or benchmark.index in self.captures


@dataclass(frozen=True, slots=True)
class Records:
    """The records of one job."""

    folder: Path
    artifacts: Path

    def reached(self) -> Reached:
        """Read the records, and remove every artifact that belongs to none of them."""
        results = self._read_all("result.", BenchmarkResult)
        captures = self._read_all("captured.", Capture)
        reached = Reached(
            {i: one for i, one in results.items() if self._have(one.artifacts)},
            {i: one for i, one in captures.items() if self._have((one.report,))},
        )
        self._remove_others(reached)
        return reached

    def save_capture(self, index: int, evidence: Evidence, report: Artifact) -> None:
        """Keep what was captured; its report must lie among the artifacts. Raises OSError."""
        settle(self.artifacts / report.name)
        self._write(f"captured.{index}.json", Capture(evidence, report))

    def save_result(self, result: BenchmarkResult) -> None:
        """Keep a finished benchmark; its artifacts must be there. Raises OSError."""
        for file in result.artifacts:
            settle(self.artifacts / file.name)
        self._write(f"result.{result.index}.json", result)
        self._count(1)

    def begin(self) -> int:
        """Count a run that begins; return how many before it came to nothing. Raises OSError."""
        before = self._read("starts", int) or 0
        self._count(before + 1)
        return before

    def stopped(self) -> None:
        """Count a run no longer that the runner itself stopped. Raises OSError."""
        self._count(max(0, (self._read("starts", int) or 0) - 1))

    def cancel(self) -> None:
        """Keep that somebody asked for the job's end. Raises OSError."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / "cancelled").touch()

    @property
    def cancelled(self) -> bool:
        """Return whether somebody asked for the job's end."""
        return (self.folder / "cancelled").is_file()

    @property
    def begun(self) -> bool:
        """Return whether a run of the job ever began."""
        return (self.folder / "starts").is_file() or any(self.folder.glob("*.json"))

    def clear(self) -> None:
        """Remove the records of a job that ended."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, name: str, value: object) -> None:
        self.folder.mkdir(exist_ok=True)
        write_atomic(self.folder / name, msgspec.json.encode(value, enc_hook=_text))

    def _count(self, starts: int) -> None:
        # Not worth a wait for the disk: a power cut is no fault of the job.
        self.folder.mkdir(exist_ok=True)
        (self.folder / "starts").write_text(str(starts), encoding="ascii")

    def _read(self, name: str, kind: type[T]) -> T | None:
        data = read_if_there(self.folder / name)
        try:
            return None if data is None else msgspec.json.decode(data, type=kind, dec_hook=_path)
        except msgspec.DecodeError:
            return None

    def _read_all(self, prefix: str, kind: type[T]) -> dict[Index, T]:
        found = {
            int(path.name.split(".")[1]): self._read(path.name, kind)
            for path in self.folder.glob(f"{prefix}*.json")
        }
        return {index: value for index, value in found.items() if value is not None}

    def _have(self, files: tuple[Artifact, ...]) -> bool:
        paths = ((self.artifacts / file.name, file.size) for file in files)
        return all(path.is_file() and path.stat().st_size == size for path, size in paths)

    def _remove_others(self, reached: Reached) -> None:
        kept = {file.name for one in reached.results.values() for file in one.artifacts}
        kept |= {one.report.name for one in reached.captures.values()}
        for path in self.artifacts.iterdir():
            if path.name not in kept:
                path.unlink()


def _text(value: object) -> str:
    if not isinstance(value, Path):
        raise NotImplementedError(type(value))
    return str(value)


def _path(kind: type, value: object) -> Path:
    if kind is not Path or not isinstance(value, str):
        raise NotImplementedError(kind)
    return Path(value)
