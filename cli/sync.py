"""ncubot sync: problems of a repository or folder into the leaderboard tables."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bot.leaderboards.service import Request
    from bot.leaderboards.sync import SyncReport


@click.command(name="sync")
@click.argument("source")
@click.option("--ref", help="Branch, tag or full commit; the default branch where not given.")
@click.option("--problem-set", help="Only this competition YAML, by its name without ending.")
@click.option("--dry-run", is_flag=True, help="Say what would change and change nothing.")
@click.option("--force", is_flag=True, help="Also make changes that alter what old results mean.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Text for people or JSON for programs.",
)
def command(
    source: str, ref: str | None, problem_set: str | None, dry_run: bool, force: bool, form: str
) -> int:
    """Load the competition YAMLs of SOURCE: a git URL, OWNER/NAME of GitHub, or a folder.

    Exit 1 where a problem could not be used.
    """
    import asyncio  # noqa: PLC0415 - `ncubot --help` stays quick

    from bot.jobs.errors import NcubotError  # noqa: PLC0415
    from bot.leaderboards.service import Request  # noqa: PLC0415
    from bot.wording import sentence  # noqa: PLC0415

    request = Request(source=source, ref=ref, problem_set=problem_set, anywhere=True)
    try:
        report = asyncio.run(_sync(request, dry_run=dry_run, force=force))
    except NcubotError as error:
        raise click.ClickException(sentence(error)) from error
    click.echo(_json(report) if form == "json" else _text(report))
    if form == "json":
        for warning in report.warnings:
            click.echo(f"warning: {warning}", err=True)
    return 1 if report.errors else 0


async def _sync(request: "Request", *, dry_run: bool, force: bool) -> "SyncReport":
    from bot.leaderboards.catalogue import Catalogue  # noqa: PLC0415
    from bot.leaderboards.check.task import check_task  # noqa: PLC0415
    from bot.leaderboards.service import LeaderboardService  # noqa: PLC0415
    from bot.settings import load_settings  # noqa: PLC0415
    from bot.storage.audit import Who  # noqa: PLC0415
    from bot.storage.database import open_database  # noqa: PLC0415

    settings = load_settings()
    database = await open_database(settings.database)
    try:
        service = LeaderboardService(database, Catalogue(), settings, check_task)
        reading = await service.read(request)
        if dry_run:
            return await service.plan(reading, force=force)
        return await service.apply(reading, Who(origin="command line", name=_user()), force=force)
    finally:
        await database.close()


def _user() -> str:
    import getpass  # noqa: PLC0415

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _json(report: "SyncReport") -> str:
    import msgspec  # noqa: PLC0415

    fields = {
        "commit": report.commit,
        "created": report.created,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "closed": report.closed,
        "skipped": [{"name": skip.name, "reason": skip.reason} for skip in report.skipped],
        "errors": report.errors,
    }
    return msgspec.json.encode(fields).decode()


def _text(report: "SyncReport") -> str:
    changed = {entry.name: entry.changes for entry in report.changed}
    lines = [f"commit {report.commit}" if report.commit else "no commit"]
    lines += [f"created    {name}" for name in report.created]
    for name in report.updated:
        lines.append(f"updated    {name}")
        lines += [f"           {change.field}: {change.detail}" for change in changed.get(name, ())]
    lines += [f"unchanged  {name}" for name in report.unchanged]
    lines += [f"closed     {name}" for name in report.closed]
    for skip in report.skipped:
        lines.append(f"skipped    {skip.name}: {skip.reason}")
        lines += [f"           {change.field}: {change.detail}" for change in skip.changes]
    lines += [f"error      {fault.name}: {fault.error}" for fault in report.errors]
    lines += [f"warning    {warning}" for warning in report.warnings]
    return "\n".join(lines)
