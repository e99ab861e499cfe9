"""`popcorn submit --profile`: the stream, its result, and every refusal before it."""

import asyncio
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.services import Services
from bot.web import stream
from runner_client.captures import CaptureMode, CaptureOptions, KernelNameBase
from tests.web.client import Terminal, chunks, frames, unzipped
from tests.web.conftest import USER, submission

PATH = "/profile/qr_v2/H200"
STARTER = submission("linalg/qr_v2", "starter.py")
WRONG = submission("linalg/qr_v2", "wrong.py")
OTHER = b"import torch\n\ndef custom_kernel(data):\n    return data\n"


async def test_one_benchmark_gives_report_and_details(terminal: Terminal) -> None:
    reply = await terminal.post_file(PATH, "k.py", STARTER, benchmark_index="0")
    assert reply.status == 200
    *statuses, (last, answer) = reply.events
    assert {event for event, _ in statuses} == {"status"}
    assert all(isinstance(said["message"], str) for _, said in statuses)
    assert last == "result"
    assert answer["status"] == "success"
    (full,) = answer["results"]
    assert full["success"] is True
    assert full["system"]["gpu"] == "NVIDIA H200"
    assert full["profile_metadata"]["benchmark_specs"] == {"0": full_spec(full, 0)}
    assert len(full["profile_metadata"]["config_sha256"]) == 64
    run = full["runs"]["profile.0"]
    assert run["run"]["success"] is True
    assert run["run"]["passed"] is True
    files = unzipped(run["profile"]["trace"])
    assert sorted(files) == ["ncu-details.csv", "ncu-details.txt", "profile.ncu-rep"]
    assert b"householder_panel" in files["ncu-details.csv"]
    assert "householder_panel" in answer["reports"][0]


def full_spec(full: dict[str, dict[str, dict[str, dict[str, str]]]], index: int) -> str:
    runs = full["runs"]
    result: dict[str, str] = runs[f"profile.{index}"]["run"]["result"]  # type: ignore[assignment]
    return result["benchmark.0.spec"]


async def test_every_benchmark_keeps_its_number_and_those_that_failed_say_why(
    terminal: Terminal,
) -> None:
    reply = await terminal.post_file(PATH, "k.py", STARTER)
    runs = reply.events[-1][1]["results"][0]["runs"]
    assert list(runs)[:2] == ["profile.0", "profile.1"]
    assert len(runs) > 2
    assert runs["profile.1"]["profile"] is not None
    failed = runs["profile.2"]
    assert failed["profile"] is None
    assert failed["run"]["success"] is False
    assert "recording" in failed["run"]["stderr"]


async def test_a_wrong_answer_is_said(terminal: Terminal) -> None:
    reply = await terminal.post_file(PATH, "k.py", WRONG, benchmark_index="0")
    *statuses, (_, answer) = reply.events
    assert "the output is wrong" in " ".join(said["message"] for _, said in statuses)
    run = answer["results"][0]["runs"]["profile.0"]["run"]
    assert run["passed"] is False
    assert "the output is wrong" in run["stderr"]


async def test_the_options_are_the_jobs(terminal: Terminal, services: Services) -> None:
    await terminal.post_file(PATH, "k.py", OTHER, benchmark_index="1")
    options = {
        "ncu_kernel_name": "regex:^qr|r$",
        "ncu_kernel_name_base": "demangled",
        "ncu_launch_count": "1000",
    }
    await terminal.post_file(PATH, "k.py", OTHER, benchmark_index="3", **options)
    given, usual = await services.terminal_jobs.latest(USER, 10, None)
    assert usual.job.capture == CaptureOptions(mode=CaptureMode.FIRST, launch_count=10)
    assert [one.index for one in usual.job.benchmarks] == [1]
    assert given.job.capture == CaptureOptions(
        mode=CaptureMode.FIRST,
        kernel_name="regex:^qr|r$",
        kernel_name_base=KernelNameBase.DEMANGLED,
        launch_count=1_000,
    )
    assert [one.index for one in given.job.benchmarks] == [3]


async def test_one_line_of_ascii_in_lf_frames_and_signs_of_life(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "SIGN_OF_LIFE_S", 0.05)
    reply = await terminal.post_file(PATH, "ж.py", STARTER, benchmark_index="0")
    messages = [said["message"] for event, said in reply.events if event == "status"]
    assert any(one == other for one, other in itertools.pairwise(messages))
    assert reply.body.isascii()
    assert b"\r" not in reply.body
    assert "gzip" not in reply.headers.get("content-encoding", "")
    for frame in reply.body.decode().strip("\n").split("\n\n"):
        assert frame.startswith(":") or len(frame.split("\n")) == 2


