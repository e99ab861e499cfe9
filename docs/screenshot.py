"""Takes the pictures of replies: `python docs/screenshot.py [SCENE ...]`.

Each scene is played by the real bot and a runner that replays recordings, some of them altered, and
photographed from SimCord's page in a wide and a narrow window. Without a scene all are taken; those
in KEPT are made small and go into this folder, the others into `screenshots/` below the temporary
folder, to be looked at.
"""

import asyncio
import csv
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from PIL import Image, ImageChops
from simcord.preview import Preview
from simcord.results import ResponseMessage

from benchmarks.many_kernels import repeat
from bot.jobs.model import Job, JobOutcome
from bot.jobs.service import JobService
from cli.demo_world import World, open_world
from runner.settings import RECORDINGS
from runner_client.wire import CaptureOptions

FOLDER = Path(__file__).parent
LOOKED_AT = Path(tempfile.gettempdir()) / "screenshots"
WIDE, NARROW = 1_000, 480
HEIGHT = 3_000
KEPT = {
    ("four", WIDE): "reply.png",
    ("picker", WIDE): "picker.png",
    ("comparison", WIDE): "comparison.png",
    ("wrong", NARROW): "wrong-answer-narrow.png",
    ("sixty", NARROW): "sixty-narrow.png",
}
LARGEST = 80_000
COLOURS = (128, 64, 32)
CHROMIUM = (
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--virtual-time-budget=8000",
)
QR = RECORDINGS / "qr_v2-starter-0"
SIXTY = 60
Play = Callable[[World, "Scene"], Awaitable[None]]
Change = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Scene:
    """What is profiled: a recording under a submission of its own, changed before it is replayed."""

    name: str
    recording: str = QR.name
    change: Change = lambda _: None
    play: Play | None = None

    @property
    def source(self) -> bytes:
        """The submission; the replaying runner knows the recording by it."""
        return f"# {self.name}\n".encode()


def four(folder: Path) -> None:
    """Make the capture one of four kernels."""
    repeat(QR, folder / "ncu-details.csv", folder / "ncu-raw.csv", 4)


def sixty(folder: Path) -> None:
    """Make the capture one of sixty kernels."""
    repeat(QR, folder / "ncu-details.csv", folder / "ncu-raw.csv", SIXTY)


def degraded(folder: Path) -> None:
    """Take the counters that a driver may keep back."""
    kept_back = {"DRAM Throughput", "Memory Throughput", "Achieved Occupancy"}
    table = folder / "ncu-details.csv"
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    name, value = rows[0].index("Metric Name"), rows[0].index("Metric Value")
    for row in rows:
        if row[name] in kept_back:
            row[value] = "n/a"
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    (folder / "ncu-raw.csv").unlink()


def partial(folder: Path) -> None:
    """Let the program die after its first kernels."""
    about = json.loads((folder / "recording.json").read_text(encoding="utf-8"))
    (folder / "recording.json").write_text(json.dumps(about | {"exit_code": 139}), encoding="utf-8")
    (folder / "popcorn_fd.txt").write_text("", encoding="utf-8")


async def pick(world: World, scene: Scene) -> None:
    """Profile, then choose the hottest kernel."""
    reply = await profile(world, scene)
    await world.member.select(reply, ["kernel:0"])


async def compare(world: World, scene: Scene) -> None:
    """Compare the profile of three kernels with the one of four; only the answer is on the page."""
    option = ("profiles compare", "a", "")
    past = await world.member.autocomplete(world.channel, *option)
    known = {choice["name"].split(" · ")[2]: choice["value"] for choice in past}
    await world.member.slash(
        world.channel, "profiles compare", a=known["picker.py"], b=known[f"{scene.name}.py"]
    )


SCENES = (
    Scene("one", "qr_v2-starter-1"),
    Scene("four", change=four),
    Scene("sixty", change=sixty),
    Scene("degraded", change=degraded),
    Scene("partial", change=partial),
    Scene("wrong", "qr_v2-wrong-0"),
    Scene("picker", play=pick),
    Scene("comparison", change=four, play=compare),
)


async def main(wanted: set[str]) -> None:
    """Play and photograph the scenes."""
    LOOKED_AT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for scene in SCENES:
            lay_out(scene, Path(folder) / scene.name)
        os.environ |= {"NCUBOT_RUNNER_RECORDINGS": folder, "NCUBOT_RUNNER_REPLAY_S": "0"}
        async with open_world("recorded") as world:
            await world.register()
            for scene in SCENES:
                if not wanted or scene.name in wanted:
                    await shoot(world, scene)


def lay_out(scene: Scene, folder: Path) -> None:
    """Write the scene's recording."""
    shutil.copytree(RECORDINGS / scene.recording, folder)
    about = json.loads((folder / "recording.json").read_text(encoding="utf-8"))
    digest = hashlib.sha256(scene.source).hexdigest()
    about["submission"] = {"name": f"{scene.name}.py", "sha256": digest}
    (folder / "recording.json").write_text(json.dumps(about), encoding="utf-8")
    scene.change(folder)


async def shoot(world: World, scene: Scene) -> None:
    """Play a scene in a channel of its own and photograph it in both windows."""
    if scene.play is compare:
        await profile(world, Scene("picker"))
        await profile(world, scene)
    here = replace(world, channel=world.env.guild.create_text_channel(scene.name))
    await (scene.play or profile)(here, scene)
    async with here.page() as page:
        for width in (WIDE, NARROW):
            target = LOOKED_AT / f"{scene.name}-{width}.png"
            await photograph(page.url, width, target)
            crop(target)
            if name := KEPT.get((scene.name, width)):
                shrink(target, FOLDER / name)


async def profile(world: World, scene: Scene) -> ResponseMessage:
    """Type /profile; return the reply."""
    index = 1 if scene.recording.endswith("-1") else 0
    run = JobService.run

    async def roomy(service: JobService, job: Job, *rest: object) -> JobOutcome:
        """Run the job as if the sixty kernels were far below the cap."""
        outcome = await run(service, job, *rest)  # type: ignore[arg-type]
        return replace(outcome, job=replace(job, capture=CaptureOptions(launch_count=100)))

    with patch.object(JobService, "run", roomy if scene.name == "sixty" else run):
        result = await world.member.slash(
            world.channel,
            "profile",
            submission=(f"{scene.name}.py", scene.source),
            leaderboard="qr_v2",
            gpu=world.gpu,
            benchmark=index,
        )
    assert result.response is not None
    return result.response


async def photograph(url: str, width: int, target: Path) -> None:
    """Save a page as PNG."""
    with tempfile.TemporaryDirectory() as profile_folder:
        options = (f"--window-size={width},{HEIGHT}", f"--screenshot={target}")
        browser = await asyncio.create_subprocess_exec(
            *CHROMIUM,
            f"--user-data-dir={profile_folder}",
            *options,
            url,
            stderr=asyncio.subprocess.DEVNULL,
        )
        if await browser.wait():
            sys.exit("chromium failed")


def crop(target: Path) -> None:
    """Nothing yet."""


def shrink(source: Path, target: Path) -> None:
    """Keep a palette of as many colours as the file has room for."""
    with Image.open(source) as picture:
        whole = picture.convert("RGB")
    for colours in COLOURS:
        whole.quantize(colours, dither=Image.Dither.NONE).save(target, optimize=True)
        if target.stat().st_size <= LARGEST:
            return
    print(f"{target} stays over {LARGEST} bytes")


if __name__ == "__main__":
    asyncio.run(main(set(sys.argv[1:])))
