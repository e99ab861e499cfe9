"""The admin commands of the client, by the admin token."""

from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct

from bot.leaderboards.service import Request
from bot.leaderboards.sync import SyncReport
from bot.storage.audit import Who
from bot.web.desk import DESK
from bot.web.refusals import Handler, json_answer
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


def add_routes(app: web.Application) -> None:
    """Put the admin's routes into `app`."""
    add = app.router
    add.add_post("/admin/start", _admin(post_start))
    add.add_post("/admin/stop", _admin(post_stop))
    add.add_post("/admin/update-problems", _admin(post_update))
    add.add_route("*", "/admin/{rest:.*}", _admin(_not_offered))
    add.add_post("/user/join", _not_offered)


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
    return json_answer(_report(await boards.apply(reading, WHO, force=update.force)))


def _report(report: SyncReport) -> dict[str, Any]:
    said: dict[str, Any] = msgspec.to_builtins(report)
    return said


async def _not_offered(_: web.Request) -> web.StreamResponse:
    raise web.HTTPNotImplemented(text=NOT_OFFERED)


def _admin(handler: Handler) -> Handler:
    async def guarded(request: web.Request) -> web.StreamResponse:
        if not is_admin(request, request.app[DESK].services.settings.web_admin_token):
            raise web.HTTPUnauthorized(text="a valid admin token is needed")
        return await handler(request)

    return guarded
