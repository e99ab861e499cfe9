"""The service: an application factory, and a way to serve it until a signal comes."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable

from aiohttp import web

from runner.engine import Elastic, Engine
from runner.health.doctor import Doctor
from runner.health.gate import Gate
from runner.health.metrics import Metrics
from runner.health.operation import OperatedExecutor
from runner.jobs.scheduler import Scheduler
from runner.jobs.store import Store
from runner.local import LocalEngine
from runner.parent import when_stdin_ends
from runner.recorded import RecordedEngine, load_recordings
from runner.service import keys
from runner.service.handlers import add_routes
from runner.service.middleware import authorize, errors
from runner.service.tls import server_context
from runner.settings import EngineName, RunnerSettings

MAX_BODY = 64 * 1_048_576
SHUTDOWN_S = 5.0


def create_engine(settings: RunnerSettings) -> Engine:
    """Make the engine that the settings name. Blocking."""
    if settings.engine is EngineName.RECORDED:
        return RecordedEngine(settings, load_recordings(settings.recordings))
    if settings.engine is EngineName.RAY:
        from runner.cluster.engine import RayEngine  # noqa: PLC0415 - an extra brings Ray

        return RayEngine(settings)
    return LocalEngine(settings)


def create_app(settings: RunnerSettings) -> web.Application:
    """Wire the service up; nothing runs before the application starts."""
    app = web.Application(middlewares=[errors, authorize], client_max_size=MAX_BODY)
    store = Store(settings.folder)
    engine = create_engine(settings)
    app[keys.SETTINGS] = settings
    app[keys.STORE] = store
    app[keys.ENGINE] = engine
    app[keys.DOCTOR] = doctor = Doctor(engine, settings, Gate())
    app[keys.METRICS] = metrics = Metrics()
    executor = OperatedExecutor(engine, store, settings, doctor=doctor, metrics=metrics)
    app[keys.FAULTS] = executor.faults
    app[keys.SCHEDULER] = Scheduler(store, executor)
    _watch(metrics, app[keys.SCHEDULER], doctor)
    app.cleanup_ctx.append(_cluster)
    app.cleanup_ctx.append(_scheduling)
    app.on_shutdown.append(_answer_long_polls)
    add_routes(app)
    return app


async def serve(
    settings: RunnerSettings, ready: Callable[[str], None], *, end_with_stdin: bool = False
) -> None:
    """Serve until SIGTERM or SIGINT, or the end of standard input; `ready` gets the address.

    Raises OSError, BadCertificate.
    """
    stop = asyncio.Event()
    if end_with_stdin:
        when_stdin_ends(stop.set)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    tls = await asyncio.to_thread(server_context, settings)
    runner = web.AppRunner(create_app(settings), shutdown_timeout=SHUTDOWN_S, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, settings.host, settings.port, ssl_context=tls).start()
        ready(_url("https" if tls else "http", settings.host, runner.addresses[0][1]))
        await stop.wait()
    finally:
        await runner.cleanup()


def _url(scheme: str, host: str, port: int) -> str:
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _watch(metrics: Metrics, scheduler: Scheduler, doctor: Doctor) -> None:
    metrics.watch("ncubot_queue_length", "Jobs that wait.", lambda: float(scheduler.queued))
    metrics.watch("ncubot_running_jobs", "Jobs that run.", lambda: float(scheduler.running))
    metrics.watch_findings(lambda: doctor.findings)


async def _cluster(app: web.Application) -> AsyncIterator[None]:
    """Let the queue follow an engine whose GPUs come and go."""
    engine, scheduler, doctor = app[keys.ENGINE], app[keys.SCHEDULER], app[keys.DOCTOR]
    if not isinstance(engine, Elastic):
        yield
        return

    def changed(gpus: tuple[str, ...]) -> None:
        if not gpus or not scheduler.slots:
            doctor.suspect()
        scheduler.resize(gpus)

    async with engine.opened(changed):
        yield


async def _scheduling(app: web.Application) -> AsyncIterator[None]:
    scheduler = app[keys.SCHEDULER]
    await asyncio.to_thread(app[keys.SETTINGS].folder.mkdir, parents=True, exist_ok=True)
    # First of all: whoever holds the folder may end what an earlier runner left.
    await asyncio.to_thread(app[keys.STORE].open)
    await app[keys.ENGINE].system()
    doctor = app[keys.DOCTOR]
    await scheduler.start()
    doctor.start()
    yield
    await doctor.close()
    await scheduler.close()


async def _answer_long_polls(app: web.Application) -> None:
    app[keys.SCHEDULER].stop_waiting()
