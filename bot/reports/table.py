"""The counter table as text: fixed width for Discord and the terminal, or markdown."""

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from bot.reports.groups import Dim, KernelGroup, regroup
from bot.reports.labels import labels
from counters.columns import COLUMNS, DURATION, REGISTERS, Table, make_table
from counters.model import KernelReport, Metric
from counters.names import clipped, display_width, plain

MIN_WIDTH = 60
CSV_NAME = "ncu-details.csv"
CAVEAT = (
    "Durations under the profiler, GPU clocks left as they were; "
    "compare latency with the benchmark, not here."
)

MISSING = "n/a"
_GAP = "  "
_SECONDS = (("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9))
_WIDEST_LAUNCH = 25
_BOUND = 9
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
    """Return the counter table, the hottest kernel first, no line over `width` columns.

    Two lines a kernel, headed by the id of its first launch; a third one gives the count and the
    spread of repeated launches, whose duration above is their sum and whose counters are medians.
    Names and values are made safe to print (no control, direction or combining characters), but
    nothing is escaped for markdown. With `max_chars` (UTF-16 units; head and foot take 7 lines of
    them in any case) the coldest kernels give way to a line that counts them. A `width` under
    MIN_WIDTH raises ValueError.
    """
    if width < MIN_WIDTH:
        raise ValueError(width)
    table = make_table(report.kernels)
    if not table.rows:
        return "no kernels were captured"
    groups = regroup(table.rows)
    id_width = max(len(str(group.launches[0])) for group in groups)
    head = [_name_line("#".rjust(id_width), "kernel", "grid × block", width), _title_line(width)]
    blocks = _blocks(groups, id_width, width)
    frame = [*head, "─" * width, "─" * width, *_foot(table, groups, width)]
    return "\n".join([*frame[:3], *_fitting(blocks, utf16_units(frame), max_chars), *frame[3:]])


def render_markdown(report: KernelReport) -> str:
    """Return the same table as markdown, one row a kernel, all text escaped."""
    heads = (head.full_title for head in _HEADS)
    titles = ("#", "Kernel", "Launches", "Bound by", *heads, "Grid × block")
    table = make_table(report.kernels)
    groups = regroup(table.rows)
    marks = ("--:", ":--", "--:", ":--", *("--:" for _ in _HEADS), ":--")
    lines = [titles, marks, *map(_fields, groups)]
    foot = _foot(table, groups, len(CAVEAT))
    return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), "", "\n\n".join(foot)])


def duration_text(nanoseconds: float) -> str:
    """Return a duration scaled to its unit: 980 ns, 21.06 µs, 1.20 ms, 3.45 s."""
    sizes = ((nanoseconds / scale, unit) for unit, scale in _SECONDS)
    value, unit = next(
        (size for size in sizes if abs(round(size[0], 2)) < 1000), (nanoseconds / 1e9, "s")
    )
    text = f"{value:.4g}" if unit == "ns" else number_text(value, _HEADS[0].width - len(unit) - 1)
    return f"{text} {unit}"


def launch_text(grid: Dim | None, block: Dim | None) -> str:
    """Return `16,2,1 × 32,8,1` (grid × block), or n/a where the export has neither."""
    if (grid, block) == (None, None):
        return MISSING
    return " × ".join(_dim(shape) for shape in (grid, block))


def spread_text(group: KernelGroup) -> str:
    """Return `3 launches, 2.10 µs to 2.90 µs, median 2.40 µs`, or `1 launch`."""
    if group.count == 1:
        return "1 launch"
    if group.min_ns is None or group.max_ns is None or group.median_ns is None:
        return f"{group.count} launches"
    low, high, middle = map(duration_text, (group.min_ns, group.max_ns, group.median_ns))
    return f"{group.count} launches, {low} to {high}, median {middle}"


def _dim(shape: Dim | None) -> str:
    return MISSING if shape is None else ",".join(map(str, shape))


def _blocks(groups: tuple[KernelGroup, ...], id_width: int, width: int) -> list[str]:
    shapes = [clipped(shape_text(group), _WIDEST_LAUNCH) for group in groups]
    room = width - id_width - max(map(len, shapes)) - 2 * len(_GAP)
    names = labels([(group.name, group.value(REGISTERS)) for group in groups], room)
    return [
        _block(group, _name_line(str(group.launches[0]).rjust(id_width), name, shape, width), width)
        for group, name, shape in zip(groups, names, shapes, strict=True)
    ]


def shape_text(group: KernelGroup) -> str:
    """Return what `launch_text` says, or how many shapes the launches have."""
    shapes = {(kernel.grid, kernel.block) for kernel in group.kernels}
    return launch_text(group.grid, group.block) if len(shapes) == 1 else f"{len(shapes)} shapes"


