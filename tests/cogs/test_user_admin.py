"""/user, as an admin sees it, and what those see whom it is about."""

import discord
import pytest
from msgspec import structs
from simcord.actors import MemberActor
from simcord.results import ResponseMessage

from bot.accounts.quota import Quota
from bot.answers import NotAdmin, NotLetIn
from bot.settings import BotSettings
from tests.cogs.conftest import World, messages
from tests.cogs.test_delivery import started
from tests.standin.problem import replaying

CAPTURE = replaying("ok-geqrf-four-kernels")
BANNED = "You may not use this bot (spam): ask an admin."


@pytest.fixture
def settings(settings: BotSettings) -> BotSettings:
    """Return settings with a quota."""
    return structs.replace(settings, quotas=(Quota(jobs=1, window=86_400, gpu="H200"),))


@pytest.fixture
def ada(world: World) -> MemberActor:
    """Return an admin who has no account."""
    permissions = discord.Permissions(manage_guild=True)
    role = world.env.guild.create_role("Organisers", permissions=permissions)
    return world.env.guild.add_member(world.env.create_user("ada"), roles=[role])


async def typed(world: World, who: MemberActor, command: str, **options: object) -> ResponseMessage:
    """Let somebody type a /user command about alice; return the one answer."""
    result = await who.slash(world.channel, f"user {command}", user=world.alice, **options)
    (message,) = messages(result)
    return message


def shown(message: ResponseMessage) -> str:
    """Return the text of an embed and of its fields."""
    embed = message.embeds[0]
    return "\n".join([embed.description or "", *(field.value or "" for field in embed.fields)])


async def test_a_ban_is_told_its_reason_and_lifted(world: World, ada: MemberActor) -> None:
    assert (await typed(world, ada, "ban", reason="spam")).content == "`alice` is banned."
    assert await world.refused(CAPTURE) == BANNED
    assert [type(error) for error in world.env.errors] == [NotLetIn]
    assert (await typed(world, ada, "unban")).content == "`alice` may use the bot again."
    assert (await typed(world, ada, "unban")).content == "`alice` was not banned."
    (reply, *_) = await world.profile(CAPTURE)
    assert reply.embeds[0].title == "qr_v2 · benchmark 0"


async def test_nobody_bans_themselves(world: World, ada: MemberActor) -> None:
    world.alice = ada
    said = (await typed(world, ada, "ban", reason="x")).content
    assert said == "Option user cannot be used: it is yourself."


async def test_show_has_account_quota_ban_and_what_admins_did(
    world: World, ada: MemberActor
) -> None:
    await world.profile(CAPTURE)
    await typed(world, ada, "ban", reason="spam")
    text = shown(await typed(world, ada, "show"))
    assert text.startswith("**Banned** <t:")
    assert f"by {ada.id}: spam" in text
    assert f"`alice` ({world.alice.id})" in text
    assert "1 profile stored" in text
    assert "1 job in 1 day on H200: 1 used, the next is free <t:" in text
    assert "ban by ada" in text


async def test_a_quota_is_another_one_for_one_user(world: World, ada: MemberActor) -> None:
    await world.profile(CAPTURE)
    offered = await ada.autocomplete(world.channel, "user quota", "rule", "H200")
    (rule,) = [choice["value"] for choice in offered]
    said = shown(await typed(world, ada, "quota", rule=rule, jobs=2))
    assert "2 jobs in 1 day on H200: 1 used" in said
    (reply, *_) = await world.profile(CAPTURE)
    assert reply.embeds[0].title == "qr_v2 · benchmark 0"
    assert "come back" in await world.refused(CAPTURE)
    assert "1 job in 1 day on H200: 2 used" in shown(await typed(world, ada, "quota", rule=rule))
    at_once = await ada.autocomplete(world.channel, "user quota", "rule", "at once")
    assert [choice["name"] for choice in at_once] == ["10 jobs at once"]
    said = shown(await typed(world, ada, "quota", rule=at_once[0]["value"], jobs=0))
    assert said.startswith("0 jobs at once: 0 under way")
    assert "0 jobs under way, which is as many" in await world.refused(CAPTURE)
    wrong = await typed(world, ada, "quota", rule="everything", jobs=2)
    assert "choose one of those that are offered" in wrong.content


async def test_what_admins_do_is_audited_with_its_arguments(world: World, ada: MemberActor) -> None:
    await typed(world, ada, "ban", reason="spam")
    await typed(world, ada, "unban")
    await typed(world, ada, "unban")
    await typed(world, ada, "quota", rule="under-way", jobs=3)
    entries = await world.services.members.entries(world.alice.id)
    assert [(entry.action, entry.arguments, entry.outcome) for entry in entries] == [
        ("quota", {"rule": "under-way", "jobs": 3}, "done"),
        ("unban", {}, "was not banned"),
        ("unban", {}, "done"),
        ("ban", {"reason": "spam"}, "done"),
    ]
    assert {(entry.who.id, entry.who.name) for entry in entries} == {(ada.id, "ada")}


async def test_members_may_not(world: World) -> None:
    every: dict[str, dict[str, str]] = {
        "ban": {"reason": "x"},
        "unban": {},
        "show": {},
        "quota": {"rule": "x"},
    }
    for command, options in every.items():
        said = (await typed(world, world.alice, command, **options)).content
        assert said.startswith("This command is for admins")
    assert {type(error) for error in world.env.errors} == {NotAdmin}


async def test_a_ban_ends_what_is_under_way(world: World, ada: MemberActor) -> None:
    progress = await started(world, replaying("ok-triton-1024", lag_s=30))
    banned = await typed(world, ada, "ban", reason="spam")
    assert banned.content == "`alice` is banned; 1 under way cancelled."
    stored = world.env.backend.messages[world.channel.id][progress.id]
    final = ResponseMessage(world.env, stored)
    assert final.embeds[0].title == "qr_v2 · benchmark 0: cancelled"
