"""The value every benchmark returns, and the table that shows them."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Repeated measurements of one thing beside a baseline from the same run.

    `values` and `baseline_values` hold one entry a repetition, in `unit`. `target` is the most that
    was asked for in that unit, `target_ratio` the most in terms of the baseline; None where nothing
    was.
    """

    name: str
    values: tuple[float, ...]
    baseline: str
    baseline_values: tuple[float, ...]
    target: float | None = None
    target_ratio: float | None = None
    unit: str = "s"

    @property
    def median(self) -> float:
        """Return the median of the measurements."""
        return statistics.median(self.values)

    @property
    def ratio(self) -> float:
        """Return the median over the baseline's median."""
        return self.median / statistics.median(self.baseline_values)


HEADER = ("what", "min", "median", "max", "unit", "target", "baseline", "median", "ratio")


def markdown(figures: Sequence[Figure]) -> str:
    """Lay the figures out as a Markdown table."""
    rows = [HEADER, tuple("---" for _ in HEADER), *(row(figure) for figure in figures)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def row(figure: Figure) -> tuple[str, ...]:
    """Return the cells of one figure's line."""
    targets = [f"{figure.target:g}"] if figure.target is not None else []
    if figure.target_ratio is not None:
        targets.append(f"{figure.target_ratio:g} x")
    spread = (min(figure.values), figure.median, max(figure.values))
    return (
        figure.name,
        *(f"{value:.3f}" for value in spread),
        figure.unit,
        " and ".join(targets) or "-",
        figure.baseline,
        f"{statistics.median(figure.baseline_values):.3f}",
        f"{figure.ratio:.1f}",
    )
