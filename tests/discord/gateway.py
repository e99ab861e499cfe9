"""The gateway: one WebSocket a bot, with sessions that a lost connection can resume."""

import asyncio
import secrets
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec
from aiohttp import WSMsgType, web

from tests.discord import payloads
from tests.discord.records import Json
from tests.discord.world import APPLICATION, BOT, GUILD, World

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, INVALID, HELLO, ACK = 0, 1, 2, 6, 7, 9, 10, 11
HEARTBEAT_MS = 41_250
WRONG_TOKEN = 4004


@dataclass(slots=True)
class Session:
    """A bot that has identified itself; its events are kept for a resume."""

    id: str
    socket: web.WebSocketResponse | None
    sent: list[Json] = field(default_factory=list)

    async def dispatch(self, event: str, data: object) -> None:
        """Send an event, or keep it for the resume where the connection is away."""
        body = {"op": DISPATCH, "t": event, "s": len(self.sent) + 1, "d": data}
        self.sent.append(body)
        if self.socket is not None:
            await _send(self.socket, body)


class Gateway:
    """Who is connected."""

    def __init__(self, world: World, token: str) -> None:
        self._world = world
        self._token = token
        self._sessions: dict[str, Session] = {}
        self.identified = 0
        """How many sessions were begun."""

    @property
    def online(self) -> list[Session]:
        """Return the sessions with an open connection."""
        return [one for one in self._sessions.values() if one.socket is not None]

    async def dispatch(self, event: str, data: object) -> bool:
        """Send an event to the bot that came last; tell whether it is there.

        One that is away has it when it resumes.
        """
        for session in list(self._sessions.values())[-1:]:
            is_there = session.socket is not None
            with suppress(ConnectionError):
                await session.dispatch(event, data)
                return is_there
        return False

    async def reconnect(self) -> None:
        """Ask every bot to connect anew and resume, as Discord does every few hours."""
        for session in self.online:
            if session.socket is not None:
                await _send(session.socket, {"op": RECONNECT, "d": None})

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one connection."""
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        await _send(socket, {"op": HELLO, "d": {"heartbeat_interval": HEARTBEAT_MS}})
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await self._take(socket, msgspec.json.decode(message.data))
        finally:
            for session in self._sessions.values():
                if session.socket is socket:
                    session.socket = None
            await asyncio.shield(self._world.wake())
        return socket

    async def _take(self, socket: web.WebSocketResponse, said: Json) -> None:
        match said["op"]:
            case 1:
                await _send(socket, {"op": ACK, "d": None})
            case 2 if said["d"]["token"] != self._token:
                await socket.close(code=WRONG_TOKEN)
            case 2:
                await self._identify(socket)
            case 6:
                await self._resume(socket, said["d"])

    async def _identify(self, socket: web.WebSocketResponse) -> None:
        session = Session(secrets.token_hex(16), socket)
        self._sessions[session.id] = session
        await session.dispatch(
            "READY",
            {
                "v": 10,
                "user": payloads.user(BOT),
                "guilds": [{"id": str(GUILD), "unavailable": True}],
                "session_id": session.id,
                "resume_gateway_url": f"{socket_url(str(self._world.url))}/gateway",
                "application": {"id": str(APPLICATION), "flags": 0},
            },
        )
        await session.dispatch("GUILD_CREATE", payloads.guild(self._world))
        self.identified += 1
        await self._world.wake()

    async def _resume(self, socket: web.WebSocketResponse, said: Json) -> None:
        session = self._sessions.get(said["session_id"])
        if session is None or session.socket is not None:
            await _send(socket, {"op": INVALID, "d": False})
            return
        for body in session.sent[said["seq"] or 0 :]:
            await _send(socket, body)
        session.socket = socket
        await session.dispatch("RESUMED", {})
        await self._world.wake()


def socket_url(url: str) -> str:
    """Return the address of a WebSocket where `url` is that of the server."""
    return "ws" + url.removeprefix("http")


async def _send(socket: web.WebSocketResponse, body: Json) -> None:
    await socket.send_str(msgspec.json.encode(body).decode())
