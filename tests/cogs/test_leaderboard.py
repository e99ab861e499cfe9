"""/leaderboard: what everybody sees, and what admins do."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import AsyncMock

import discord
import pytest
from msgspec import structs
from simcord.actors import MemberActor
from simcord.results import ResponseMessage

from bot.answers import NotAdmin
from bot.leaderboards.lock import alone
from bot.leaderboards.service import LOCK
from bot.settings import BotSettings
from tests.cogs.conftest import World, messages
from tests.leaderboards.repository import change
from tests.leaderboards.syncing import commit, git

TASK = """\
files:
  - {name: eval.py, source: eval.py}
  - {name: submission.py, source: "@SUBMISSION@"}
lang: py
config: {main: eval.py}
description: one
templates: {Python: template.py}
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
DEADLINE = int(datetime(2099, 12, 31, tzinfo=UTC).timestamp())


@pytest.fixture
def settings(tmp_path: Path) -> BotSettings:
    """Return settings with a problems folder of two sets and no runner."""
    for folder in ("first", "second"):
        problem = tmp_path / "problems" / folder / "one"
        problem.mkdir(parents=True)
        (problem / "eval.py").write_text("pass\n")
        (problem / "template.py").write_text("def custom_kernel(data): ...\n")
        (problem / "task.yml").write_text(TASK)
        competition = COMPETITION.replace("one, deadline", f"{folder}_one, deadline")
        (problem.parent / "set.yaml").write_text(competition.replace("Sets", folder))
    return BotSettings(data=tmp_path / "bot", problems=tmp_path / "problems", admin_role=4242)


@pytest.fixture
def problem(settings: BotSettings) -> Path:
    """Return the folder of the first set's problem."""
    return settings.problems / "first" / "one"


@pytest.fixture
def ada(world: World) -> MemberActor:
    """Return a member with Manage Server."""
    permissions = discord.Permissions(manage_guild=True)
    role = world.env.guild.create_role("Organisers", permissions=permissions)
    return world.env.guild.add_member(world.env.create_user("ada"), roles=[role])


async def asked(
    actor: MemberActor, world: World, command: str, **options: str | bool
) -> ResponseMessage:
    (message,) = messages(await actor.slash(world.channel, command, **options))
    return message


def text(message: ResponseMessage) -> str:
    """Return what a message says now, without escapes."""
    now = message.message
    shown = (now.embeds[0].description or "") if now.embeds else now.content
    return shown.replace("\\", "")


def buttons(message: ResponseMessage) -> list[str]:
    rows = message.message.components
    return [
        str(getattr(child, "label", "")) for row in rows for child in getattr(row, "children", ())
    ]


async def sync_first(ada: MemberActor, world: World) -> ResponseMessage:
    message = await asked(ada, world, "leaderboard sync", source="first")
    await ada.click(message, label="Apply")
    return message


async def test_an_empty_list_says_what_to_do(world: World) -> None:
    assert "/leaderboard sync" in text(await asked(world.alice, world, "leaderboard list"))


async def test_a_sync_is_shown_first_and_acts_when_it_is_confirmed(
    world: World, ada: MemberActor
) -> None:
    message = await asked(ada, world, "leaderboard sync", source="first")
    assert text(message) == "problems/first\n**1 created**: `first_one`\n0 unchanged"
    assert buttons(message) == ["Apply", "Cancel"]
    assert world.services.catalogue.all() == ()
    await ada.click(message, label="Apply")
    assert text(message) == "problems/first\n**1 created**: `first_one`\n0 unchanged"
    assert (message.message.embeds[0].title, buttons(message)) == ("Leaderboards synced", [])
    assert world.services.catalogue.open_names() == ("first_one",)
    again = await asked(ada, world, "leaderboard sync", source="first")
    assert (again.message.embeds[0].title, buttons(again)) == ("Nothing to change", [])
    (second, first) = await world.services.leaderboards.audit.entries()
    assert (first.who.id, first.who.name, first.who.guild_id) == (
        ada.id,
        "ada",
        world.env.guild.id,
    )
    assert (second.outcome, second.arguments["source"]) == ("1 unchanged", "problems/first")


async def test_changes_are_named_and_those_that_need_it_confirmed_twice(
    world: World, ada: MemberActor, problem: Path
) -> None:
    await sync_first(ada, world)
    change(problem / "task.yml", "{n: 2}", "{n: 3}")
    change(problem.parent / "set.yaml", "gpus: [H200]", "gpus: [H200, B200]")
    message = await asked(ada, world, "leaderboard sync", source="first")
    held = "**skipped** `first_one`: needs confirmation (benchmarks: changed at 1)"
    assert text(message).split("\n") == [
        "problems/first",
        "**updated** `first_one`: gpus: H200 → H200, B200",
        held,
        "0 unchanged",
    ]
    assert buttons(message) == ["Apply", "Apply with what needs confirmation", "Cancel"]
    await ada.click(message, label="Apply with what needs confirmation")
    assert text(message).startswith("**This changes what old results mean.**")
    assert text(message).endswith("`first_one`: benchmarks: changed at 1")
    assert world.services.leaderboards.find("first_one").gpus == ("H200",)
    await ada.click(message, label="Yes, change them")
    assert "benchmarks: changed at 1" in text(message)
    board = world.services.leaderboards.find("first_one")
    assert (board.gpus, board.task.benchmarks[1]) == (("H200", "B200"), {"n": 3})


