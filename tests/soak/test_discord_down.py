"""Calls of Discord that never work again: the author gets the result by the next way.

Each try of discord.py takes half a minute, so this is a part of the whole soak only.
"""

from pathlib import Path

from msgspec.structs import replace

from tests.discord.calls import Call
from tests.discord.cases import ALWAYS, EXPIRED, Case, Spot
from tests.discord.faults import Fault
from tests.discord.happening import happen
from tests.discord.records import Kind
from tests.discord.stage import stage
from tests.soak.conftest import is_whole

WITHIN_S = 600.0
ALL_DIRECT, ALL_THREAD = (Spot.DIRECT, Spot.DIRECT), (Spot.THREAD, Spot.THREAD)
HALVES = (Spot.REPLY, Spot.DIRECT)


def _cases() -> dict[str, Case]:
    """Return calls that answer 500, or 429 without a word on how long, for ever."""
    broken = {
        "fill of the reply": (Fault(call=Call.EDIT_ORIGINAL, fills=True), ALL_DIRECT),
        "follow-up": (Fault(call=Call.FOLLOW_UP), HALVES),
        "fill of the follow-up": (Fault(call=Call.EDIT_FOLLOW_UP), HALVES),
        "opening of direct messages": (Fault(call=Call.OPEN_DM), ALL_THREAD),
        "direct message": (Fault(call=Call.SEND, kind=Kind.DM), ALL_THREAD),
        "fill of the direct message": (Fault(call=Call.EDIT, kind=Kind.DM), ALL_THREAD),
    }
    cases: dict[str, Case] = {}
    for name, (fault, spots) in broken.items():
        before = (EXPIRED,) if spots == ALL_THREAD else ()
        for_ever = replace(fault, times=ALWAYS)
        blocked = replace(for_ever, retry_after=1.0, blocked=True)
        cases[f"500: {name}"] = Case(faults=(*before, for_ever), spots=spots)
        cases[f"429: {name}"] = Case(faults=(*before, blocked), spots=spots)
    return cases


if is_whole():

    async def test_a_call_that_never_works_again_leads_to_the_next_way(tmp_path: Path) -> None:
        async with stage(tmp_path) as place:
            await happen(place, _cases(), WITHIN_S)
