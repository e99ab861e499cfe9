"""`python -m tests.discord.bot`: `ncubot run` whose Discord is the one at SMALL_DISCORD.

With KILL_AT=STEP:N it dies by SIGKILL when the step is reached for the N-th time; with LAG=FILE it
writes there how late its event loop was, and its memory, when it is ended.
"""

import logging
import os
import signal
import sys
from functools import partialmethod
from pathlib import Path

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot import application
from bot.settings import BotSettings
from cli.main import main as ncubot
from runner_client.secret import Secret
from tests.discord.gateway import socket_url
from tests.discord.lag import measured
from tests.discord.orphans import die_with_parent
from tests.discord.rest import API

URL, KILL_AT, LAG = "SMALL_DISCORD", "KILL_AT", "LAG"
READY_S = 0.1
STEPS = "bot.delivery.steps"


class Killer(logging.Handler):
    """Kills the process at a step, which the program logs as it reaches it."""

    def __init__(self, step: str, times: int) -> None:
        super().__init__(logging.DEBUG)
        self._step, self._left = step, times

    def emit(self, record: logging.LogRecord) -> None:
        """Count, then kill."""
        if isinstance(record.args, tuple) and str(record.args[0]) == self._step:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def prepare() -> None:
    """Point discord.py at the small Discord."""
    url = os.environ[URL]
    Route.BASE = url + API
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(f"{socket_url(url)}/gateway")
    # There is one server; a bot that waits for the next one would not live long enough to begin.
    discord.Client._get_state = partialmethod(  # type: ignore[assignment, method-assign]
        discord.Client._get_state, guild_ready_timeout=READY_S
    )
    if os.environ.get(KILL_AT):
        step, _, times = os.environ[KILL_AT].partition(":")
        steps = logging.getLogger(STEPS)
        steps.setLevel(logging.DEBUG)
        steps.propagate = False
        steps.addHandler(Killer(step, int(times)))


def watch(path: Path) -> None:
    """Measure the bot's event loop while it serves."""
    serve = application.serve

    async def watched(settings: BotSettings, token: Secret) -> None:
        async with measured(path):
            await serve(settings, token)

    application.serve = watched


def main() -> None:
    """Run the bot as an operator does."""
    die_with_parent()
    prepare()
    if os.environ.get(LAG):
        watch(Path(os.environ[LAG]))
    sys.argv = ["ncubot", "run"]
    ncubot()


if __name__ == "__main__":
    main()
