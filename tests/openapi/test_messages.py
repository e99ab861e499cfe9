"""Every message of a reply, as discord.py sends it, for any text that others wrote."""

import string
from dataclasses import replace
from pathlib import Path
from typing import Any

import discord
import pytest
from discord import ui
from discord.http import handle_message_parameters
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from simcord.types import HttpLogEntry

from bot.jobs.model import BenchmarkOutcome, JobOutcome
from bot.reports.comparison import compare_profiles
from bot.reports.illustrate import illustrations
from bot.reports.neutral import FENCE
from bot.reports.picker import view_of
from bot.reports.pictures.values import ALT_LIMIT, Kind, Picture, Pictures, Skipped
from bot.reports.reply import compose
from bot.reports.uploads import Upload
from cogs.embeds import illustration_embeds, open_files, reply_embed
from cogs.picking import picker_view
from counters.launches import summarize
from runner_client.wire import BenchmarkStatus, Check, Failure, FailureKind
from tests.counters.make import document, launch
from tests.openapi.description import Description, description
from tests.reports.outcomes import files, kernel, outcome, result

# What others write: marks that Discord reads, line ends, and text of any kind.
MARKS = ["```", "`", "@everyone", "@here", "<@1>", "<@&2>", "<#3>", "\n", "\u202e", "\x1b[31m"]
TEXT = st.lists(
    st.one_of(st.sampled_from([*MARKS, "https://a.b", "**", "||", "> ", "# "]), st.text()),
    max_size=12,
).map("".join)
NAMES = st.one_of(TEXT, st.text(alphabet=string.printable, min_size=200, max_size=1_000))
EDIT = "/webhooks/1/token/messages/@original"
EXISTING = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def api(shared: Path) -> Description:
    return description(shared / "discord" / "openapi.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    files(folder, 0)
    (folder / "time.0.png").write_bytes(b"png")
    return folder


@st.composite
def outcomes(draw: st.DrawFn, folder: Path) -> JobOutcome:
    """Return a job in which whatever others wrote may be any text."""
    names = draw(st.lists(NAMES, max_size=4))
    count = draw(st.integers(min_value=0, max_value=60))
    kernels = tuple(kernel(n, names[n % len(names)] if names else "k") for n in range(count))
    text = draw(TEXT)[:1_000]
    kind = draw(st.none() | st.sampled_from(list(FailureKind)))
    benchmark = BenchmarkOutcome(
        result=result(
            0,
            spec=text,
            status=draw(st.sampled_from(list(BenchmarkStatus))),
            failure=Failure(kind=kind, detail=text) if kind else None,
            check=draw(st.none() | st.builds(Check, passed=st.booleans(), message=st.just(text))),
            output_tail=draw(TEXT),
            degraded=draw(st.booleans()),
            missing_share=0.5,
        ),
        report=summarize(kernels) if count else None,
        files={path.name: path for path in folder.iterdir() if path.suffix != ".png"},
    )
    recorded_on = draw(st.none() | st.just(text))
    return outcome(benchmark, recorded_on=recorded_on, notes=(draw(TEXT),))


def sent(
    content: str, embeds: list[discord.Embed], files: tuple[Upload, ...], view: ui.View | None
) -> dict[str, Any]:
    """Return what discord.py would send of a message."""
    attached = open_files(files)
    try:
        with handle_message_parameters(
            content or None,
            embeds=embeds,
            files=attached,
            view=view,
            allowed_mentions=discord.AllowedMentions.none(),
        ) as made:
            if made.multipart:
                return dict(discord.utils._from_json(made.multipart[0]["value"]))
            assert made.payload is not None
            return made.payload
    finally:
        for file in attached:
            file.close()


@EXISTING
@given(data=st.data(), limit=st.sampled_from([10, 1_000, 10_000_000]))
async def test_every_message_is_one_that_discord_takes(
    api: Description, folder: Path, data: st.DataObject, limit: int
) -> None:
    for message in compose(data.draw(outcomes(folder)), limit):
        refused = message
        for file in message.files:
            refused = refused.without(file, "refused")
        for one in (message, refused):
            view = picker_view(one.picker) if one.picker else None
            body = sent(one.table, [reply_embed(one)], one.files, view)
            assert api.faults(HttpLogEntry("PATCH", EDIT, {}, body, None)) == []
            assert_harmless(body)


@EXISTING
@given(board=TEXT, alt=st.text(min_size=1, max_size=ALT_LIMIT), why=TEXT)
async def test_every_message_of_pictures_too(
    api: Description, folder: Path, board: str, alt: str, why: str
) -> None:
    made = Picture(kind=Kind.TIME, path=str(folder / "time.0.png"), alt=alt)
    pictures = Pictures(drawn=(made,), skipped=(Skipped(kind=Kind.STALLS, why=why),))
    plain = outcome(BenchmarkOutcome(result=result(0), report=None, files={}))
    job = replace(plain.job, leaderboard=board)
    (shown,) = illustrations(replace(plain, job=job), {0: pictures}, 1_000)
    body = sent("", illustration_embeds(shown), shown.files, None)
    assert api.faults(HttpLogEntry("POST", "/webhooks/1/token", {}, body, None)) == []
    assert_harmless(body)


@EXISTING
@given(data=st.data(), value=st.sampled_from(["kernel:0", "kernel:30", "table", "page:1"]))
async def test_every_choice_of_the_kernel_picker_too(
    api: Description, folder: Path, data: st.DataObject, value: str
) -> None:
    job = data.draw(outcomes(folder))
    view = view_of(job.job.id, job.benchmarks[0], 0, value)
    if view is not None:
        body = sent(view.content, [], (), picker_view(view.picker))
        assert api.faults(HttpLogEntry("PATCH", EDIT, {}, body, None)) == []
        assert_harmless(body)


@EXISTING
@given(names=st.lists(NAMES, min_size=1, max_size=12), file_name=TEXT)
async def test_every_comparison_too(
    api: Description, folder: Path, names: list[str], file_name: str
) -> None:
    path = folder / "ncu-details.0.csv"
    before = path.read_bytes()
    rows = [row for at, name in enumerate(names) for row in launch(at, name)]
    path.write_text(document(rows), encoding="utf-8")
    plain = outcome(BenchmarkOutcome(result=result(0), report=None, files={path.name: path}))
    one = replace(plain, job=replace(plain.job, file_name=file_name))
    compared = compare_profiles(one, one)
    path.write_bytes(before)
    body = sent(compared.content, [], (), None)
    assert api.faults(HttpLogEntry("PATCH", EDIT, {}, body, None)) == []
    assert_harmless(body)


def assert_harmless(body: dict[str, Any]) -> None:
    """No fence is left open, and nobody is mentioned, whatever the texts hold."""
    embeds = body.get("embeds") or []
    values = [field["value"] for embed in embeds for field in embed.get("fields", ())]
    texts = [body.get("content") or "", *(embed.get("description") or "" for embed in embeds)]
    for text in (*texts, *values):
        assert text.count(FENCE) % 2 == 0
        assert not any(mark in text for mark in ("@everyone", "@here", "<@", "<#", "\u202e"))
    assert body["allowed_mentions"] == {"parse": []}
