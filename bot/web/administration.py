"""The admin commands of the client, by the admin token."""

from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct

from bot.leaderboards.service import Request
from bot.leaderboards.sync import Skipped, SyncReport
from bot.storage.audit import Who
from bot.web.desk import DESK
from bot.web.refusals import Handler, json_answer
from bot.web.routes import Routes
from bot.web.visitors import is_admin

WHO = Who(origin="web")
NOT_OFFERED = "this server does not offer that: it profiles, and keeps no scores and no invites"


class Update(Struct, frozen=True, kw_only=True):
    """What `update-problems` sends; `visibility` is of rankings, which there are none of here."""

    repository: str
    branch: str | None = None
    force: bool = False
    problem_set: str | None = None
    visibility: str | None = None


def add_routes(add: Routes) -> None:
    """Put the admin's routes into the application."""
    add.post("/admin/start", _admin(post_start))
    add.post("/admin/stop", _admin(post_stop))
    add.post("/admin/update-problems", _admin(post_update))
    add.add("*", "/admin/{rest:.*}", _admin(_not_offered))
    add.post("/user/join", _not_offered)


async def post_start(request: web.Request) -> web.StreamResponse:
    """Take jobs again."""
    await request.app[DESK].services.gate.open(WHO)
    return json_answer({"status": "ok", "active": True})


async def post_stop(request: web.Request) -> web.StreamResponse:
    """Take no further jobs, from Discord neither; those under way go on."""
    await request.app[DESK].services.gate.close(WHO)
    return json_answer({"status": "ok", "active": False})


async def post_update(request: web.Request) -> web.StreamResponse:
    """Sync a repository of problems, as `/leaderboard sync` does."""
    try:
        update = msgspec.json.decode(await request.read(), type=Update)
    except msgspec.DecodeError as error:
        raise web.HTTPUnprocessableEntity(text=str(error)) from None
    boards = request.app[DESK].services.leaderboards
    asked = Request(source=update.repository, ref=update.branch, problem_set=update.problem_set)
    reading = await boards.read(asked)
    return json_answer(shown_report(await boards.apply(reading, WHO, force=update.force)))


def shown_report(report: SyncReport) -> dict[str, Any]:
    """Return a report with what the client shows of it: it knows nothing of unchanged or closed."""
    said: dict[str, Any] = msgspec.to_builtins(report)
    unchanged = [Skipped(name, "no changes") for name in report.unchanged]
    closed = [Skipped(name, "closed: it left the repository") for name in report.closed]
    said["skipped"] = [
        {"name": one.name, "reason": _reason(one)} for one in (*report.skipped, *unchanged, *closed)
    ]
    return said


def _reason(one: Skipped) -> str:
    return f"{one.reason}: --force does it" if one.changes else one.reason


async def _not_offered(_: web.Request) -> web.StreamResponse:
    raise web.HTTPNotImplemented(text=NOT_OFFERED)


def _admin(handler: Handler) -> Handler:
    async def guarded(request: web.Request) -> web.StreamResponse:
        if not is_admin(request, request.app[DESK].services.settings.web_admin_token):
            raise web.HTTPUnauthorized(text="a valid admin token is needed")
        return await handler(request)

    return guarded
