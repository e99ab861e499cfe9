"""Every call on every way to an author goes wrong in every way: the result comes all the same."""

import random

import discord
import pytest
from msgspec.structs import replace

from bot.delivery.sending import WAITS_S
from tests.discord.calls import Call
from tests.discord.cases import (
    ALWAYS,
    EXPIRED,
    FILLS,
    MISSING_PERMISSIONS,
    NEXT,
    PASSING,
    TOO_LARGE,
    UNKNOWN_WEBHOOK,
    WAYS,
    Case,
    Spot,
)
from tests.discord.faults import Effect, Fault
from tests.discord.happening import happen
from tests.discord.orders import Seen
from tests.discord.records import Kind
from tests.discord.stage import Stage
from tests.discord.world import ALLOWED
from tests.soak.conftest import is_whole

NEVER = {"forbidden": MISSING_PERMISSIONS, "too large": TOO_LARGE}
"""Errors that do not pass; a fill that is too large is tried again with less."""
SAMPLED = 8
"""One of so many cases is in the sample."""
TRIES = len(WAITS_S)
TIMEOUT_S = 150
"""Of tests in which dozens of users wait for retries; a few seconds where nothing else runs."""


def _before(way: Spot) -> tuple[Fault, ...]:
    """Return the faults that close the ways before this one."""
    return () if way is Spot.REPLY else (EXPIRED,)


def _kind(way: Spot, call: Call) -> Kind | None:
    """Tell sends in a thread from those in direct messages."""
    if call not in {Call.SEND, Call.EDIT}:
        return None
    return Kind.DM if way is Spot.DIRECT else Kind.PRIVATE_THREAD


def _cases(way: Spot) -> dict[str, Case]:
    cases: dict[str, Case] = {}
    closed = way is Spot.THREAD
    for call in WAYS[way]:
        aimed = Fault(call=call, kind=_kind(way, call), fills=call in FILLS or None)
        for name, passing in PASSING.items():
            fault = replace(passing, call=call, kind=aimed.kind, fills=aimed.fills)
            faults = (*_before(way), fault)
            cases[f"{way}, {call}: {name}"] = Case(faults=faults, closed=closed, spots=(way, way))
        for name, code in NEVER.items():
            if call in FILLS and code == TOO_LARGE:
                continue
            fault = replace(aimed, times=ALWAYS, code=code)
            cases[f"{way}, {call}: {name}"] = Case(
                faults=(*_before(way), fault), closed=closed, spots=NEXT.get((way, call))
            )
        if call in FILLS:
            cases |= _too_large(way, aimed, closed=closed)
    return cases


def _too_large(way: Spot, aimed: Fault, *, closed: bool) -> dict[str, Case]:
    """Refuse uploads once, then all but the text alone."""
    spots = (way, way)
    once = (*_before(way), replace(aimed, code=TOO_LARGE))
    twice = (*_before(way), replace(aimed, code=TOO_LARGE, times=2))
    return {
        f"{way}, {aimed.call}: too large": Case(faults=once, closed=closed, spots=spots, reports=1),
        f"{way}, {aimed.call}: far too large": Case(
            faults=twice, closed=closed, spots=spots, reports=1
        ),
    }


def _progress() -> dict[str, Case]:
    """Return cases in which what shows progress fails."""
    reply = (Spot.REPLY, Spot.REPLY)
    first = Fault(call=Call.EDIT_ORIGINAL, fills=False)
    cases = {
        f"progress: {name}": Case(
            faults=(replace(fault, call=first.call, fills=False),), spots=reply
        )
        for name, fault in PASSING.items()
    }
    for name, code in NEVER.items():
        cases[f"progress: {name}"] = Case(faults=(replace(first, code=code),), spots=reply)
    return cases


def _looked_for(way: Spot) -> dict[str, Case]:
    """Return cases in which an opened message whose answer was lost cannot be looked for."""
    lost = Fault(call=Call.SEND, kind=_kind(way, Call.SEND), effect=Effect.DROP)
    closed = way is Spot.THREAD
    cases = {
        f"{way}, {Call.LIST}: {name}": Case(
            faults=(EXPIRED, lost, replace(fault, call=Call.LIST)),
            closed=closed,
            spots=(way, way),
        )
        for name, fault in PASSING.items()
    }
    for name, code in NEVER.items():
        never = Fault(call=Call.LIST, times=ALWAYS, code=code)
        spots = None if closed else (Spot.THREAD, Spot.THREAD)
        cases[f"{way}, {Call.LIST}: {name}"] = Case(
            faults=(EXPIRED, lost, never), closed=closed, spots=spots
        )
    return cases


