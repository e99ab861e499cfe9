"""/register, as a newcomer sees it."""

from tests.cogs.conftest import World, messages


async def test_registering_makes_an_account_once(world: World) -> None:
    bob = world.env.guild.add_member(world.env.create_user("bob"))
    assert not await world.services.accounts.is_registered(bob.id)
    (first,) = messages(await bob.slash(world.channel, "register"))
    assert first.content.startswith("You are registered.")
    (second,) = messages(await bob.slash(world.channel, "register"))
    assert second.content == "You were registered already; nothing changed."
    assert await world.services.accounts.is_registered(bob.id)
