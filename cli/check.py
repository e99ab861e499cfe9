"""`ncubot check`: whether evaluators can give counters, told from their source."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bot.leaderboards.check.folder import CheckedProblem


@click.command("check")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Text for people or JSON for programs.",
)
def command(path: Path, form: str) -> int:
    """Say whether the problems at PATH can be profiled: a problem's folder, or one with YAMLs.

    Nothing of them is run. Exit 1 where some problem's profile gives no counters.
    """
    import msgspec  # noqa: PLC0415 - `ncubot --help` stays quick

    from bot.jobs.errors import NcubotError  # noqa: PLC0415
    from bot.leaderboards.check.folder import check_path  # noqa: PLC0415
    from bot.leaderboards.check.model import Verdict  # noqa: PLC0415
    from bot.wording import sentence  # noqa: PLC0415

    try:
        found = check_path(path)
    except NcubotError as error:
        raise click.ClickException(sentence(error)) from error
    click.echo(msgspec.json.encode(found).decode() if form == "json" else _text(found))
    return 0 if all(one.profile is Verdict.NCU for one in found) else 1


def _text(found: "tuple[CheckedProblem, ...]") -> str:
    from counters.names import escaped  # noqa: PLC0415

    width = max((len(one.leaderboard) for one in found), default=0)
    lines: list[str] = []
    for one in found:
        lines.append(f"{one.leaderboard:{width}}  {one.profile:20} {one.directory}")
        for finding in one.findings:
            place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
            lines.append(f"    {place}: {finding.message} [{finding.rule}]")
    good = sum(one.profile == "ncu" for one in found)
    lines.append(f"{good} of {len(found)} give counters")
    return "\n".join(escaped(line) for line in lines)
