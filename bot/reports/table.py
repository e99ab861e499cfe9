"""The counter table as text: fixed width for Discord and the terminal, or markdown."""

import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from bot.reports.groups import KernelGroup, group
from bot.reports.labels import labels
from counters.columns import COLUMNS, DURATION, REGISTERS
from counters.launches import Dim, Summary
from counters.model import Metric
from counters.names import clipped, display_width, plain

MIN_WIDTH = 60
"""Of a kernel's page and of a comparison."""
TABLE_WIDTH = 44
"""What a phone shows of a code block without breaking its lines."""
CSV_NAME = "ncu-details.csv"
CAVEAT = (
    "Durations under the profiler, GPU clocks left as they were; "
    "compare latency with the benchmark, not here."
)

MISSING = "n/a"
_GAP = "  "
_SECONDS = (("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9))
_BOUND = 9
_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>|~#"})


@dataclass(frozen=True, slots=True)
class _Head:
    """How one number of a kernel is headed, and how wide it may be."""

    title: str
    full_title: str
    width: int


_PERCENT = 5
_HEADS = (
    _Head("time", "Duration", 9),
    _Head("share", "Share %", _PERCENT),
    _Head("SM %", "SM %", _PERCENT),
    _Head("mem %", "Memory %", _PERCENT),
    _Head("DRAM%", "DRAM %", _PERCENT),
    _Head("occ.%", "Achieved occupancy %", _PERCENT),
    _Head("regs", "Registers/thread", 4),
)


def render_table(summary: Summary, width: int = TABLE_WIDTH, max_chars: int | None = None) -> str:
    """Return the counter table, the hottest kernel first, no line over `width` columns.

    Three lines a kernel: its name, headed by the id of its first launch; what bounds it, and its
    shape; its numbers. Of repeated launches the time is their sum, the counters are medians, and a
    further line gives their count and spread. Names and values are made safe to print (no control,
    direction or combining characters), but nothing is escaped for markdown. With `max_chars`
    (UTF-16 units; head and foot take ten lines of them in any case) the coldest kernels give way to
    a line that counts them. A `width` under TABLE_WIDTH raises ValueError.
    """
    if width < TABLE_WIDTH:
        raise ValueError(width)
    groups = group(summary)
    if not groups:
        return "no kernels were captured"
    indent = " " * (max(len(str(one.first)) for one in groups) + len(_GAP))
    head = [
        f"{'#':>{len(indent) - len(_GAP)}}{_GAP}kernel",
        f"{indent}{'bound by':{_BOUND}}{_GAP}grid × block",
        _numbers([head.title for head in _HEADS]),
    ]
    blocks = _blocks(groups, indent, width)
    frame = [*head, "─" * width, "─" * width, *_foot(summary, groups, width)]
    return "\n".join([*frame[:4], *_fitting(blocks, utf16_units(frame), max_chars), *frame[4:]])


def render_markdown(summary: Summary) -> str:
    """Return the same table as markdown, one row a kernel, all text escaped."""
    heads = (head.full_title for head in _HEADS)
    titles = ("#", "Kernel", "Launches", "Bound by", *heads, "Grid × block")
    groups = group(summary)
    marks = ("--:", ":--", "--:", ":--", *("--:" for _ in _HEADS), ":--")
    lines = [titles, marks, *map(_fields, groups)]
    foot = _foot(summary, groups, len(CAVEAT))
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


def _blocks(groups: tuple[KernelGroup, ...], indent: str, width: int) -> list[str]:
    registers = [(group.name, group.value(REGISTERS)) for group in groups]
    names = labels(registers, width - len(indent))
    pairs = zip(groups, names, strict=True)
    blocks = ["\n".join(_block(group, name, indent, width)) for group, name in pairs]
    # An empty line stands between two kernels.
    return [blocks[0], *(f"\n{block}" for block in blocks[1:])]


def shape_text(group: KernelGroup) -> str:
    """Return what `launch_text` says, or how many shapes the launches have."""
    one = group.shapes == 1
    return launch_text(group.grid, group.block) if one else f"{group.shapes} shapes"


def _block(group: KernelGroup, name: str, indent: str, width: int) -> Iterator[str]:
    yield f"{group.first:>{len(indent) - len(_GAP)}}{_GAP}{name}"
    bound = f"{indent}{group.bound.word:{_BOUND}}{_GAP}"
    yield f"{bound}{clipped(shape_text(group), width - len(bound))}"
    yield _numbers(_cells(group))
    if group.count > 1:
        room = width - len(indent)
        yield from (f"{indent}{clipped(line, room)}" for line in _spread(group, room))


def _spread(group: KernelGroup, room: int) -> list[str]:
    text = spread_text(group)
    first, comma, median = text.rpartition(", ")
    return [text] if len(text) <= room or not comma else [f"{first},", median]


def _numbers(cells: list[str]) -> str:
    return " ".join(_right(cell, head.width) for cell, head in zip(cells, _HEADS, strict=True))


def _right(text: str, width: int) -> str:
    return f"{' ' * (width - display_width(text))}{text}"


def _cells(group: KernelGroup) -> list[str]:
    counters = [
        _cell(metric, head.width, _FORMATS.get(column.key, _percent), column.units)
        for metric, head, column in zip(
            _shown(group), (_HEADS[0], *_HEADS[2:]), COLUMNS, strict=True
        )
    ]
    share = MISSING if group.share is None else _percent(100 * group.share)
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
    return number_text(value, _PERCENT)


def _registers(value: float) -> str:
    return f"{value:.4g}"


_FORMATS: dict[str, Callable[[float], str]] = {
    DURATION.key: duration_text,
    REGISTERS.key: _registers,
}


def number_text(value: float, width: int) -> str:
    """Return a number with as many digits as `width` (at least 5) has room for."""
    forms = (f"{value:{form}}" for form in (".2f", ".1f", ".0f", ".1e", ".0e"))
    return next((text for text in forms if len(text) <= width), f"{value:.0e}")


def _foot(summary: Summary, groups: tuple[KernelGroup, ...], width: int) -> list[str]:
    total_ns, left = summary.coverage.total_ns, summary.left_out
    total = MISSING if total_ns is None else duration_text(total_ns)
    count = len(groups) + left.kernels
    kernels = f"{count} {'kernel' if count == 1 else 'kernels'}"
    launches = f" in {summary.launches} launches" if summary.launches > count else ""
    said = f"total captured time {total}, {kernels}{launches}"
    texts = (said, _left_out(summary), CAVEAT)
    return [line for text in texts for line in textwrap.wrap(text, width)]


def _left_out(summary: Summary) -> str:
    left = summary.left_out
    if not left.kernels:
        return ""
    return (
        f"Too many to list: {left.kernels} more kernels with {left.launches} launches, "
        f"{duration_text(left.total_ns)}."
    )


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
    """Return as many of the first lines as `max_chars` (UTF-16 units) allow; then their count."""
    if max_chars is None or utf16_units(lines) <= max_chars:
        return lines
    kept = list(lines)
    while kept:
        kept.pop()
        said = [*kept, f"… {len(lines) - len(kept)} more lines"]
        if utf16_units(said) <= max_chars:
            return said
    return ["…"]


def utf16_units(lines: Iterable[str]) -> int:
    """Count UTF-16 units, each line with its end: Discord's own measure never counts more."""
    return sum(len(line.encode("utf-16-le")) // 2 + 1 for line in lines)


def _fields(group: KernelGroup) -> tuple[str, ...]:
    texts = (group.label, str(group.count), group.bound.word, *_cells(group))
    return (str(group.first), *map(markdown_text, texts), shape_text(group))


def markdown_text(text: str) -> str:
    """Escape whatever markdown would obey in one line of text."""
    return text.translate(_MARKDOWN)
