"""Server-sent events as the client reads them: LF frames, one line of ASCII each."""

import asyncio
import logging
import secrets
import time
from datetime import UTC, datetime

from aiohttp import web
from aiohttp_sse import EventSourceResponse

from bot.jobs.errors import NcubotError
from bot.web.desk import Desk
from bot.web.following import Followed
from bot.web.payloads import Failed, Progress, as_json
from bot.web.refusals import our_fault, status_of
from bot.web.results import answer_pieces, failures
from bot.web.sending import STALLED_S, write
from bot.web.zips import pieces, zipped
from bot.wording import sentence

log = logging.getLogger(__name__)
SIGN_OF_LIFE_S = 15.0
WITHOUT_A_RUN = 422
"""The status of a submission that ended before any benchmark could run."""
OUR_FAULT = 500


class _Stream:
    """The events of one response."""

    def __init__(self, request: web.Request, response: EventSourceResponse) -> None:
        self._request = request
        self.response = response

    async def write(self, data: bytes) -> None:
        """Send bytes as they are. Raises ConnectionError."""
        await write(self._request, self.response, data)

    async def status(self, message: str, elapsed_time: float = 0.0) -> None:
        """Send how it goes. Raises ConnectionError."""
        said = as_json(Progress(message=message, elapsed_time=elapsed_time))
        await self.write(f"event: status\ndata: {said}\n\n".encode("ascii"))

    async def fail(self, detail: str, status: int) -> None:
        """End with a failure. Raises ConnectionError."""
        said = as_json(Failed(detail=detail, status_code=status))
        await self.write(f"event: error\ndata: {said}\n\n".encode("ascii"))

    async def break_off(self, detail: str) -> None:
        """End with a failure where a result may have begun. Raises ConnectionError.

        Of a frame the client takes the last event and its data, which then are the failure's.
        """
        await self.write(b"\n")
        await self.fail(detail, OUR_FAULT)


async def stream(request: web.Request, followed: Followed, desk: Desk) -> web.StreamResponse:
    """Say how a job goes until it is over, then send its result."""
    response = EventSourceResponse(sep="\n", allow_all_methods=True, send_timeout=STALLED_S)
    await response.prepare(request)
    sent = _Stream(request, response)
    try:
        await _told(sent, followed, desk)
        await response.write_eof()
    except ConnectionError:
        log.info("a terminal left the stream of job %s", followed.job.id)
        if request.transport is not None:
            request.transport.abort()
    return response


async def _told(sent: _Stream, followed: Followed, desk: Desk) -> None:
    try:
        await _tell(sent, followed, desk)
    except ConnectionError:
        raise
    except Exception:  # edge of the service: the head is sent, so that only an event can say it
        number = secrets.token_hex(4)
        log.exception("error %s in the stream of job %s", number, followed.job.id)
        await sent.break_off(our_fault(number))


async def _tell(sent: _Stream, followed: Followed, desk: Desk) -> None:
    async with sent.response:
        async for message in followed.messages(SIGN_OF_LIFE_S):
            await sent.status(message, round(time.monotonic() - followed.began, 2))
        try:
            outcome = await desk.follower.outcome(followed)
        except NcubotError as error:
            await sent.fail(sentence(error), status_of(error))
            return
        if not outcome.benchmarks:
            await sent.fail(" ".join(failures(outcome)), WITHOUT_A_RUN)
            return
        for fault in failures(outcome):
            await sent.status(fault)
        answer = await asyncio.to_thread(answer_pieces, outcome, datetime.now(UTC))
    # Nothing may come between the pieces: the signs of life have ended with the block.
    await sent.write(b"event: result\ndata: ")
    for piece in answer:
        await sent.write(piece.text.encode("ascii"))
        if piece.files:
            async with zipped(piece.files, desk.scratch) as packed:
                async for data in pieces(packed, encoded=True):
                    await sent.write(data)
    await sent.write(b"\n\n")
