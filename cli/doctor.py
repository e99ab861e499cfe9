"""`ncubot doctor`: what is wrong on this machine, and how to mend it."""

from pathlib import Path

import click

PROBLEMS_FOUND = 1


@click.command("doctor")
@click.option("--config", type=click.Path(path_type=Path), help="Settings file, else ncubot.toml.")
@click.option(
    "--only",
    type=click.Choice(("bot", "runner")),
    help="One side; both where not given, as far as this machine has settings for them.",
)
@click.option(
    "--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True
)
def command(config: Path | None, only: str | None, form: str) -> int:
    """Check the runner and the bot; exit 1 where something is wrong.

    On a GPU machine a tiny kernel is really profiled. Where a runner already serves, its own
    findings are shown, so that its jobs are not disturbed.
    """
    import asyncio  # noqa: PLC0415 - `ncubot --help` imports this module

    from cli.doctor_checks import examine, render  # noqa: PLC0415 - as above
    from runner_client.wire import Level  # noqa: PLC0415 - as above

    findings = asyncio.run(examine(config, only))
    click.echo(render(findings, form))
    return PROBLEMS_FOUND if any(one.level is Level.PROBLEM for one in findings) else 0
