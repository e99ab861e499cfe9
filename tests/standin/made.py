"""Outputs of ncu that no recording has, made after public texts and the recordings' layout.

Each says where its wording comes from. What stands around it (connected, disconnected, the closing
sentences) is as the recordings have it.
"""

from dataclasses import dataclass
from pathlib import Path

_CLOCKS = (
    "==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, profiling "
    "results may be inconsistent.\n"
)
_CONNECTED = "==PROF== Connected to process 464 (/usr/bin/python3.12)\n"
_DISCONNECTED = "==PROF== Disconnected from process 464\n"
_NONE = "==WARNING== No kernels were profiled.\n"
_DRIVER = "==ERROR== An error was reported by the driver:\n"
_CODE = "==ERROR== The application returned an error code ({0}).\n"
_LOG = "benchmark-count: 1\nbenchmark.0.spec: size: 1024; seed: 31232\n"


@dataclass(frozen=True, slots=True)
class Made:
    """What one run leaves. `kind` is a FailureKind's value: the stand-in ncu, which reads this in a
    sandbox, has none of the project but tests/standin. `source` says where the wording was seen.
    """

    name: str
    kind: str
    source: str
    stdout: str
    exit_code: int = 0
    stderr: str = ""
    log: str = _LOG + "check: pass\n"

    def write(self, folder: Path) -> Path:
        """Write it as the stand-in ncu wants a recording; return its folder."""
        target = folder / self.name
        target.mkdir(parents=True)
        (target / "stdout.txt").write_text(self.stdout, encoding="utf-8")
        (target / "stderr.txt").write_text(self.stderr, encoding="utf-8")
        (target / "popcorn_fd.txt").write_text(self.log, encoding="utf-8")
        (target / "exit_code").write_text(str(self.exit_code), encoding="utf-8")
        return target


DENIED = Made(
    "counters-denied",
    "counters-denied",
    "github.com/NVIDIA/TensorRT-LLM issue 183: the program goes on and ends well",
    _CLOCKS
    + _CONNECTED
    + "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
    "Performance Counters on the target device 0. For instructions on enabling permissions and to "
    "get more information see https://developer.nvidia.com/ERR_NVGPUCTRPERM\n"
    + _DISCONNECTED
    + _NONE,
)
BUSY = Made(
    "counters-busy",
    "counters-busy",
    "NVIDIA, Nsight Compute Profiling Guide, FAQ; both lines as in public tutorials",
    _CLOCKS
    + _CONNECTED
    + _DRIVER
    + "==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other "
    "tool (like DCGM) is concurrently collecting profiling data. See "
    "https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html#faq for more details.\n"
    + '==ERROR== Failed to profile "add_kernel" in process 464\n'
    + _DISCONNECTED
    + _CODE.format(9)
    + _NONE,
    exit_code=9,
    log=_LOG,
)
MISMATCH = Made(
    "driver-mismatch",
    "driver-mismatch",
    "github.com/meta-pytorch/tritonbench issue 632",
    _DRIVER
    + "==ERROR== Cuda driver is not compatible with Nsight Compute.\n"
    + _CONNECTED
    + _CODE.format(11),
    exit_code=11,
    log="",
)
LOCK = Made(
    "profiler-lock",
    "profiler-lock",
    "public notes on shared machines quote both phrases and status 9; their layout is a guess",
    "==ERROR== Failed to open/create lock file /tmp/nsight-compute-lock\n"
    "==ERROR== InterprocessLockFailed\n",
    exit_code=9,
    log="",
)
HOME = Made(
    "profiler-home",
    "profiler-lock",
    "github.com/meta-pytorch/KernelAgent PR 141 tells of the warning; its exact words are a guess",
    "==WARNING== Unable to deploy section files to /root/Documents/NVIDIA Nsight Compute.\n",
)
UNKNOWN_DEVICE_ERROR = Made(
    "unknown-device-error",
    "profiler-error",
    "several public reports quote these five lines in this order",
    _CLOCKS + _CONNECTED + "==ERROR== Failed to prepare kernel for profiling\n"
    "==ERROR== An error was reported by the counter measurement library:\n"
    "==ERROR== Unknown error on device 0.\n"
    '==ERROR== Failed to profile "add_kernel" in process 464\n' + _CODE.format(9),
    exit_code=9,
    log=_LOG,
)
EVERY = (DENIED, BUSY, MISMATCH, LOCK, HOME, UNKNOWN_DEVICE_ERROR)
