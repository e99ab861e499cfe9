"""Every refusal and failure as an answer: its true status, and the `detail` that is printed."""

import logging
import secrets
from collections.abc import Awaitable, Callable

from aiohttp import web

from bot.jobs import errors
from bot.leaderboards.errors import SourceError, SyncBusy
from bot.web.payloads import as_json
from bot.wording import sentence

log = logging.getLogger(__name__)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_STATUS: tuple[tuple[type[errors.NcubotError], int], ...] = (
    (errors.NotRegistered, 401),
    (errors.Banned, 403),
    (errors.JobsStopped, 503),
    (errors.QuotaUsed, 429),
    (errors.TooManyUnderWay, 429),
    (errors.LeaderboardUnknown, 404),
    (errors.LeaderboardClosed, 403),
    (errors.DeadlinePassed, 403),
    (errors.NotYours, 404),
    (errors.ResultGone, 410),
    (errors.FileTooLarge, 413),
    (errors.GpuWithoutRunner, 503),
    (errors.Refused, 400),
    (SourceError, 400),
    (SyncBusy, 409),
    (errors.RunnerFault, 503),
)
NOT_FOUND = 404
NOWHERE = (
    "nothing is at this address: POPCORN_API_URL is to be this server's own address, and a "
    "leaderboard or GPU is one name without a slash"
)
LEFT = 499
"""The status of an answer that nobody is there to read."""


def status_of(error: errors.NcubotError) -> int:
    """Return the HTTP status of an expected error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def json_answer(value: object, status: int = 200) -> web.Response:
    """Return a value as JSON."""
    return web.Response(text=as_json(value), status=status, content_type="application/json")


def refuse(status: int, detail: str) -> web.Response:
    """Return a refusal as the client prints it."""
    return json_answer({"detail": detail}, status)


@web.middleware
async def worded(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn what a handler raises into a refusal; an unexpected error gets a number to quote."""
    try:
        return await handler(request)
    except errors.NcubotError as error:
        log.info("refused: %s", type(error).__name__)
        return refuse(status_of(error), sentence(error))
    except web.HTTPException as error:
        return _plain(error, request.method)
    except web.RequestPayloadError:
        return refuse(400, "the body cannot be read: it ended early or is not what its head says")
    except ConnectionError:
        log.info("a terminal left before its answer")
        return web.Response(status=LEFT)
    except Exception:  # edge of the service: the cause goes to the log, not to the caller
        number = secrets.token_hex(4)
        log.exception("error %s in %s", number, request.match_info.route.name or request.method)
        return refuse(500, our_fault(number))


def our_fault(number: str) -> str:
    """Word an unexpected error that is logged under a number."""
    return f"something broke on our side, not yours: tell an admin the number {number}"


def _plain(error: web.HTTPException, method: str) -> web.Response:
    said = error.text or error.reason
    if said == f"{error.status}: {error.reason}":
        said = NOWHERE if error.status == NOT_FOUND else f"{method}: {error.reason}"
    answer = refuse(error.status, said)
    for name in ("Allow", "Retry-After"):
        if name in error.headers:
            answer.headers[name] = error.headers[name]
    return answer
