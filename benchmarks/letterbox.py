"""When people get their answers in the small Discord, read from its journal as it grows.

Asking it for each of hundreds of people would cost more than what is measured.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tests.discord.orders import Seen
from tests.discord.records import Kind, Message, Record
from tests.soak.authors import cancel_button

LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply to what somebody typed. `at` is of `time.monotonic`, late by at most `LOOK_S`."""

    at: float
    message: Message

    @property
    def words(self) -> str:
        """Return what it says, in one line."""
        said = (str(one.get("description", "")) for one in self.message.embeds)
        return " ".join(" ".join((self.message.content, *said)).split())


class Letterbox:
    """The last answers to what was typed. `get` waits for one."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._first: dict[str, int] = {}
        self._there: dict[str, Answer] = {}
        self._waiting: dict[str, asyncio.Event] = {}
        self._grown = asyncio.Condition()

    @property
    def moments(self) -> tuple[float, ...]:
        """Return the moments at which what was typed was over."""
        return tuple(answer.at for answer in self._there.values())

    async def reach(self, count: int) -> None:
        """Wait until so much of what was typed is over."""
        async with self._grown:
            await self._grown.wait_for(lambda: len(self._there) >= count)

    async def get(self, token: str) -> Answer:
        """Wait until the reply to what was typed says nothing of going on, and return it."""
        if token not in self._there:
            await self._waiting.setdefault(token, asyncio.Event()).wait()
        return self._there[token]

    async def watch(self) -> None:
        """Read what the small Discord writes down until cancelled."""
        left = b""
        with self._journal.open("rb") as journal:
            while True:
                *lines, left = (left + journal.read()).split(b"\n")
                for line in lines:
                    self._take(msgspec.json.decode(line, type=Record))
                async with self._grown:
                    self._grown.notify_all()
                await asyncio.sleep(LOOK_S)

    def _take(self, record: Record) -> None:
        if not isinstance(record, Message) or record.token is None:
            return
        first = self._first.setdefault(record.token, record.id)
        if record.id == first and _is_last(record) and record.token not in self._there:
            self._there[record.token] = Answer(time.monotonic(), record)
            self._waiting.setdefault(record.token, asyncio.Event()).set()


def _is_last(message: Message) -> bool:
    seen = Seen(message=message, kind=Kind.TEXT, ephemeral=message.reader is not None)
    return not message.loading and cancel_button(seen) is None


@asynccontextmanager
async def letterbox(discord: Path) -> AsyncIterator[Letterbox]:
    """Watch the small Discord that keeps itself in the folder `discord`."""
    box = Letterbox(discord / "journal")
    task = asyncio.create_task(box.watch())
    try:
        yield box
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
