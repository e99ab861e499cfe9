"""`ncubot report`: the counter table of an exported CSV, or two of them side by side."""

import io
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import click

from bot.reports.compare import compare
from bot.reports.compare_files import read_side
from bot.reports.compare_text import comparison_json, comparison_markdown, render_comparison
from bot.reports.json_report import to_json
from bot.reports.table import render_markdown, render_table
from counters.columns import missing_words
from counters.errors import Lack, NoTable
from counters.model import KernelReport
from counters.names import escaped
from counters.parse import read_report

_T = TypeVar("_T")
_FORMATS = ("table", "markdown", "json")
_LACKS = {
    Lack.EMPTY: "is empty",
    Lack.BINARY: "is not text: export it with `ncu --import FILE --page details --csv`",
    Lack.RAW_PAGE: "is ncu's raw page: export it with `--page details`",
    Lack.NO_HEADER: "has no row that names the columns of ncu's details page (ID, Kernel Name, "
    "Section Name, Metric Name, Metric Unit, Metric Value)",
}


@click.command("report")
@click.argument("csv", metavar="CSV", type=click.Path(path_type=Path))
@click.option(
    "--against",
    metavar="CSV",
    type=click.Path(path_type=Path),
    help="Compare with this export: changes are told from the first to this one.",
)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="table", show_default=True)
def command(csv: Path, against: Path | None, form: str) -> None:
    """Print the counters in CSV, the export of `ncu --import REPORT --page details --csv`.

    A comparison reads ncu-raw.csv and manifest.json where they lie beside an export.
    """
    if against is not None:
        _compare(csv, against, form)
        return
    report = _read(csv, read_report)
    _print(report, form)
    _print_doubts(report)


def _compare(csv: Path, against: Path, form: str) -> None:
    sides = [replace(_read(path, read_side), name=str(path)) for path in (csv, against)]
    comparison = compare(*sides)
    if form == "json":
        click.echo(comparison_json(comparison))
    elif form == "table":
        _echo(render_comparison(comparison))
    else:
        _echo(comparison_markdown(comparison))
    for side in sides:
        _print_doubts(side.report, f"{escaped(side.name)}: ")


def _read(path: Path, read: Callable[[Path], _T]) -> _T:
    name = escaped(str(path))
    try:
        return read(path)
    except NoTable as error:
        raise click.ClickException(f"{name} {_LACKS[error.lack]}.") from error
    except OSError as error:
        raise click.ClickException(f"{name} cannot be read: {error.strerror}.") from error


def _print(report: KernelReport, form: str) -> None:
    if form == "json":
        click.echo(to_json(report))
        return
    _echo(render_table(report) if form == "table" else render_markdown(report))


def _echo(text: str) -> None:
    # A terminal whose encoding lacks µ and ─ gets question marks, not a traceback.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    click.echo(text)


def _print_doubts(report: KernelReport, where: str = "") -> None:
    if report.degraded:
        missing = f"{report.missing_share:.0%} of this table is missing"
        click.echo(f"{where}degraded: {missing}: {missing_words(report.kernels)}", err=True)
    for note in report.unread:
        click.echo(f"{where}not read: {escaped(note)}", err=True)