def _block(group: KernelGroup, name_line: str, width: int) -> str:
    lines = [name_line, _numbers([group.bound.word, *_cells(group)], width)]
    if group.count > 1:
        lines.append(clipped(f"{' ' * _BOUND}{_GAP}{spread_text(group)}", width))
    return "\n".join(lines)


def _name_line(number: str, name: str, shape: str, width: int) -> str:
    start = f"{number}{_GAP}{name}"
    return f"{start}{' ' * (width - display_width(start) - len(shape))}{shape}"


def _title_line(width: int) -> str:
    return _numbers(["bound", *(head.title for head in _HEADS)], width)


def _numbers(cells: list[str], width: int) -> str:
    """Lay out the bound and the numbers; spare columns go before the first number."""
    sized = [_right(cell, head.width) for cell, head in zip(cells[1:], _HEADS, strict=True)]
    return f"{cells[0]}{_right(' '.join(sized), width - len(cells[0]))}"


def _right(text: str, width: int) -> str:
    return f"{' ' * (width - display_width(text))}{text}"


def _cells(group: KernelGroup) -> list[str]:
    counters = [
        _cell(metric, head.width, _FORMATS.get(column.key, _percent), column.units)
        for metric, head, column in zip(
            _shown(group), (_HEADS[0], *_HEADS[2:]), COLUMNS, strict=True
        )
    ]
    share = MISSING if group.share is None else f"{100 * group.share:.2f}"
    return [counters[0], share, *counters[1:]]


def _shown(group: KernelGroup) -> list[Metric | None]:
    """Return the counters, the sum of all durations in the place of one."""
    duration, *rest = group.counters
    if group.total_ns is not None and duration is not None:
        duration = replace(duration, unit=DURATION.units[0], value=group.total_ns)
    return [duration, *rest]


def _cell(
    metric: Metric | None, width: int, form: Callable[[float], str], units: tuple[str, ...]
) -> str:
    if metric is None or metric.value is None:
        return MISSING
    if metric.unit not in units:
        return clipped(plain(f"{metric.text} {metric.unit}"), width)
    return clipped(form(metric.value), width)


def _percent(value: float) -> str:
    return number_text(value, 6)


def _registers(value: float) -> str:
    return f"{value:.4g}"


_FORMATS: dict[str, Callable[[float], str]] = {
    DURATION.key: duration_text,
    REGISTERS.key: _registers,
}


def number_text(value: float, width: int) -> str:
    """Return a number with as many digits as `width` (at least 6) has room for."""
    forms = (f"{value:{form}}" for form in (".2f", ".1f", ".0f", ".1e", ".0e"))
    return next((text for text in forms if len(text) <= width), f"{value:.0e}")


def _foot(table: Table, groups: tuple[KernelGroup, ...], width: int) -> list[str]:
    total = MISSING if table.total_ns is None else duration_text(table.total_ns)
    kernels = f"{len(groups)} {'kernel' if len(groups) == 1 else 'kernels'}"
    launches = f" in {len(table.rows)} launches" if len(table.rows) > len(groups) else ""
    said = f"total captured time {total}, {kernels}{launches}"
    return [said, *textwrap.wrap(CAVEAT, width)]


def _fitting(blocks: list[str], taken: int, max_chars: int | None) -> list[str]:
    if max_chars is None or taken + utf16_units(blocks) <= max_chars:
        return blocks
    free = max_chars - taken - len(_more(len(blocks))) - 1
    fitting = []
    for block in blocks:
        free -= utf16_units([block])
        if free < 0:
            break
        fitting.append(block)
    return [*fitting, _more(len(blocks) - len(fitting))]


def _more(count: int) -> str:
    return f"… and {count} more in {CSV_NAME}"


def within(lines: list[str], max_chars: int | None) -> list[str]:
    """Return as many of the first lines as `max_chars` (UTF-16 units) allow, then an ellipsis."""
    if max_chars is None or utf16_units(lines) <= max_chars:
        return lines
    kept = list(lines)
    while kept and utf16_units([*kept, "…"]) > max_chars:
        kept.pop()
    return [*kept, "…"]


def utf16_units(lines: Iterable[str]) -> int:
    """Count UTF-16 units, each line with its end: Discord's own measure never counts more."""
    return sum(len(line.encode("utf-16-le")) // 2 + 1 for line in lines)


def _fields(group: KernelGroup) -> tuple[str, ...]:
    texts = (group.label, str(group.count), group.bound.word, *_cells(group))
    return (str(group.launches[0]), *map(markdown_text, texts), shape_text(group))


def markdown_text(text: str) -> str:
    """Escape whatever markdown would obey in one line of text."""
    return text.translate(_MARKDOWN)
