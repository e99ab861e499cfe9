"""The message menu "Profile this kernel": its form, and the same flow as /profile behind it."""

import sys

import discord
import pytest
from msgspec.structs import replace
from simcord.results import InteractionResult, ResponseMessage

from cogs.menu import MENU, NOTHING_ATTACHED, NOTHING_SUITABLE
from tests.cogs.conftest import World, messages
from tests.standin.problem import replaying

CAPTURE = replaying("ok-geqrf-four-kernels").encode()


async def opened(world: World, *attachments: tuple[str, bytes]) -> InteractionResult:
    """Let alice open the menu on a message with these attachments."""
    posted = await world.alice.send(world.channel, "look", attachments=attachments)
    return await world.alice.context_menu(world.channel, MENU, posted)


def refusal(result: InteractionResult) -> str:
    (message,) = messages(result)
    return message.content.replace("\\", "")


def fields(result: InteractionResult) -> dict[str, dict[str, object]]:
    """Return the form's fields by their labels."""
    assert result.modal is not None
    labelled = [part for part in result.modal["components"] if "label" in part]
    return {part["label"]: part["component"] for part in labelled}


async def test_the_form_leads_to_the_reply_of_profile(world: World) -> None:
    form = await opened(world, ("kernel.py", CAPTURE))
    assert form.modal is not None
    assert form.modal["title"] == MENU
    assert form.modal["components"][0]["description"] == "kernel.py"
    result = await world.alice.submit_modal(
        form, {"leaderboard": ["qr_v2"], "gpu": ["H200"], "benchmark": " 0 "}
    )
    reply: list[ResponseMessage] = messages(result)
    assert [message.embeds[0].title for message in reply] == ["qr_v2 · benchmark 0"]
    assert "geqr2" in reply[0].content
    assert reply[0].components


async def test_the_form_offers_what_there_is_and_needs_nothing(world: World) -> None:
    asked = fields(await opened(world, ("kernel.py", CAPTURE)))
    assert list(asked) == ["Leaderboard", "GPU", "Benchmark", "Kernel filter", "Capture"]
    assert not any(field["required"] for field in asked.values())
    boards = [board.name for board in world.services.catalogue.all()]
    assert [option["value"] for option in asked["Leaderboard"]["options"]] == boards  # type: ignore[attr-defined]
    assert [option["value"] for option in asked["GPU"]["options"]] == ["H200"]  # type: ignore[attr-defined]


async def test_directives_fill_what_was_left_empty(world: World) -> None:
    source = b"#!POPCORN leaderboard qr_v2\n" + CAPTURE
    form = await opened(world, ("kernel.py", source))
    result = await world.alice.submit_modal(form, {"gpu": ["H200"], "benchmark": "0"})
    assert messages(result)[0].embeds[0].title == "qr_v2 · benchmark 0"


async def test_a_message_without_a_kernel_gets_one_sentence(world: World) -> None:
    assert refusal(await opened(world)) == NOTHING_ATTACHED
    assert refusal(await opened(world, ("notes.txt", b"x"))) == NOTHING_SUITABLE


async def test_of_several_attachments_the_first_that_fits_is_named(world: World) -> None:
    form = await opened(world, ("notes.txt", b"x"), ("a.CU", b"x"), ("b.py", b"x"))
    assert form.modal is not None
    named = form.modal["components"][0]["description"]
    assert named == "a.CU (the first of 3 attachments that fits)"


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"benchmark": "one"}, "it is not a number"),
        ({"benchmark": "9999"}, "There is no benchmark 9999"),
    ],
)
async def test_a_wrong_entry_gets_one_sentence(
    world: World, values: dict[str, str], sentence: str
) -> None:
    form = await opened(world, ("kernel.py", b"x = 1\n"))
    given: dict[str, object] = {"leaderboard": ["qr_v2"], "gpu": ["H200"], **values}
    assert sentence in refusal(await world.alice.submit_modal(form, given))


async def test_more_leaderboards_than_a_menu_holds_are_typed(world: World) -> None:
    board = world.services.catalogue.all()[0]
    many = (replace(board, name=f"board_{number}") for number in range(26))
    world.services.catalogue.replace(tuple(many))
    asked = fields(await opened(world, ("kernel.py", CAPTURE)))
    assert "options" not in asked["Leaderboard"]


async def test_a_form_that_breaks_is_answered(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("secret")

    form = await opened(world, ("kernel.py", CAPTURE))
    # Loading an extension makes its module anew.
    monkeypatch.setattr(sys.modules["cogs.menu"], "profile", broken)
    text = refusal(await world.alice.submit_modal(form, {}))
    assert text.startswith("Something broke on our side")
    assert [type(error) for error in world.env.errors] == [RuntimeError]


async def test_a_menu_that_breaks_is_answered_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(sys.modules["cogs.menu"], "ProfileForm", broken)
    text = refusal(await opened(world, ("kernel.py", CAPTURE)))
    assert text.startswith("Something broke on our side")
    assert [type(error) for error in world.env.errors] == [discord.app_commands.CommandInvokeError]
