"""The job flow: submit, ask how it goes, fetch zips."""

import asyncio
from importlib.metadata import version
from typing import BinaryIO

from aiohttp import hdrs, web

from bot.jobs.errors import NcubotError, NotYours
from bot.jobs.model import JobPhase
from bot.storage.terminal_jobs import StoredJob
from bot.web.desk import DESK, Desk
from bot.web.forms import read_upload
from bot.web.payloads import JobState
from bot.web.profiling import submit
from bot.web.refusals import json_answer
from bot.web.results import downloads, failures, job_status, zip_files
from bot.web.sending import write
from bot.web.zips import pieces, zipped
from bot.wording import sentence

CAPTURE_OPTIONS = ("ncu_kernel_name", "ncu_kernel_name_base", "ncu_launch_count")


async def get_health(request: web.Request) -> web.StreamResponse:
    """Say which capture options are taken."""
    health = {
        "status": "ok",
        "version": await asyncio.to_thread(version, "ncubot"),
        "gpus": request.app[DESK].services.runners.gpus(),
        "capabilities": {"request_capture_options": CAPTURE_OPTIONS},
    }
    return json_answer(health)


async def post_job(request: web.Request) -> web.StreamResponse:
    """POST /profile: the leaderboard is in the form; the GPU is its only one, or in the file."""
    user_id = await request.app[DESK].visitors.user(request)
    upload = await read_upload(request)
    followed = await submit(request, user_id, upload, leaderboard=upload.leaderboard, gpu=None)
    return json_answer(JobState(job_id=followed.job.id, status="queued"), 202)


async def get_job(request: web.Request) -> web.StreamResponse:
    """Say how a job goes, and where its zips are once it is over."""
    desk = request.app[DESK]
    stored = await _own(request)
    followed = desk.follower.of(stored.job)
    if not stored.is_over:
        status = "running" if stored.job.phase is JobPhase.RUNNING else "queued"
        ahead = followed.ahead
        said = JobState(
            job_id=stored.job.id, status=status, queue_position=ahead, message=followed.message
        )
        return json_answer(said)
    return json_answer(await _ended(desk, stored))


async def get_zip(request: web.Request) -> web.StreamResponse:
    """Send the zip of one benchmark."""
    desk = request.app[DESK]
    stored = await _own(request)
    outcome = await desk.follower.outcome(desk.follower.of(stored.job))
    files = dict(zip_files(outcome)).get(request.match_info["name"])
    if files is None:
        raise web.HTTPNotFound(text="no such file in this job")
    response = web.StreamResponse(headers={"Content-Type": "application/zip"})
    async with zipped(files, desk.scratch) as packed:
        response.content_length = await asyncio.to_thread(_size, packed)
        await response.prepare(request)
        if request.method == hdrs.METH_GET:
            async for data in pieces(packed, encoded=False):
                await write(request, response, data)
            await response.write_eof()
    return response


async def _ended(desk: Desk, stored: StoredJob) -> JobState:
    try:
        outcome = await desk.follower.outcome(desk.follower.of(stored.job))
    except NcubotError as error:
        why = sentence(error)
        if stored.failure_kind is not None:
            why = f"it failed on our side ({stored.failure_kind}): send the file again"
        return JobState(job_id=stored.job.id, status="failed", error=why)
    said = failures(outcome)
    return JobState(
        job_id=stored.job.id,
        status=job_status(outcome),
        error=" ".join(said),
        failures=said,
        artifacts=downloads(outcome),
    )


async def _own(request: web.Request) -> StoredJob:
    desk = request.app[DESK]
    user_id = await desk.visitors.user(request)
    job_id = request.match_info["id"]
    stored = await desk.stored.find(user_id, job_id)
    if stored is None:
        raise NotYours(job_id)
    return stored


def _size(packed: BinaryIO) -> int:
    size = packed.seek(0, 2)
    packed.seek(0)
    return size
