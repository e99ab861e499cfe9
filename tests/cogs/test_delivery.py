"""Refused uploads, cancelled jobs, runners that fail: what the author gets all the same."""

import discord
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from msgspec import structs
from simcord.results import ResponseMessage

from cogs.cancelling import cancel_view
from runner_client.secret import Secret
from tests.cogs.conftest import SETTLE_S, Typed, World, messages
from tests.standin.problem import replaying

CAPTURE = replaying("ok-triton-1024")
FOLLOW_UP = "/webhooks/*/messages/[0-9]*"


def names(message: ResponseMessage) -> list[str]:
    return [file.filename for file in message.attachments]


async def test_a_refused_upload_is_sent_again_without_its_largest_file(world: World) -> None:
    world.env.inject_error("PATCH", FOLLOW_UP, status=413, code=40005)
    _, second, *_ = await world.profile(CAPTURE, benchmark=None)
    assert len(names(second)) == 2
    assert "Discord refused the upload as too large" in (second.embeds[0].description or "")
    assert second.content.startswith("```")


async def test_refused_twice_the_table_still_arrives(world: World) -> None:
    world.env.inject_error("PATCH", FOLLOW_UP, status=413, code=40005, times=2)
    _, second, third, *_ = await world.profile(CAPTURE, benchmark=None)
    assert names(second) == []
    assert second.content.startswith("```")
    assert (second.embeds[0].description or "").count("Not attached") == 3
    assert len(names(third)) == 3


async def test_a_progress_edit_that_fails_does_not_harm_the_job(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.env.inject_error("PATCH", "/webhooks/*", status=403, code=50013)
    (message,) = await world.profile(CAPTURE)
    assert message.embeds[0].title == "qr_v2 · benchmark 0"
    assert "progress could not be shown" in caplog.text


async def test_a_small_limit_zips_and_then_names_the_files(world: World) -> None:
    structs.force_setattr(world.services.settings, "upload_limit", 10_000)
    (message,) = await world.profile(replaying("ok-geqrf-four-kernels"))
    assert "ncu-details.csv.zip" in names(message) or "`ncu-details.csv`" in (
        message.embeds[0].description or ""
    )
    assert all(file.size <= 9_900 for file in message.attachments)


async def started(world: World, source: str, **options: Typed) -> ResponseMessage:
    """Type /profile and go on while it runs; return the message with the progress."""
    world.env.settle_timeout = 1.0
    with pytest.raises(TimeoutError):
        await world.profile(source, **options)
    world.env.settle_timeout = SETTLE_S
    return shown(world)[-1]


def shown(world: World) -> list[ResponseMessage]:
    """Return all messages of the channel, oldest first."""
    stored = world.env.backend.messages[world.channel.id]
    return [ResponseMessage(world.env, stored[number]) for number in sorted(stored)]


async def test_cancel_ends_the_job_and_says_so(world: World) -> None:
    progress = await started(world, replaying("ok-triton-1024", lag_s=30))
    assert "shape `0 · batch: 20" in (progress.embeds[0].description or "")
    await world.alice.click(progress, label="Cancel")
    (final,) = shown(world)
    assert final.embeds[0].title == "qr_v2 · benchmark 0: cancelled"
    assert final.components == []


async def test_only_the_author_may_cancel(world: World) -> None:
    bob = world.env.guild.add_member(world.env.create_user("bob"))
    await world.profile(CAPTURE)
    (job,) = await world.services.jobs.past_profiles(world.alice.id, 1)
    channel = world.env.bot.get_channel(world.channel.id)
    assert isinstance(channel, discord.TextChannel)
    await channel.send("forwarded", view=cancel_view(job.job_id, pressed=False))
    (refusal,) = messages(await bob.click(shown(world)[-1], label="Cancel"))
    assert refusal.content == "Only the author of a job may cancel it."


@pytest.mark.parametrize(
    ("runner_change", "sentence"),
    [
        ({"url": "http://127.0.0.1:9"}, "Runner embedded does not answer"),
        ({"token": Secret("another")}, "Runner embedded does not accept this bot's token"),
    ],
    indirect=["runner_change"],
)
async def test_a_runner_that_fails_is_not_the_authors_fault(world: World, sentence: str) -> None:
    (message,) = await world.profile(CAPTURE)
    (embed,) = message.embeds
    text = (embed.description or "").replace("\\", "")
    assert text.startswith(sentence)
    assert "this is not your fault" in text
    assert message.components == []


async def test_a_job_that_vanished_is_told_in_place_of_the_progress(world: World) -> None:
    async def accept(request: web.Request) -> web.Response:
        spec = await request.json()
        return web.json_response({"id": spec["id"], "state": "queued"}, status=201)

    async def forget(_: web.Request) -> web.Response:
        return web.json_response({"error": "no such job"}, status=404)

    app = web.Application()
    app.add_routes([web.post("/v1/jobs", accept), web.get("/v1/jobs/{id}/events", forget)])
    async with TestServer(app) as server:
        client = world.services.runners.client("embedded")
        client.address = structs.replace(client.address, url=str(server.make_url("")).rstrip("/"))
        (message,) = await world.profile(CAPTURE)
    (embed,) = message.embeds
    assert "Runner embedded no longer knows job" in (embed.description or "")
    assert message.components == []
