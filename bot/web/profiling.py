"""The two ways to ask for a profile that are answered by a stream."""

from aiohttp import web

from bot.jobs.model import ProfileRequest
from bot.web.desk import DESK
from bot.web.following import Followed
from bot.web.forms import Upload, read_upload
from bot.web.stream import stream

ONLY_PROFILES = "this server profiles and does not rank: ask for mode profile"


async def post_profile(request: web.Request) -> web.StreamResponse:
    """POST /profile/{leaderboard}/{gpu}, and /{leaderboard}/{gpu}/profile of the screen."""
    user_id = await request.app[DESK].visitors.user(request)
    followed = await submit(
        request,
        user_id,
        await read_upload(request),
        leaderboard=request.match_info["leaderboard"],
        gpu=request.match_info["gpu"],
    )
    return await stream(request, followed, request.app[DESK])


async def post_other_mode(request: web.Request) -> web.StreamResponse:
    """Answer the modes that need a ranking."""
    await request.app[DESK].visitors.user(request)
    raise web.HTTPBadRequest(text=ONLY_PROFILES)


async def submit(
    request: web.Request, user_id: int, upload: Upload, *, leaderboard: str | None, gpu: str | None
) -> Followed:
    """Take an upload as a job, or find it again. Raises NcubotError."""
    wanted = ProfileRequest(
        user_id=user_id,
        file_name=upload.file_name,
        source=upload.source,
        leaderboard=leaderboard,
        gpu=gpu,
        benchmark=upload.benchmark,
        capture=upload.capture,
    )
    return await request.app[DESK].follower.submit(wanted)
