"""How the pictures look: light on dark, large enough for a phone."""

import re

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

BACKGROUND = "#2b2d31"
TEXT = "#f2f3f5"
DIM = "#b5bac1"
GRID = "#4e5058"
SERIES = (
    "#5aa9ff", "#ffb454", "#7ed491", "#ff7a90", "#c39bff", "#4fd6d2", "#f0e05a", "#9aa0aa",
)  # fmt: skip
BOUNDS = {
    "memory": "#5aa9ff",
    "compute": "#ffb454",
    "latency": "#ff7a90",
    "launch": "#c39bff",
    "occupancy": "#7ed491",
}
NEUTRAL = "#9aa0aa"
# 800 pixels: twice what a desktop shows, so 14 points come out as large as the text around.
WIDTH_IN = 6.4
DPI = 125
# What the built-in font can draw.
_UNDRAWN = re.compile(r"[^ -~\u00a1-\u024f\u0391-\u03c9\u2026\u00d7]")


def settle() -> None:
    """Set the looks for the whole process, before anything is drawn."""
    # A kernel may be named `$x$`, which is no formula.
    mpl.rc("text", color=TEXT, parse_math=False)
    mpl.rc("font", size=15)
    mpl.rc("axes", labelcolor=DIM, facecolor=BACKGROUND, edgecolor=GRID)
    mpl.rc("figure", facecolor=BACKGROUND)
    mpl.rc("xtick", color=DIM)
    mpl.rc("ytick", color=TEXT)


def canvas(height_in: float, title: str) -> tuple[Figure, Axes]:
    """Return a figure of the common width with one pair of axes, its title at the left."""
    figure = Figure(figsize=(WIDTH_IN, height_in), dpi=DPI)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    figure.text(0.02, 1 - 0.13 / height_in, title, va="top", size=16, weight="bold")
    return figure, axes


def drawable(text: str, width: int) -> str:
    """Return `text` in at most `width` characters, what the font lacks replaced."""
    seen = _UNDRAWN.sub("?", text)
    if len(seen) <= width:
        return seen
    head = width // 2
    return f"{seen[:head]}…{seen[len(seen) - (width - head - 1) :]}"


def si(value: float, unit: str) -> str:
    """Return a value with its prefix: 4.81 TB/s."""
    for scale, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale * 0.9995:
            return f"{value / scale:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"
