"""`ncubot new`: a problem folder to begin with."""

from pathlib import Path

import click

LISTING = """\
problems:
  - directory: {name}
    name: {name}
    deadline: ""
    gpus: [H200]
"""


@click.command("new")
@click.argument("name", type=click.Path(path_type=Path))
@click.option(
    "--lang",
    type=click.Choice(["py", "cu"]),
    default="py",
    show_default=True,
    help="Language of evaluator and submissions.",
)
def command(name: Path, lang: str) -> None:
    """Make folder NAME with a small problem that gives counters, to be changed into your own."""
    from bot.jobs.errors import NcubotError  # noqa: PLC0415 - `ncubot --help` stays quick
    from bot.leaderboards.new import new_problem  # noqa: PLC0415
    from bot.wording import sentence  # noqa: PLC0415

    try:
        written = new_problem(name, lang)
    except NcubotError as error:
        raise click.ClickException(sentence(error)) from error
    for path in written:
        click.echo(path)
    click.echo("\nChange it, then `ncubot check` and, on a GPU machine, `ncubot verify` it.")
    click.echo("A competition YAML lists it:\n")
    click.echo(LISTING.format(name=name.name), nl=False)
