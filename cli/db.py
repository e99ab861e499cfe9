"""ncubot db: the bot's database."""

import click


@click.group(name="db")
def command() -> None:
    """Look after the bot's database."""


@command.command()
def upgrade() -> None:
    """Bring the tables up to date."""
    import asyncio  # noqa: PLC0415 - `ncubot --help` stays quick

    from bot.jobs.errors import NcubotError  # noqa: PLC0415
    from bot.settings import load_settings  # noqa: PLC0415
    from bot.storage.database import upgrade_database  # noqa: PLC0415
    from bot.wording import sentence  # noqa: PLC0415

    try:
        revision = asyncio.run(upgrade_database(load_settings().database))
    except NcubotError as error:
        raise click.ClickException(sentence(error)) from error
    click.echo(f"the database is at revision {revision}")
