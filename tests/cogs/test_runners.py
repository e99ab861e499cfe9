"""/runners, as admins see it, and what they are told of outages."""

import logging
from dataclasses import replace

import discord
import pytest
from msgspec import structs
from simcord.actors import MemberActor
from simcord.results import ResponseMessage

from bot.jobs.errors import RunnerDown
from bot.services import Services
from tests.cogs.conftest import World, messages
from tests.cogs.test_delivery import shown


@pytest.fixture
def ada(world: World) -> MemberActor:
    """Return a member with Manage Server."""
    permissions = discord.Permissions(manage_guild=True)
    role = world.env.guild.create_role("Organisers", permissions=permissions)
    return world.env.guild.add_member(world.env.create_user("ada"), roles=[role])


async def typed(world: World, actor: MemberActor, command: str, **options: str) -> ResponseMessage:
    (message,) = messages(await actor.slash(world.channel, f"runners {command}", **options))
    return message


def out(services: Services) -> None:
    """Let the runner give no answer twice."""
    for _ in range(2):
        services.runners.did_not_answer("embedded", RunnerDown("embedded"))


async def test_the_list_shows_state_queue_versions_and_the_last_failure(
    world: World, ada: MemberActor
) -> None:
    text = (await typed(world, ada, "list")).embeds[0].description or ""
    first, queue, versions = text.splitlines()
    assert first.startswith("`embedded` · H200 · **well** · asked <t:")
    assert queue == "0 waiting, 0 of 1 running"
    assert versions.startswith("engine local · ")
    assert "ncu " in versions
    out(world.services)
    text = (await typed(world, ada, "list")).embeds[0].description or ""
    assert "· **down** ·" in text
    assert text.splitlines()[-1].startswith("last failure <t:")
    assert "Runner embedded does not answer" in text


async def test_a_drained_runner_gets_no_job_until_it_is_put_back(
    world: World, ada: MemberActor
) -> None:
    said = await typed(world, ada, "drain", name="embedded")
    assert said.content == (
        "Runner `embedded` gets no new jobs; what it has goes on. No other runner takes jobs for "
        "H200 now."
    )
    refusal = await world.refused(leaderboard="qr_v2", gpu="H200")
    assert refusal.startswith("No runner of this server has H200 at the moment")
    assert "**drained**" in ((await typed(world, ada, "list")).embeds[0].description or "")
    offered = await ada.autocomplete(world.channel, "runners resume", "name", "EMB")
    assert [choice["value"] for choice in offered] == ["embedded"]
    assert await ada.autocomplete(world.channel, "runners drain", "name", "") == []
    said = await typed(world, ada, "resume", name="embedded")
    assert said.content == "Runner `embedded` gets new jobs again."
    assert world.services.runners.gpus() == ("H200",)
    await typed(world, ada, "resume", name="embedded")
    entries = await world.services.audit.entries("embedded")
    assert [(entry.action, entry.outcome, entry.who.id) for entry in entries] == [
        ("runners resume", "was not drained", ada.id),
        ("runners resume", "resumed", ada.id),
        ("runners drain", "drained", ada.id),
    ]


async def test_a_name_that_is_none_is_refused(world: World, ada: MemberActor) -> None:
    for command in ("drain", "resume"):
        said = await typed(world, ada, command, name="x")
        assert said.content == 'No runner "x"; there are embedded.'


async def test_admins_are_told_in_their_channel(world: World) -> None:
    services = world.services
    cog = world.env.bot.get_cog("Runners")  # type: ignore[attr-defined]
    settings = structs.replace(services.settings, admin_channel=world.channel.id)
    cog.services = replace(services, settings=settings)
    out(services)
    await services.watch._tell()
    await services.watch._tell()
    (told,) = shown(world)
    assert told.content.startswith("H200 has no runner left, so no job for it is taken;")
    assert "Runner embedded does not answer" in told.content
    await services.watch.look()
    assert [message.content for message in shown(world)][1:] == ["H200 has a runner again."]


async def test_without_a_channel_that_can_be_told_it_stands_in_the_log(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    cog = world.env.bot.get_cog("Runners")  # type: ignore[attr-defined]
    with caplog.at_level(logging.WARNING):
        assert await cog.announce("one")
        settings = structs.replace(world.services.settings, admin_channel=4)
        cog.services = replace(world.services, settings=settings)
        assert await cog.announce("two")
        world.env.inject_error("GET", "/channels/*", status=503, times=9)
        assert not await cog.announce("three")
    assert "one" in caplog.text
    assert "two (the admin channel could not be told" in caplog.text
