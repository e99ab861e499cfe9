"""The engine that replays captures of our own samples, recorded on a real GPU.

A recording is served for its own submission, shape and capture options only; it is never shown as
somebody else's kernel.
"""

import asyncio
import lzma
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from runner.capture.artifacts import export_names
from runner.capture.popcorn import parse_log
from runner.capture.progress import ProgressReader
from runner.capture.workspace import Workspace
from runner.engine import Evidence, Exports, Watch
from runner.health.system import competition_name
from runner.isolation.halt import Stop
from runner.settings import RunnerSettings
from runner.text import clean, one_line
from runner_client.captures import DEFAULT_LAUNCHES, CaptureMode, CaptureOptions
from runner_client.wire import Benchmark, Failure, FailureKind, JobSpec, Mode, Sha256, System

REPORT = "profile.ncu-rep.xz"
"""Compressed, since a report is mostly padding: 3.2 MB shrink to 0.1 MB."""
NO_CENSUS = "recordings have no census"
EXPORTED = {
    "details_csv": "ncu-details.csv",
    "details_txt": "ncu-details.txt",
    "raw_csv": "ncu-raw.csv",
}


class BadRecording(Exception):  # noqa: N818 - named for what it is about
    """A recording.json that cannot be read."""


class RecordedSubmission(Struct, frozen=True):
    """The sample submission that was profiled."""

    name: str
    sha256: Sha256


class RecordedSystem(Struct, frozen=True):
    """The machine it was profiled on."""

    gpu: str
    device_count: int = 1
    driver: str = ""
    ncu_version: str = ""
    cpu: str = ""
    platform: str = ""
    cuda: str = ""
    torch: str = ""


