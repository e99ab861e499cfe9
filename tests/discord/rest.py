"""The REST side: each call counted, its limit kept, its fault had, then answered."""

import logging
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from aiohttp import web

from tests.discord import drafts, interactions, payloads, places
from tests.discord.calls import ROUTES, Call
from tests.discord.drafts import Draft
from tests.discord.errors import Refused
from tests.discord.faults import Effect, Fault, Faults, Place
from tests.discord.gateway import socket_url
from tests.discord.limits import Limits
from tests.discord.records import Json
from tests.discord.world import BOT, World

log = logging.getLogger(__name__)
API = "/api/v10"
Handler = Callable[[World, dict[str, str], Draft], Json | list[Json] | None]
HANDLERS: dict[Call, Handler] = {
    Call.ME: lambda *_: payloads.me(),
    Call.APPLICATION: lambda *_: payloads.application(),
    Call.GATEWAY: lambda world, *_: _gateway(world),
    Call.COMMANDS: lambda world, _, draft: _commands(world, draft),
    Call.CALLBACK: interactions.callback,
    Call.ORIGINAL: interactions.original,
    Call.EDIT_ORIGINAL: interactions.edit_original,
    Call.DELETE_ORIGINAL: interactions.delete_original,
    Call.FOLLOW_UP: interactions.follow_up,
    Call.GET_FOLLOW_UP: interactions.get_follow_up,
    Call.EDIT_FOLLOW_UP: interactions.edit_follow_up,
    Call.DELETE_FOLLOW_UP: interactions.delete_follow_up,
    Call.OPEN_DM: places.open_dm,
    Call.SEND: places.send,
    Call.LIST: places.listed,
    Call.GET: places.get,
    Call.EDIT: places.edit,
    Call.DELETE: places.delete,
    Call.THREAD: places.thread,
    Call.THREADS: places.threads,
    Call.ADD_MEMBER: places.add_member,
    Call.CHANNEL: places.channel,
    Call.USER: places.user,
    Call.GUILD: places.guild,
    Call.MEMBER: places.member,
}


def _gateway(world: World) -> Json:
    left = {"total": 1_000, "remaining": 1_000, "reset_after": 0, "max_concurrency": 1}
    return {"url": f"{socket_url(world.url)}/gateway", "shards": 1, "session_start_limit": left}