@given(st.data())
def test_a_cut_at_any_byte_changes_nothing(data: st.DataObject) -> None:
    first = b'event: status\ndata: {"message":"caf\\u00e9"}\n\n'
    body = first + b': ping\n\nevent: result\ndata: {"a":1}\n\n'
    cuts = sorted(data.draw(st.sets(st.integers(0, len(body)))))
    edges = [0, *cuts, len(body)]
    pieces = [body[a:b] for a, b in itertools.pairwise(edges)]
    assert list(frames(pieces)) == [("status", {"message": "café"}), ("result", {"a": 1})]


@pytest.mark.parametrize(
    ("path", "fields", "status", "said"),
    [
        ("/profile/nothing/H200", {}, 404, "no leaderboard"),
        ("/profile/qr_v2/MI300", {}, 400, "MI300"),
        ("/profile/qr_v2/B200", {}, 503, "no runner"),
        (PATH, {"benchmark_index": "99"}, 400, "99"),
        (PATH, {"benchmark_index": "-1"}, 422, "benchmark_index"),
        (PATH, {"ncu_launch_count": "0"}, 422, "ncu_launch_count"),
        (PATH, {"ncu_kernel_name_base": "shape"}, 400, "function"),
        (PATH, {"ncu_kernel_name": "a\0b"}, 400, "kernel"),
    ],
)
async def test_refusals_have_their_status_and_one_sentence(
    terminal: Terminal, path: str, fields: dict[str, str], status: int, said: str
) -> None:
    reply = await terminal.post_file(path, "k.py", STARTER, **fields)
    assert reply.status == status, reply.body
    assert said.casefold() in reply.detail.casefold()


@pytest.mark.parametrize(
    ("name", "source", "status", "said"),
    [
        ("k.py", b"", 400, "empty"),
        ("k.py", b"\xff\xfe", 400, "text"),
        ("k.rs", STARTER, 400, ".py"),
        ("k.py", b"#" * 1_000_001, 413, "1,000,000"),
    ],
)
async def test_files_that_are_refused(
    terminal: Terminal, name: str, source: bytes, status: int, said: str
) -> None:
    reply = await terminal.post_file(PATH, name, source)
    assert reply.status == status
    assert said in reply.detail


async def test_a_form_without_a_file_and_a_body_that_is_none(terminal: Terminal) -> None:
    assert (await terminal.post_json(PATH, "{}")).status == 415
    sent = terminal.upload(PATH, "k.py", STARTER).replace(b'name="file"', b'name="fine"')
    reader, writer = await terminal.open(sent)
    assert b" 400 " in await reader.readline()
    writer.close()


async def test_a_client_that_leaves_finds_its_job_again(
    terminal: Terminal, services: Services
) -> None:
    reader, writer = await terminal.open(
        terminal.upload(PATH, "k.py", STARTER, benchmark_index="1")
    )
    await reader.readuntil(b"\r\n\r\n")
    async for _ in chunks(reader):
        break
    writer.transport.abort()
    reply = await terminal.post_file(PATH, "k.py", STARTER, benchmark_index="1")
    assert reply.events[-1][0] == "result"
    assert len(await services.terminal_jobs.latest(USER, 10, None)) == 1
    other = await terminal.post_file(PATH, "k.py", STARTER, benchmark_index="0")
    assert other.events[-1][0] == "result"
    assert len(await services.terminal_jobs.latest(USER, 10, None)) == 2


async def test_two_at_once_get_the_same_job(terminal: Terminal, services: Services) -> None:
    asked = [terminal.post_file(PATH, "k.py", STARTER, benchmark_index="0") for _ in range(3)]
    replies = await asyncio.gather(*asked)
    answers = [reply.events[-1][1]["results"][0] for reply in replies]
    ids = {answer["profile_metadata"]["job_id"] for answer in answers}
    assert len(ids) == 1


async def test_what_the_screen_asks_for(terminal: Terminal) -> None:
    reply = await terminal.post_file("/qr_v2/H200/profile", "k.py", STARTER)
    name, answer = reply.events[-1]
    assert name == "result"
    assert "householder_panel" in answer["reports"][0]
    for path in ("/qr_v2/H200/test", "/submission/qr_v2/h200/leaderboard"):
        refused = await terminal.post_file(path, "k.py", STARTER)
        assert refused.status == 400
        assert "profile" in refused.detail


async def test_nothing_that_was_recorded(terminal: Terminal) -> None:
    reply = await terminal.post_file(PATH, "k.py", OTHER, benchmark_index="0")
    name, said = reply.events[-1]
    assert name == "error"
    assert said["status_code"] == 422
    assert "recordings only" in said["detail"]
