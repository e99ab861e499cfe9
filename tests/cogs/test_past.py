"""/profiles list, show, files, cancel and delete, as their author and admins see them."""

from datetime import UTC, datetime, timedelta

import discord
import pytest
from simcord.actors import MemberActor
from simcord.results import ResponseMessage

from bot.jobs.model import JobPhase, Whose
from bot.services import open_services
from cogs.past_view import NOT_YOURS, list_view
from tests.cogs.conftest import World, messages
from tests.cogs.test_delivery import shown as in_channel
from tests.cogs.test_delivery import started
from tests.jobs.past import Past
from tests.standin.problem import replaying

CAPTURE = replaying("ok-triton-1024")
NOW = datetime.now(UTC)


@pytest.fixture
def past(world: World) -> Past:
    return Past(world.services, world.alice.id)


@pytest.fixture
def ada(world: World) -> MemberActor:
    """Return a member with Manage Server."""
    permissions = discord.Permissions(manage_guild=True)
    role = world.env.guild.create_role("Organisers", permissions=permissions)
    return world.env.guild.add_member(world.env.create_user("ada"), roles=[role])


async def typed(
    world: World, command: str, actor: MemberActor | None = None, **options: object
) -> list[ResponseMessage]:
    """Let alice, or another one, type a command; return all answers."""
    result = await (actor or world.alice).slash(world.channel, f"profiles {command}", **options)
    return messages(result)


async def said(
    world: World, command: str, actor: MemberActor | None = None, **options: object
) -> str:
    (message,) = await typed(world, command, actor, **options)
    return message.content.replace("\\", "").replace("\u200b", "")


async def offered(world: World, command: str) -> list[str]:
    choices = await world.alice.autocomplete(world.channel, f"profiles {command}", "job", "")
    return [choice["value"] for choice in choices]


def shown(message: ResponseMessage) -> tuple[list[str], str]:
    """Return the lines of a list, and what stands under it, as they are now."""
    (embed,) = message.message.embeds
    return (embed.description or "").splitlines(), embed.footer.text or ""


async def test_a_list_is_turned_page_by_page(world: World, past: Past) -> None:
    jobs = [await past.job(at=NOW - timedelta(hours=hours)) for hours in range(12)]
    (listed,) = await typed(world, "list")
    lines, footer = shown(listed)
    assert [line[1:9] for line in lines] == [job[:8] for job in jobs[:10]]
    assert footer == "12 jobs · page 1 of 2"
    await world.alice.click(listed, label="Older")
    assert [line[1:9] for line in shown(listed)[0]] == [job[:8] for job in jobs[10:]]
    await world.alice.click(listed, label="Newer")
    assert shown(listed)[1] == "12 jobs · page 1 of 2"


async def test_an_empty_list_says_what_to_do(world: World) -> None:
    (listed,) = await typed(world, "list")
    assert shown(listed) == (["Nothing yet: /profile makes the first."], "0 jobs · page 1 of 1")


async def test_a_job_is_shown_again_with_all_that_it_had(world: World) -> None:
    first = await world.profile(CAPTURE)
    (job,) = await offered(world, "show")
    again = await typed(world, "show", job=job[:8])
    assert [message.content for message in again] == [message.content for message in first]
    assert [message.embeds[0].title for message in again] == [
        message.embeds[0].title for message in first
    ]
    assert again[0].components


async def test_files_are_sent_again(world: World) -> None:
    (reply,) = await world.profile(CAPTURE)
    (job,) = await offered(world, "files")
    (again,) = await typed(world, "files", job=job)
    assert {file.filename for file in again.attachments} >= {
        file.filename for file in reply.attachments
    }
    assert (again.embeds[0].title or "") == "Files of qr_v2 on H200"


async def test_an_upload_that_is_refused_is_sent_lighter(world: World) -> None:
    await world.profile(CAPTURE)
    (job,) = await offered(world, "files")
    world.env.inject_error("PATCH", "/webhooks/*/messages/@original", status=413, code=40005)
    (again,) = await typed(world, "files", job=job)
    assert "Discord refused the upload as too large" in (again.embeds[0].description or "")
    assert again.attachments


