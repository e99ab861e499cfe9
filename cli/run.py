"""`ncubot run`: the Discord bot, with a runner of its own where none is configured."""

from pathlib import Path

import click

from bot.jobs.errors import NcubotError
from bot.settings import load_settings
from bot.wording import sentence
from runner_client.logs import configure, secrets_in

UNSET = "no Discord token: set DISCORD_TOKEN to your bot's, or try `ncubot demo`, which needs none"


@click.command("run")
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Settings file; ncubot.toml of the working folder where not given.",
)
def command(config: Path | None) -> None:
    """Run the Discord bot."""
    try:
        settings = load_settings(config)
        if settings.discord_token is None:
            raise click.UsageError(UNSET)
        from bot.application import run_until_stopped  # noqa: PLC0415 - needs the extra `bot`

        configure(settings.log_format, secrets_in(settings))
        run_until_stopped(settings, settings.discord_token)
    except NcubotError as error:
        raise click.ClickException(sentence(error)) from error
