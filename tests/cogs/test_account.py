"""/register, /whoami and /unregister, as people see them."""

from pathlib import Path

import pytest
from msgspec import structs
from simcord.results import InteractionResult, ResponseMessage

from bot.accounts.quota import Quota
from bot.settings import BotSettings
from cogs.account_texts import (
    KNOWN,
    LEAVE,
    LINKED,
    LINKED_BEFORE,
    NOBODY,
    UNLINKED,
    WELCOME,
)
from cogs.leaving import STAYED
from tests.cogs.conftest import World, messages
from tests.cogs.test_delivery import started
from tests.standin.problem import replaying

CAPTURE = replaying("ok-geqrf-four-kernels")


@pytest.fixture
def settings(settings: BotSettings) -> BotSettings:
    """Return settings with a quota and rules of the operator's own."""
    quotas = (Quota(jobs=1, window=86_400, gpu="H200"), Quota(jobs=50, window=604_800))
    return structs.replace(settings, quotas=quotas, rules="Be kind.")


def again(world: World, message: ResponseMessage) -> ResponseMessage:
    """Return the message as it stands now."""
    return ResponseMessage(world.env, world.env.backend.messages[world.channel.id][message.id])


def folders(world: World) -> list[Path]:
    """Return the folders of the jobs that have files."""
    return [path for path in (world.services.settings.data / "jobs").iterdir() if path.is_dir()]


def fields(message: ResponseMessage) -> dict[str, str]:
    """Return the text and the fields of a message's embed by their headings."""
    embed = message.embeds[0]
    named = {field.name or "": field.value or "" for field in embed.fields}
    return {embed.title or "": embed.description or "", **named}


async def typed(world: World, command: str, **options: str) -> ResponseMessage:
    """Let alice type a command; return the one answer."""
    result: InteractionResult = await world.alice.slash(world.channel, command, **options)
    (message,) = messages(result)
    return message


async def test_registering_makes_an_account_once(world: World) -> None:
    world.alice = bob = world.env.guild.add_member(world.env.create_user("bob"))
    assert not await world.services.accounts.is_registered(bob.id)
    assert (await typed(world, "register")).content == WELCOME
    assert (await typed(world, "register")).content == KNOWN
    assert await world.services.accounts.is_registered(bob.id)


async def test_it_shows_quotas_rules_and_what_is_stored(world: World) -> None:
    shown = fields(await typed(world, "register"))
    assert shown["What you may use"].splitlines() == [
        "10 jobs at once: 0 under way",
        "1 job in 1 day on H200: 0 used",
        "50 jobs in 7 days: 0 used",
    ]
    assert shown["Rules"].startswith("Be kind.\nA job that fails by a fault of this server")
    assert "Your Discord id and name" in shown["What is stored"]
    assert "/unregister deletes it" in shown["What is stored"]


async def test_a_spent_quota_refuses_and_says_when_in_discords_own_form(world: World) -> None:
    await world.profile(CAPTURE)
    said = await world.refused(CAPTURE)
    assert said.startswith("You have used your 1 job in 1 day on H200: come back <t:")
    assert said.endswith(":R>.")
    (used, free) = (
        fields(await typed(world, "whoami"))["What you may use"].splitlines()[1].split(",")
    )
    assert used == "1 job in 1 day on H200: 1 used"
    assert free.startswith(" the next is free <t:")


async def test_a_terminal_is_linked_replaced_and_revoked(world: World) -> None:
    accounts = world.services.accounts
    first, second = await accounts.offer_cli_id(), await accounts.offer_cli_id()
    assert (await typed(world, "register", cli_id=f"cli_id: {first}")).content == LINKED
    assert (await typed(world, "register", cli_id=first)).content == LINKED_BEFORE
    assert (await typed(world, "register", cli_id=second)).content == LINKED
    assert await accounts.user_of_cli_id(first) is None
    shown = await typed(world, "whoami")
    assert "popcorn-cli speaks for you" in shown.content
    await world.alice.click(shown, label="Unlink popcorn-cli")
    assert again(world, shown).content == UNLINKED
    assert await accounts.user_of_cli_id(second) is None


async def test_what_cannot_be_linked_gets_one_sentence(world: World) -> None:
    accounts = world.services.accounts
    taken = await accounts.offer_cli_id()
    await accounts.register(5, "eve")
    await accounts.link(5, taken)
    assert "belongs to another account" in (await typed(world, "register", cli_id=taken)).content
    unknown = "0f8fad5b-d9cb-469f-a165-70867728950e"
    assert "did not hand out that" in (await typed(world, "register", cli_id=unknown)).content
    assert "No popcorn-cli id was found" in (await typed(world, "register", cli_id="x")).content


async def test_whoami_names_the_account(world: World) -> None:
    await world.profile(CAPTURE)
    lines = (await typed(world, "whoami")).content.splitlines()
    assert lines[0] == f"`alice` ({world.alice.id})"
    assert lines[1].startswith("since <t:")
    assert lines[2:] == ["1 profile stored", "popcorn-cli is not linked"]
    world.alice = world.env.guild.add_member(world.env.create_user("bob"))
    assert (await typed(world, "whoami")).content == NOBODY
    assert (await typed(world, "unregister")).content == NOBODY


async def test_leaving_deletes_files_and_what_was_sent_but_not_the_count(world: World) -> None:
    accounts = world.services.accounts
    cli_id = await accounts.offer_cli_id()
    await accounts.link(world.alice.id, cli_id)
    await world.profile(CAPTURE)
    (folder,) = folders(world)
    asked = await typed(world, "unregister")
    assert asked.content == LEAVE
    await world.alice.click(asked, label="Delete my account")
    said = again(world, asked)
    assert said.content.startswith("Your account is closed: 1 profile deleted.")
    assert not said.components
    assert not folder.exists()
    assert await accounts.user_of_cli_id(cli_id) is None
    assert (await typed(world, "whoami")).content == NOBODY
    assert (await typed(world, "register")).content == WELCOME
    assert "come back" in await world.refused(CAPTURE)


async def test_whoever_changes_their_mind_keeps_everything(world: World) -> None:
    asked = await typed(world, "unregister")
    await world.alice.click(asked, label="Keep it")
    assert again(world, asked).content == STAYED
    late = await typed(world, "unregister")
    (view,) = world.env.bot._connection._view_store._synced_message_views.values()
    await view.on_timeout()
    assert again(world, late).content == STAYED
    assert again(world, late).components == []
    assert await world.services.accounts.is_registered(world.alice.id)


async def test_leaving_ends_what_is_under_way_and_says_so(world: World) -> None:
    asked = await typed(world, "unregister")
    progress = await started(world, replaying("ok-triton-1024", lag_s=30))
    await world.alice.click(asked, label="Delete my account")
    assert again(world, asked).content.startswith("Your account is closed: 1 profile deleted.")
    assert again(world, progress).embeds[0].title == "qr_v2 · benchmark 0: cancelled"
    assert again(world, progress).components == []
    assert folders(world) == []
