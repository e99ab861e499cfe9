"""`ncubot report`: the counter table of an exported CSV."""

import io
import sys
from pathlib import Path

import click

from bot.reports.json_report import to_json
from bot.reports.table import render_markdown, render_table
from counters.errors import Lack, NoTable
from counters.model import KernelReport
from counters.names import escaped
from counters.parse import read_report

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
@click.option("--format", "form", type=click.Choice(_FORMATS), default="table", show_default=True)
def command(csv: Path, form: str) -> None:
    """Print the counters in CSV, the export of `ncu --import REPORT --page details --csv`."""
    report = _read(csv)
    _print(report, form)
    _print_doubts(report)


def _read(path: Path) -> KernelReport:
    name = escaped(str(path))
    try:
        return read_report(path)
    except NoTable as error:
        raise click.ClickException(f"{name} {_LACKS[error.lack]}.") from error
    except OSError as error:
        raise click.ClickException(f"{name} cannot be read: {error.strerror}.") from error


def _print(report: KernelReport, form: str) -> None:
    if form == "json":
        click.echo(to_json(report))
        return
    # A terminal whose encoding lacks µ and ─ gets question marks, not a traceback.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    click.echo(render_table(report) if form == "table" else render_markdown(report))


def _print_doubts(report: KernelReport) -> None:
    if report.degraded:
        click.echo(f"degraded: {report.missing_share:.0%} of this table is missing", err=True)
    for note in report.unread:
        click.echo(f"not read: {escaped(note)}", err=True)
