"""A user's bad luck, and where the two messages of their result must be all the same."""

from dataclasses import dataclass
from enum import StrEnum

from tests.discord.calls import Call
from tests.discord.faults import Effect, Fault
from tests.discord.orders import Seen
from tests.discord.records import Kind

ALWAYS = 1_000_000
MISSING_PERMISSIONS, TOO_LARGE, UNKNOWN_WEBHOOK = 50013, 40005, 10015


class Spot(StrEnum):
    """Where a message may stand."""

    REPLY = "reply"
    DIRECT = "direct"
    THREAD = "thread"
    PUBLIC = "public"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Faults of one user, who may take no direct messages, and the spots of both messages."""

    faults: tuple[Fault, ...] = ()
    closed: bool = False
    spots: tuple[Spot, Spot] | None
    """None: no way is open, and the result is kept."""
    reports: int = 2
    """How many of the reports, which are the largest files, arrive."""


def spot(seen: Seen) -> Spot:
    """Say where a message stands."""
    if seen.ephemeral:
        return Spot.REPLY
    return {
        Kind.DM: Spot.DIRECT,
        Kind.PRIVATE_THREAD: Spot.THREAD,
        Kind.TEXT: Spot.PUBLIC,
    }[seen.kind]


def parts(seen: list[Seen], benchmark: int) -> list[Seen]:
    """Return the messages that have a benchmark's table; those of pictures have none."""
    mark = f"benchmark {benchmark}"
    return [
        one
        for one in seen
        if any(mark in str(embed.get("title")) for embed in one.message.embeds)
        and one.message.content
    ]


def faults_of(case: Case, seen: list[Seen]) -> str:
    """Say what is wrong with what a user sees, or nothing."""
    found = tuple(tuple(map(spot, parts(seen, benchmark))) for benchmark in (0, 1))
    wanted = ((), ()) if case.spots is None else tuple((one,) for one in case.spots)
    names = [file.name for one in seen for file in one.message.files]
    reports = sum(name.endswith(".ncu-rep") for name in names)
    if found != wanted:
        return f"stands at {found}"
    if reports != (case.reports if case.spots else 0):
        return f"has {names}"
    return "public" if Spot.PUBLIC in map(spot, seen) else ""


EXPIRED = Fault(call=Call.EDIT_ORIGINAL, fills=True, effect=Effect.EXPIRE)
WAYS: dict[Spot, tuple[Call, ...]] = {
    Spot.REPLY: (Call.EDIT_ORIGINAL, Call.FOLLOW_UP, Call.EDIT_FOLLOW_UP),
    Spot.DIRECT: (Call.OPEN_DM, Call.SEND, Call.EDIT),
    Spot.THREAD: (Call.CHANNEL, Call.THREAD, Call.ADD_MEMBER, Call.SEND, Call.EDIT),
}
"""The calls of each way."""
FILLS = frozenset({Call.EDIT_ORIGINAL, Call.EDIT_FOLLOW_UP, Call.EDIT})
PASSING: dict[str, Fault] = {
    "429": Fault(call=Call.ME, retry_after=0.3),
    "429 of the network": Fault(call=Call.ME, retry_after=0.3, blocked=True),
    "500": Fault(call=Call.ME),
    "500 although done": Fault(call=Call.ME, effect=Effect.LOSE),
    "no answer although done": Fault(call=Call.ME, effect=Effect.DROP),
}
"""Errors that pass; `call` is to be filled in."""
NEXT = {
    (Spot.REPLY, Call.EDIT_ORIGINAL): (Spot.DIRECT, Spot.DIRECT),
    (Spot.REPLY, Call.FOLLOW_UP): (Spot.REPLY, Spot.DIRECT),
    (Spot.REPLY, Call.EDIT_FOLLOW_UP): (Spot.REPLY, Spot.DIRECT),
    (Spot.DIRECT, Call.OPEN_DM): (Spot.THREAD, Spot.THREAD),
    (Spot.DIRECT, Call.SEND): (Spot.THREAD, Spot.THREAD),
    (Spot.DIRECT, Call.EDIT): (Spot.THREAD, Spot.THREAD),
}
"""Where the messages are when that call is forbidden; nowhere when the thread's are."""
