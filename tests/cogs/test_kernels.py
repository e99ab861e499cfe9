"""The kernel picker, as the author uses it, before and after a restart of the bot."""

import shutil

import discord
import pytest
from simcord.results import ResponseMessage

from bot.reports.picker import TABLE, Choice, Picker
from bot.services import open_services
from cogs.picking import GONE, NOT_THERE, picker_view
from tests.cogs.conftest import World
from tests.standin.problem import replaying

CAPTURE = replaying("ok-geqrf-four-kernels")


def options(message: ResponseMessage) -> dict[str, bool]:
    """Return the values of the picker, and which of them is shown as chosen."""
    menu = message.components[0]["components"][0]
    return {option["value"]: bool(option.get("default")) for option in menu["options"]}


def again(world: World, message: ResponseMessage) -> ResponseMessage:
    """Return the message as it stands now."""
    return ResponseMessage(world.env, world.env.backend.messages[world.channel.id][message.id])


async def test_a_kernel_takes_the_tables_place_and_gives_it_back(world: World) -> None:
    (reply,) = await world.profile(CAPTURE)
    table, files = reply.content, [file.filename for file in reply.attachments]
    assert options(reply) == {"kernel:0": False, "kernel:1": False, "kernel:2": False}
    await world.alice.select(reply, ["kernel:0"])
    shown = again(world, reply)
    assert shown.content.startswith("```\ngeqr2_batch_kernel_shmem\n")
    assert "speed of light" in shown.content
    assert "warp stalls" in shown.content
    assert len(shown.content) <= 2_000
    assert options(shown) == {TABLE: False, "kernel:0": True, "kernel:1": False, "kernel:2": False}
    assert [file.filename for file in shown.attachments] == files
    assert shown.embeds[0].title == reply.embeds[0].title
    await world.alice.select(shown, ["kernel:1"])
    assert again(world, reply).content.startswith("```\nelementwise_kernel_with_index\n")
    await world.alice.select(again(world, reply), [TABLE])
    assert again(world, reply).content == table


async def test_it_works_after_a_restart_of_the_bot(world: World) -> None:
    (reply,) = await world.profile(CAPTURE)
    bot = world.env.bot
    assert bot._connection._view_store._synced_message_views == {}
    # A fresh process knows the menu by its custom id alone.
    bot._connection._view_store._dynamic_items.clear()
    await bot.reload_extension("cogs.kernels")  # type: ignore[attr-defined]
    await world.alice.select(reply, ["kernel:2"])
    assert again(world, reply).content.startswith("```\nelementwise_kernel\n")


async def test_the_result_of_another_process_is_read_from_the_disk(world: World) -> None:
    (reply,) = await world.profile(CAPTURE)
    services = await open_services(world.services.settings)
    outcome = await services.jobs.load(job_of(reply), world.alice.id, 0)
    await services.close()
    report = outcome.benchmarks[0].report
    assert report is not None
    assert report.launches == 4


async def test_nobody_but_the_author_may_choose(world: World) -> None:
    (reply,) = await world.profile(CAPTURE)
    bob = world.env.guild.add_member(world.env.create_user("bob"))
    menu = Picker(job_id=job_of(reply), benchmark=0, choices=(Choice("kernel:0", "1. k"),))
    channel = world.env.bot.get_channel(world.channel.id)
    assert isinstance(channel, discord.TextChannel)
    posted = await channel.send("forwarded", view=picker_view(menu))
    (refusal,) = (await bob.select(posted, ["kernel:0"])).followups
    assert refusal.content.startswith("You have no job")
    assert refusal.ephemeral


async def test_a_kernel_that_the_report_lacks_is_told(world: World) -> None:
    (reply,) = await world.profile(CAPTURE)
    menu = Picker(job_id=job_of(reply), benchmark=0, choices=(Choice("kernel:99", "100. k"),))
    channel = world.env.bot.get_channel(world.channel.id)
    assert isinstance(channel, discord.TextChannel)
    posted = await channel.send("old", view=picker_view(menu))
    (told,) = (await world.alice.select(posted, ["kernel:99"])).followups
    assert told.content == NOT_THERE


async def test_what_breaks_is_answered(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret")

    (reply,) = await world.profile(CAPTURE)
    monkeypatch.setattr("cogs.picking.view_of", broken)
    (told,) = (await world.alice.select(reply, ["kernel:0"])).followups
    assert told.content.startswith("Something broke on our side")


def job_of(reply: ResponseMessage) -> str:
    """Return the id of the job that the menu under a reply is about."""
    return str(reply.components[0]["components"][0]["custom_id"]).split(":")[2]


async def test_it_turns_itself_off_when_the_files_are_gone(world: World) -> None:
    (reply,) = await world.profile(CAPTURE)
    shutil.rmtree(world.services.settings.data / "jobs")
    (answer,) = (await world.alice.select(reply, ["kernel:0"])).followups
    assert answer.ephemeral
    assert answer.content.startswith(f"{GONE}; its table and files here stay.")
    shown = again(world, reply)
    assert shown.content == reply.content
    menu = shown.components[0]["components"][0]
    assert menu["disabled"]
    assert menu["placeholder"] == GONE
