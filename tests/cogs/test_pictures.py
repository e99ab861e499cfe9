"""The pictures of a reply: they follow the table, whole, each with a text; a failure only logs."""

import pytest

from tests.cogs.conftest import World
from tests.standin.problem import replaying

CAPTURE = replaying("ok-geqrf-four-kernels")


@pytest.fixture
def illustrated() -> bool:
    """Draw them."""
    return True


async def test_pictures_follow_the_table_each_with_a_text(world: World) -> None:
    reply, pictures = await world.profile(CAPTURE)
    assert reply.content.startswith("```")
    names = ["time.0.png", "roofline.0.png", "stalls.0.png"]
    # What an embed shows is no longer listed as a file.
    assert [str(embed.image.url).rpartition("/")[2] for embed in pictures.embeds] == names
    assert pictures.embeds[0].title == "qr_v2 · benchmark 0"
    sent = [request.json for request in world.env.http_requests if request.method == "POST"][-1]
    assert sent is not None
    texts = {file["filename"]: file["description"] for file in sent["attachments"]}
    assert list(texts) == names
    assert "geqr2_batch_kernel_shmem: 97.8 %  282.30 µs" in texts["time.0.png"]


async def test_the_pictures_of_three_benchmarks_share_a_message(world: World) -> None:
    replies = await world.profile(replaying("ok-triton-1024"), benchmark=None)
    assert [len(message.embeds) for message in replies] == [1, 1, 1, 1, 1, 9, 6]
    titles = [embed.title for message in replies[5:] for embed in message.embeds if embed.title]
    assert titles == [f"qr_v2 · benchmark {index}" for index in range(5)]


async def test_a_reply_stands_without_pictures_that_discord_refuses(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.env.inject_error("POST", "/webhooks/*", status=413, code=40005)
    (reply,) = await world.profile(CAPTURE)
    assert reply.attachments
    assert "pictures could not be sent" in caplog.text
