"""The runner's settings: one typed value, read at the edge and passed in."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from runner_client.address import is_loopback
from runner_client.secret import Secret

Seconds = Annotated[float, Meta(gt=0)]
RECORDINGS = Path(__file__).parent / "recordings"


class EngineName(StrEnum):
    """Where a benchmark runs: processes on this machine, or a replay of recorded captures."""

    LOCAL = "local"
    RECORDED = "recorded"


class RunnerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything an operator can set. Times in seconds, sizes in bytes.

    `gpu` is the name as competition YAMLs write it (`H200`); empty means that the runner asks the
    driver. `python` runs the evaluators. A benchmark's wall limit under ncu is the task's own
    limit times `replay_factor`. `replay_s` is how long a replay of one recording takes.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8750
    token: Secret | None = None
    data: Path = Path("ncubot-data/runner")
    engine: EngineName = EngineName.LOCAL
    gpu: str = ""
    python: str = sys.executable
    ncu: str = "ncu"
    nvcc: str = "nvcc"
    replay_factor: Annotated[float, Meta(ge=1)] = 10.0
    prepare_timeout_s: Seconds = 120.0
    export_timeout_s: Seconds = 120.0
    grace_s: Seconds = 20.0
    max_queued: Annotated[int, Meta(ge=1)] = 500
    max_report_bytes: Annotated[int, Meta(ge=1)] = 2_000_000_000
    max_export_bytes: Annotated[int, Meta(ge=1)] = 200_000_000
    recordings: Path = RECORDINGS
    replay_s: Annotated[float, Meta(ge=0)] = 1.2

    @property
    def folder(self) -> Path:
        """Return the data folder, absolute."""
        return self.data.expanduser().absolute()

    @property
    def on_loopback(self) -> bool:
        """Return whether only this machine can reach the address."""
        return is_loopback(self.host)
