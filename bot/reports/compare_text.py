"""A comparison as text of fixed width, as markdown, and as JSON."""

import textwrap
from collections.abc import Iterable, Iterator

from bot.reports.compare import Comparison, Difference, Pair, Verdict
from bot.reports.groups import KernelGroup
from bot.reports.json_report import disarmed
from bot.reports.table import (
    CAVEAT,
    MIN_WIDTH,
    MISSING,
    duration_text,
    markdown_text,
    number_text,
    shape_text,
    utf16_units,
    within,
)
from counters.names import clipped, display_width, plain

_MARKS = {
    Verdict.GAIN: "+ gain",
    Verdict.LOSS: "- loss",
    Verdict.SAME: "  same",
    Verdict.UNKNOWN: "",
}
_MOST_WARNINGS = 5
_MOST_UNMATCHED = 4
_WIDEST_CHANGE = 9.99  # +999.0%


def render_comparison(comparison: Comparison, width: int = 60, max_chars: int | None = None) -> str:
    """Return the comparison as text, no line over `width` columns (60 or more, else ValueError).

    Made safe to print, nothing escaped for markdown. With `max_chars` (UTF-16 units) the coldest
    kernels give way to a line that counts them, and where that is not enough, the last lines.
    """
    if width < MIN_WIDTH:
        raise ValueError(width)
    head = list(_head(comparison, width))
    foot = [*_unmatched(comparison, width), "─" * width, *textwrap.wrap(CAVEAT, width)]
    blocks = ["\n".join(_pair(pair, width)) for pair in comparison.pairs]
    shown = _fitting(blocks, utf16_units([*head, *foot]), max_chars)
    return "\n".join(within("\n".join([*head, *shown, *foot]).split("\n"), max_chars))


def comparison_markdown(comparison: Comparison) -> str:
    """Return the same as markdown: one row a figure, all text escaped."""
    lines = [
        "| Kernel | Figure | A | B | Change | |",
        "| :-- | :-- | --: | --: | --: | :-- |",
        *(_row(pair.a.label, one) for pair in comparison.pairs for one in pair.differences),
        _row("all", comparison.total),
    ]
    told = [*comparison.warnings, *_only(comparison)]
    return "\n".join([*lines, "", *(f"- {markdown_text(plain(line))}" for line in told), CAVEAT])


def comparison_json(comparison: Comparison) -> bytes:
    """Return one line of UTF-8 JSON: `a`, `b`, `total`, `warnings`, `kernels`, `only_a`, `only_b`.

    A kernel has `name`, `grid`, `block` and `differences`: `what`, `unit`, `a`, `b`, `change` and
    `verdict`.
    """
    return disarmed(
        {
            "a": comparison.a,
            "b": comparison.b,
            "total": comparison.total,
            "warnings": comparison.warnings,
            "kernels": [
                {**_named(pair.a), "differences": pair.differences} for pair in comparison.pairs
            ],
            "only_a": [_named(group) for group in comparison.only_a],
            "only_b": [_named(group) for group in comparison.only_b],
        }
    )


def _named(group: KernelGroup) -> dict[str, object]:
    return {"name": group.name, "grid": group.grid, "block": group.block}


def _head(comparison: Comparison, width: int) -> Iterator[str]:
    yield clipped(f"A  {plain(comparison.a)}", width)
    yield clipped(f"B  {plain(comparison.b)}", width)
    for warning in comparison.warnings[:_MOST_WARNINGS]:
        said = f"warning: {plain(warning)}"
        yield from textwrap.wrap(said, width, max_lines=2, placeholder=" …")
    if len(comparison.warnings) > _MOST_WARNINGS:
        yield f"warning: {len(comparison.warnings) - _MOST_WARNINGS} more differences"
    yield f"{'':22}{'A':>10} {'B':>10}{'A to B':>8}"
    yield _line(comparison.total, width)


def _pair(pair: Pair, width: int) -> Iterator[str]:
    shape = shape_text(pair.a)
    name = clipped(pair.a.label, width - len(shape) - 2)
    yield "─" * width
    yield f"{name}{' ' * (width - display_width(name) - len(shape))}{shape}"
    if (pair.a.count, pair.b.count) != (1, 1):
        yield f"launches {pair.a.count} and {pair.b.count}, medians"
    if pair.a.bound.word is not pair.b.bound.word:
        yield f"bound by {pair.a.bound.word}, then by {pair.b.bound.word}"
    for one in pair.differences:
        yield _line(one, width)


def _line(one: Difference, width: int) -> str:
    label = clipped(_label(one), 21)
    text = f"{label:<22}{_value(one, one.a):>10} {_value(one, one.b):>10}{_change(one):>8}"
    return clipped(f"{text} {_MARKS[one.verdict]}".rstrip(), width)


def _label(one: Difference) -> str:
    return f"{one.what} %" if one.unit == "%" else one.what


def _value(one: Difference, value: float | None) -> str:
    if value is None:
        return MISSING
    if one.unit == "ns":
        return duration_text(value)
    return f"{value:.4g}" if not one.unit else number_text(value, 10)


def _change(one: Difference) -> str:
    if one.change is None or one.verdict is Verdict.SAME:
        return ""
    return f"{one.change:+.1%}" if abs(one.change) <= _WIDEST_CHANGE else f"x{one.change + 1:.3g}"


def _unmatched(comparison: Comparison, width: int) -> list[str]:
    lines = [clipped(plain(line), width) for line in _only(comparison)]
    return ["─" * width, *lines] if lines else []


def _only(comparison: Comparison) -> list[str]:
    sides = (("A", comparison.only_a), ("B", comparison.only_b))
    return [line for side, groups in sides for line in _listed(side, groups)]


def _listed(side: str, groups: Iterable[KernelGroup]) -> Iterator[str]:
    found = list(groups)
    for group in found[:_MOST_UNMATCHED]:
        yield f"only in {side}: {group.label}, {shape_text(group)}"
    if len(found) > _MOST_UNMATCHED:
        yield f"only in {side}: {len(found) - _MOST_UNMATCHED} more"


def _fitting(blocks: list[str], taken: int, max_chars: int | None) -> list[str]:
    if max_chars is None or taken + utf16_units(blocks) <= max_chars:
        return blocks
    more = "… and {} more kernels"
    free, fitting = max_chars - taken - len(more) - 6, []
    for block in blocks:
        free -= utf16_units([block])
        if free < 0:
            break
        fitting.append(block)
    return [*fitting, more.format(len(blocks) - len(fitting))]


def _row(kernel: str, one: Difference) -> str:
    cells = (kernel, _label(one), _value(one, one.a), _value(one, one.b), _change(one))
    verdict = "" if one.verdict is Verdict.UNKNOWN else one.verdict.value
    return f"| {' | '.join(map(markdown_text, (*cells, verdict)))} |"