@pytest.mark.parametrize("way", [["Cancel"], ["Apply with what needs confirmation", "Cancel"]])
async def test_a_cancelled_sync_changes_nothing(
    world: World, ada: MemberActor, problem: Path, way: list[str]
) -> None:
    await sync_first(ada, world)
    before = world.services.catalogue.all()
    change(problem / "task.yml", "{n: 2}", "{n: 3}")
    message = await asked(ada, world, "leaderboard sync", source="first")
    for label in way:
        await ada.click(message, label=label)
    assert (text(message), buttons(message)) == ("Nothing was changed.", [])
    assert world.services.catalogue.all() == before


class Response:
    """What somebody else's press is answered with: Discord shows the message to nobody else."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def is_done(self) -> bool:
        return False

    async def send_message(self, text: str, *, ephemeral: bool) -> None:
        assert ephemeral
        self.said.append(text)


def the_view(world: World) -> discord.ui.view.BaseView:
    (view,) = world.env.bot._connection._view_store._synced_message_views.values()
    return view


async def test_only_the_admin_who_asked_may_press(world: World, ada: MemberActor) -> None:
    message = await asked(ada, world, "leaderboard sync", source="first")
    view = the_view(world)
    response = Response()
    other = SimpleNamespace(user=SimpleNamespace(id=ada.id + 1), response=response)
    assert not await view.interaction_check(other)  # type: ignore[arg-type]
    assert response.said == ["Only the admin who asked for this sync may press its buttons."]
    assert buttons(message) == ["Apply", "Cancel"]


async def test_a_refused_confirmation_can_be_pressed_again(world: World, ada: MemberActor) -> None:
    message = await asked(ada, world, "leaderboard sync", source="first")
    async with alone(world.services.settings.data / LOCK):
        (refused,) = messages(await ada.click(message, label="Apply"))[-1:]
    assert refused.content == "Another sync is under way: try again when it has ended."
    await ada.click(message, label="Apply")
    assert world.services.catalogue.open_names() == ("first_one",)


async def test_what_breaks_under_a_button_is_answered(
    world: World, ada: MemberActor, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = await asked(ada, world, "leaderboard sync", source="first")
    broken = AsyncMock(side_effect=RuntimeError("a bug"))
    monkeypatch.setattr(world.services.leaderboards, "apply", broken)
    (said,) = messages(await ada.click(message, label="Apply"))[-1:]
    assert said.content.startswith("Something broke on our side, not yours.")
    assert [str(error) for error in world.env.errors] == ["a bug"]


async def test_the_buttons_go_when_nobody_presses_them(world: World, ada: MemberActor) -> None:
    message = await asked(ada, world, "leaderboard sync", source="first")
    view = the_view(world)
    await view.on_timeout()
    assert buttons(message) == []


async def test_what_a_broken_problem_costs_is_said_in_the_preview(
    world: World, ada: MemberActor, problem: Path
) -> None:
    change(problem / "task.yml", "lang: py", "lang: @everyone")
    change(problem / "task.yml", "description: one", "description: one\ndeadlin: x")
    message = await asked(ada, world, "leaderboard sync", source="first")
    assert "⚠️ `first_one`: one/task.yml: line" in text(message)
    assert "@everyone" not in text(message)


async def test_a_branch_of_a_repository_in_the_problems_folder(
    world: World, ada: MemberActor, problem: Path
) -> None:
    first = commit(problem.parent)
    git(problem.parent, "branch", "a/b")
    change(problem.parent / "set.yaml", "first_one", "later")
    message = await asked(
        ada, world, "leaderboard sync", source="first", ref="a/b", problem_set="set"
    )
    assert text(message).startswith(f"problems/first at `{first[:12]}`\n**1 created**: `first_one`")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("..", "neither a git URL nor owner/name."),
        ("/etc", "neither a git URL nor owner/name."),
        ("file:///etc", "file is not read, use https or ssh."),
        ("http://10.0.0.1/x", "plain http is not read, use https."),
        ("-x", "expected a folder, a git URL or owner/name."),
        (".", "no competition YAML in it."),
    ],
)
async def test_a_source_that_is_none_is_refused(
    world: World, ada: MemberActor, source: str, said: str
) -> None:
    assert text(await asked(ada, world, "leaderboard sync", source=source)).endswith(said)


@pytest.mark.parametrize("command", ["sync", "close", "open", "override"])
async def test_a_member_may_not(world: World, command: str) -> None:
    options = {} if command == "sync" else {"name": "first_one"}
    shown = text(await asked(world.alice, world, f"leaderboard {command}", **options))
    assert shown.startswith("This command is for admins")
    assert world.services.catalogue.all() == ()
    assert [type(error) for error in world.env.errors] == [NotAdmin]


async def test_the_configured_role_counts_as_admin(world: World) -> None:
    role = world.env.guild.create_role("Crew")
    structs.force_setattr(world.services.settings, "admin_role", role.id)
    member = world.env.guild.add_member(world.env.create_user("kim"), roles=[role])
    assert "1 created" in text(await asked(member, world, "leaderboard sync", source="first"))


async def test_list_and_show(world: World, ada: MemberActor) -> None:
    await sync_first(ada, world)
    line = text(await asked(world.alice, world, "leaderboard list"))
    assert line == f"**first_one** · `H200` · 2 shapes · until <t:{DEADLINE}:f>"
    message = await asked(world.alice, world, "leaderboard show", name="FIRST_one")
    facts = {field.name: field.value for field in message.message.embeds[0].fields}
    assert text(message) == "```\n 0  n: 1\n 1  n: 2\n```"
    assert facts["State"] == "open"
    assert facts["GPUs"] == "`H200`"
    assert facts["Deadline"] == f"<t:{DEADLINE}:f> (<t:{DEADLINE}:R>)"
    assert (facts["Profiles"] or "").startswith("❔ may work: the evaluator's source does not tell")
    assert "`eval.py`: nothing in it" in (facts["Profiles"] or "")
    assert facts["Comes from"] == "problems/first · `one`\nno commit"
    assert facts["Starter file"] == "Python · /leaderboard template"


async def test_a_name_that_is_none_gets_the_nearest(world: World, ada: MemberActor) -> None:
    await sync_first(ada, world)
    for command in ("show", "template", "history"):
        shown = text(await asked(world.alice, world, f"leaderboard {command}", name="frist_one"))
        assert shown == 'No leaderboard "frist_one"; did you mean first_one?'


async def test_closing_and_opening(world: World, ada: MemberActor) -> None:
    await sync_first(ada, world)
    shown = text(await asked(ada, world, "leaderboard close", name="first_one"))
    assert shown == "`first_one` is closed until an admin opens it."
    assert "· closed" in text(await asked(world.alice, world, "leaderboard list"))
    message = await asked(world.alice, world, "leaderboard show", name="first_one")
    assert message.message.embeds[0].fields[0].value == "closed by an admin"
    assert text(await asked(ada, world, "leaderboard open", name="first_one")) == (
        "`first_one` is open."
    )
    assert world.services.catalogue.open_names() == ("first_one",)


async def test_the_check_can_be_overruled(world: World, ada: MemberActor) -> None:
    await sync_first(ada, world)
    shown = text(await asked(ada, world, "leaderboard override", name="first_one"))
    assert shown == "Profiles of `first_one` run whatever the check says."
    message = await asked(world.alice, world, "leaderboard show", name="first_one")
    facts = {field.name: field.value for field in message.message.embeds[0].fields}
    assert (facts["Profiles"] or "").endswith("An admin lets them run all the same.")
    await asked(ada, world, "leaderboard override", name="first_one", allowed=False)
    assert not world.services.leaderboards.find("first_one").check_overridden


async def test_history_says_what_changed_and_who_did_what(
    world: World, ada: MemberActor, problem: Path
) -> None:
    await sync_first(ada, world)
    change(problem / "task.yml", "description: one", "description: two")
    await sync_first(ada, world)
    await asked(ada, world, "leaderboard close", name="first_one")
    shown = text(await asked(world.alice, world, "leaderboard history", name="first_one"))
    lines = shown.split("\n")
    assert lines[1].startswith("2. <t:")
    assert lines[1].endswith("description: changed")
    assert lines[2].endswith("first state")
    assert lines[-1].endswith(f"<@{ada.id}> `/leaderboard close`")


async def test_a_starter_file_comes_as_an_attachment(world: World, ada: MemberActor) -> None:
    await sync_first(ada, world)
    message = await asked(world.alice, world, "leaderboard template", name="first_one")
    (file,) = message.attachments
    assert file.filename == "first_one.py"
    expected = b"#!POPCORN leaderboard first_one\ndef custom_kernel(data): ...\n"
    assert await file.read() == expected
    refused = await asked(
        world.alice, world, "leaderboard template", name="first_one", language="HIP"
    )
    assert text(refused) == "first_one has no starter file in HIP: choose one of Python."


async def test_names_are_completed_by_what_the_command_is_for(
    world: World, ada: MemberActor
) -> None:
    await sync_first(ada, world)
    message = await asked(ada, world, "leaderboard sync", source="second")
    await ada.click(message, label="Apply")
    await asked(ada, world, "leaderboard close", name="first_one")
    for command, expected in (
        ("show", ["first_one", "second_one"]),
        ("history", ["first_one", "second_one"]),
        ("close", ["second_one"]),
        ("open", ["first_one"]),
    ):
        shown = await ada.autocomplete(world.channel, f"leaderboard {command}", "name", "one")
        assert [choice["value"] for choice in shown] == expected
