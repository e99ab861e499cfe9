"""What the routes share, and under which keys the application holds it."""

from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from bot.services import Services
from bot.storage.terminal_jobs import TerminalJobs
from bot.web.following import TerminalFollower
from bot.web.visitors import Visitors


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The services, and what only terminals need. `scratch` is a folder for zips on their way."""

    services: Services
    follower: TerminalFollower
    stored: TerminalJobs
    visitors: Visitors
    scratch: Path


DESK = web.AppKey("desk", Desk)
