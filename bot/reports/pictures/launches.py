"""The launches of a capture with the counters that only the raw page has."""

import re
from collections.abc import Mapping
from pathlib import Path

from bot.reports.pictures.values import Bar
from counters.errors import NoTable
from counters.raw import RawKernel, read_raw
from counters.stalls import is_stall

DURATION = "gpu__time_duration.sum"
_WANTED = re.compile(
    re.escape(DURATION) + r"|dram__bytes\.sum\.(?:per_second|peak_sustained)"
    r"|dram__cycles_elapsed\.avg\.per_second"
    r"|smsp?__cycles_elapsed\.avg\.per_second"
    r"|(?:derived__)?smsp?__sass_thread_inst_executed_op_[fd](?:add|mul|fma)_pred_on\S*"
    r"|sm__ops_path_tensor_\S+\.sum\.(?:peak_sustained_elapsed\.)?per_second"
)
Launches = Mapping[int, RawKernel]
"""Launches by their number in the export."""


def read_launches(raw: str | None) -> Launches:
    """Return the launches of a raw page, none where it is missing or is no table."""
    if raw is None:
        return {}
    try:
        return {kernel.id: kernel for kernel in read_raw(Path(raw), _wanted)}
    except (NoTable, FileNotFoundError):
        return {}


def launches_of(bar: Bar, launches: Launches) -> list[RawKernel]:
    """Return those launches of a kernel that the raw page has."""
    return [launches[number] for number in bar.ids if number in launches]


def _wanted(name: str) -> bool:
    return bool(_WANTED.fullmatch(name)) or is_stall(name)