async def test_deleted_is_deleted(world: World) -> None:
    await world.profile(CAPTURE)
    (job,) = await offered(world, "delete")
    assert (await said(world, "delete", job=job)).startswith(f"Job `{job[:8]}` is deleted here")
    assert not (world.services.settings.data / "jobs" / job).exists()
    assert await offered(world, "show") == []
    assert (await said(world, "show", job=job)).startswith("You have no job")


async def test_a_job_under_way_is_offered_for_cancelling_alone(world: World, past: Past) -> None:
    job = await past.job(JobPhase.QUEUED)
    assert await offered(world, "cancel") == [job]
    assert await offered(world, "delete") == []
    refusal = f"Job {job[:8]} is still queued: wait for its reply, or end it with /profiles cancel."
    for command in ("delete", "show", "files"):
        assert await said(world, command, job=job) == refusal


async def test_what_is_over_cannot_be_cancelled(world: World, past: Past) -> None:
    job = await past.job()
    assert (await said(world, "cancel", job=job)).startswith(f"Job {job[:8]} has ended already")


async def test_a_running_job_is_cancelled(world: World) -> None:
    progress = await started(world, replaying("ok-triton-1024", lag_s=30))
    job = progress.components[0]["components"][0]["custom_id"].rpartition(":")[2]
    answer = await said(world, "cancel", job=job)
    assert answer == f"Job `{job[:8]}` ends; what it captured so far is delivered."
    assert in_channel(world)[0].embeds[0].title == "qr_v2 · benchmark 0: cancelled"


async def test_nobody_else_sees_them_and_an_admin_only_by_the_option_that_is_noted(
    world: World, past: Past, ada: MemberActor
) -> None:
    here, elsewhere = await past.job(guild_id=world.env.guild.id), await past.job(guild_id=1)
    bob = world.env.guild.add_member(world.env.create_user("bob"))
    alice = world.alice
    assert "Option user is for admins" in await said(world, "list", bob, user=alice)
    assert (await said(world, "show", ada, job=here)).startswith("You have no job")
    (listed,) = await typed(world, "list", ada, user=alice)
    assert [line[1:9] for line in shown(listed)[0]] == [here[:8]]
    assert (await said(world, "files", ada, job=elsewhere, user=alice)).startswith("You have no")
    (again,) = await typed(world, "show", ada, job=here, user=alice)
    assert not again.components
    await said(world, "delete", ada, job=here, user=alice)
    assert (await past.row(here)).deleted_at is not None
    entries = await world.services.audit.entries(str(world.alice.id))
    noted = [(entry.action, entry.who.name, entry.outcome) for entry in reversed(entries)]
    assert noted == [
        ("profiles list", "ada", "done"),
        ("profiles files", "ada", "failed: NotYours"),
        ("profiles show", "ada", "done"),
        ("profiles delete", "ada", "done"),
    ]
    assert entries[0].arguments == {"job": here}


async def test_buttons_of_a_list_work_after_a_restart_and_for_its_reader_alone(
    world: World, past: Past, ada: MemberActor
) -> None:
    for hours in range(12):
        await past.job(at=NOW - timedelta(hours=hours), guild_id=world.env.guild.id)
    (listed,) = await typed(world, "list", ada, user=world.alice)
    cog = world.env.bot.get_cog("Profiles")  # type: ignore[attr-defined]
    newer = await open_services(world.services.settings)
    cog.services = newer
    await ada.click(listed, label="Older")
    assert shown(listed)[1] == "12 jobs · page 2 of 2"
    entries = await newer.audit.entries(str(world.alice.id))
    cog.services = world.services
    await newer.close()
    assert [entry.arguments for entry in entries] == [{"page": 1}, {}]


async def test_nobody_else_turns_the_pages(world: World, past: Past) -> None:
    for _ in range(11):
        await past.job()
    page = await world.services.history.page(Whose(world.alice.id), 0)
    channel = world.env.bot.get_channel(world.channel.id)
    assert isinstance(channel, discord.TextChannel)
    await channel.send("forwarded", view=list_view(page, world.alice.id, world.alice.id))
    bob = world.env.guild.add_member(world.env.create_user("bob"))
    (refusal,) = messages(await bob.click(in_channel(world)[-1], label="Older"))
    assert refusal.content == NOT_YOURS
