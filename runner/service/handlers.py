"""The routes of the HTTP contract, version 1."""

import asyncio
from importlib.metadata import version

import msgspec
from aiohttp import web

from runner.capture.modes import offered
from runner.health.census import CHECK as CENSUS
from runner.isolation.limits import Limits
from runner.jobs.scheduler import Full, Taken, Unknown
from runner.service import keys
from runner.service.middleware import answer, refuse
from runner.service.validate import Invalid, validate
from runner_client.captures import CaptureMode
from runner_client.wire import (
    API,
    ArtifactName,
    Health,
    JobEvents,
    JobId,
    JobResult,
    JobSpec,
    Level,
    Mode,
)

MAX_WAIT_S = 60.0


def add_routes(app: web.Application) -> None:
    """Put the routes of the contract into `app`."""
    job = API + "/jobs/{id}"
    app.router.add_post(API + "/jobs", post_job)
    app.router.add_get(job, get_job)
    app.router.add_get(job + "/events", get_events)
    app.router.add_get(job + "/artifacts/{name}", get_artifact)
    app.router.add_delete(job, delete_job)
    app.router.add_get(API + "/health", get_health)
    app.router.add_get("/metrics", get_metrics)


async def post_job(request: web.Request) -> web.Response:
    """Take a job: 201 new, 200 known, 409 another job's id, 400 names the field, 503 not now.

    422 where it asks for more launches than the operator allows.
    """
    if request.content_type != "application/json":
        return refuse(415, "the body must be application/json")
    body = await request.read()
    try:
        spec = await asyncio.to_thread(msgspec.json.decode, body, type=JobSpec)
        engine = request.app[keys.ENGINE]
        validate(spec, await engine.gpu(), await _captures(request.app))
    except (msgspec.DecodeError, UnicodeError, Invalid) as error:
        return refuse(400, str(error))
    refused = Limits.of(request.app[keys.SETTINGS]).refusal(spec)
    if refused is not None:
        return refuse(422, refused.detail)
    problems = await request.app[keys.DOCTOR].problems() if spec.mode is Mode.PROFILE else ()
    if problems:
        return refuse(503, "this runner cannot profile: " + "; ".join(problems))
    return await _submit(request, spec)


async def _submit(request: web.Request, spec: JobSpec) -> web.Response:
    try:
        submitted = await request.app[keys.SCHEDULER].submit(spec)
    except Taken:
        return refuse(409, "another job has this id")
    except Full as error:
        return refuse(503, f"no further job is taken: {error}")
    except OSError as error:
        return refuse(503, f"the job cannot be kept: {error.strerror}")
    return answer(submitted.status, 201 if submitted.created else 200)


async def get_job(request: web.Request) -> web.Response:
    """Answer with a job's state, and its result once it ended."""
    job_id = _job_id(request)
    try:
        return answer(await request.app[keys.SCHEDULER].status(job_id))
    except Unknown:
        raise _no_such_job() from None


async def get_events(request: web.Request) -> web.Response:
    """Answer with the events after a number, at once or when the next one comes."""
    job_id = _job_id(request)
    after = int(_query(request, "after"))
    wait_s = min(_query(request, "wait"), MAX_WAIT_S)
    try:
        events = await request.app[keys.SCHEDULER].events(job_id, after, wait_s)
    except Unknown:
        raise _no_such_job() from None
    return answer(JobEvents(events=events))


async def get_artifact(request: web.Request) -> web.StreamResponse:
    """Stream a file of a job's result, with its length and hash."""
    job_id = _job_id(request)
    name = _valid(request.match_info["name"], ArtifactName, "artifact")
    try:
        status = await request.app[keys.SCHEDULER].status(job_id)
    except Unknown:
        raise _no_such_job() from None
    sha256 = _hash_of(status.result, name) if status.result else None
    if sha256 is None:
        return refuse(404, "no such artifact")
    path = request.app[keys.STORE].artifacts(job_id) / name
    headers = {"X-Content-SHA256": sha256, "Content-Type": "application/octet-stream"}
    return web.FileResponse(path, headers=headers)


async def delete_job(request: web.Request) -> web.Response:
    """Cancel a job; one that ended stays as it is."""
    job_id = _job_id(request)
    try:
        return answer(await request.app[keys.SCHEDULER].cancel(job_id))
    except Unknown:
        raise _no_such_job() from None


async def get_health(request: web.Request) -> web.Response:
    """Say what this runner is and whether it can profile."""
    engine, scheduler = request.app[keys.ENGINE], request.app[keys.SCHEDULER]
    doctor = request.app[keys.DOCTOR]
    health = Health(
        engine=engine.name,
        gpu=await engine.gpu(),
        system=await engine.system(),
        queued=scheduler.queued,
        running=scheduler.running,
        slots=scheduler.slots,
        problems=(*await doctor.problems(), *request.app[keys.FAULTS].problems()),
        recorded_on=engine.recorded_on,
        checking=doctor.checking,
        findings=doctor.findings,
        captures=await _captures(request.app),
    )
    return answer(health)


async def get_metrics(request: web.Request) -> web.Response:
    """Answer Prometheus, which must bring the token like everybody else."""
    engine, metrics = request.app[keys.ENGINE], request.app[keys.METRICS]
    gpu, system = await engine.gpu(), await engine.system()
    metrics.describe(await asyncio.to_thread(version, "ncubot"), engine.name, gpu, system)
    return metrics.answer()


async def _captures(app: web.Application) -> tuple[CaptureMode, ...]:
    """Return the modes that this runner offers; until the first check a census is believed in."""
    found = [one for one in app[keys.DOCTOR].findings if one.check == CENSUS]
    census = all(one.level is Level.OK for one in found)
    return await asyncio.to_thread(offered, app[keys.SETTINGS], census=census)


def _hash_of(result: JobResult, name: str) -> str | None:
    files = [file for benchmark in result.benchmarks for file in benchmark.artifacts]
    if result.manifest is not None:
        files.append(result.manifest)
    return next((file.sha256 for file in files if file.name == name), None)


def _job_id(request: web.Request) -> str:
    return _valid(request.match_info["id"], JobId, "job")


def _valid(text: str, kind: object, what: str) -> str:
    try:
        return msgspec.convert(text, kind)  # type: ignore[no-any-return]
    except msgspec.ValidationError:
        raise web.HTTPNotFound(text=f"no such {what}") from None


def _no_such_job() -> web.HTTPNotFound:
    return web.HTTPNotFound(text="no such job")


def _query(request: web.Request, name: str) -> float:
    try:
        value = float(request.query.get(name, "0"))
    except ValueError:
        value = -1.0
    if not 0 <= value < 2**31:
        raise web.HTTPBadRequest(text=f"{name}: not a number from 0 on")
    return value
