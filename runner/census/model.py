"""What a census found. Times in nanoseconds; everything was written by a submission's process."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """The census library as it was built: its file and the folder of the CUPTI that it loads."""

    path: Path
    cupti: Path
    cuda: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is no census on this machine, in a few words for an operator."""

    reason: str


class Launcher(StrEnum):
    """The host thread that launched: one that has the range open, or another of the process.

    ncu's push/pop filter sees the first kind only.
    """

    RANGE = "range"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusKernel:
    """The launches of one kernel, of one shape, by one kind of thread, in all processes.

    `name` is the driver's (mangled), `demangled` for people. `sd_ns` is the standard deviation of
    one launch's time. `first_ns` is when the first of them began, after the range opened. `first`
    and `last` number these launches among those that share name and thread in a process, from 1.
    `fewest` is how many of those the process with the fewest has: none has a launch above it.
    `in_graphs` of the launches were nodes of CUDA graphs.
    """

    name: str
    demangled: str
    grid: Triple
    block: Triple
    launcher: Launcher
    launches: int
    total_ns: int
    min_ns: int
    max_ns: int
    sd_ns: float
    first_ns: int
    first: int
    last: int
    fewest: int
    processes: int = 1
    in_graphs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """Every kernel of the range, the one with the most time first.

    `range_ns` is the time for which ranges were open, of the process with the most. `ranges`
    counts their openings in all processes. `others` is what did not fit into the bounded table.
    `dropped` records were lost by CUPTI. `unfinished` kernels still ran when the range closed.
    `complete`: nothing was lost, cut or unreadable.
    """

    kernels: tuple[CensusKernel, ...] = ()
    range_ns: int = 0
    ranges: int = 0
    processes: int = 0
    others_launches: int = 0
    others_ns: int = 0
    dropped: int = 0
    unfinished: int = 0
    complete: bool = False

    @property
    def launches(self) -> int:
        """Return how many kernels were launched."""
        return sum(one.launches for one in self.kernels) + self.others_launches

    @property
    def total_ns(self) -> int:
        """Return the GPU time of all kernels."""
        return sum(one.total_ns for one in self.kernels) + self.others_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """One kernel name that ncu is to capture; `share` of the GPU time of the whole range (0 to 1).

    `launches` in all of its shapes, on threads that ncu sees; `fewest` of them in one process.
    """

    name: str
    demangled: str
    launches: int
    fewest: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What ncu is asked for: `--kernel-id`, `--kernel-name-base` and `--launch-count`.

    The `nth` launch of each kernel's name is captured, in each of `processes` that launch it;
    `expected` launches in all, after which ncu may end the program. `share` is what the names hold
    of the GPU time, `unseen` what kernels from other threads hold, which ncu's range filter never
    captures (both 0 to 1).
    """

    kernel_id_option: str
    base: str
    count: int
    nth: int
    expected: int
    share: float
    unseen: float
    kernels: tuple[Chosen, ...]
