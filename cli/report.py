"""`ncubot report`: the counter table of an exported CSV, or two of them side by side."""

import io
import shutil
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TypeVar

import click

from bot.reports.compare import compare
from bot.reports.compare_files import read_side
from bot.reports.compare_text import comparison_json, comparison_markdown, render_comparison
from bot.reports.json_report import JsonReport
from bot.reports.table import render_markdown, render_table
from counters.columns import Coverage
from counters.errors import Lack, NoTable, Scattered
from counters.model import Kernel
from counters.names import escaped
from counters.parse import iter_launches, read_report, read_summary
from counters.source import Notes

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
    if form == "json":
        _print_json(csv)
        return
    summary = _read(csv, read_summary)
    _echo(render_table(summary) if form == "table" else render_markdown(summary))
    _print_doubts(summary.coverage, summary.unread)


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
        where = f"{escaped(side.name)}: "
        _print_doubts(side.report.coverage, side.report.unread, where)


def _read(path: Path, read: Callable[[Path], _T]) -> _T:
    name = escaped(str(path))
    try:
        return read(path)
    except NoTable as error:
        raise click.ClickException(f"{name} {_LACKS[error.lack]}.") from error
    except OSError as error:
        raise click.ClickException(f"{name} cannot be read: {error.strerror}.") from error


def _print_json(csv: Path) -> None:
    """Print launch by launch what was read; it waits on the disk until the last row was read.

    So no half document is printed where the file cannot be read to its end.
    """
    with TemporaryFile() as spool:
        coverage, unread = _read(csv, lambda path: _spool(spool, path))
        spool.seek(0)
        shutil.copyfileobj(spool, sys.stdout.buffer)
    click.echo()
    _print_doubts(coverage, unread)


def _spool(spool: IO[bytes], path: Path) -> tuple[Coverage, tuple[str, ...]]:
    if path.is_file():
        notes = Notes()
        with suppress(Scattered):
            return _written(spool, iter_launches(path, notes)), notes.done()
    spool.seek(0)
    spool.truncate()
    report = read_report(path)
    return _written(spool, report.kernels), report.unread


def _written(spool: IO[bytes], kernels: Iterable[Kernel]) -> Coverage:
    report = JsonReport(kernels)
    spool.writelines(report)
    return report.coverage


def _echo(text: str) -> None:
    # A terminal whose encoding lacks µ and ─ gets question marks, not a traceback.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    click.echo(text)


def _print_doubts(coverage: Coverage, unread: Iterable[str], where: str = "") -> None:
    if coverage.degraded:
        missing = f"{coverage.missing_share:.0%} of this table is missing"
        click.echo(f"{where}degraded: {missing}: {coverage.missing_words}", err=True)
    for note in unread:
        click.echo(f"{where}not read: {escaped(note)}", err=True)
