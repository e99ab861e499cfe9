"""A Discord of three ways, in memory: what stands where, and what goes wrong with which call."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from bot.delivery.address import Address, WayName
from bot.delivery.ways import Part, Way
from bot.jobs.model import Job
from bot.reports.illustrate import Illustration
from bot.reports.message import ReplyMessage

ORIGINAL = 0
LIMIT = 1_000_000


@dataclass
class Standing:
    """A message: opened, or filled."""

    way: WayName
    part: Part | None
    filled: ReplyMessage | None = None
    pictures: tuple[Illustration, ...] = ()


@dataclass
class Fault:
    """Lets calls fail; with `done` Discord does what it was asked all the same."""

    way: WayName
    call: str
    error: Callable[[], Exception]
    times: int = 1_000
    done: bool = False


@dataclass
class SmallDiscord:
    """All ways to everybody."""

    messages: dict[int, Standing] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    offered: tuple[WayName, ...] = (WayName.REPLY, WayName.DIRECT, WayName.THREAD)
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    def to(self, job: Job, address: Address) -> tuple[Way, ...]:
        return tuple(OneWay(self, name) for name in self.offered)

    async def show(self, job: Job, address: Address, text: str, *, cancelling: bool) -> None:
        self.fail(WayName.REPLY, "show", done=False)
        self.shown.append(f"{text} (cancelling)" if cancelling else text)

    def fail(self, way: WayName, call: str, *, done: bool) -> None:
        """Raise what a test has set for this call, before or after it was done."""
        for fault in self.faults:
            if (fault.way, fault.call, fault.done) == (way, call, done) and fault.times > 0:
                fault.times -= 1
                raise fault.error()

    def filled(self) -> list[tuple[WayName, str]]:
        """Return what stands filled: way and title, oldest first."""
        return [
            (one.way, one.filled.title) for one in self.messages.values() if one.filled is not None
        ]

    def only_opened(self) -> list[WayName]:
        """Return the ways on which a placeholder stands."""
        return [
            one.way for one in self.messages.values() if one.filled is None and not one.pictures
        ]


@dataclass(frozen=True)
class OneWay:
    """One way of it."""

    discord: SmallDiscord
    name: WayName
    limit: int = LIMIT

    async def open(self, part: Part) -> int:
        if self.name is WayName.REPLY and part.is_first:
            return ORIGINAL
        self._call("open")
        number = next(self.discord.numbers)
        self.discord.messages[number] = Standing(self.name, part)
        self._done("open")
        return number

    async def find(self, part: Part) -> int | None:
        if self.name is WayName.REPLY:
            return ORIGINAL if part.is_first else None
        self._call("find")
        for number, one in self.discord.messages.items():
            if one.part == part and one.way is self.name and one.filled is None:
                return number
        return None

    async def fill(self, message_id: int, message: ReplyMessage) -> None:
        self._call("fill")
        if message_id == ORIGINAL:
            self.discord.messages.setdefault(ORIGINAL, Standing(self.name, None))
        self.discord.messages[message_id].filled = message
        self._done("fill")

    async def holds(self, message_id: int, message: ReplyMessage) -> bool:
        self._call("holds")
        one = self.discord.messages.get(message_id)
        return one is not None and one.filled == message

    async def add(self, pictures: tuple[Illustration, ...]) -> None:
        self._call("add")
        self.discord.messages[next(self.discord.numbers)] = Standing(
            self.name, None, pictures=pictures
        )

    def _call(self, call: str) -> None:
        self.discord.calls.append(f"{self.name} {call}")
        self.discord.fail(self.name, call, done=False)

    def _done(self, call: str) -> None:
        self.discord.fail(self.name, call, done=True)
