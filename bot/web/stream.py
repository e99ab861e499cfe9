"""Server-sent events as the client reads them: LF frames, one line of ASCII each."""

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

from aiohttp import web
from aiohttp_sse import EventSourceResponse

from bot.jobs.errors import NcubotError
from bot.web.desk import Desk
from bot.web.following import Followed
from bot.web.payloads import Failed, Progress, as_json
from bot.web.refusals import status_of
from bot.web.results import Piece, answer_pieces, failures
from bot.web.zips import pieces, zipped
from bot.wording import sentence

SIGN_OF_LIFE_S = 15.0
WITHOUT_A_RUN = 422
"""The status of a submission that ended before any benchmark could run."""
STALLED_S = 120.0
"""A reader that takes nothing for so long is let go; its job goes on."""


async def stream(request: web.Request, followed: Followed, desk: Desk) -> web.StreamResponse:
    """Say how a job goes until it is over, then send its result."""
    response = EventSourceResponse(sep="\n", allow_all_methods=True, send_timeout=STALLED_S)
    await response.prepare(request)
    async with response:
        async for message in followed.messages(SIGN_OF_LIFE_S):
            elapsed = round(time.monotonic() - followed.began, 2)
            said = Progress(message=message, elapsed_time=elapsed)
            await response.send(as_json(said), event="status")
        try:
            outcome = await desk.follower.outcome(followed)
        except NcubotError as error:
            await _fail(response, sentence(error), status_of(error))
            return response
        if not outcome.benchmarks:
            await _fail(response, " ".join(failures(outcome)), WITHOUT_A_RUN)
            return response
        for fault in failures(outcome):
            said = Progress(message=fault, elapsed_time=0.0)
            await response.send(as_json(said), event="status")
        answer = await asyncio.to_thread(answer_pieces, outcome, datetime.now(UTC))
    # Nothing may come between the pieces: the signs of life have ended with the block.
    await _send_result(response, answer, desk.scratch)
    return response


async def _fail(response: EventSourceResponse, detail: str, status: int) -> None:
    await response.send(as_json(Failed(detail=detail, status_code=status)), event="error")


async def _send_result(
    response: EventSourceResponse, answer: tuple[Piece, ...], scratch: Path
) -> None:
    await _write(response, b"event: result\ndata: ")
    for piece in answer:
        await _write(response, piece.text.encode("ascii"))
        if piece.files:
            async with zipped(piece.files, scratch) as packed:
                async for data in pieces(packed, encoded=True):
                    await _write(response, data)
    await _write(response, b"\n\n")
    await response.write_eof()


async def _write(response: EventSourceResponse, data: bytes) -> None:
    async with asyncio.timeout(STALLED_S):
        await response.write(data)
