"""The value every benchmark returns, and the table that shows them."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Repeated measurements of one thing beside a baseline from the same run.

    `seconds` and `baseline_seconds` hold one entry a repetition; `target_s` is what was asked for,
    None where nothing was.
    """

    name: str
    seconds: tuple[float, ...]
    baseline: str
    baseline_seconds: tuple[float, ...]
    target_s: float | None = None

    @property
    def median(self) -> float:
        """Return the median of the measurements, in seconds."""
        return statistics.median(self.seconds)

    @property
    def ratio(self) -> float:
        """Return the median over the baseline's median."""
        return self.median / statistics.median(self.baseline_seconds)


HEADER = ("what", "min", "median", "max", "target", "baseline", "median", "ratio")


def markdown(figures: Sequence[Figure]) -> str:
    """Lay the figures out as a Markdown table; times in seconds."""
    rows = [HEADER, tuple("---" for _ in HEADER), *(row(figure) for figure in figures)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def row(figure: Figure) -> tuple[str, ...]:
    """Return the cells of one figure's line."""
    target = "-" if figure.target_s is None else f"{figure.target_s:g}"
    spread = (min(figure.seconds), figure.median, max(figure.seconds))
    return (
        figure.name,
        *(f"{value:.3f}" for value in spread),
        target,
        figure.baseline,
        f"{statistics.median(figure.baseline_seconds):.3f}",
        f"{figure.ratio:.1f}",
    )
