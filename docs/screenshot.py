"""Takes the picture of the reply that the README shows: `python docs/screenshot.py`.

With WIDTH HEIGHT FILE the whole page is saved at that size instead.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from PIL import Image

from cli.demo_world import engine_here, open_world

TARGET = Path(__file__).with_name("reply.png")
WIDTH, HEIGHT = 1_000, 960
COLOURS = 128
# Left, top and bottom edges of the page that are not the conversation.
SIDEBAR, HEAD, COMPOSER = 262, 176, 134
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


async def main(width: int, height: int, target: Path) -> None:
    """Profile the sample in the demo's world and save what the browser page shows."""
    async with open_world(engine_here()) as world:
        await world.register()
        await world.profile()
        async with world.page() as page:
            await photograph(page.url, width, height, target)
    shrink(target, None if target != TARGET else (SIDEBAR, HEAD, width, height - COMPOSER))


async def photograph(url: str, width: int, height: int, target: Path) -> None:
    """Save a page as PNG."""
    with tempfile.TemporaryDirectory() as profile:
        options = (f"--window-size={width},{height}", f"--screenshot={target}")
        browser = await asyncio.create_subprocess_exec(
            *CHROMIUM,
            f"--user-data-dir={profile}",
            *options,
            url,
            stderr=asyncio.subprocess.DEVNULL,
        )
        if await browser.wait():
            sys.exit("chromium failed")


def shrink(target: Path, box: tuple[int, int, int, int] | None) -> None:
    """Cut `box` out and keep a palette of few colours: the page has few."""
    with Image.open(target) as picture:
        small = picture.convert("RGB").crop(box).quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(target, optimize=True)


if __name__ == "__main__":
    size = [int(text) for text in sys.argv[1:3]] or [WIDTH, HEIGHT]
    asyncio.run(main(size[0], size[1], Path(sys.argv[3]) if len(sys.argv) > 3 else TARGET))
