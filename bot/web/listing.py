"""Lists: leaderboards, their GPUs, a user's submissions; and ids for terminals."""

from datetime import datetime
from typing import Any

import msgspec
from aiohttp import web

from bot.jobs.errors import NotYours
from bot.jobs.model import JobPhase, Whose
from bot.leaderboards.model import Leaderboard, spec_line
from bot.storage.terminal_jobs import StoredJob
from bot.web.desk import DESK
from bot.web.payloads import Board
from bot.web.refusals import json_answer

MOST_SUBMISSIONS = 100
USUAL_SUBMISSIONS = 50
COLUMN_BYTES = 19
MOST_DIGITS = 19
"""Of the numbers that the client can read: 64 bits with a sign."""
_STATUS = {
    JobPhase.ACCEPTED: "pending",
    JobPhase.QUEUED: "pending",
    JobPhase.RUNNING: "running",
    JobPhase.FAILED: "failed",
    JobPhase.CANCELLED: "failed",
}


async def get_new_id(request: web.Request) -> web.StreamResponse:
    """GET /auth/init: hand out an id that `/register` in Discord then links to a user."""
    desk = request.app[DESK]
    await desk.visitors.count_offer(request)
    return json_answer({"state": await desk.services.accounts.offer_cli_id()})


async def get_leaderboards(request: web.Request) -> web.StreamResponse:
    """List the open leaderboards."""
    boards = request.app[DESK].services.catalogue.all()
    return json_answer([_board(board) for board in boards if not board.closed])


async def get_gpus(request: web.Request) -> web.StreamResponse:
    """List the GPUs of a leaderboard that have a runner."""
    services = request.app[DESK].services
    board = services.catalogue.get(request.match_info["leaderboard"])
    if board is None:
        raise web.HTTPNotFound(text="no such leaderboard")
    key = services.runners.names.key
    served = {key(gpu) for gpu in services.runners.gpus()}
    return json_answer([gpu for gpu in board.gpus if key(gpu) in served])


async def get_submissions(request: web.Request) -> web.StreamResponse:
    """List a user's latest jobs."""
    desk = request.app[DESK]
    user_id = await desk.visitors.user(request)
    name = request.query.get("leaderboard")
    board = desk.services.catalogue.get(name) if name else None
    if name and board is None:
        raise web.HTTPNotFound(text="no such leaderboard")
    jobs = await desk.stored.latest(user_id, _limit(request), board.name if board else None)
    listed = [_listed(job) for job in jobs]
    return json_answer([one | {"file_name": column(one["file_name"])} for one in listed])


def column(name: str) -> str:
    """Return a file's name as its column of the client's list can take it.

    The client cuts what has more bytes than the column, and ends itself where that cut falls
    into a character.
    """
    if name.isascii() or len(name.encode()) <= COLUMN_BYTES:
        return name
    ending = "…" + name[-3:]
    room = COLUMN_BYTES - len(ending.encode())
    return name.encode()[: max(room, 0)].decode("utf-8", "ignore") + ending


async def get_submission(request: web.Request) -> web.StreamResponse:
    """Show one of a user's jobs with its code."""
    stored = await _own(request)
    board = request.app[DESK].services.catalogue.get(stored.job.leaderboard)
    shown = _listed(stored) | {
        "leaderboard_id": board.id if board else 0,
        "user_id": str(stored.job.user_id),
        "code": stored.submission,
        "job": {"status": _status(stored), "error": stored.failure_kind},
        "runner_queue": None,
    }
    return json_answer(shown)


async def delete_submission(request: web.Request) -> web.StreamResponse:
    """Delete one of a user's jobs and its files."""
    stored = await _own(request)
    history, whose = request.app[DESK].services.history, Whose(stored.job.user_id)
    await history.delete(whose, await history.find(whose, stored.job.id))
    return json_answer({"status": "ok"})


async def _own(request: web.Request) -> StoredJob:
    desk = request.app[DESK]
    user_id = await desk.visitors.user(request)
    text = request.match_info["number"]
    number = _number(text, MOST_DIGITS)
    stored = None if number is None else await desk.stored.find_number(user_id, number)
    if stored is None:
        raise NotYours(text)
    return stored


def _number(text: str, digits: int) -> int | None:
    readable = text.isascii() and text.isdecimal() and len(text) <= digits
    return int(text) if readable else None


def _limit(request: web.Request) -> int:
    limit = _number(request.query.get("limit", str(USUAL_SUBMISSIONS)), MOST_DIGITS)
    if not limit:
        raise web.HTTPUnprocessableEntity(text="limit: a number from 1 on")
    return min(limit, MOST_SUBMISSIONS)


def _board(board: Leaderboard) -> dict[str, Any]:
    task = board.task
    kept = Board(
        name=board.name,
        description=task.description,
        task={
            "lang": "cu" if "CUDA" in task.templates else "py",
            "benchmarks": [spec_line(case) for case in task.benchmarks],
            "multi_gpu": task.multi_gpu,
        },
        gpu_types=board.gpus,
        deadline=_iso(board.deadline),
    )
    shown: dict[str, Any] = msgspec.to_builtins(kept)
    return shown


def _listed(stored: StoredJob) -> dict[str, Any]:
    job = stored.job
    run = {
        "gpu_type": job.gpu,
        "score": None,
        "mode": "profile",
        "secret": False,
        "runner": job.gpu,
        "passed": stored.passed,
        "start_time": _iso(stored.created_at),
        "end_time": None,
    }
    return {
        "id": stored.number,
        "leaderboard_name": job.leaderboard,
        "file_name": job.file_name,
        "submission_time": _iso(stored.created_at),
        "done": stored.is_over,
        "runs": [run],
    }


def _status(stored: StoredJob) -> str:
    return _STATUS.get(stored.job.phase, "succeeded")


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
