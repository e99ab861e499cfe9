"""What stands before every route: who may come in, and errors as JSON."""

import hmac
import logging
from collections.abc import Awaitable, Callable

import msgspec
from aiohttp import web

from runner.service.keys import SETTINGS
from runner.settings import RunnerSettings
from runner.text import one_line
from runner_client.address import is_loopback
from runner_client.wire import Refusal

logger = logging.getLogger(__name__)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def answer(value: msgspec.Struct, status: int = 200) -> web.Response:
    """Return a wire value as a JSON answer."""
    body = msgspec.json.encode(value)
    return web.Response(body=body, status=status, content_type="application/json")


def refuse(status: int, reason: str) -> web.Response:
    """Return a refusal."""
    return answer(Refusal(error=one_line(reason)), status)


@web.middleware
async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn aiohttp's own answers and unexpected errors into refusals."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        refusal = refuse(error.status, error.text or error.reason)
        if "Allow" in error.headers:
            refusal.headers["Allow"] = error.headers["Allow"]
        return refusal
    except Exception:  # edge of the service: the cause goes to the log, not to the caller
        logger.exception("%s %s broke", request.method, request.path)
        return refuse(500, "internal error of the runner")


@web.middleware
async def authorize(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let in who has the token, to every route; without one, this machine's programs alone."""
    if not _may_enter(request, request.app[SETTINGS]):
        return refuse(401, "a valid bearer token is needed")
    return await handler(request)


def _may_enter(request: web.Request, settings: RunnerSettings) -> bool:
    if settings.token is None:
        # A web page that rebinds its name to 127.0.0.1 still sends its own name.
        return is_loopback(_host_name(request.host))
    expected = f"Bearer {settings.token.reveal()}".encode()
    given = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
    return hmac.compare_digest(given, expected)


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]
