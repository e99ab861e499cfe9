"""A runner that belongs to another process ends with it, even when that one was killed."""

import asyncio
import os
import sys
from collections.abc import Callable

_CHUNK = 4_096


def when_stdin_ends(then: Callable[[], None]) -> None:
    """Call `then` once standard input, a pipe that the parent holds, is at its end."""
    loop = asyncio.get_running_loop()
    stdin = sys.stdin.fileno()

    def ready() -> None:
        if not os.read(stdin, _CHUNK):
            loop.remove_reader(stdin)
            then()

    loop.add_reader(stdin, ready)