class RecordingFile(Struct, frozen=True):
    """A recording.json."""

    leaderboard: str
    submission: RecordedSubmission
    benchmark: Benchmark
    gpu: str
    system: RecordedSystem
    exit_code: int = 0
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording.json and the folder that it lies in."""

    folder: Path
    about: RecordingFile

    def fits(self, spec: JobSpec, benchmark: Benchmark) -> bool:
        """Return whether this is a capture of that submission and shape."""
        return (
            self.about.submission.sha256 == spec.submission_sha256
            and self.about.benchmark.spec == benchmark.spec
        )

    def text(self, name: str) -> str:
        """Return one of the recorded streams, empty where there was none. Blocking."""
        path = self.folder / name
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def load_recordings(root: Path) -> tuple[Recording, ...]:
    """Read every recording under `root`. Blocking. Raises BadRecording."""
    return tuple(_load(file) for file in sorted(root.glob("*/recording.json")))


def _load(file: Path) -> Recording:
    try:
        return Recording(file.parent, msgspec.json.decode(file.read_bytes(), type=RecordingFile))
    except (OSError, msgspec.DecodeError) as error:
        raise BadRecording(f"{file}: {error}") from error


class RecordedEngine:
    """Serves recordings in place of runs."""

    name: str = "recorded"

    def __init__(self, settings: RunnerSettings, recordings: tuple[Recording, ...]) -> None:
        self._settings = settings
        self._recordings = recordings
        self.recorded_on = recordings[0].about.gpu if recordings else None

    async def system(self) -> System:
        """Describe the machine of the recordings."""
        if not self._recordings:
            return System(gpu="")
        seen = self._recordings[0].about.system
        return System(
            gpu=seen.gpu,
            device_count=seen.device_count,
            driver=seen.driver,
            ncu_version=seen.ncu_version,
            cpu=seen.cpu,
            platform=seen.platform,
            torch=seen.torch,
            runtime=f"CUDA {seen.cuda}".strip(),
        )

    async def gpu(self) -> str:
        """Return the recordings' GPU as competitions write it."""
        return self._settings.gpu or competition_name(self.recorded_on or "")

    async def problems(self) -> tuple[str, ...]:
        """Say so where there is nothing to replay."""
        return () if self._recordings else (f"no recordings in {self._settings.recordings}",)

    async def gpus(self) -> tuple[str, ...]:
        """Replay one job at a time."""
        return ("",)

    async def sandbox_fault(self) -> str:
        """Nothing is run, so there is nothing to contain."""
        return ""

    async def prepare(
        self, spec: JobSpec, work: Workspace, cancel: asyncio.Event
    ) -> Failure | None:
        """End the job where none of its benchmarks was recorded."""
        found = any(self._find(spec, benchmark) for benchmark in spec.benchmarks)
        return None if found else self._not_recorded()

    async def capture(
        self, spec: JobSpec, benchmark: Benchmark, work: Workspace, watch: Watch
    ) -> Evidence:
        """Replay the recording's output at a watchable speed."""
        recording = self._find(spec, benchmark)
        if recording is None:
            return Evidence(failure=self._not_recorded())
        stdout = await asyncio.to_thread(recording.text, "stdout.txt")
        reader = ProgressReader(spec.capture.launch_count, watch.progress)
        if await self._replay(stdout, reader, watch.cancel):
            return Evidence(stopped=Stop.CANCELLED)
        return Evidence(
            exit_code=recording.about.exit_code,
            stdout=clean(stdout),
            stderr=clean(await asyncio.to_thread(recording.text, "stderr.txt")),
            log=parse_log((await asyncio.to_thread(recording.text, "popcorn_fd.txt")).encode()),
            duration_s=recording.about.duration_s,
            report=await asyncio.to_thread(_unpack, recording.folder, work.report(benchmark)),
            exports=recording.folder,
            mode=CaptureMode.FIRST,
            fallback=NO_CENSUS if spec.capture.mode is CaptureMode.HOT else "",
        )

    async def export(
        self,
        evidence: Evidence,
        index: int,
        report: Path,
        work: Workspace,
        cancel: asyncio.Event,
    ) -> Exports:
        """Copy the recorded exports."""
        if evidence.exports is None:
            return Exports(problem="the recording has no exports")
        return await asyncio.to_thread(_copy_exports, evidence.exports, index, report.parent)

    async def _replay(self, stdout: str, reader: ProgressReader, cancel: asyncio.Event) -> bool:
        lines = stdout.splitlines(keepends=True)
        for line in lines:
            reader.feed(line.encode())
            with suppress(TimeoutError):
                await asyncio.wait_for(cancel.wait(), self._settings.replay_s / len(lines))
        return cancel.is_set()

    def _find(self, spec: JobSpec, benchmark: Benchmark) -> Recording | None:
        if spec.mode is not Mode.PROFILE or not _is_plain(spec.capture):
            return None
        return next((one for one in self._recordings if one.fits(spec, benchmark)), None)

    def _not_recorded(self) -> Failure:
        return Failure(kind=FailureKind.NOT_RECORDED, detail=one_line(listing(self._recordings)))


def _is_plain(capture: CaptureOptions) -> bool:
    """Return whether the first ten launches are asked for, or stand in for the hot ones."""
    if capture.mode not in {CaptureMode.HOT, CaptureMode.FIRST}:
        return False
    return replace(capture, mode=CaptureMode.FIRST, census=False) == CaptureOptions()


def _unpack(recording: Path, report: Path) -> Path:
    """Lay a recording's report into the job's folder; return `report`."""
    with lzma.open(recording / REPORT) as packed, report.open("wb") as unpacked:
        shutil.copyfileobj(packed, unpacked)
    return report


def _copy_exports(source: Path, index: int, folder: Path) -> Exports:
    made = {
        field: folder / export_names(index)[field]
        for field, name in EXPORTED.items()
        if (source / name).is_file()
    }
    for field, target in made.items():
        shutil.copyfile(source / EXPORTED[field], target)
    return Exports(
        details_csv=made.get("details_csv"),
        details_txt=made.get("details_txt"),
        raw_csv=made.get("raw_csv"),
    )


def listing(recordings: tuple[Recording, ...]) -> str:
    """Return one line that names every sample submission with its recorded shapes."""
    shapes: dict[str, list[str]] = {}
    for recording in recordings:
        about = recording.about
        title = f"{about.leaderboard} with {about.submission.name}"
        shapes.setdefault(title, []).append(f"{about.benchmark.index} · {about.benchmark.spec}")
    known = "; ".join(f"{title} ({', '.join(specs)})" for title, specs in shapes.items())
    return f"{known}; profile mode, {DEFAULT_LAUNCHES} launches, no kernel filter"
