"""The ways to an author, as the courier sees them. Discord's side of them is in cogs/ways.py."""

from dataclasses import dataclass
from typing import Protocol

from bot.delivery.address import Address, WayName
from bot.jobs.model import Job
from bot.reports.illustrate import Illustration
from bot.reports.message import ReplyMessage


@dataclass(eq=False)
class WayClosed(Exception):  # noqa: N818 - an answer, not an error
    """Nothing comes to the author on this way; `reason` is for the log."""

    reason: str


@dataclass(eq=False)
class Unclear(Exception):  # noqa: N818
    """Discord was busy, or gave no answer: whether it did what it was asked is not known."""

    reason: str


class Unopened(Unclear):
    """No message can be opened here as long as Discord is so busy: at worst an empty one stands."""


class TooLarge(Exception):  # noqa: N818
    """Discord refused the upload as too large, and did nothing."""


@dataclass(frozen=True, slots=True)
class Part:
    """One message of a job's reply; `number` counts from 1.

    Number 0 is the sentence of a job that failed, `alone` where no part of a result was sent.
    """

    job_id: str
    number: int
    alone: bool = False

    @property
    def is_first(self) -> bool:
        """Whether it stands in place of the progress."""
        return self.number == 1 or self.alone

    @property
    def mark(self) -> str:
        """What an opened message has in its text until it is filled."""
        return f"Job {self.job_id}, part {self.number}:"

    @property
    def placeholder(self) -> str:
        """The text of an opened message."""
        return f"{self.mark} on its way."


class Way(Protocol):
    """One way to one author. Every method raises WayClosed and Unclear."""

    @property
    def name(self) -> WayName:
        """Which way it is."""

    @property
    def limit(self) -> int:
        """The bytes that a file may have here."""

    async def open(self, part: Part) -> int:
        """Make a message with the part's placeholder and return its id."""

    async def find(self, part: Part) -> int | None:
        """Return the id of a message that was opened for the part, if it can be told."""

    async def fill(self, message_id: int, message: ReplyMessage) -> None:
        """Put a message in a placeholder's place; again and again it is one message.

        Raises TooLarge.
        """

    async def holds(self, message_id: int, message: ReplyMessage) -> bool:
        """Whether the message with that id was filled so."""

    async def add(self, pictures: tuple[Illustration, ...]) -> None:
        """Send further pictures in one message. Raises TooLarge."""


class Ways(Protocol):
    """All ways to all authors."""

    def to(self, job: Job, address: Address) -> tuple[Way, ...]:
        """Return the ways to a job's author that may be open, in order."""

    async def show(self, job: Job, address: Address, text: str, *, cancelling: bool) -> None:
        """Show progress in the interaction's reply. Raises WayClosed and Unclear."""
