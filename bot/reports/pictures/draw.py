"""Draws the pictures of one benchmark. Imported by the drawing process only."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter
from msgspec import structs

from bot.reports.neutral import clip
from bot.reports.pictures.launches import Launches, read_launches
from bot.reports.pictures.roofline import Point, Roofline, roofline
from bot.reports.pictures.stalls import OTHER, StallBar, Stalls, stalls
from bot.reports.pictures.style import (
    BACKGROUND,
    BOUNDS,
    DIM,
    GRID,
    NEUTRAL,
    SERIES,
    TEXT,
    canvas,
    drawable,
    settle,
    si,
)
from bot.reports.pictures.values import (
    ALT_LIMIT,
    Bar,
    Kind,
    Picture,
    PictureRequest,
    Pictures,
    Skipped,
)
from bot.reports.table import duration_text

MOST_BARS = 7
MOST_POINTS = 6
LABEL = 32
POINT_LABEL = 25
Drawn = tuple[Figure, str]
NO_RAW = "the export has no raw page"


def draw(request: PictureRequest) -> Pictures:
    """Draw what the counters allow and write it. Raises OSError."""
    settle()
    launches = read_launches(request.raw)
    made: list[Picture] = []
    skipped: list[Skipped] = []
    for kind, make in _MAKERS.items():
        result = make(request, launches)
        if isinstance(result, str):
            skipped.append(Skipped(kind=kind, why=result))
            continue
        figure, alt = result
        path = Path(request.folder) / f"{kind}.{request.index}.png"
        figure.savefig(path)
        made.append(Picture(kind=kind, path=str(path), alt=clip(alt, ALT_LIMIT)))
    return Pictures(drawn=tuple(made), skipped=tuple(skipped))


def _time(request: PictureRequest, _: Launches) -> Drawn | str:
    timed = [bar for bar in request.bars if bar.total_ns is not None]
    if not timed:
        return "no kernel has a duration"
    bars = timed[:MOST_BARS]
    rest = _rest(timed[MOST_BARS:])
    figure, axes = canvas(0.95 + 0.5 * len(bars) + 0.3 * bool(rest), "Where the time goes")
    room = 1.5 * max(bar.share or 0.0 for bar in bars) or 1.0
    for place, bar in enumerate(bars):
        share = bar.share or 0.0
        axes.barh(place, share, 0.36, color=BOUNDS.get(bar.bound, NEUTRAL))
        axes.text(0, place - 0.22, drawable(_named(bar), 44), size=13, va="bottom")
        axes.text(share + room / 100, place, _amount(bar), size=12, va="center", color=DIM)
    axes.set(xlim=(0, room), ylim=(len(bars) - 0.6, -0.75), yticks=[], xticks=[])
    axes.spines[["left", "bottom"]].set_visible(False)
    _bound_legend(figure, {bar.bound for bar in bars})
    figure.text(0.03, 0.38 / figure.get_figheight(), rest, size=12, color=DIM)
    bottom = (0.35 + 0.3 * bool(rest)) / figure.get_figheight()
    figure.subplots_adjust(0.03, bottom, 0.99, _top(figure))
    return figure, _time_alt(bars, rest)


def _rest(bars: Sequence[Bar]) -> str:
    """Sum the kernels up that have no bar; a bar of them would dwarf the others."""
    if not bars:
        return ""
    together = structs.replace(
        bars[0],
        total_ns=sum(bar.total_ns or 0.0 for bar in bars),
        share=sum(bar.share or 0.0 for bar in bars),
    )
    return f"{len(bars)} other {'kernel' if len(bars) == 1 else 'kernels'}: {_amount(together)}"


def _named(bar: Bar) -> str:
    return f"{bar.count} × {bar.label}" if bar.count > 1 else bar.label


def _amount(bar: Bar) -> str:
    return f"{100 * (bar.share or 0.0):.1f} %  {duration_text(bar.total_ns or 0.0)}"


def _bound_legend(figure: Figure, bounds: set[str]) -> None:
    patches = [
        Patch(color=colour, label=f"{word}-bound" if word in {"memory", "compute"} else word)
        for word, colour in BOUNDS.items()
        if word in bounds
    ]
    if patches:
        _legend(figure, patches, len(patches))


def _time_alt(bars: Sequence[Bar], rest: str) -> str:
    said = [*(f"{_named(bar)}: {_amount(bar)}" for bar in bars), *([rest] if rest else [])]
    return f"Bars of the captured time by kernel, hottest first. {'; '.join(said)}."


def _roofline(request: PictureRequest, launches: Launches) -> Drawn | str:
    found = roofline(request.bars, launches, request.gpu) if launches else NO_RAW
    if isinstance(found, str):
        return found
    lines = min(len(found.points), 3)
    figure, axes = canvas(4.0 + 0.26 * lines, "Roofline")
    low, high = _span(found)
    axes.set(xscale="log", yscale="log", xlim=(low, high))
    axes.set_ylim(min(point.rate for point in found.points) / 4, found.roofs[-1].peak * 3)
    _roofs(axes, found, low, high)
    for place, point in reversed(list(enumerate(found.points))):
        _mark(axes, place, point)
    _axes_of_roofline(figure, axes, lines)
    _names(figure, found)
    return figure, _roofline_alt(found)


def _axes_of_roofline(figure: Figure, axes: Axes, lines: int) -> None:
    axes.set_xlabel("FLOP per byte of DRAM traffic", size=12)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: si(value, "FLOP/s")))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=11)
    axes.grid(color=GRID, linewidth=0.5, alpha=0.6)
    bottom = (0.92 + 0.26 * lines) / figure.get_figheight()
    figure.subplots_adjust(0.2, bottom, 0.98, _top(figure))


def _span(found: Roofline) -> tuple[float, float]:
    """Return limits of the x axis that hold every point and every ridge."""
    ridges = [roof.peak / found.bandwidth for roof in found.roofs]
    intensities = [point.intensity for point in found.points]
    return min(intensities + ridges) / 10, max(intensities + ridges) * 8


def _roofs(axes: Axes, found: Roofline, low: float, high: float) -> None:
    ridge = found.roofs[-1].peak / found.bandwidth
    axes.plot([low, ridge], [low * found.bandwidth, found.roofs[-1].peak], color=TEXT, linewidth=2)
    for roof in found.roofs:
        axes.plot([roof.peak / found.bandwidth, high], [roof.peak] * 2, color=TEXT, linewidth=2)
        axes.text(
            high / 1.15,
            roof.peak * 1.2,
            f"{roof.name} {si(roof.peak, 'FLOP/s')}",
            ha="right",
            size=13,
        )
    middle = (low * found.roofs[0].peak / found.bandwidth) ** 0.5
    name = f"DRAM {si(found.bandwidth, 'B/s')}"
    axes.text(middle * 1.2, middle * found.bandwidth / 1.1, name, size=13, va="top")


def _mark(axes: Axes, place: int, point: Point) -> None:
    spot = (point.intensity, point.rate)
    if place >= MOST_POINTS:
        axes.plot(*spot, "o", color=NEUTRAL, markersize=5)
        return
    # A hotter kernel covers a cooler one, its number too.
    over = 10 + 2 * (MOST_POINTS - place)
    colour = SERIES[place]
    axes.plot(*spot, "o", color=colour, markeredgecolor=BACKGROUND, markersize=19, zorder=over)
    number = axes.annotate(str(point.rank), spot, ha="center", va="center", zorder=over + 1)
    number.set(size=12, weight="bold", color=BACKGROUND)


def _names(figure: Figure, found: Roofline) -> None:
    for place, point in enumerate(found.points[:MOST_POINTS]):
        column, line = divmod(place, 3)
        left = 0.03 + 0.49 * column
        height = (0.26 * (min(len(found.points), 3) - line) + 0.08) / figure.get_figheight()
        figure.text(left, height, f"{point.rank}", size=12, weight="bold", color=SERIES[place])
        figure.text(left + 0.04, height, drawable(point.label, POINT_LABEL), size=12)
    more = len(found.points) - MOST_POINTS
    notes = [
        found.source,
        f"{more} more in grey" if more > 0 else "",
        f"{found.idle} without such work" if found.idle else "",
    ]
    figure.text(
        0.03,
        0.09 / figure.get_figheight(),
        " · ".join(note for note in notes if note),
        size=11,
        color=DIM,
    )


def _roofline_alt(found: Roofline) -> str:
    points = "; ".join(
        f"{point.label}: {si(point.rate, 'FLOP/s')} of {point.roof} at {point.intensity:.3g} "
        "FLOP a byte"
        for point in found.points[:MOST_POINTS]
    )
    roofs = ", ".join(f"{roof.name} {si(roof.peak, 'FLOP/s')}" for roof in found.roofs)
    return f"Roofline under DRAM {si(found.bandwidth, 'B/s')} and {roofs}. {points}."


def _stalls(request: PictureRequest, launches: Launches) -> Drawn | str:
    found = stalls(request.bars, launches) if launches else NO_RAW
    if isinstance(found, str):
        return found
    rows = -(-len(found.reasons) // 2)
    figure, axes = canvas(0.8 + 0.5 * len(found.bars) + 0.25 * rows, "What warps wait for")
    for place, bar in enumerate(found.bars):
        _stall_bar(axes, place, bar)
    axes.set(xlim=(0, 100), ylim=(len(found.bars) - 0.6, -0.75), xticks=[], yticks=[])
    axes.spines[["left", "bottom"]].set_visible(False)
    _legend(
        figure, [Patch(color=_colour(found, n), label=r) for n, r in enumerate(found.reasons)], 2
    )
    bottom = (0.18 + 0.25 * rows) / figure.get_figheight()
    figure.subplots_adjust(0.03, bottom, 0.98, _top(figure))
    return figure, _stalls_alt(found)


def _stall_bar(axes: Axes, place: int, bar: StallBar) -> None:
    left = 0.0
    for number, share in enumerate(bar.shares):
        colour = NEUTRAL if number == len(bar.shares) - 1 else SERIES[number]
        axes.barh(place, 100 * share, 0.36, left=left, color=colour)
        if share >= 0.09:
            middle = left + 50 * share
            text = f"{100 * share:.0f} %"
            axes.text(middle, place, text, size=12, ha="center", va="center", color=BACKGROUND)
        left += 100 * share
    axes.text(0, place - 0.25, drawable(bar.label, LABEL), size=13, va="bottom")
    if bar.cycles is not None:
        waited = f"{bar.cycles:.1f} cycles/instruction"
        axes.text(100, place - 0.25, waited, size=11, ha="right", va="bottom", color=DIM)


def _colour(found: Stalls, number: int) -> str:
    return NEUTRAL if found.reasons[number] == OTHER else SERIES[number]


def _stalls_alt(found: Stalls) -> str:
    said = [f"{bar.label}: {', '.join(_shares(found, bar))}" for bar in found.bars]
    return f"What warps wait for by kernel, share of all waiting. {'; '.join(said)}."


def _shares(found: Stalls, bar: StallBar) -> Iterator[str]:
    ordered = sorted(zip(bar.shares, found.reasons, strict=True), reverse=True)
    return (f"{reason} {share:.0%}" for share, reason in ordered[:3])


def _legend(figure: Figure, patches: list[Patch], ncols: int) -> None:
    figure.legend(
        handles=patches,
        loc="lower left",
        bbox_to_anchor=(0.015, 0.0),
        ncols=ncols,
        frameon=False,
        fontsize=12,
        labelcolor=DIM,
        handlelength=1.0,
        handleheight=1.0,
        columnspacing=1.2,
    )


def _top(figure: Figure) -> float:
    return 1 - 0.45 / figure.get_figheight()


_MAKERS: dict[Kind, Callable[[PictureRequest, Launches], Drawn | str]] = {
    Kind.TIME: _time,
    Kind.ROOFLINE: _roofline,
    Kind.STALLS: _stalls,
}
