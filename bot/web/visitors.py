"""Who sends a request, and how often they may."""

import hmac

from aiohttp import web
from limits import RateLimitItem, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from bot.storage.accounts import Accounts
from bot.storage.bans import Bans
from runner_client.secret import Secret

CLI_ID = "X-Popcorn-Cli-Id"
AN_ADDRESS = RateLimitItemPerMinute(600, namespace="address")
"""Many terminals may stand behind one address."""
AN_ID = RateLimitItemPerMinute(300, namespace="id")
AN_OFFER = RateLimitItemPerMinute(20, namespace="offer")
A_WRONG_ID = RateLimitItemPerMinute(30, namespace="wrong-id")
"""Ids cannot be guessed; this keeps those who try from the database."""
NOT_LINKED = (
    "this terminal is not linked to an account: type /register in Discord with the cli_id that "
    "stands in ~/.popcorn.yaml, within ten minutes of `popcorn-cli register discord`"
)
NO_ID = f"the header {CLI_ID} is missing: run `popcorn-cli register discord` first"


class Visitors:
    """Everybody who sends requests."""

    def __init__(self, accounts: Accounts, bans: Bans, *, behind_proxy: bool) -> None:
        self._accounts = accounts
        self._bans = bans
        self._behind_proxy = behind_proxy
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    async def count(self, request: web.Request) -> None:
        """Let a request in by its address. Raises web.HTTPTooManyRequests."""
        await self._spend(AN_ADDRESS, self._address(request))

    async def count_offer(self, request: web.Request) -> None:
        """Let an address have another id. Raises web.HTTPTooManyRequests."""
        await self._spend(AN_OFFER, self._address(request))

    async def user(self, request: web.Request) -> int:
        """Return the Discord user for whom a terminal speaks.

        Raises web.HTTPBadRequest, web.HTTPUnauthorized, web.HTTPTooManyRequests, Banned.
        """
        cli_id = request.headers.get(CLI_ID)
        if not cli_id:
            raise web.HTTPBadRequest(text=NO_ID)
        address = self._address(request)
        if not await self._limiter.test(A_WRONG_ID, address):
            raise _too_many()
        user_id = await self._accounts.user_of_cli_id(cli_id)
        if user_id is None:
            await self._limiter.hit(A_WRONG_ID, address)
            raise web.HTTPUnauthorized(text=NOT_LINKED)
        await self._spend(AN_ID, str(user_id))
        self._bans.let_in(user_id)
        return user_id

    def _address(self, request: web.Request) -> str:
        """Return the sender's address; a proxy of ours adds it as the last one."""
        forwarded = request.headers.get("X-Forwarded-For", "") if self._behind_proxy else ""
        return forwarded.rpartition(",")[2].strip() or request.remote or ""

    async def _spend(self, limit: RateLimitItem, whose: str) -> None:
        if not await self._limiter.hit(limit, whose):
            raise _too_many()


def _too_many() -> web.HTTPTooManyRequests:
    said = "too many requests: wait a minute"
    return web.HTTPTooManyRequests(text=said, headers={"Retry-After": "60"})


def is_admin(request: web.Request, token: Secret | None) -> bool:
    """Whether a request brings the admin token; none does where none is set."""
    if token is None:
        return False
    given = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
    return hmac.compare_digest(given, f"Bearer {token.reveal()}".encode())
