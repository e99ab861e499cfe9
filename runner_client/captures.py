"""What is captured and how: the modes, the presets, the options, and what a census told.

A value of the wire states its mode; `capture_options` is the one place that decides it where
nobody named one.
"""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from runner_client.values import Count, Share, ShortText, Value

MAX_LAUNCHES = 1_000
DEFAULT_LAUNCHES = 10
MOST_COUNTED = 1_000
"""Kernels of a census that a result names; what they leave out is in the sums."""


class CaptureMode(StrEnum):
    """What is measured of the submitted call.

    `hot`: one launch of each kernel that holds the GPU time, found by a census before; `first`:
    the first launches; `range`: the whole call as one; `profiler-api`: the timed launches of the
    benchmark mode; `timeline`: the same under Nsight Systems; `census`: kernels by time, no
    counters.
    """

    HOT = "hot"
    FIRST = "first"
    RANGE = "range"
    PROFILER_API = "profiler-api"
    TIMELINE = "timeline"
    CENSUS = "census"


TIMED = frozenset({CaptureMode.PROFILER_API, CaptureMode.TIMELINE})
"""Modes that run the evaluator's benchmark mode; nothing is checked there under a profiler."""
WITHOUT_COUNTERS = frozenset({CaptureMode.TIMELINE, CaptureMode.CENSUS})


class Preset(StrEnum):
    """How much ncu measures of each launch: more counters take more passes."""

    QUICK = "quick"
    STANDARD = "standard"
    FULL = "full"
    ROOFLINE = "roofline"


class KernelNameBase(StrEnum):
    """Which form of a kernel's name a filter is matched against (ncu --kernel-name-base)."""

    FUNCTION = "function"
    DEMANGLED = "demangled"
    MANGLED = "mangled"


class CaptureOptions(Value, frozen=True):
    """Which launches of the range are captured, and what of them.

    `kernel_name` is ncu's: a name, or `regex:` and an expression. `launch_count` counts launches
    a benchmark. `census` asks `first` to count every kernel in a run of its own before.
    """

    kernel_name: Annotated[str, Meta(min_length=1, max_length=1_024)] | None = None
    kernel_name_base: KernelNameBase | None = None
    launch_count: Annotated[int, Meta(ge=1, le=MAX_LAUNCHES)] = DEFAULT_LAUNCHES
    mode: CaptureMode = CaptureMode.FIRST
    preset: Preset = Preset.FULL
    census: bool = False


def capture_options(
    *,
    mode: CaptureMode | None = None,
    preset: Preset | None = None,
    kernel_name: str | None = None,
    kernel_name_base: KernelNameBase | None = None,
    launch_count: int | None = None,
) -> CaptureOptions:
    """Return the options for what somebody chose; None where they chose nothing.

    Without a mode it is `hot`, unless a kernel filter or a launch count asks for certain launches:
    then `first`.
    """
    asked = kernel_name is not None or launch_count is not None
    mode = mode or (CaptureMode.FIRST if asked else CaptureMode.HOT)
    return CaptureOptions(
        kernel_name=kernel_name,
        kernel_name_base=kernel_name_base,
        launch_count=DEFAULT_LAUNCHES if launch_count is None else launch_count,
        mode=mode,
        preset=preset or Preset.FULL,
        census=mode is CaptureMode.FIRST,
    )


class Counted(Value, frozen=True):
    """One kernel of a census, of one shape. Times in ns; `name` comes from the submission.

    `unseen`: launched by a thread that had not opened the range, which ncu does not see.
    `in_graphs` of the launches were nodes of CUDA graphs.
    """

    name: ShortText
    grid: tuple[Count, Count, Count]
    block: tuple[Count, Count, Count]
    launches: Count
    total_ns: Count
    min_ns: Count
    max_ns: Count
    sd_ns: Annotated[float, Meta(ge=0)]
    unseen: bool = False
    in_graphs: Count = 0


class CensusSign(StrEnum):
    """Work that belongs before the range, as a census shows it."""

    AUTOTUNING = "autotuning"
    CACHE_FLUSH = "cache_flush"
    COMPILATION = "compilation"


class CensusNote(Value, frozen=True):
    """A sign, and the kernel that it shows in.

    `share` is its part of the GPU time; for `compilation` the part of the range that the GPU had
    nothing to do.
    """

    sign: CensusSign
    kernel: ShortText
    launches: Count
    share: Share


class CensusReport(Value, frozen=True):
    """Every kernel launched while the range was open; the one with the most time first.

    `launches` and `total_ns` are of all, `kernels` counts names and shapes, `counted` names at most
    MOST_COUNTED of them. `unseen` is the share of time of kernels that ncu does not see.
    `complete`: no record was lost.
    """

    launches: Count
    total_ns: Count
    range_ns: Count
    kernels: Count
    processes: Count
    complete: bool
    unseen: Share = 0.0
    counted: Annotated[tuple[Counted, ...], Meta(max_length=MOST_COUNTED)] = ()
    notes: Annotated[tuple[CensusNote, ...], Meta(max_length=20)] = ()


class CensusFound(Value, frozen=True):
    """What a census found, told while the run after it is under way.

    `chosen` of the `kernels` are captured in it; 0 where it is the first launches.
    """

    launches: Count
    kernels: Count
    chosen: Count = 0


class Place(Value, frozen=True):
    """Which launch of each kernel `hot` captured: the `nth`, from 1, of `fewest` to `most`.

    All three count in one process, those of one name together.
    """

    nth: Annotated[int, Meta(ge=1)]
    fewest: Count
    most: Count


class Coverage(Value, frozen=True):
    """How much of a call a capture stands for.

    `mode` is the one that was used; `fallback` says why it is not the one that was asked for.
    `share` of the GPU time is what the captured kernels hold (`hot`) or the captured launches took
    (`first`); None where no census tells. `place` is of `hot` alone.
    """

    mode: CaptureMode
    fallback: ShortText = ""
    share: Share | None = None
    census: CensusReport | None = None
    place: Place | None = None
