"""Faults that a test asks for: which call goes wrong, when, and how."""

from enum import StrEnum

from msgspec import Struct

from tests.discord.calls import Call
from tests.discord.records import Kind


class Effect(StrEnum):
    """How a call goes wrong."""

    REFUSE = "refuse"
    """It is answered with the error, and nothing was done."""
    LOSE = "lose"
    """It is done and then answered with the error."""
    DROP = "drop"
    """It is done, and the connection closed without an answer."""
    EXPIRE = "expire"
    """Its user's tokens expire just before; then it goes its way."""


class Fault(Struct, frozen=True, kw_only=True):
    """The calls from the `nth` on, `times` of them, among those that fit; None fits all.

    With `retry_after` in seconds the error is 429 in place of `code`; `blocked`: as the network in
    front of Discord sends it, without the headers by which a client knows how long to wait.
    """

    call: Call
    user: int | None = None
    channel: int | None = None
    kind: Kind | None = None
    fills: bool | None = None
    nth: int = 1
    times: int = 1
    code: int = 0
    effect: Effect = Effect.REFUSE
    retry_after: float | None = None
    blocked: bool = False


class Place(Struct, frozen=True, kw_only=True):
    """Whom a call is about and where, as far as its path tells; whether it sets the files."""

    user: int | None = None
    channel: int | None = None
    kind: Kind | None = None
    fills: bool = False


class Faults:
    """The faults in force, each with how many calls have fitted so far."""

    def __init__(self) -> None:
        self._counted: list[tuple[Fault, list[None]]] = []

    def add(self, fault: Fault) -> None:
        """Put a fault in force."""
        self._counted.append((fault, []))

    def next(self, call: Call, place: Place) -> Fault | None:
        """Count a call; return the fault that it meets."""
        met = None
        for fault, seen in self._counted:
            if _fits(fault, call, place):
                seen.append(None)
                if fault.nth <= len(seen) < fault.nth + fault.times:
                    met = met or fault
        return met


def _fits(fault: Fault, call: Call, place: Place) -> bool:
    wanted = (fault.user, fault.channel, fault.kind, fault.fills)
    given = (place.user, place.channel, place.kind, place.fills)
    return fault.call is call and all(
        want is None or want == have for want, have in zip(wanted, given, strict=True)
    )
