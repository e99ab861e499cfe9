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
    (errors.Refused, 400),
    (SourceError, 400),
    (SyncBusy, 409),
    (errors.RunnerFault, 503),
)


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
        return _plain(error)
    except ConnectionError:
        raise
    except Exception:  # edge of the service: the cause goes to the log, not to the caller
        number = secrets.token_hex(4)
        log.exception("error %s in %s", number, request.match_info.route.name or request.method)
        said = f"something broke on our side, not yours: tell an admin the number {number}"
        return refuse(500, said)


def _plain(error: web.HTTPException) -> web.Response:
    answer = refuse(error.status, error.text or error.reason)
    for name in ("Allow", "Retry-After"):
        if name in error.headers:
            answer.headers[name] = error.headers[name]
    return answer