def _commands(world: World, draft: Draft) -> list[Json]:
    """Take the tree of commands over and give each an id."""
    application = payloads.application()["id"]
    return [
        {
            **command,
            "id": str(world.snowflake()),
            "application_id": application,
            "version": str(world.snowflake()),
            "default_member_permissions": command.get("default_member_permissions"),
            "type": command.get("type", 1),
            "description": command.get("description", ""),
        }
        for command in draft.commands
    ]


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request and its answer, as the file `asked` keeps it; one a line."""

    call: Call
    path: str
    body: Json | list[Json] | None
    answer: Json | list[Json] | None = None


class Rest:
    """Answers every call."""

    def __init__(self, world: World, token: str, log_file: Path) -> None:
        self.world = world
        self.faults = Faults()
        self.limits = Limits()
        self.counts: Counter[Call] = Counter()
        self._token = token
        self._log = log_file.open("ab")

    def routes(self) -> list[web.RouteDef]:
        """Return what aiohttp is to serve, exact paths before those with parameters."""
        exact_first = sorted(ROUTES.items(), key=lambda item: item[1].path.count("{"))
        return [
            web.route(route.method, API + route.path, partial(self._serve, call))
            for call, route in exact_first
        ]

    async def _serve(self, call: Call, request: web.Request) -> web.StreamResponse:
        path = {**request.match_info, **request.query}
        try:
            draft = await drafts.read(request)
        except Refused as refused:
            return _json(refused.body, refused.status)
        except ConnectionError:
            # The bot was killed while it sent this.
            return web.Response(status=400)
        self.counts[call] += 1
        headers, wait = self.limits.take(call, path)
        if wait is not None and self.world.rules.limited:
            return _limited(wait, headers, is_global="X-RateLimit-Global" in headers)
        fault = self.faults.next(call, self._place(path, draft))
        response = self._answer(call, request, draft, fault)
        response.headers.update(headers)
        await self.world.wake()
        if fault is not None and fault.effect is Effect.DROP and request.transport is not None:
            request.transport.abort()
        return response

    def _answer(
        self, call: Call, request: web.Request, draft: Draft, fault: Fault | None
    ) -> web.Response:
        """Do what is asked as far as the fault lets it be done."""
        path = {**request.match_info, **request.query}
        answer: Json | list[Json] | None = None
        try:
            if fault is not None and fault.effect is Effect.EXPIRE:
                self.world.expire(self._place(path, draft).user or 0)
            if fault is not None and fault.effect is Effect.REFUSE:
                return _failed(fault)
            self._authorise(call, request)
            answer = HANDLERS[call](self.world, path, draft)
        except Refused as refused:
            log.info("%s %s: %s", call, request.path, refused)
            return _json(refused.body, refused.status)
        finally:
            self._note(call, request, draft, answer)
        if fault is not None and fault.effect is Effect.LOSE:
            return _failed(fault)
        if answer is None:
            return web.Response(status=204)
        return _json(answer)

    def _authorise(self, call: Call, request: web.Request) -> None:
        by_token = request.path.startswith((f"{API}/webhooks/", f"{API}/interactions/"))
        if not by_token and request.headers.get("Authorization") != f"Bot {self._token}":
            raise Refused(40001)

    def _place(self, path: dict[str, str], draft: Draft) -> Place:
        fills = "attachments" in (draft.body or {})
        token = path.get("webhook_token") or path.get("interaction_token")
        found = self.world.interactions.get(token or "")
        if found is not None:
            return Place(user=found.user, channel=found.channel, fills=fills)
        if draft.body and "recipient_id" in draft.body:
            return Place(user=int(draft.body["recipient_id"]))
        channel = self.world.channels.get(int(path.get("channel_id", 0)))
        if channel is None:
            return Place()
        named = [int(path["user_id"])] if "user_id" in path else list(channel.members)
        others = [one for one in named if one != BOT]
        return Place(
            user=others[0] if others else None,
            channel=channel.parent or channel.id,
            kind=channel.kind,
            fills=fills,
        )

    def _note(
        self, call: Call, request: web.Request, draft: Draft, answer: Json | list[Json] | None
    ) -> None:
        """Keep the request for a check against Discord's description."""
        path = request.path.removeprefix(API)
        body = list(draft.commands) or draft.body
        asked = Asked(call=call, path=path, body=body, answer=answer)
        self._log.write(msgspec.json.encode(asked) + b"\n")

    def close(self) -> None:
        """Write out what is left."""
        self._log.close()

    def flush(self) -> None:
        """Let others read what was asked so far."""
        self._log.flush()


def _failed(fault: Fault) -> web.Response:
    if fault.retry_after is not None:
        if fault.blocked:
            return web.Response(status=429, text="error code: 1015")
        return _limited(fault.retry_after, {}, is_global=False)
    refused = Refused(fault.code)
    return _json(refused.body, refused.status)


def _limited(wait: float, headers: dict[str, str], *, is_global: bool) -> web.Response:
    body = {
        "message": "You are being rate limited.",
        "retry_after": round(wait, 3),
        "global": is_global,
    }
    via = {"Via": "1.1 google", "Retry-After": str(int(wait) + 1)}
    response = _json(body, 429)
    response.headers.update({**via, **headers})
    return response


def _json(body: object, status: int = 200) -> web.Response:
    """Answer without a charset in the content type: discord.py reads JSON only so."""
    text = msgspec.json.encode(body)
    return web.Response(body=text, status=status, content_type="application/json")
