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
from simcord.results import ResponseMessage

from benchmarks.many_kernels import repeat
from bot.jobs.model import Job, JobOutcome
from bot.jobs.service import JobService
from cli.demo_world import World, open_world
from runner.settings import RECORDINGS
from runner_client.captures import CaptureOptions

FOLDER = Path(__file__).parent
LOOKED_AT = Path(tempfile.gettempdir()) / "screenshots"
WIDE, NARROW = 1_000, 600
HEIGHT = 4_400
REST = slice(None)
KEPT = {
    ("sample", WIDE): (("reply.png", slice(1_805)), ("pictures.png", slice(1_815, None))),
    ("picker", WIDE): (("picker.png", slice(1_258)),),
    ("comparison", WIDE): (("comparison.png", REST),),
    ("wrong", NARROW): (("wrong-answer-narrow.png", slice(704)),),
    ("sixty", NARROW): (("sixty-narrow.png", slice(1_556)),),
}
"""The file's name, and which rows of pixels it keeps."""
LARGEST = 80_000
COLOURS = (256, 128, 96, 64)
# Left edge of the conversation, the line above it, and the height of what is below it.
LEFT = {WIDE: 262, NARROW: 0}
LINE = (38, 39, 44)
COMPOSER = 160
MARGIN = 16
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
    """What is profiled: a recording under a submission of its own, changed before its replay."""

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
    kept_back = ("DRAM Throughput", "Memory Throughput", "Achieved Occupancy")
    edit_table(folder, dict.fromkeys(kept_back))
    (folder / "ncu-raw.csv").unlink()


def partial(folder: Path) -> None:
    """Let the program die after its first kernels."""
    about = json.loads((folder / "recording.json").read_text(encoding="utf-8"))
    (folder / "recording.json").write_text(json.dumps(about | {"exit_code": 139}), encoding="utf-8")
    (folder / "popcorn_fd.txt").write_text("", encoding="utf-8")


def faster(folder: Path) -> None:
    """Let the kernels take less time and fewer registers."""
    edit_table(folder, {"Duration": 0.8, "Registers Per Thread": 0.75, "Achieved Occupancy": 1.3})


def edit_table(folder: Path, factors: dict[str, float | None]) -> None:
    """Multiply some counters of the details page; with None they are not measured."""
    table = folder / "ncu-details.csv"
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    name, value = rows[0].index("Metric Name"), rows[0].index("Metric Value")
    for row in rows:
        if row[name] in factors:
            factor = factors[row[name]]
            row[value] = "n/a" if factor is None else f"{float(row[value]) * factor:.2f}"
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)


async def pick(world: World, scene: Scene) -> None:
    """Profile, then choose the hottest kernel."""
    reply = await profile(world, scene)
    await world.member.select(reply, ["kernel:0"])


async def compare(world: World, scene: Scene) -> None:
    """Compare two profiles of the same kernels; only the answer is on the page."""
    option = ("profiles compare", "a", "")
    past = await world.member.autocomplete(world.channel, *option)
    known = {choice["name"].split(" · ")[2]: choice["value"] for choice in past}
    await world.member.slash(
        world.channel, "profiles compare", a=known["picker.py"], b=known[f"{scene.name}.py"]
    )


SCENES = (
    Scene("sample"),
    Scene("one", "qr_v2-starter-1"),
    Scene("four", change=four),
    Scene("sixty", change=sixty),
    Scene("degraded", change=degraded),
    Scene("partial", change=partial),
    Scene("wrong", "qr_v2-wrong-0"),
    Scene("picker", play=pick),
    Scene("comparison", change=faster, play=compare),
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
            crop(target, LEFT[width])
            for name, rows in KEPT.get((scene.name, width), ()):
                shrink(target, FOLDER / name, rows)


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
    if result.response is None:
        sys.exit(f"{scene.name}: no reply")
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


def crop(target: Path, left: int) -> None:
    """Keep the conversation, down to its last line."""
    with Image.open(target) as picture:
        page = picture.convert("RGB")
    edge = page.width - 4
    top = next(y for y in range(60, page.height) if page.getpixel((edge, y)) == LINE) + MARGIN // 2
    talk = page.crop((left, top, page.width, page.height - COMPOSER))
    empty = Image.new("RGB", talk.size, talk.getpixel((talk.width - 2, talk.height - 2)))
    filled = ImageChops.difference(talk, empty).getbbox()
    bottom = min(talk.height, (filled[3] if filled else talk.height) + MARGIN)
    talk.crop((0, 0, talk.width, bottom)).save(target)


def shrink(source: Path, target: Path, rows: slice) -> None:
    """Keep some rows, and a palette of as many colours as the file has room for."""
    with Image.open(source) as picture:
        top, bottom, _ = rows.indices(picture.height)
        whole = picture.convert("RGB").crop((0, top, picture.width, bottom))
    for colours in COLOURS:
        whole.quantize(palette=palette(whole, colours), dither=Image.Dither.NONE).save(
            target, optimize=True
        )
        if target.stat().st_size <= LARGEST:
            return
    sys.exit(f"{target} stays over {LARGEST} bytes")


def palette(picture: Image.Image, colours: int) -> Image.Image:
    """Return the colours that cover most of a picture, each exactly as it is."""
    counted = picture.getcolors(picture.width * picture.height) or []
    # Most to least: flat areas and the greys of the letters' edges.
    most = sorted(counted, key=lambda one: -one[0])[:colours]
    made = Image.new("P", (1, 1))
    made.putpalette(b"".join(bytes(colour) for _, colour in most if isinstance(colour, tuple)))
    return made


if __name__ == "__main__":
    asyncio.run(main(set(sys.argv[1:])))