def _read_back() -> dict[str, Case]:
    """Return cases in which all answers to a filling are lost, and one to the reading back too.

    They take as long as the pauses between the tries, so they are for the whole soak.
    """
    read = {
        Spot.REPLY: {
            Call.EDIT_ORIGINAL: Call.ORIGINAL,
            Call.EDIT_FOLLOW_UP: Call.GET_FOLLOW_UP,
        },
        Spot.DIRECT: {Call.EDIT: Call.GET},
        Spot.THREAD: {Call.EDIT: Call.GET},
    }
    return {
        f"{way}, {back}: {name}": Case(
            faults=(
                *_before(way),
                Fault(
                    call=fill, kind=_kind(way, fill), fills=True, times=TRIES, effect=Effect.DROP
                ),
                replace(fault, call=back),
            ),
            closed=way is Spot.THREAD,
            spots=(way, way),
        )
        for way, calls in read.items()
        for fill, back in calls.items()
        for name, fault in PASSING.items()
    }


def _callbacks() -> dict[str, Case]:
    """Return cases in which the first answer to the command fails."""
    first, direct = Fault(call=Call.CALLBACK), (Spot.DIRECT, Spot.DIRECT)
    cases = {
        f"first answer: {name}": Case(
            faults=(replace(fault, call=first.call),), spots=(Spot.REPLY, Spot.REPLY)
        )
        for name, fault in PASSING.items()
    }
    for name, code in {**NEVER, "500": 0}.items():
        cases[f"first answer: always {name}"] = Case(
            faults=(replace(first, times=ALWAYS, code=code),), spots=direct
        )
    return cases


def _tokens() -> dict[str, Case]:
    """Return cases in which the token expires at each stage."""
    direct, halves = (Spot.DIRECT, Spot.DIRECT), (Spot.REPLY, Spot.DIRECT)
    edit, follow_up, fill = Call.EDIT_ORIGINAL, Call.FOLLOW_UP, Call.EDIT_FOLLOW_UP
    no_thread = Fault(call=Call.THREAD, times=ALWAYS, code=MISSING_PERMISSIONS)
    faults = {
        "before the first word": (Fault(call=edit, effect=Effect.EXPIRE), direct),
        "before the first message": (EXPIRED, direct),
        "before the second is opened": (Fault(call=follow_up, effect=Effect.EXPIRE), halves),
        "before the second is filled": (Fault(call=fill, effect=Effect.EXPIRE), halves),
        "before the pictures": (
            Fault(call=follow_up, nth=2, effect=Effect.EXPIRE),
            (Spot.REPLY, Spot.REPLY),
        ),
        "early": (Fault(call=edit, fills=True, times=ALWAYS, code=UNKNOWN_WEBHOOK), direct),
    }
    cases = {
        f"token expires {name}": Case(faults=(fault,), spots=spots)
        for name, (fault, spots) in faults.items()
    }
    return cases | {
        "direct messages closed": Case(
            faults=(EXPIRED,), closed=True, spots=(Spot.THREAD, Spot.THREAD)
        ),
        "direct messages closed, threads forbidden": Case(
            faults=(EXPIRED, no_thread), closed=True, spots=None
        ),
    }


def _some(cases: dict[str, Case], dice: random.Random) -> dict[str, Case]:
    """Return every case in the whole soak, else a sample."""
    if is_whole():
        return cases
    return dict(dice.sample(list(cases.items()), len(cases) // SAMPLED))


@pytest.mark.timeout(TIMEOUT_S)
async def test_bad_luck_in_the_reply(place: Stage, dice: random.Random) -> None:
    slow = _read_back() if is_whole() else {}
    every = slow | _cases(Spot.REPLY) | _callbacks() | _progress() | _tokens()
    await happen(place, _some(every, dice))


@pytest.mark.timeout(TIMEOUT_S)
async def test_bad_luck_on_the_ways_after_the_reply(place: Stage, dice: random.Random) -> None:
    sent = _cases(Spot.DIRECT) | _cases(Spot.THREAD)
    found = _looked_for(Spot.DIRECT) | _looked_for(Spot.THREAD)
    await happen(place, _some(sent | found, dice))


async def test_missing_permissions_are_named_before_a_job_is_taken(place: Stage) -> None:
    await place.start()
    await place.register(1)
    await place.profile(1, permissions=ALLOWED.value & ~discord.Permissions.attach_files.flag)
    seen = await place.discord.until(1, lambda seen: len(seen) == 2 and not seen[1].message.loading)
    assert "Attach Files" in seen[1].message.content


async def test_a_token_may_expire_while_the_job_waits_and_while_the_bot_is_away(
    place: Stage,
) -> None:
    await place.start()
    await place.register(1, 2)
    await place.profile(1, "hold: 2")
    await place.profile(2, "hold: 2")
    for user in (1, 2):
        await place.discord.until(user, _is_under_way)
    await place.discord.expire(1)
    assert _spots(await place.result(1)) == Spot.DIRECT
    await place.profile(2, "hold: 3")
    await place.discord.until(2, lambda seen: _is_under_way(seen[-1:]))
    await place.kill()
    await place.discord.expire(2)
    await place.start()
    await place.discord.until(2, lambda seen: any(one.kind is Kind.DM for one in seen))


def _is_under_way(seen: list[Seen]) -> bool:
    return any(one.message.components and not one.message.files for one in seen)


def _spots(seen: Seen) -> Spot:
    return Spot.DIRECT if seen.kind is Kind.DM else Spot.REPLY
