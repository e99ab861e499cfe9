"""What lies beside an exported CSV: the raw page and the manifest of the same capture."""

import re
from pathlib import Path

import msgspec
from msgspec import Struct

from bot.reports.compare import About, Side
from counters.errors import CountersError
from counters.launches import Summary
from counters.parse import read_summary
from counters.raw import RawKernel, iter_raw
from counters.stalls import is_stall

MANIFEST = "manifest.json"

_DETAILS = re.compile(r"(?P<before>.*)ncu-details(?P<index>\.(?P<number>[0-9]{1,4}))?\.csv")
_LONGEST_MANIFEST = 1024 * 1024
_MISSING = ("None", "")


class _System(Struct):
    gpu: str = ""


class _Place(Struct):
    nth: int = 0


class _Coverage(Struct):
    """How a benchmark was captured in the end, which is not always as it was asked for."""

    mode: str = ""
    fallback: str = ""
    place: _Place | None = None


class _Benchmark(Struct):
    index: int = -1
    coverage: _Coverage | None = None


class _Manifest(Struct):
    """The fields that matter here; a manifest of another version may lack any."""

    gpu: str = ""
    ncu_version: str = ""
    system: _System = msgspec.field(default_factory=_System)
    benchmark_specs: dict[str, str] = msgspec.field(default_factory=dict)
    capture_options: dict[str, str | int | float | bool | None] = msgspec.field(
        default_factory=dict
    )
    benchmarks: list[_Benchmark] = msgspec.field(default_factory=list)


def read_side(path: Path) -> Side:
    """Read an exported CSV and what lies beside it.

    A raw page or manifest that is absent or cannot be read is passed over. Raises NoTable and
    OSError for the CSV itself. Blocking.
    """
    summary = read_summary(path)
    return Side(path.name, summary, _raw_beside(path, summary), about_beside(path))


def about_beside(path: Path) -> About:
    """Return what the manifest in the folder of a CSV says of it."""
    beside = path.with_name(MANIFEST)
    try:
        if beside.stat().st_size > _LONGEST_MANIFEST:
            return About()
        manifest = msgspec.json.decode(beside.read_bytes(), type=_Manifest)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return About()
    options = {key: str(of) for key, of in manifest.capture_options.items()}
    used = _used(manifest, path)
    return About(
        gpu=manifest.system.gpu or manifest.gpu or None,
        ncu_version=manifest.ncu_version or None,
        shape=_spec(manifest, path),
        capture=tuple(sorted((key, of) for key, of in options.items() if key != "mode")),
        mode=used.mode or options.get("mode"),
        fallback=used.fallback,
        place=used.place.nth if used.place else 0,
    )


def _used(manifest: _Manifest, path: Path) -> _Coverage:
    number = _number(path)
    fitting = [one for one in manifest.benchmarks if number in {None, one.index}]
    found = fitting[0].coverage if len(fitting) == 1 else None
    return found or _Coverage()


def _number(path: Path) -> int | None:
    """Return the benchmark that a CSV's name has; None where it has none."""
    match = _DETAILS.fullmatch(path.name)
    return int(match["number"]) if match and match["number"] else None


def _spec(manifest: _Manifest, path: Path) -> str | None:
    """Return the benchmark's line: by the number in the CSV's name, or the only one there is."""
    number = _number(path)
    if number is not None:
        return manifest.benchmark_specs.get(str(number))
    specs = list(manifest.benchmark_specs.values())
    return specs[0] if len(specs) == 1 else None


def _raw_beside(path: Path, summary: Summary) -> tuple[RawKernel, ...]:
    """Return of the raw page the first launch of each kernel and shape."""
    match = _DETAILS.fullmatch(path.name)
    if match is None:
        return ()
    firsts = {
        (launches.ids[0], kernel.name)
        for kernel in summary.kernels
        for launches in kernel.by_shape().values()
    }
    beside = path.with_name(f"{match['before']}ncu-raw{match['index'] or ''}.csv")
    try:
        launches = iter_raw(beside, is_stall)
        return tuple(launch for launch in launches if (launch.id, launch.name) in firsts)
    except (OSError, CountersError):
        return ()
