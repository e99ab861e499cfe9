"""Jobs on disk, in a folder each.

    jobs/ID/spec.json       before the POST is answered
            events.jsonl    numbered from 1, whatever restarts come between
            progress/       what a run has reached so far (runner/jobs/records.py)
            artifacts/      files of the result
            result.json     once: from then on the job has ended and nothing here changes
    work/                   folders that programs see
    lock                    held by the runner that works here

All methods block; callers on the loop use a thread. A job's folder appears whole or not at all,
and goes at once.
"""

import errno
import fcntl
import logging
import os
import shutil
import time
from pathlib import Path

import msgspec

from runner.isolation.trees import remove_tree
from runner.jobs.files import append_line, read_if_there, read_lines, settle, write_atomic
from runner.jobs.leftovers import end_leftovers
from runner.jobs.records import Records
from runner.jobs.retention import Kept
from runner_client.wire import Ended, JobEvent, JobResult, JobSpec

logger = logging.getLogger(__name__)
_EVENT: msgspec.json.Decoder[JobEvent] = msgspec.json.Decoder(JobEvent)
_NEW, _OLD = ".new", ".old"
LOCK_WAIT_S = 10.0
LOCK_LOOK_S = 0.05


class Unreadable(Exception):  # noqa: N818 - named for what it is about
    """A spec.json that this version cannot read."""


class Store:
    """Everything that survives a restart. Job ids must have been validated (wire.JobId)."""

    def __init__(self, root: Path) -> None:
        self._jobs = root / "jobs"
        self._lock = root / "lock"
        self._held: int | None = None
        self.work = root / "work"

    def open(self) -> None:
        """Make the folders, and remove what jobs of an earlier process left behind.

        Raises OSError, also where another runner works here: it would lose its jobs' processes.
        """
        self._jobs.mkdir(parents=True, exist_ok=True)
        self._hold()
        if not end_leftovers(self.work):
            logger.warning("processes of earlier jobs do not end: is the driver stuck?")
        remove_tree(self.work)
        self.work.mkdir(exist_ok=True)
        for suffix in (_NEW, _OLD):
            for folder in self._jobs.glob("*" + suffix):
                shutil.rmtree(folder)

    def close(self) -> None:
        """Let another runner work here."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def ids(self) -> list[str]:
        """Return the ids of all jobs, oldest first."""
        folders = (path for path in self._jobs.iterdir() if not path.suffix)
        return [path.name for path in sorted(folders, key=_age)]

    def create(self, spec: JobSpec) -> None:
        """Keep a new job; when this returns it survives a power cut. Raises OSError."""
        half_made = self._jobs / f"{spec.id}{_NEW}"
        shutil.rmtree(half_made, ignore_errors=True)
        (half_made / "artifacts").mkdir(parents=True)
        write_atomic(half_made / "spec.json", msgspec.json.encode(spec))
        half_made.rename(self._jobs / spec.id)
        settle(self._jobs)

    def spec(self, job_id: str) -> JobSpec | None:
        """Return a job's spec, or None where the job is unknown. Raises Unreadable."""
        data = read_if_there(self._jobs / job_id / "spec.json")
        try:
            return None if data is None else msgspec.json.decode(data, type=JobSpec)
        except msgspec.DecodeError as error:
            raise Unreadable(str(error)) from error

    def knows(self, job_id: str) -> bool:
        """Return whether there is such a job."""
        return (self._jobs / job_id).is_dir()

    def has_ended(self, job_id: str) -> bool:
        """Return whether a job's result is there."""
        return (self._jobs / job_id / "result.json").is_file()

    def result(self, job_id: str) -> JobResult | None:
        """Return the result of a job that ended."""
        data = read_if_there(self._jobs / job_id / "result.json")
        return None if data is None else msgspec.json.decode(data, type=JobResult)

    def save_result(self, job_id: str, result: JobResult) -> None:
        """Keep the result, once; from now on the job has ended. Raises OSError."""
        if self.has_ended(job_id):
            return
        artifacts = self.artifacts(job_id)
        for path in (*artifacts.iterdir(), artifacts):
            settle(path)
        write_atomic(self._jobs / job_id / "result.json", msgspec.json.encode(result))

    def events(self, job_id: str) -> list[JobEvent]:
        """Return all events; what cannot be read after a power cut is cut off with all after it."""
        path = self._jobs / job_id / "events.jsonl"
        events: list[JobEvent] = []
        size = 0
        for line in read_lines(path):
            try:
                events.append(_EVENT.decode(line))
            except msgspec.DecodeError:
                os.truncate(path, size)
                break
            size += len(line) + 1
        return events

    def append(self, job_id: str, event: JobEvent) -> None:
        """Keep one more event. Raises OSError."""
        append_line(self._jobs / job_id / "events.jsonl", msgspec.json.encode(event))

    def is_told(self, job_id: str) -> bool:
        """Return whether the last event is Ended."""
        events = self.events(job_id)
        return bool(events) and isinstance(events[-1], Ended)

    def artifacts(self, job_id: str) -> Path:
        """Return the folder of a job's artifacts."""
        return self._jobs / job_id / "artifacts"

    def records(self, job_id: str) -> Records:
        """Return what a job that has not ended has reached."""
        return Records(self._jobs / job_id / "progress", self.artifacts(job_id))

    def ended(self) -> list[Kept]:
        """Return the jobs that ended, with time and size."""
        return [_kept(folder) for folder in self._jobs.iterdir() if self.has_ended(folder.name)]

    def remove(self, job_id: str) -> None:
        """Forget a job: from now on it is unknown."""
        old = self._jobs / f"{job_id}{_OLD}"
        (self._jobs / job_id).rename(old)
        shutil.rmtree(old)

    def _hold(self) -> None:
        if self._held is not None:
            return
        held = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # A runner that is ending, or a child of a killed one before its exec, has it for a moment.
        until = time.monotonic() + LOCK_WAIT_S
        while not _locked(held):
            if time.monotonic() > until:
                os.close(held)
                raise OSError(errno.EBUSY, "another runner works in this folder")
            time.sleep(LOCK_LOOK_S)
        self._held = held


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _kept(folder: Path) -> Kept:
    files = (*folder.iterdir(), *(folder / "artifacts").iterdir())
    sizes = (path.stat().st_size for path in files if path.is_file())
    return Kept(folder.name, (folder / "result.json").stat().st_mtime, sum(sizes))


def _age(folder: Path) -> tuple[int, str]:
    spec = folder / "spec.json"
    return (spec.stat().st_mtime_ns if spec.is_file() else 0, folder.name)
