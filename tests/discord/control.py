"""The side of the small Discord that tests talk to."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import msgspec
from aiohttp import web
from msgspec import Struct

from tests.discord import payloads
from tests.discord.faults import Fault
from tests.discord.gateway import Gateway
from tests.discord.orders import Await, Click, Counts, Look, Seen, Slash, Typed
from tests.discord.records import Attached, Interaction, Json
from tests.discord.rest import Rest
from tests.discord.world import Rules, World

T = TypeVar("T", bound=Struct)
SUB_COMMAND, SUB_GROUP, STRING, INTEGER, BOOLEAN, ATTACHMENT = 1, 2, 3, 4, 5, 11
BUTTON, MENU = 2, 3
TYPES: dict[type, int] = {str: STRING, int: INTEGER, bool: BOOLEAN}


class Control:
    """Carries the orders out."""

    def __init__(self, world: World, rest: Rest, gateway: Gateway) -> None:
        self._world, self._rest, self._gateway = world, rest, gateway

    def routes(self) -> list[web.RouteDef]:
        """Return what aiohttp is to serve."""
        return [
            _route("slash", Slash, self.slash),
            _route("click", Click, self.click),
            _route("rules", Rules, self.rules),
            _route("fault", Fault, self.fault),
            _route("expire", Look, self.expire),
            _route("seen", Look, self.seen),
            _route("await", Await, self.wait),
            _route("reconnect", Look, self.reconnect),
            web.get("/cdn/{file}/{name}", self._file),
        ]

    async def slash(self, order: Slash) -> Typed:
        """Let a user type a command."""
        files = {
            name: self._world.attach(one.name, one.content) for name, one in order.files.items()
        }
        options = [_option(name, value) for name, value in order.options.items()]
        options += [
            {"name": name, "type": ATTACHMENT, "value": str(file.id)}
            for name, file in files.items()
        ]
        for name in reversed(order.command[1:]):
            options = [{"name": name, "type": SUB_COMMAND, "options": options}]
        data: Json = {
            "id": str(self._world.snowflake()),
            "name": order.command[0],
            "type": 1,
            "options": options,
            "resolved": {"attachments": self._shown(files)},
        }
        channel = self._world.direct(order.user).id if order.channel is None else order.channel
        typed = self._world.typed(order.user, channel, payloads.SLASH, order.age_s)
        return await self._dispatch(typed, data, permissions=order.permissions)

    def _shown(self, files: dict[str, Attached]) -> Json:
        return {str(file.id): payloads.attachment(file, self._world.url) for file in files.values()}

    async def click(self, order: Click) -> Typed:
        """Let a user press something."""
        message = self._world.message(order.message)
        data: Json = {
            "custom_id": order.custom_id,
            "component_type": MENU if order.values else BUTTON,
            **({"values": list(order.values)} if order.values else {}),
        }
        typed = self._world.typed(
            order.user, message.channel, payloads.COMPONENT, 0.0, original=message.id
        )
        return await self._dispatch(typed, data, on=payloads.message(message, self._world.url))

    async def _dispatch(
        self,
        typed: Interaction,
        data: Json,
        *,
        on: Json | None = None,
        permissions: int | None = None,
    ) -> Typed:
        body = payloads.interaction(typed, data, self._world, on)
        if permissions is not None:
            body["app_permissions"] = str(permissions)
        reached = await self._gateway.dispatch("INTERACTION_CREATE", body)
        return Typed(token=typed.token, reached=reached)

    async def rules(self, order: Rules) -> Counts:
        """Put rules in force."""
        self._world.rules = order
        return self._counts()

    async def fault(self, order: Fault) -> Counts:
        """Let calls go wrong."""
        self._rest.faults.add(order)
        return self._counts()

    async def expire(self, order: Look) -> Counts:
        """Let all tokens of a user expire."""
        self._world.expire(order.user)
        return self._counts()

    async def seen(self, order: Look) -> list[Seen]:
        """Return what a user sees, oldest first."""
        return [
            Seen(message=message, kind=channel.kind, ephemeral=message.reader is not None)
            for message, channel in self._world.seen_by(order.user)
            if order.token in {None, message.token}
        ]

    async def wait(self, order: Await) -> Counts:
        """Return when something has changed, or the time is over."""
        async with self._world.changed:
            try:
                async with asyncio.timeout(order.seconds):
                    await self._world.changed.wait_for(lambda: self._world.version > order.version)
            except TimeoutError:
                pass
        return self._counts()

    async def reconnect(self, _: Look) -> Counts:
        """Send the bots away; they resume."""
        await self._gateway.reconnect()
        return self._counts()

    def _counts(self) -> Counts:
        self._rest.flush()
        return Counts(
            version=self._world.version,
            calls=dict(self._rest.counts),
            broken=dict(self._rest.limits.broken),
            online=len(self._gateway.online),
            identified=self._gateway.identified,
        )

    async def _file(self, request: web.Request) -> web.StreamResponse:
        return web.FileResponse(self._world.path(int(request.match_info["file"])))


def _option(name: str, value: str | int | bool) -> Json:
    return {"name": name, "type": TYPES[type(value)], "value": value}


def _route(name: str, kind: type[T], act: Callable[[T], Awaitable[object]]) -> web.RouteDef:
    return web.post(f"/control/{name}", partial(_serve, kind, act))


async def _serve(
    kind: type[T], act: Callable[[T], Awaitable[object]], request: web.Request
) -> web.Response:
    order = msgspec.json.decode(await request.read(), type=kind)
    answer = await act(order)
    return web.Response(body=msgspec.json.encode(answer), content_type="application/json")
