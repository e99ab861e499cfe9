"""A newcomer's first /profile: a button in place of an error, and then the profile."""

import pytest

from bot.jobs.model import ProfileRequest
from cogs.registering import (
    DONE,
    LABEL,
    MOST_HELD,
    TOO_LATE,
    Registration,
    registration_of,
)
from tests.cogs.conftest import World, messages
from tests.cogs.test_account import again
from tests.standin.problem import replaying

CAPTURE = replaying("ok-geqrf-four-kernels")


@pytest.fixture
def newcomer(world: World) -> World:
    """Put somebody without an account in alice's place."""
    world.alice = world.env.guild.add_member(world.env.create_user("bob"))
    return world


def desk(world: World) -> Registration:
    found = registration_of(world.env.bot)
    assert found is not None
    return found


async def test_the_button_registers_and_goes_on_with_the_profile(newcomer: World) -> None:
    (offer,) = await newcomer.profile(CAPTURE)
    assert offer.content.startswith("You have no account here yet.")
    assert "`submission.py` is profiled right away" in offer.content
    await newcomer.alice.click(offer, label=LABEL)
    reply = again(newcomer, offer)
    assert reply.embeds[0].title == "qr_v2 · benchmark 0"
    assert "geqr2" in reply.content
    assert await newcomer.services.accounts.is_registered(newcomer.alice.id)


async def test_the_menu_offers_it_too(newcomer: World) -> None:
    attached = ("kernel.py", CAPTURE.encode())
    posted = await newcomer.alice.send(newcomer.channel, "look", attachments=[attached])
    form = await newcomer.alice.context_menu(newcomer.channel, "Profile this kernel", posted)
    result = await newcomer.alice.submit_modal(
        form, {"leaderboard": ["qr_v2"], "gpu": ["H200"], "benchmark": "0"}
    )
    (offer,) = messages(result)
    await newcomer.alice.click(offer, label=LABEL)
    assert again(newcomer, offer).embeds[0].title == "qr_v2 · benchmark 0"


async def test_what_is_wrong_with_the_request_is_said_after_the_button(newcomer: World) -> None:
    (offer,) = await newcomer.profile(CAPTURE, gpu="T4")
    (*_, said) = messages(await newcomer.alice.click(offer, label=LABEL))
    assert 'does not run on "T4"' in said.content
    assert again(newcomer, offer).content == DONE


async def test_after_minutes_or_a_restart_the_button_still_registers(newcomer: World) -> None:
    (offer,) = await newcomer.profile(CAPTURE)
    desk(newcomer).close()
    await newcomer.alice.click(offer, label=LABEL)
    assert again(newcomer, offer).content == TOO_LATE
    assert not again(newcomer, offer).components
    assert await newcomer.services.accounts.is_registered(newcomer.alice.id)


async def test_one_who_registered_meanwhile_gets_the_profile(newcomer: World) -> None:
    (offer,) = await newcomer.profile(CAPTURE)
    await newcomer.alice.slash(newcomer.channel, "register")
    await newcomer.alice.click(offer, label=LABEL)
    assert again(newcomer, offer).embeds[0].title == "qr_v2 · benchmark 0"


async def test_without_that_cog_the_sentence_stands(newcomer: World) -> None:
    await newcomer.env.bot.unload_extension("cogs.account")  # type: ignore[attr-defined]
    assert await newcomer.refused(CAPTURE) == "You have no account yet: type /register first."


async def test_memory_is_bounded_and_each_user_has_one_file_in_it(newcomer: World) -> None:
    registration = desk(newcomer)

    def held(user_id: int) -> str:
        return registration.hold(ProfileRequest(user_id=user_id, file_name="a.py", source=b"x"))

    first, second = held(1), held(1)
    assert registration.take(first) is None
    many = [held(user_id) for user_id in range(2, MOST_HELD + 2)]
    assert registration.take(second) is None
    kept = [registration.take(key) for key in many]
    assert [request.user_id for request in kept if request] == list(range(2, MOST_HELD + 2))
    assert registration.take(many[0]) is None
