"""Jobs on disk: spec.json, events.jsonl, result.json and artifacts/ in a folder each.

All methods block; callers on the loop use a thread. A job's folder appears whole or not at all.
"""

import shutil
from pathlib import Path

import msgspec

from runner.files import append_line, read_lines, write_atomic
from runner.leftovers import end_leftovers
from runner_client.wire import JobEvent, JobResult, JobSpec

_EVENT: msgspec.json.Decoder[JobEvent] = msgspec.json.Decoder(JobEvent)


class Store:
    """Everything that survives a restart. Job ids must have been validated (wire.JobId)."""

    def __init__(self, root: Path) -> None:
        self._jobs = root / "jobs"
        self.work = root / "work"

    def open(self) -> None:
        """Make the folders, and remove what jobs of an earlier process left behind."""
        self._jobs.mkdir(parents=True, exist_ok=True)
        end_leftovers(self.work)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(exist_ok=True)
        for half_made in self._jobs.glob("*.new"):
            shutil.rmtree(half_made)

    def ids(self) -> list[str]:
        """Return the ids of all jobs, oldest first."""
        folders = (path for path in self._jobs.iterdir() if path.suffix != ".new")
        return [path.name for path in sorted(folders, key=_age)]

    def create(self, spec: JobSpec) -> None:
        """Keep a new job."""
        half_made = self._jobs / f"{spec.id}.new"
        (half_made / "artifacts").mkdir(parents=True)
        write_atomic(half_made / "spec.json", msgspec.json.encode(spec))
        half_made.rename(self._jobs / spec.id)

    def spec(self, job_id: str) -> JobSpec | None:
        """Return a job's spec, or None where the job is unknown."""
        data = _read(self._jobs / job_id / "spec.json")
        return None if data is None else msgspec.json.decode(data, type=JobSpec)

    def result(self, job_id: str) -> JobResult | None:
        """Return the result of a job that ended."""
        data = _read(self._jobs / job_id / "result.json")
        return None if data is None else msgspec.json.decode(data, type=JobResult)

    def save_result(self, job_id: str, result: JobResult) -> None:
        """Keep the result; from now on the job has ended."""
        write_atomic(self._jobs / job_id / "result.json", msgspec.json.encode(result))

    def events(self, job_id: str) -> list[JobEvent]:
        """Return all events, mending the last line where a kill tore it."""
        return [_EVENT.decode(line) for line in read_lines(self._jobs / job_id / "events.jsonl")]

    def append(self, job_id: str, event: JobEvent) -> None:
        """Keep one more event."""
        append_line(self._jobs / job_id / "events.jsonl", msgspec.json.encode(event))

    def artifacts(self, job_id: str) -> Path:
        """Return the folder of a job's artifacts."""
        return self._jobs / job_id / "artifacts"

    def clear_artifacts(self, job_id: str) -> Path:
        """Empty and return it: a job that is run again starts from nothing."""
        folder = self.artifacts(job_id)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _age(folder: Path) -> tuple[float, str]:
    spec = folder / "spec.json"
    return (spec.stat().st_mtime if spec.is_file() else 0.0, folder.name)
