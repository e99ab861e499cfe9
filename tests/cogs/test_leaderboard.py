"""/leaderboard: the list for all, the sync for admins."""

from datetime import UTC, datetime
from pathlib import Path

import discord
import pytest
from msgspec import structs
from simcord.actors import MemberActor

from bot.answers import NotAdmin
from bot.leaderboards.errors import SourceError
from bot.leaderboards.sync import Skipped, SyncFault, SyncReport
from bot.settings import BotSettings
from cogs.leaderboard import confined, sync_words
from tests.cogs.conftest import World, messages

TASK = """\
files:
  - {name: eval.py, source: eval.py}
  - {name: submission.py, source: "@SUBMISSION@"}
lang: py
config: {main: eval.py}
description: one
benchmarks:
  - {n: 1}
  - {n: 2}
"""
COMPETITION = """\
name: Sets
deadline: ""
description: a set
problems:
  - {directory: one, name: one, deadline: "2099-12-31", gpus: [H200]}
"""


@pytest.fixture
def settings(tmp_path: Path) -> BotSettings:
    """Return settings with a problems folder of two sets and no runner."""
    for folder in ("first", "second"):
        problem = tmp_path / "problems" / folder / "one"
        problem.mkdir(parents=True)
        (problem / "eval.py").write_text("pass\n")
        (problem / "task.yml").write_text(TASK)
        competition = COMPETITION.replace("one, deadline", f"{folder}_one, deadline")
        (problem.parent / "set.yaml").write_text(competition.replace("Sets", folder))
    return BotSettings(data=tmp_path / "bot", problems=tmp_path / "problems", admin_role=4242)


def admin(world: World) -> MemberActor:
    permissions = discord.Permissions(manage_guild=True)
    role = world.env.guild.create_role("Organisers", permissions=permissions)
    return world.env.guild.add_member(world.env.create_user("ada"), roles=[role])


async def text(actor: MemberActor, world: World, command: str, **options: str) -> str:
    (message,) = messages(await actor.slash(world.channel, command, **options))
    shown = message.embeds[0].description if message.embeds else message.content
    return shown or ""


async def test_an_empty_list_says_what_to_do(world: World) -> None:
    assert "/leaderboard sync" in await text(world.alice, world, "leaderboard list")


async def test_an_admin_syncs_a_folder_and_everybody_sees_it(world: World) -> None:
    ada = admin(world)
    assert "**1 created**: `first_one`" in await text(
        ada, world, "leaderboard sync", folder="first"
    )
    assert "**1 unchanged**: `first_one`" in await text(
        ada, world, "leaderboard sync", folder="first"
    )
    line = await text(world.alice, world, "leaderboard list")
    deadline = int(datetime(2099, 12, 31, tzinfo=UTC).timestamp())
    assert line.startswith(f"**first\\_one** · `H200` · 2 shapes · until <t:{deadline}")


@pytest.mark.parametrize("folder", ["..", "../problems", "/etc", "no such", "first/set.yaml", "\0"])
async def test_a_folder_outside_the_problems_is_refused(world: World, folder: str) -> None:
    shown = await text(admin(world), world, "leaderboard sync", folder=folder)
    assert shown.endswith(
        ("no folder inside the bot's problems folder.", "no competition YAML in it.")
    )


async def test_a_member_may_not_sync(world: World) -> None:
    shown = await text(world.alice, world, "leaderboard sync", folder="first")
    assert shown.startswith("This command is for admins")
    assert world.services.catalogue.all() == ()
    assert [type(error) for error in world.env.errors] == [NotAdmin]


async def test_the_configured_role_counts_as_admin(world: World) -> None:
    role = world.env.guild.create_role("Crew")
    structs.force_setattr(world.services.settings, "admin_role", role.id)
    member = world.env.guild.add_member(world.env.create_user("kim"), roles=[role])
    assert "1 created" in await text(member, world, "leaderboard sync", folder="first")


def test_a_link_out_of_the_problems_folder_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "problems"
    root.mkdir()
    (root / "out").symlink_to("/")
    with pytest.raises(SourceError):
        confined(root, "out")
    assert confined(root, ".") == root


def test_what_was_left_out_is_said_for_each_problem() -> None:
    report = SyncReport(
        commit=None,
        created=("a",),
        skipped=(Skipped("b", "no *task.yml*"),),
        errors=(SyncFault("c", "line 3: @everyone"),),
    )
    assert sync_words(report) == (
        "**1 created**: `a`\n**0 updated**\n**0 unchanged**\n**0 closed**\n"
        "skipped `b`: no \\*task.yml\\*\n⚠️ `c`: line 3: @\u200beveryone"
    )


def test_a_long_report_says_how_much_is_missing() -> None:
    report = SyncReport(commit=None, errors=tuple(SyncFault(f"p{n}", "x" * 99) for n in range(99)))
    words = sync_words(report)
    assert len(words) <= 4_096
    shown = words.count("⚠️")
    assert words.endswith(f"and {99 - shown} more")
