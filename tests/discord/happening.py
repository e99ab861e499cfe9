"""Lets bad luck happen to users, each to one of their own, and checks what each sees."""

import asyncio
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from tests.discord.calls import Call
from tests.discord.cases import Case, faults_of, parts
from tests.discord.faults import Fault
from tests.discord.orders import Seen, Slash
from tests.discord.stage import Stage, channel_of
from tests.discord.world import Rules

Cases = Mapping[str, Case]
KEPT = "could not be reached"
WITHIN_S = 90.0


async def happen(place: Stage, cases: Cases, within_s: float = WITHIN_S) -> None:
    """Let each case happen to a user of its own, all at once, and check what each sees."""
    users = dict(enumerate(cases, 1))
    closed = frozenset(user for user, name in users.items() if cases[name].closed)
    await place.discord.rules(Rules(closed=closed))
    await place.start()
    await place.register(*users)
    for user, name in users.items():
        await place.discord.fault(*_for(user, cases[name].faults))
    async with asyncio.TaskGroup() as people:
        told = {
            name: people.create_task(_profile(place, user, cases[name], within_s))
            for user, name in users.items()
        }
    wrong = {
        name: told[name].result() or faults_of(cases[name], await place.discord.seen(user))
        for user, name in users.items()
    }
    assert {name: fault for name, fault in wrong.items() if fault} == {}
    assert await place.stop() == 0


def _for(user: int, faults: tuple[Fault, ...]) -> Iterator[Fault]:
    """Aim faults at a user, or at their channel where a call does not tell the user."""
    for fault in faults:
        if fault.call in {Call.CHANNEL, Call.THREAD}:
            yield replace(fault, channel=channel_of(user))
        else:
            yield replace(fault, user=user)


async def _profile(place: Stage, user: int, case: Case, within_s: float) -> str:
    """Let a user profile, and wait for what is to come; say where nothing comes."""
    await place.profile(user, benchmark=None)
    try:
        async with asyncio.timeout(within_s):
            if case.spots is None:
                await _until_kept(place, user)
            else:
                await place.discord.until(user, _is_whole, within_s)
    except TimeoutError:
        return "nothing came"
    return ""


def _is_whole(seen: list[Seen]) -> bool:
    return all(parts(seen, benchmark) for benchmark in (0, 1))


async def _until_kept(place: Stage, user: int) -> None:
    """Type again and again until there is the note about a result that is kept."""
    while not any(KEPT in one.message.content for one in await place.discord.seen(user)):
        await place.discord.slash(Slash(user=user, command=("register",), channel=channel_of(user)))
        await asyncio.sleep(1.0)
