"""The application, and serving it beside the Discord client."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from bot.jobs.errors import CannotServe
from bot.services import Services
from bot.web import administration, listing, polling, profiling
from bot.web.desk import DESK, Desk
from bot.web.following import TerminalFollower
from bot.web.refusals import Handler, worded
from bot.web.routes import Routes
from bot.web.visitors import Visitors

log = logging.getLogger(__name__)
MAX_BODY = 4 * 1_048_576
SHUTDOWN_S = 5.0


def create_app(services: Services) -> web.Application:
    """Wire the service up; jobs are followed from its start to its end."""
    app = web.Application(middlewares=[worded, _counted], client_max_size=MAX_BODY)
    settings = services.settings
    app[DESK] = Desk(
        services=services,
        follower=TerminalFollower(services.jobs, services.terminal_jobs),
        stored=services.terminal_jobs,
        visitors=Visitors(services.accounts, services.bans, behind_proxy=settings.web_behind_proxy),
        scratch=settings.data / "zips",
    )
    app.cleanup_ctx.append(_following)
    _add_routes(app)
    return app


@asynccontextmanager
async def serving(services: Services) -> AsyncIterator[str | None]:
    """Serve where the settings name a port, and give the address. Raises CannotServe."""
    settings = services.settings
    if settings.web_port is None:
        yield None
        return
    runner = web.AppRunner(create_app(services), shutdown_timeout=SHUTDOWN_S, access_log=None)
    await runner.setup()
    try:
        await _listen(runner, settings.web_host, settings.web_port)
        address = f"http://{settings.web_host}:{runner.addresses[0][1]}"
        log.info("terminals are served on %s", address)
        yield address
    finally:
        await runner.cleanup()


async def _listen(runner: web.AppRunner, host: str, port: int) -> None:
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise CannotServe(f"{host}:{port}", error.strerror or str(error)) from error


def _add_routes(app: web.Application) -> None:
    add = Routes(app)
    add.get("/health", polling.get_health)
    add.post("/profile", polling.post_job)
    add.get("/jobs/{id:[0-9a-f]{32}}", polling.get_job)
    add.get("/jobs/{id:[0-9a-f]{32}}/artifacts/{name}", polling.get_zip)
    add.get("/auth/init", listing.get_new_id)
    add.get("/leaderboards", listing.get_leaderboards)
    add.get("/gpus/{leaderboard}", listing.get_gpus)
    add.get("/user/submissions", listing.get_submissions)
    add.get("/user/submissions/{number}", listing.get_submission)
    add.delete("/user/submissions/{number}", listing.delete_submission)
    administration.add_routes(add)
    add.post("/profile/{leaderboard}/{gpu}", profiling.post_profile)
    add.post("/{leaderboard}/{gpu}/profile", profiling.post_profile)
    add.post("/{leaderboard}/{gpu}/{mode}", profiling.post_other_mode)
    add.post("/submission/{leaderboard}/{gpu}/{mode}", profiling.post_other_mode)


@web.middleware
async def _counted(request: web.Request, handler: Handler) -> web.StreamResponse:
    await request.app[DESK].visitors.count(request)
    return await handler(request)


async def _following(app: web.Application) -> AsyncIterator[None]:
    follower = app[DESK].follower
    await follower.resume()
    yield
    await follower.close()
