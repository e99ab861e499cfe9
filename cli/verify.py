"""`ncubot verify`: the observations that a new problem's pull request needs, on a real GPU."""

from pathlib import Path

import click


@click.command("verify")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--submission",
    type=click.Path(path_type=Path),
    help="What is profiled; the problem's template where not given.",
)
@click.option("--kernel-name", help="Only kernels of this name, or `regex:` and an expression.")
@click.option("--launch-count", type=click.IntRange(1, 1_000), default=10, show_default=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("ncubot-verify"),
    show_default=True,
    help="Folder for reports and exports.",
)
def command(
    directory: Path,
    submission: Path | None,
    kernel_name: str | None,
    launch_count: int,
    out: Path,
) -> int:
    """Profile the problem in DIR on this machine and print the record that its review needs.

    Markdown on stdout; exit 1 where one of the five observations could not be made.
    """
    from cli.verify_job import verify  # noqa: PLC0415 - `ncubot --help` imports this module

    return verify(directory, submission, kernel_name, launch_count, out)
