"""A ban holds at every entrance; only deleting one's own is open to everybody."""

import sys
from collections.abc import Iterator

from discord import app_commands, ui
from simcord.results import InteractionResult

from bot.answers import NotLetIn
from cogs.gate import FOR_BANNED, Gated, check_let_in
from cogs.menu import MENU
from cogs.service import ServiceCog
from tests.cogs.conftest import World, messages
from tests.cogs.test_account import again
from tests.standin.problem import replaying

CAPTURE = replaying("ok-geqrf-four-kernels")
SAID = "You may not use this bot (spam): ask an admin."
OPEN = {"unregister"}
OPEN_VIEWS = {"LeaveView"}


async def ban(world: World) -> None:
    await world.services.bans.add(world.alice.id, None, "spam")


def said(result: InteractionResult) -> str:
    return messages(result)[-1].content


def below(kind: type) -> Iterator[type]:
    subs: list[type] = kind.__subclasses__()
    for sub in subs:
        yield sub
        yield from below(sub)


async def test_every_command_asks(world: World) -> None:
    tree: app_commands.CommandTree = world.env.bot.tree  # type: ignore[attr-defined]
    leaves = [one for one in tree.walk_commands() if isinstance(one, app_commands.Command)]
    assert {one.qualified_name for one in leaves if one.extras.get(FOR_BANNED)} == OPEN
    for command in leaves:
        binding = type(command.binding)
        assert issubclass(binding, ServiceCog), command.qualified_name
        assert binding.interaction_check is ServiceCog.interaction_check
    menus = [
        one for one in tree.get_commands(type=None) if isinstance(one, app_commands.ContextMenu)
    ]
    assert menus
    assert all(check_let_in in menu.checks for menu in menus)


async def test_every_view_form_and_item_asks(world: World) -> None:
    kinds = {kind for base in (ui.View, ui.Modal, ui.DynamicItem) for kind in below(base)}
    ours = {
        kind for kind in kinds if kind.__module__ in sys.modules and kind.__module__[:5] == "cogs."
    }
    assert len(ours) >= 8
    assert {kind.__name__ for kind in ours if not issubclass(kind, Gated)} == set()
    own = {kind.__name__ for kind in ours if "interaction_check" in vars(kind)}
    assert own == {"OwnView"} | OPEN_VIEWS


async def test_commands(world: World) -> None:
    await ban(world)
    for command in ("register", "whoami", "leaderboard list", "profiles list"):
        assert said(await world.alice.slash(world.channel, command)) == SAID
    assert {type(error) for error in world.env.errors} == {NotLetIn}


async def test_a_profile_leaves_no_job(world: World) -> None:
    await ban(world)
    assert await world.refused(CAPTURE) == SAID
    assert await world.services.members.under_way(world.alice.id) == ()
    assert (await world.services.members.standing(world.alice.id)).jobs == 0
    assert [type(error) for error in world.env.errors] == [NotLetIn]


async def test_the_menu_of_a_message_and_its_form(world: World) -> None:
    posted = await world.alice.send(world.channel, "x", attachments=[("k.py", CAPTURE.encode())])
    form = await world.alice.context_menu(world.channel, MENU, posted)
    await ban(world)
    assert said(await world.alice.submit_modal(form, {"leaderboard": ["qr_v2"]})) == SAID
    assert said(await world.alice.context_menu(world.channel, MENU, posted)) == SAID
    assert [type(error) for error in world.env.errors] == [NotLetIn]


async def test_the_picker_under_a_reply(world: World) -> None:
    (reply,) = await world.profile(CAPTURE)
    table = reply.content
    await ban(world)
    assert said(await world.alice.select(reply, ["kernel:0"])) == SAID
    assert again(world, reply).content == table


async def test_the_button_of_a_newcomer(world: World) -> None:
    world.alice = world.env.guild.add_member(world.env.create_user("bob"))
    (offer,) = await world.profile(CAPTURE)
    await ban(world)
    assert said(await world.alice.click(offer, label="Register and profile")) == SAID
    assert not await world.services.accounts.is_registered(world.alice.id)


async def test_somebody_banned_can_still_leave_and_stays_banned(world: World) -> None:
    await ban(world)
    result = await world.alice.slash(world.channel, "unregister")
    (asked,) = messages(result)
    await world.alice.click(asked, label="Delete my account")
    assert again(world, asked).content.startswith("Your account is closed")
    assert said(await world.alice.slash(world.channel, "register")) == SAID
    assert [type(error) for error in world.env.errors] == [NotLetIn]
