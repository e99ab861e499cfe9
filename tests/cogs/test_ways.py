"""The ways past the interaction, as their author and the server see them."""

from dataclasses import replace

import discord
import pytest
from simcord.results import ResponseMessage

from cogs.cancelling import office_of
from tests.cogs.conftest import World
from tests.standin.problem import replaying

CAPTURE = replaying("ok-geqrf-four-kernels")
TITLE = "qr_v2 · benchmark 0"
REPLY = ("PATCH", "/webhooks/*")
DIRECT = ("POST", "/channels/*/messages")
THREADS = ("POST", "/channels/*/threads")
EXPIRED = (401, 50027)
UNKNOWN = (404, 10015)
CLOSED = (403, 50007)


@pytest.fixture(autouse=True)
async def impatient(world: World) -> None:
    """Let no time pass between tries."""
    office = office_of(world.env.bot)
    office._tools = replace(office._tools, waits_s=(0, 0), pause_s=0)


def fails(world: World, call: tuple[str, str], answer: tuple[int, int], times: int | None) -> None:
    method, path = call
    status, code = answer
    world.env.inject_error(method, path, status=status, code=code, times=times)


def kind_of(number: int) -> str:
    return discord.ChannelType(int(number)).name


def stand(world: World) -> list[tuple[str, str]]:
    """Return where results stand: the kind of place, and their titles."""
    found = []
    for channel_id, stored in world.env.backend.messages.items():
        kind = kind_of(world.env.backend.get_channel(channel_id).type)
        for number in sorted(stored):
            message = ResponseMessage(world.env, stored[number])
            titles = [embed.title or "" for embed in message.embeds]
            found += [(kind, title) for title in titles if "benchmark" in title]
    return found


@pytest.mark.parametrize("answer", [EXPIRED, (500, 0)])
async def test_an_interaction_that_takes_no_edit_gives_way_to_direct_messages(
    world: World, answer: tuple[int, int]
) -> None:
    fails(world, REPLY, answer, None)
    await world.profile(CAPTURE)
    assert stand(world) == [("private", TITLE)]


async def test_an_interaction_that_expires_midway_leaves_the_rest_to_direct_messages(
    world: World,
) -> None:
    fails(world, ("POST", "/webhooks/*"), EXPIRED, None)
    await world.profile(replaying("ok-triton-1024"), benchmark=None)
    assert sorted(stand(world)) == [
        *(("private", f"qr_v2 · benchmark {index}") for index in range(1, 5)),
        ("text", "qr_v2 · benchmark 0"),
    ]


@pytest.mark.parametrize("answer", [CLOSED, (429, 0)])
async def test_closed_direct_messages_give_way_to_a_private_thread(
    world: World, answer: tuple[int, int]
) -> None:
    fails(world, REPLY, EXPIRED, None)
    fails(world, DIRECT, answer, 3 if answer[0] >= 429 else 1)
    await world.profile(CAPTURE)
    assert stand(world) == [("private_thread", TITLE)]
    (thread,) = [
        channel
        for channel in world.env.backend.channels.values()
        if kind_of(channel.type) == "private_thread"
    ]
    assert world.alice.id in thread.thread_members


async def test_without_any_way_the_next_command_tells_of_it(world: World) -> None:
    fails(world, REPLY, UNKNOWN, None)
    fails(world, DIRECT, CLOSED, None)
    fails(world, THREADS, (403, 50013), None)
    await world.profile(CAPTURE)
    assert stand(world) == []
    told = await world.alice.slash(world.channel, "leaderboard list")
    (note,) = [one for one in told.followups if "could not be reached" in one.content]
    assert note.ephemeral
    assert "qr\\_v2 on H200" in note.content
    again = await world.alice.slash(world.channel, "leaderboard list")
    assert again.followups == []


async def test_a_note_that_could_not_be_sent_comes_with_the_command_after(world: World) -> None:
    fails(world, REPLY, UNKNOWN, None)
    fails(world, DIRECT, CLOSED, None)
    fails(world, THREADS, (403, 50013), None)
    await world.profile(CAPTURE)
    fails(world, ("POST", "/webhooks/*"), (500, 0), 1)
    unheard = await world.alice.slash(world.channel, "leaderboard list")
    assert unheard.followups == []
    told = await world.alice.slash(world.channel, "leaderboard list")
    (note,) = told.followups
    assert "could not be reached" in note.content


@pytest.mark.parametrize(
    ("answer", "times"), [((403, 50013), None), ((413, 40005), None), ((429, 0), 1), ((500, 0), 4)]
)
async def test_a_server_that_does_not_list_its_threads(
    world: World, answer: tuple[int, int], times: int | None
) -> None:
    fails(world, REPLY, EXPIRED, None)
    fails(world, DIRECT, CLOSED, 1)
    fails(world, ("GET", "/guilds/*/threads/active"), answer, times)
    await world.profile(CAPTURE)
    passes = times is not None
    assert stand(world) == [("private_thread", TITLE)] * passes
    told = await world.alice.slash(world.channel, "leaderboard list")
    notes = [one.content for one in told.followups]
    assert len(notes) == (not passes)


async def test_a_server_that_forbids_attachments_is_told_before_anything_is_queued(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    denied = discord.PermissionOverwrite(attach_files=False, create_private_threads=False)
    world.channel = world.env.guild.create_text_channel(
        "strict", overwrites={world.env.guild.default_role: denied}
    )
    said = await world.refused(CAPTURE)
    assert "the bot lacks Attach Files" in said
    assert "an admin must allow it" in said
    assert "the bot lacks Attach Files, Create Private Threads" in caplog.text
    async with world.services.jobs._database.engine.connect() as connection:
        assert (await connection.exec_driver_sql("SELECT count(*) FROM jobs")).scalar() == 0
