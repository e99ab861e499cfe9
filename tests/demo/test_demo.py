"""`ncubot demo`: the whole chain on a recording, its files, and its page in a browser."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from simcord.results import ResponseMessage

from bot.embedded import PROGRAM
from cli.demo_show import show
from cli.demo_world import BENCHMARK, LEADERBOARD, World, engine_here, open_world
from cli.main import main
from tests.cogs.conftest import messages

CHROMIUM = [
    "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


async def test_the_demo_leaves_the_reply_and_its_files(
    recorded: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert await show(out, keep_page=False)
    reply = (out / "reply.md").read_text()
    assert "## qr_v2 · benchmark 0" in reply
    assert "recorded on NVIDIA H200" in reply
    assert "householder_panel_kernel" in reply
    names = {path.name for path in (out / "message-1").iterdir()}
    assert {"ncu-details.csv", "ncu-details.txt", "manifest.json"} < names
    (report,) = (out / "message-1").glob("profile.0-*.ncu-rep")
    assert report.stat().st_size > 100_000
    manifest = json.loads((out / "message-1" / "manifest.json").read_text())
    assert manifest["leaderboard"] == "qr_v2"
    said = capsys.readouterr().out
    assert "alice types /profile submission:starter.py leaderboard:qr_v2 gpu:H200" in said
    assert "message-1/manifest.json" in said


async def test_another_kernel_is_never_shown_a_recording(recorded: None) -> None:
    async with open_world("recorded") as world:
        await world.register()
        (message,) = await profile(world, b"import torch\n", BENCHMARK)
    assert text(message).startswith("**recorded on NVIDIA H200**")
    assert "qr\\_v2 with starter.py (0 · batch: 20" in text(message)
    assert "vectoradd with starter.py" in text(message)
    assert message.content == ""


async def test_another_shape_is_never_shown_a_recording(recorded: None) -> None:
    async with open_world("recorded") as world:
        await world.register()
        (message,) = await profile(world, world.sample.read_bytes(), 4)
    assert "replays recordings only" in text(message)
    assert not any(file.filename.endswith(".ncu-rep") for file in message.attachments)


async def test_the_wrong_sample_comes_with_its_report_and_a_banner(recorded: None) -> None:
    async with open_world("recorded") as world:
        await world.register()
        wrong = world.sample.with_name("wrong.py").read_bytes()
        message, pictures = await profile(world, wrong, BENCHMARK)
    assert "**Wrong answer**, the evaluator said" in text(message)
    assert any(file.filename.endswith(".ncu-rep") for file in message.attachments)
    assert len(pictures.embeds) == 3


async def profile(world: World, source: bytes, benchmark: int) -> list[ResponseMessage]:
    result = await world.member.slash(
        world.channel,
        "profile",
        submission=("starter.py", source),
        leaderboard=LEADERBOARD,
        gpu=world.gpu,
        benchmark=benchmark,
    )
    return messages(result)


def text(message: ResponseMessage) -> str:
    return message.embeds[0].description or ""


@pytest.mark.skipif(not shutil.which("chromium"), reason="needs the Debian package chromium")
async def test_the_page_shows_the_reply_and_a_composer(recorded: None, tmp_path: Path) -> None:
    async with open_world("recorded") as world:
        await world.register()
        await world.profile()
        async with world.page() as page:
            browser = await asyncio.create_subprocess_exec(
                *CHROMIUM,
                f"--user-data-dir={tmp_path / 'chromium'}",
                "--virtual-time-budget=8000",
                "--dump-dom",
                page.url,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            dom = (await browser.communicate())[0].decode()
    assert "qr_v2 · benchmark 0" in dom
    assert "total captured time" in dom
    assert "Message #profiling" in dom


def test_the_engine_is_the_recorded_one_where_ncu_or_a_driver_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "ncu" else None)
    assert engine_here() == "recorded"
    monkeypatch.setattr(shutil, "which", lambda name: name)
    assert engine_here() == "local"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_kill_end_the_page_and_the_demo(
    recorded: None, tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "out"
    with subprocess.Popen(
        [*PROGRAM[:-1], "demo", "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PATH": "/usr/bin:/bin"},
    ) as demo:
        assert demo.stdout is not None
        lines = iter(demo.stdout.readline, "")
        address = next(line for line in lines if "in your browser: http://127.0.0.1:" in line)
        demo.send_signal(number)
        rest = "".join(lines)
        assert demo.wait(timeout=30) == 0
    assert address
    assert "Traceback" not in rest
    assert (out / "reply.md").is_file()


def test_an_output_folder_that_cannot_be_is_one_sentence(
    recorded: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("sys.argv", ["ncubot", "demo", "--no-browser", "--out", f"{tmp_path}/file"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "File exists" in capsys.readouterr().err
