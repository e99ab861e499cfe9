"""/profile as its author sees it, through the real runner."""

from types import SimpleNamespace
from typing import Any

import discord
import pytest

from tests.cogs.conftest import NAME, Typed, World
from tests.standin.problem import replaying

SHAPE = "batch: 20; n: 32; cond: 1; seed: 6007"


async def test_a_capture_comes_back_as_table_facts_and_files(world: World) -> None:
    (message,) = await world.profile(replaying("ok-geqrf-four-kernels"))
    (embed,) = message.embeds
    assert "geqr2" in message.content
    assert message.content.startswith("```\n")
    assert embed.title == "qr_v2 · benchmark 0"
    facts = {field.name: field.value for field in embed.fields}
    assert facts["Shape"] == f"`{SHAPE}`"
    assert facts["Captured"] == "4 launches (cap 10)"
    assert facts["Check"] == "evaluator said: pass"
    names = [file.filename for file in message.attachments]
    assert names[0].startswith("profile.0-batch-20")
    assert names[1:] == ["ncu-details.csv", "ncu-details.txt", "manifest.json"]
    (row,) = message.components
    assert [option["label"] for option in row["components"][0]["options"]] == [
        "1. geqr2_batch_kernel_shmem",
        "2. elementwise_kernel_with_index",
        "3. elementwise_kernel",
    ]
    assert b"geqr2" in await message.attachments[1].read()


async def test_no_benchmark_means_every_shape_with_a_message_each(world: World) -> None:
    messages = await world.profile(replaying("ok-triton-1024"), benchmark=None)
    assert [message.embeds[0].title for message in messages] == [
        f"qr_v2 · benchmark {index}" for index in range(5)
    ]
    manifests = [
        sum(file.filename == "manifest.json" for file in message.attachments)
        for message in messages
    ]
    assert manifests == [1, 0, 0, 0, 0]


async def test_directives_stand_in_for_options(world: World) -> None:
    source = "#!POPCORN leaderboard qr_v2\n#!POPCORN gpu H200\n" + replaying("ok-triton-1024")
    (message,) = await world.profile(source, leaderboard=None, gpu=None)
    assert message.embeds[0].title == "qr_v2 · benchmark 0"


async def test_a_typed_option_beats_the_directive_and_that_is_said(world: World) -> None:
    source = "#!POPCORN leaderboard eigh\n" + replaying("ok-triton-1024")
    (message,) = await world.profile(source)
    assert message.embeds[0].title == "qr_v2 · benchmark 0"
    assert "eigh" in (message.embeds[0].description or "")


async def test_a_wrong_answer_is_delivered_with_a_banner(world: World) -> None:
    (message,) = await world.profile(replaying("wrong-answer-with-report"))
    (embed,) = message.embeds
    assert "**Wrong answer**, the evaluator said" in (embed.description or "")
    assert any(file.filename.endswith(".ncu-rep") for file in message.attachments)
    assert message.content


@pytest.mark.parametrize(
    ("recording", "sentence"),
    [
        ("fail-submission-raises", "Your submission failed (RuntimeError: boom"),
        ("fail-no-range", "No kernel was launched inside the range"),
        ("fail-mode-not-implemented", "This problem's evaluator has no profile mode"),
        ("fail-other-thread", "No kernel was launched inside the range"),
        ("fail-output-not-writable", "Nsight Compute failed"),
    ],
)
async def test_a_run_without_counters_is_told_in_one_sentence(
    world: World, recording: str, sentence: str
) -> None:
    (message,) = await world.profile(replaying(recording))
    (embed,) = message.embeds
    assert embed.title == "qr_v2 · benchmark 0: no counters"
    assert (embed.description or "").replace("\\", "").startswith(sentence)
    assert [file.filename for file in message.attachments] == ["manifest.json"]


async def test_a_filter_that_matches_nothing_names_the_kernels(world: World) -> None:
    (message,) = await world.profile(
        replaying("fail-kernel-filter-matches-none"), kernel_name="regex:doesnotexist"
    )
    description = message.embeds[0].description or ""
    assert "matched nothing" in description
    assert "geqr2\\_batch\\_kernel\\_shmem" in description


async def test_a_full_window_is_said(world: World) -> None:
    (message,) = await world.profile(replaying("ok-hot-four-kernels"), launch_count=4)
    assert "capture was cut at 4 launches" in (message.embeds[0].description or "")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"leaderboard": "qr_v3"}, 'No leaderboard "qr_v3"; did you mean qr_v2?'),
        ({"leaderboard": None}, "No leaderboard was chosen and the file names none"),
        ({"gpu": "T4"}, 'does not run on "T4": choose one of H200, H100, B200, A100.'),
        ({"gpu": "B200"}, "No runner of this server has B200"),
        ({"benchmark": 99}, f"There is no benchmark 99: choose one of 0 ({SHAPE})"),
    ],
)
async def test_bad_options_get_one_sentence(
    world: World, options: dict[str, Typed], sentence: str
) -> None:
    assert sentence in await world.refused(**options)


@pytest.mark.parametrize(
    ("source", "name", "sentence"),
    [
        (b"x", "kernel.cu", '"kernel.cu" is of a type that this problem does not take'),
        (b"\xff\xfe\x00k", NAME, '"submission.py" is not UTF-8 text'),
        (b" \n\t", NAME, '"submission.py" is empty'),
        (b"#" * 1_000_001, NAME, '"submission.py" has 1,000,001 bytes and the limit is'),
    ],
)
async def test_a_bad_attachment_gets_one_sentence(
    world: World, source: bytes, name: str, sentence: str
) -> None:
    assert sentence in await world.refused(source, name)


async def test_hostile_names_do_not_mention_anybody(world: World) -> None:
    text = await world.refused(leaderboard="@everyone <@1> ```")
    assert "@everyone" not in text
    assert "<@1>" not in text
    assert "```" not in text


async def test_an_attachment_that_discord_lost_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(*_: object) -> bytes:
        answer: Any = SimpleNamespace(status=404, reason="Not Found")
        raise discord.NotFound(answer, "asset not found")

    monkeypatch.setattr(world.env.bot.http, "get_from_cdn", gone)
    assert "attach it again" in await world.refused()
