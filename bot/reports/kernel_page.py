"""One kernel in full, as the picker shows it: its figures, and what keeps it from being faster."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from bot.reports import kernel_figures
from bot.reports.advice import Finding, findings
from bot.reports.bound import Bound
from bot.reports.groups import KernelGroup
from bot.reports.kernel_figures import Fact, figures, limiters
from bot.reports.table import (
    CSV_NAME,
    MIN_WIDTH,
    MISSING,
    duration_text,
    shape_text,
    spread_text,
    within,
)
from counters.launches import Longest, Summary
from counters.names import clipped, display_width, plain
from counters.raw import RawKernel
from counters.stalls import Stall, stalls

MOST_FINDINGS = 6
MOST_STALLS = 6

_GAP = 3
_NO_STALLS = "not in this capture (the raw export has them)"


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPage:
    """All that is known of a group of launches.

    Figures are medians over the launches; `stalls` and `findings` are of the longest launch, whose
    id is `longest`. `share` (0..1) is of the captured time, `times` words the durations, and
    `count` of the report's `captured` launches are this kernel's. `limiters` name what keeps
    theoretical occupancy below 100 %: empty where nothing does, or where it was not measured.
    """

    label: str
    name: str
    bound: Bound
    count: int
    captured: int
    share: float | None
    times: str
    longest: int
    speed_of_light: tuple[Fact, ...]
    occupancy: tuple[Fact, ...]
    limiters: tuple[str, ...]
    memory: tuple[Fact, ...]
    stalls: tuple[Stall, ...]
    launch: tuple[Fact, ...]
    findings: tuple[Finding, ...]


def kernel_page(summary: Summary, group: KernelGroup, raw: Sequence[RawKernel] = ()) -> KernelPage:
    """Put the page of a group of `summary` together.

    `raw` are the launches on the raw page of the same capture, read with `wanted=is_stall` or more;
    stalls are taken from the details page where it has them, else from there.
    """
    longest = group.every.longest
    total = MISSING if group.total_ns is None else duration_text(group.total_ns)
    return KernelPage(
        label=group.label,
        name=group.name,
        bound=group.bound,
        count=group.count,
        captured=summary.launches,
        share=group.share,
        times=f"{total} in {spread_text(group)}",
        longest=longest.id,
        speed_of_light=figures(group, kernel_figures.SPEED_OF_LIGHT),
        occupancy=figures(group, kernel_figures.OCCUPANCY_FIGURES),
        limiters=limiters(group),
        memory=figures(group, kernel_figures.MEMORY_FIGURES),
        stalls=_stalls(group.name, longest, raw),
        launch=(
            Fact("grid × block", shape_text(group), None),
            *figures(group, kernel_figures.LAUNCH_FIGURES),
        ),
        findings=findings(longest.rules),
    )


def render_kernel(page: KernelPage, width: int = 60, max_chars: int | None = None) -> str:
    """Return the page as text, no line over `width` columns (60 or more, else ValueError).

    Everything is made safe to print, nothing is escaped for markdown. With `max_chars` (UTF-16
    units) lines give way from the last one on, which are the least important findings.
    """
    if width < MIN_WIDTH:
        raise ValueError(width)
    lines = [line for section in _sections(page, width) for line in section]
    return "\n".join(within([clipped(line, width) for line in lines], max_chars))


def _stalls(name: str, longest: Longest, raw: Sequence[RawKernel]) -> tuple[Stall, ...]:
    here = stalls(longest.stalls)
    same = (launch for launch in raw if (launch.id, launch.name) == (longest.id, name))
    launch = next(same, None)
    return here or (stalls(launch.metrics.values()) if launch else ())


def _sections(page: KernelPage, width: int) -> Iterator[Iterable[str]]:
    yield _head(page, width)
    yield _titled("speed of light, % of peak", _columns(page.speed_of_light, width))
    occupancy = [*_columns(page.occupancy, width), *_limited(page, width)]
    yield _titled("occupancy", occupancy)
    yield _titled("memory", _columns(page.memory, width))
    shape, *launch = page.launch
    yield _titled("launch", [_line(shape, width), *_columns(launch, width)])
    yield _titled("warp stalls: share, cycles per instruction", _stalled(page, width))
    yield _titled("ncu's rules, estimated speed-up first", _advice(page, width))


def _head(page: KernelPage, width: int) -> list[str]:
    share = "" if page.share is None else f", {100 * page.share:.2f}% of the time"
    why = f"bound by {page.bound.word}: {page.bound.reason}"
    return [page.label, *_wrapped(f"{page.times}{share}", width), *_wrapped(why, width)]


def _titled(title: str, body: Sequence[str]) -> list[str]:
    return [f"── {title}", *body]


def _limited(page: KernelPage, width: int) -> list[str]:
    if not page.limiters:
        return []
    return _wrapped(f"theoretical occupancy is limited by {' and '.join(page.limiters)}", width)


def _stalled(page: KernelPage, width: int) -> list[str]:
    shown = [_stall(stall) for stall in page.stalls[:MOST_STALLS]]
    return _columns(shown, width) or [_NO_STALLS]


def _stall(stall: Stall) -> Fact:
    cycles = "" if stall.cycles is None else f" {stall.cycles:.3g}"
    return Fact(stall.reason.replace("_", " "), f"{100 * stall.share:.1f} %{cycles}", stall.share)


def _advice(page: KernelPage, width: int) -> list[str]:
    lines = [line for found in page.findings[:MOST_FINDINGS] for line in _finding(found, width)]
    rest = len(page.findings) - MOST_FINDINGS
    return [*lines, *([f"… and {rest} more in {CSV_NAME}"] if rest > 0 else [])] or ["none"]


def _finding(finding: Finding, width: int) -> list[str]:
    gain = "" if finding.speedup is None else f"{finding.speedup:.3g}%"
    part = " of that unit" if finding.local and gain else ""
    said = f"{finding.text}{part and f' ({gain}{part})'}"
    head = f"{gain:>7}" if not part else f"{'':>7}"
    wrapped = textwrap.wrap(plain(said), width - 9, max_lines=3, placeholder=" …")
    return [f"{start}  {line}" for start, line in zip_longest([head], wrapped, fillvalue=" " * 7)]


def _columns(facts: Sequence[Fact], width: int) -> list[str]:
    half = (width - _GAP) // 2
    cells = [_line(fact, half) for fact in facts]
    pairs = zip_longest(cells[::2], cells[1::2], fillvalue="")
    return [f"{left}{' ' * _GAP}{right}".rstrip() for left, right in pairs]


def _line(fact: Fact, width: int) -> str:
    text = clipped(plain(fact.text), width - 2)
    label = clipped(plain(fact.label), width - display_width(text) - 1)
    return f"{label}{' ' * (width - display_width(label) - display_width(text))}{text}"


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(plain(text), width)
