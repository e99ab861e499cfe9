"""ncubot sync: problems of a folder into the leaderboard tables."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bot.leaderboards.sync import SyncReport


@click.command(name="sync")
@click.argument("source")
@click.option("--dry-run", is_flag=True, help="Say what would change and change nothing.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Text for people or JSON for programs.",
)
def command(source: str, dry_run: bool, form: str) -> int:
    """Load the competition YAMLs of folder SOURCE; exit 1 where a problem could not be used."""
    import asyncio  # noqa: PLC0415 - `ncubot --help` stays quick

    import msgspec  # noqa: PLC0415

    from bot.jobs.errors import NcubotError  # noqa: PLC0415
    from bot.wording import sentence  # noqa: PLC0415

    if not Path(source).is_dir():
        raise click.ClickException(f"{source}: no such folder, and only folders can be synced")
    try:
        report = asyncio.run(_sync(Path(source), dry_run=dry_run))
    except NcubotError as error:
        raise click.ClickException(sentence(error)) from error
    click.echo(msgspec.json.encode(report).decode() if form == "json" else _text(report))
    return 1 if report.errors else 0


async def _sync(folder: Path, *, dry_run: bool) -> "SyncReport":
    from bot.leaderboards.sync import sync_folder  # noqa: PLC0415
    from bot.settings import load_settings  # noqa: PLC0415
    from bot.storage.database import open_database  # noqa: PLC0415

    database = await open_database(load_settings().database)
    try:
        return await sync_folder(database, folder, dry_run=dry_run)
    finally:
        await database.close()


def _text(report: "SyncReport") -> str:
    lines = [f"commit {report.commit}" if report.commit else "no commit"]
    lines += [f"created    {name}" for name in report.created]
    lines += [f"updated    {name}" for name in report.updated]
    lines += [f"unchanged  {name}" for name in report.unchanged]
    lines += [f"closed     {name}" for name in report.closed]
    lines += [f"skipped    {entry.name}: {entry.reason}" for entry in report.skipped]
    lines += [f"error      {fault.name}: {fault.error}" for fault in report.errors]
    return "\n".join(lines)
