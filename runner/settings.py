"""The runner's settings: one typed value, read at the edge and passed in."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from runner_client.address import is_loopback
from runner_client.logs import LogFormat
from runner_client.secret import Secret

Seconds = Annotated[float, Meta(gt=0)]
GpuId = Annotated[str, Meta(pattern=r"^(\d{1,3}|(GPU|MIG)-[A-Za-z0-9/-]{1,80})$")]
Capability = Annotated[str, Meta(pattern=r"^CAP_[A-Z_]{1,40}$")]
RECORDINGS = Path(__file__).parent / "recordings"


class EngineName(StrEnum):
    """Where a benchmark runs: processes on this machine, a replay of recorded captures, a node."""

    LOCAL = "local"
    RECORDED = "recorded"
    RAY = "ray"


class SandboxName(StrEnum):
    """What stands around the programs that touch a submission."""

    BUBBLEWRAP = "bubblewrap"
    NONE = "none"


class RunnerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything an operator can set. Times in seconds, sizes in bytes.

    `gpu` is the name as competition YAMLs write it (`H200`); empty means that the runner asks the
    driver. `python` runs the evaluators. A benchmark's wall limit under ncu is the task's own
    limit times `replay_factor`. `replay_s` is how long a replay of one recording takes. Without
    `census` no kernels are counted before a capture, and `hot` is `first`.

    Limits of a whole job: `job_timeout_s` of wall time, `max_job_launches` asked for,
    `max_report_bytes` of reports, `max_job_bytes` of files, `max_output_bytes` printed by one
    program. `min_free_bytes` must stay free on the disk. Counters that another tool holds are
    tried for once more after `busy_retry_s`.

    Sandbox: `none` runs strangers' code with this process's rights and must be asked for. Programs
    see the system, the folders of `python`, `ncu` and `nvcc`, and what `read_only` names.
    `keep_capabilities` (`CAP_SYS_ADMIN`) are left to a sandbox that root starts, where the driver
    asks for one to read counters. The bounds are for all processes of one program together:
    `max_memory_bytes` (0: three quarters of the machine's), `max_processes` with threads,
    `max_shm_bytes` in /dev/shm; `max_cpu_s` and `max_open_files` are for each process. A control
    group enforces the first two where one can be made and `cgroups` is on. Else the runner sums
    them up, and one that is root runs the sandbox as `sandbox_user`.

    Operation: with `tls_cert` and `tls_key` (PEM files, both or none) the service speaks https.
    `self_test` profiles a tiny kernel at start, every `self_test_every_s` seconds (0: at start
    only) and after a failure that is the operator's; without it, it is believed that ncu works.

    Queue: `gpus` narrows the GPUs that jobs use, by nvidia-smi's index or by UUID; empty means
    every one of the kind. At most `max_queued` jobs wait, `max_queued_each` of one requester. A
    job that took the runner down `max_starts` times is given up. An ended job is removed
    `keep_s` after its end, and earlier where more than `keep_jobs` or `keep_bytes` are kept.

    Engine `ray`: `ray_address` (`HOST:PORT`) is the cluster's. Programs, sandbox and the bounds of
    one program are each node's own settings, the limits of a job this runner's.
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
    nsys: str = "nsys"
    census: bool = True
    replay_factor: Annotated[float, Meta(ge=1)] = 10.0
    prepare_timeout_s: Seconds = 120.0
    export_timeout_s: Seconds = 120.0
    grace_s: Seconds = 20.0
    gpus: tuple[GpuId, ...] = ()
    max_queued: Annotated[int, Meta(ge=1)] = 500
    max_queued_each: Annotated[int, Meta(ge=1)] = 20
    max_starts: Annotated[int, Meta(ge=1)] = 5
    keep_s: Seconds = 7 * 86_400.0
    keep_jobs: Annotated[int, Meta(ge=0)] = 5_000
    keep_bytes: Annotated[int, Meta(ge=0)] = 100_000_000_000
    max_report_bytes: Annotated[int, Meta(ge=1)] = 2_000_000_000
    job_timeout_s: Seconds = 3_600.0
    max_job_launches: Annotated[int, Meta(ge=1)] = 2_000
    max_job_bytes: Annotated[int, Meta(ge=1)] = 20_000_000_000
    max_output_bytes: Annotated[int, Meta(ge=1)] = 1_000_000_000
    min_free_bytes: Annotated[int, Meta(ge=0)] = 1_000_000_000
    busy_retry_s: Annotated[float, Meta(ge=0)] = 10.0
    max_export_bytes: Annotated[int, Meta(ge=1)] = 200_000_000
    recordings: Path = RECORDINGS
    replay_s: Annotated[float, Meta(ge=0)] = 1.2
    ray_address: Annotated[str, Meta(max_length=300)] = ""
    sandbox: SandboxName = SandboxName.BUBBLEWRAP
    bwrap: str = "bwrap"
    read_only: tuple[Path, ...] = ()
    keep_capabilities: tuple[Capability, ...] = ()
    cgroups: bool = True
    sandbox_user: str = "nobody"
    max_memory_bytes: Annotated[int, Meta(ge=0)] = 0
    max_processes: Annotated[int, Meta(ge=8)] = 4_096
    max_open_files: Annotated[int, Meta(ge=64)] = 16_384
    max_shm_bytes: Annotated[int, Meta(ge=4_096)] = 1_073_741_824
    max_cpu_s: Annotated[int, Meta(ge=1)] = 36_000
    tls_cert: Path | None = None
    tls_key: Path | None = None
    log_format: LogFormat = LogFormat.TEXT
    self_test: bool = True
    self_test_every_s: Annotated[float, Meta(ge=0)] = 3_600.0

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key: set both or none")

    @property
    def folder(self) -> Path:
        """Return the data folder, absolute."""
        return self.data.expanduser().absolute()

    @property
    def on_loopback(self) -> bool:
        """Return whether only this machine can reach the address."""
        return is_loopback(self.host)
