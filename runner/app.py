"""The service: an application factory, and a way to serve it until a signal comes."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable

from aiohttp import web

from runner import keys
from runner.engine import Engine
from runner.handlers import add_routes
from runner.job import Executor
from runner.local import LocalEngine
from runner.middleware import authorize, errors
from runner.recorded import RecordedEngine, load_recordings
from runner.scheduler import Scheduler
from runner.settings import EngineName, RunnerSettings
from runner.store import Store

MAX_BODY = 64 * 1_048_576
SHUTDOWN_S = 5.0


def create_engine(settings: RunnerSettings) -> Engine:
    """Make the engine that the settings name. Blocking."""
    if settings.engine is EngineName.RECORDED:
        return RecordedEngine(settings, load_recordings(settings.recordings))
    return LocalEngine(settings)


def create_app(settings: RunnerSettings) -> web.Application:
    """Wire the service up; nothing runs before the application starts."""
    app = web.Application(middlewares=[errors, authorize], client_max_size=MAX_BODY)
    store = Store(settings.folder)
    engine = create_engine(settings)
    app[keys.SETTINGS] = settings
    app[keys.STORE] = store
    app[keys.ENGINE] = engine
    executor = Executor(engine, store, settings)
    app[keys.SCHEDULER] = Scheduler(store, executor, settings.max_queued)
    app.cleanup_ctx.append(_scheduling)
    app.on_shutdown.append(_answer_long_polls)
    add_routes(app)
    return app


async def serve(settings: RunnerSettings, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; `ready` gets the address. Raises OSError."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    runner = web.AppRunner(create_app(settings), shutdown_timeout=SHUTDOWN_S, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, settings.host, settings.port).start()
        ready(_url(settings.host, runner.addresses[0][1]))
        await stop.wait()
    finally:
        await runner.cleanup()


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def _scheduling(app: web.Application) -> AsyncIterator[None]:
    scheduler = app[keys.SCHEDULER]
    await asyncio.to_thread(app[keys.SETTINGS].folder.mkdir, parents=True, exist_ok=True)
    await app[keys.ENGINE].system()
    await scheduler.start()
    yield
    await scheduler.close()


async def _answer_long_polls(app: web.Application) -> None:
    app[keys.SCHEDULER].stop_waiting()
