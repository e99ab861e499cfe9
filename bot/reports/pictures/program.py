"""The drawing process: one request a line on stdin, one answer a line on stdout.

Started by `worker`. It ends when its stdin does, and so never outlives the bot.
"""

import sys
from contextlib import suppress

import msgspec

from bot.reports.pictures.draw import draw
from bot.reports.pictures.values import PictureRequest, Pictures


def main() -> None:
    """Answer until stdin ends; the first line is an empty answer that says it is ready."""
    # The bot may be gone before it has read an answer.
    with suppress(BrokenPipeError):
        _answer(Pictures())
        for line in sys.stdin.buffer:
            _answer(draw(msgspec.json.decode(line, type=PictureRequest)))


def _answer(pictures: Pictures) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(pictures) + b"\n")
    sys.stdout.buffer.flush()
