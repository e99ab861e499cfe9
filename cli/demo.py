"""`ncubot demo`: the whole flow in a simulated Discord, with neither a token nor a GPU."""

import asyncio
import contextlib
from pathlib import Path

import click

from bot.jobs.errors import NcubotError
from bot.wording import sentence


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("demo-output"),
    show_default=True,
    help="Where the reply and its files are written.",
)
@click.option("--no-browser", is_flag=True, help="End after writing; open no page.")
def command(out: Path, *, no_browser: bool) -> None:
    """Profile a sample kernel through the real /profile in a simulated Discord."""
    from cli.demo_show import show  # noqa: PLC0415 - needs the extra `demo`

    try:
        # Ctrl-C is how the page is left.
        with contextlib.suppress(KeyboardInterrupt):
            if not asyncio.run(show(out, keep_page=not no_browser)):
                click.get_current_context().exit(1)
    except NcubotError as error:
        raise click.ClickException(sentence(error)) from error
    except OSError as error:
        raise click.ClickException(f"{error.filename or out}: {error.strerror}") from error
