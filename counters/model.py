"""Values read from an ncu details export."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metric:
    """One counter of one kernel.

    `name` is the label or metric name as the CSV prints it, `unit` the base unit (ns, byte, byte/s,
    hz, cycle, %, inst, ...), `value` finite in that unit or None, `text` what ncu printed.
    """

    section: str
    name: str
    unit: str
    value: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One finding of ncu's own rules. `speedup` in percent, None where ncu estimates none."""

    name: str
    type: str
    description: str
    speedup_type: str
    speedup: float | None


@dataclass(frozen=True, slots=True)
class Kernel:
    """One captured launch, in capture order.

    `name` as ncu prints it, `short_name` without return type, parameters and template arguments;
    `grid` and `block` are (x, y, z), None where the export has none (range replay).
    """

    id: int
    name: str
    short_name: str
    grid: tuple[int, int, int] | None
    block: tuple[int, int, int] | None
    device: str
    compute_capability: str
    metrics: tuple[Metric, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class KernelReport:
    """All launches of one export.

    `missing_share` is table cells without a finite value over all table cells (0..1); `degraded`
    when it passes DEGRADED_ABOVE. `unread` names lines that could not be read, with their number.
    """

    kernels: tuple[Kernel, ...]
    missing_share: float
    degraded: bool
    unread: tuple[str, ...] = ()
