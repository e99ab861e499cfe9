"""The counter table as text: fixed width for Discord and the terminal, or markdown."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from counters.columns import COLUMNS, DURATION, REGISTERS, Row, Table, make_table
from counters.model import Kernel, KernelReport, Metric
from counters.names import clipped, display_width, last_component, plain

MIN_WIDTH = 54
CSV_NAME = "ncu-details.csv"

_MISSING = "n/a"
_GAP = "  "
_SECONDS = (("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9))
_WIDEST_NAME = 80
_WIDEST_LAUNCH = len("2147483647,65535,65535 × 1024,1024,64")
_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>|~#"})


@dataclass(frozen=True, slots=True)
class _Head:
    """How one number of a kernel is headed, and how wide it may be."""

    title: str
    full_title: str
    width: int


_SHARE = _Head("share %", "Share %", 7)
_HEADS = (
    _Head("duration", "Duration", 9),
    _SHARE,
    _Head("SM %", "SM %", 6),
    _Head("mem %", "Memory %", 6),
    _Head("DRAM %", "DRAM %", 6),
    _Head("occ. %", "Achieved occupancy %", 6),
    _Head("regs", "Registers/thread", 4),
)


def render_table(report: KernelReport, width: int = 60, max_chars: int | None = None) -> str:
    """Return the counter table: two lines a kernel, in capture order, no line over `width` columns.

    Names and values are made safe to print (no control, direction or combining characters), but
    nothing is escaped for markdown. With `max_chars` (UTF-16 units; head and foot take 5 lines of
    them in any case) later kernels give way to a line that counts them. A `width` under MIN_WIDTH
    raises ValueError.
    """
    if width < MIN_WIDTH:
        raise ValueError(width)
    table = make_table(report.kernels)
    if not table.rows:
        return "no kernels were captured"
    id_width = max(len(str(row.kernel.id)) for row in table.rows)
    head = [_name_line("#".rjust(id_width), "kernel", "grid × block", width), _title_line(width)]
    blocks = [_block(row, id_width, width) for row in table.rows]
    frame = [*head, "─" * width, "─" * width, *_foot(table)]
    return "\n".join([*frame[:3], *_fitting(blocks, _units(frame), max_chars), *frame[3:]])


def render_markdown(report: KernelReport) -> str:
    """Return the same table as markdown, one row a kernel, all text escaped."""
    titles = ("#", "Kernel", *(head.full_title for head in _HEADS), "Grid × block")
    table = make_table(report.kernels)
    lines = [titles, ("--:", ":--", *("--:" for _ in _HEADS), ":--"), *map(_fields, table.rows)]
    return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), "", *_foot(table)])


def duration_text(nanoseconds: float) -> str:
    """Return a duration scaled to its unit: 980 ns, 21.06 µs, 1.20 ms, 3.45 s."""
    sizes = ((nanoseconds / scale, unit) for unit, scale in _SECONDS)
    value, unit = next(
        (size for size in sizes if abs(round(size[0], 2)) < 1000), (nanoseconds / 1e9, "s")
    )
    text = f"{value:.4g}" if unit == "ns" else _number(value, _HEADS[0].width - len(unit) - 1)
    return f"{text} {unit}"


def launch_text(kernel: Kernel) -> str:
    """Return `16,2,1 × 32,8,1` (grid × block), or n/a where the export has neither."""
    shapes = (kernel.grid, kernel.block)
    if shapes == (None, None):
        return _MISSING
    return " × ".join(",".join(map(str, shape)) if shape else _MISSING for shape in shapes)


def display_name(kernel: Kernel, width: int) -> str:
    """Return the kernel's name without namespaces, safe to print, in at most `width` columns."""
    return clipped(plain(last_component(kernel.short_name)) or "(no name)", width)


def _block(row: Row, id_width: int, width: int) -> str:
    number = str(row.kernel.id).rjust(id_width)
    shape = clipped(launch_text(row.kernel), _WIDEST_LAUNCH)
    name = display_name(row.kernel, width - id_width - len(shape) - 2 * len(_GAP))
    return f"{_name_line(number, name, shape, width)}\n{_numbers(_cells(row), width)}"


def _name_line(number: str, name: str, shape: str, width: int) -> str:
    start = f"{number}{_GAP}{name}"
    return f"{start}{' ' * (width - display_width(start) - len(shape))}{shape}"


def _title_line(width: int) -> str:
    return _numbers((head.title for head in _HEADS), width)


def _numbers(cells: Iterable[str], width: int) -> str:
    sized = (_right(cell, head.width) for cell, head in zip(cells, _HEADS, strict=True))
    gap = _GAP if width >= MIN_WIDTH + 4 else " "
    return _right(gap.join(sized), width)


def _right(text: str, width: int) -> str:
    return f"{' ' * (width - display_width(text))}{text}"


def _cells(row: Row) -> list[str]:
    counters = [
        _cell(metric, head.width, _FORMATS.get(column.key, _percent), column.units)
        for metric, head, column in zip(row.cells, (_HEADS[0], *_HEADS[2:]), COLUMNS, strict=True)
    ]
    share = _MISSING if row.share is None else f"{100 * row.share:.2f}"
    return [counters[0], share, *counters[1:]]


def _cell(
    metric: Metric | None, width: int, form: Callable[[float], str], units: tuple[str, ...]
) -> str:
    if metric is None or metric.value is None:
        return _MISSING
    if metric.unit not in units:
        return clipped(plain(f"{metric.text} {metric.unit}"), width)
    return clipped(form(metric.value), width)


def _percent(value: float) -> str:
    return _number(value, 6)


def _registers(value: float) -> str:
    return f"{value:.4g}"


_FORMATS: dict[str, Callable[[float], str]] = {
    DURATION.key: duration_text,
    REGISTERS.key: _registers,
}


def _number(value: float, width: int) -> str:
    forms = (f"{value:{form}}" for form in (".2f", ".1f", ".0f", ".1e", ".0e"))
    return next((text for text in forms if len(text) <= width), f"{value:.0e}")


def _foot(table: Table) -> list[str]:
    count = len(table.rows)
    total = _MISSING if table.total_ns is None else duration_text(table.total_ns)
    return [f"total captured time {total}, {count} {'kernel' if count == 1 else 'kernels'}"]


def _fitting(blocks: list[str], taken: int, max_chars: int | None) -> list[str]:
    if max_chars is None or taken + _units(blocks) <= max_chars:
        return blocks
    free = max_chars - taken - len(_more(len(blocks))) - 1
    fitting = []
    for block in blocks:
        free -= _units([block])
        if free < 0:
            break
        fitting.append(block)
    return [*fitting, _more(len(blocks) - len(fitting))]


def _more(count: int) -> str:
    return f"… and {count} more in {CSV_NAME}"


def _units(lines: Iterable[str]) -> int:
    """Count UTF-16 units, each line with its end: Discord's own measure never counts more."""
    return sum(len(line.encode("utf-16-le")) // 2 + 1 for line in lines)


def _fields(row: Row) -> tuple[str, ...]:
    name = clipped(plain(row.kernel.short_name) or "(no name)", _WIDEST_NAME)
    cells = (cell.translate(_MARKDOWN) for cell in _cells(row))
    return (str(row.kernel.id), name.translate(_MARKDOWN), *cells, launch_text(row.kernel))
