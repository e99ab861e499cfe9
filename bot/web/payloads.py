"""What the client reads, field for field as it names them."""

import json
from typing import Any, Literal

import msgspec
from msgspec import Struct

from runner_client.wire import System


class Ran(Struct, frozen=True, kw_only=True):
    """One evaluator process. The client shows `stderr`, then `stdout`, unless `success`."""

    success: bool
    passed: bool
    command: str = ""
    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    duration: float = 0.0
    result: dict[str, str] = {}


class Trace(Struct, frozen=True, kw_only=True):
    """A capture: `trace` is a zip in padded base64."""

    trace: str
    profiler: str = "Nsight-Compute"
    download_url: str | None = None


class Run(Struct, frozen=True, kw_only=True):
    """One benchmark; `start` and `end` are ISO times without a zone."""

    start: str
    end: str
    run: Ran
    profile: Trace | None
    compilation: None = None


class FullResult(Struct, frozen=True, kw_only=True):
    """Everything of one GPU; the keys of `runs` are `profile.N`, N the benchmark's index."""

    success: bool
    error: str
    system: System
    runs: dict[str, Run]
    profile_metadata: dict[str, Any]
    cpu_compile: None = None


class Answer(Struct, frozen=True, kw_only=True):
    """The `result` event; `reports` is the text that the interactive screen shows."""

    results: tuple[FullResult, ...]
    reports: tuple[str, ...]
    status: Literal["success"] = "success"


class Progress(Struct, frozen=True, kw_only=True):
    """A `status` event; the client prints `message`. Time in seconds."""

    message: str
    elapsed_time: float
    status: Literal["processing"] = "processing"


class Failed(Struct, frozen=True, kw_only=True):
    """An `error` event."""

    detail: str
    status_code: int
    status: Literal["error"] = "error"


class ZipFile(Struct, frozen=True, kw_only=True):
    """A download of the job flow; `url` is a path on this server."""

    name: str
    url: str


class JobState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Answer to GET of a job. `failures` are sentences about benchmarks without counters."""

    job_id: str
    status: str
    queue_position: int | None = None
    message: str = ""
    error: str = ""
    failures: tuple[str, ...] = ()
    artifacts: tuple[ZipFile, ...] = ()


class Board(Struct, frozen=True, kw_only=True):
    """An entry of the list of leaderboards."""

    name: str
    description: str
    task: dict[str, Any]
    gpu_types: tuple[str, ...]
    deadline: str | None


def as_json(value: object) -> str:
    """Return one line of ASCII, which no cut between two network packets can break."""
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=True, separators=(",", ":"))
