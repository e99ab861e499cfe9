"""A roofline out of counters: each kernel's work and traffic, and the roofs above it.

Work is what ncu's own roofline counts: FP32 and FP64 additions and multiplications of the SM's
pipes, a fused one as two, and operations of the tensor cores. Traffic is DRAM's.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import mul

from bot.reports.pictures.launches import DURATION, Launches, launches_of
from bot.reports.pictures.values import Bar
from counters.raw import RawKernel

_PER_CYCLE = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum.per_cycle_elapsed"
_FUSED_TWICE = "derived__{}__sass_thread_inst_executed_op_{}fma_pred_on_x2"
_TENSOR_WORK = re.compile(r"sm__ops_path_tensor_(\S+)\.sum\.per_second")
_TENSOR_SOURCE = re.compile(r"src_([a-z]+\d+)")
_BANDWIDTH = "dram__bytes.sum.per_second"
_BANDWIDTH_PEAK = ("dram__bytes.sum.peak_sustained", "dram__cycles_elapsed.avg.per_second")


@dataclass(frozen=True, slots=True)
class Roof:
    """A ceiling of computation, in operations a second."""

    name: str
    peak: float


@dataclass(frozen=True, slots=True)
class Point:
    """A kernel: operations a byte of DRAM traffic, and operations a second.

    `rank` is its place in the table, from 1.
    """

    rank: int
    label: str
    intensity: float
    rate: float
    roof: str


@dataclass(frozen=True, slots=True)
class Roofline:
    """Roofs, points, and how many kernels have no place on it.

    `bandwidth` is DRAM's peak in bytes a second; `source` says where the roofs come from.
    """

    bandwidth: float
    roofs: tuple[Roof, ...]
    points: tuple[Point, ...]
    idle: int
    source: str


@dataclass(frozen=True, slots=True)
class Nominal:
    """A GPU as its data sheet has it: bytes a second, operations a second, without sparsity."""

    bandwidth: float
    fp32: float
    fp64: float


# NVIDIA's data sheets and architecture papers: A100 80 GB SXM, H100 SXM, H200 SXM, HGX B200.
NOMINAL = {
    "A100": Nominal(2.039e12, 19.5e12, 9.7e12),
    "H100": Nominal(3.35e12, 67e12, 34e12),
    "H200": Nominal(4.8e12, 67e12, 34e12),
    "B200": Nominal(8.0e12, 80e12, 40e12),
}


@dataclass(frozen=True, slots=True)
class _Work:
    """Operations of one kind in a second, and the most that there could be."""

    kind: str
    rate: float
    peak: float | None


def roofline(bars: Sequence[Bar], launches: Launches, gpu: str) -> Roofline | str:
    """Return the roofline, or in a few words why there is none."""
    measured = [launch for bar in bars for launch in launches_of(bar, launches)]
    if all(launch.value(_BANDWIDTH) is None for launch in measured):
        return "the report has no counter of DRAM traffic"
    sheet = next((sheet for name, sheet in NOMINAL.items() if name in gpu.upper()), None)
    works = {launch.id: _works(launch, sheet) for launch in measured}
    found = [
        _point(rank, bar.label, launches_of(bar, launches), works)
        for rank, bar in enumerate(bars, 1)
    ]
    points = tuple(point for point in found if point is not None)
    if not points:
        return "no kernel did floating-point work that ncu counts"
    bandwidth, source = _bandwidth(measured, sheet)
    needed = {"FP32", *(point.roof for point in points)}
    roofs = tuple(roof for roof in _roofs(works.values()) if roof.name in needed)
    if bandwidth is None or not roofs:
        return "neither the report nor a data sheet has this GPU's peaks"
    return Roofline(bandwidth, roofs, points, found.count(None), source)


def _point(
    rank: int, label: str, measured: list[RawKernel], works: dict[int, list[_Work]]
) -> Point | None:
    """Place a kernel by the kind of work that comes closest to its roof, over all launches."""
    done = [work for launch in measured for work in works[launch.id] if work.rate]
    traffic = _averaged(measured, lambda launch: launch.value(_BANDWIDTH))
    if not done or not traffic:
        return None
    kind = max(done, key=lambda work: work.rate / (work.peak or work.rate)).kind
    rate = _averaged(measured, lambda launch: _rate(works[launch.id], kind))
    return Point(rank, label, rate / traffic, rate, kind)


def _rate(works: list[_Work], kind: str) -> float:
    return sum(work.rate for work in works if work.kind == kind)


def _averaged(measured: list[RawKernel], rate: Callable[[RawKernel], float | None]) -> float:
    """Average a rate over the time of the launches."""
    weights = [launch.value(DURATION) or 1.0 for launch in measured]
    rates = [rate(launch) or 0.0 for launch in measured]
    return sum(map(mul, weights, rates)) / sum(weights) if weights else 0.0


def _works(launch: RawKernel, sheet: Nominal | None) -> list[_Work]:
    """Return the work of each kind; FP32 is there even where none was done, for its roof."""
    scalar = [
        _Work("FP32", _scalar(launch, "f"), _peak(launch, "f") or (sheet.fp32 if sheet else None)),
        _Work("FP64", _scalar(launch, "d"), _peak(launch, "d") or (sheet.fp64 if sheet else None)),
    ]
    return [*scalar, *_tensor(launch)]


def _scalar(launch: RawKernel, letter: str) -> float:
    adds, multiplies, fused = (
        launch.value(_PER_CYCLE.format(letter + operation)) or 0.0
        for operation in ("add", "mul", "fma")
    )
    if not fused:
        fused = (launch.value(_FUSED_TWICE.format("smsp", letter)) or 0.0) / 2
    clock = launch.value("smsp__cycles_elapsed.avg.per_second") or 0.0
    return (adds + multiplies + 2 * fused) * clock


def _peak(launch: RawKernel, letter: str) -> float | None:
    per_cycle = launch.value(_FUSED_TWICE.format("sm", letter))
    clock = launch.value("sm__cycles_elapsed.avg.per_second")
    return per_cycle * clock if per_cycle and clock else None


def _tensor(launch: RawKernel) -> list[_Work]:
    """Return the busiest kind of tensor operation; sums over several kinds only without those."""
    busy = [
        (metric.value, match[1])
        for name, metric in launch.metrics.items()
        if metric.value and (match := _TENSOR_WORK.fullmatch(name))
    ]
    single = [one for one in busy if one[1].startswith("op_")] or busy
    if not single:
        return []
    rate, name = max(single)
    source = _TENSOR_SOURCE.search(name)
    peak = launch.value(f"sm__ops_path_tensor_{name}.sum.peak_sustained_elapsed.per_second")
    return [_Work(f"tensor {source[1].upper()}" if source else "tensor", rate, peak)]


def _bandwidth(measured: list[RawKernel], sheet: Nominal | None) -> tuple[float | None, str]:
    width, clock = _BANDWIDTH_PEAK
    peaks = [(launch.value(width) or 0.0) * (launch.value(clock) or 0.0) for launch in measured]
    if any(peaks):
        return max(peaks), "roofs at the clocks of this capture"
    return (sheet.bandwidth if sheet else None), "roofs from NVIDIA's data sheet"


def _roofs(works: Iterable[list[_Work]]) -> list[Roof]:
    peaks: dict[str, float] = {}
    for work in chain.from_iterable(works):
        if work.peak:
            peaks[work.kind] = max(peaks.get(work.kind, 0.0), work.peak)
    return sorted((Roof(name, peak) for name, peak in peaks.items()), key=lambda roof: roof.peak)
