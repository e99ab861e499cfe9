"""A capture of the range as one: table, picker and comparison do without block and grid.

The export is the stand-in's: a recorded launch without what ncu leaves out in range replay.
"""

from tests.cogs.conftest import World
from tests.cogs.test_compare import compared, offered
from tests.cogs.test_kernels import again
from tests.standin.problem import replaying

CAPTURE = replaying("ok-geqrf-four-kernels")


async def test_the_whole_call_is_one_row_from_the_table_to_the_comparison(world: World) -> None:
    (reply,) = await world.profile(CAPTURE, "whole.py", capture="range")
    lines = reply.content.splitlines()
    assert lines[5].split() == ["0", "range"]
    assert lines[6].split()[-1] == "n/a"
    facts = {field.name: field.value for field in reply.embeds[0].fields}
    assert facts["Captured"] == "the call as one"
    assert facts["Check"] == "evaluator said: pass"
    said = reply.embeds[0].description or ""
    assert said == "one set of counters for the whole call, with no kernels apart"

    await world.alice.select(reply, ["kernel:0"])
    page = again(world, reply).content
    assert page.startswith("```\nrange\n")
    assert "grid × block" in page
    assert "speed of light" in page

    await world.profile(CAPTURE, "first.py", capture="first")
    (_, first), (_, whole) = await offered(world)
    text = await compared(world, whole, first)
    assert "warning: capture mode differs: range and first" in text
    assert "only in A: range, n/a" in text
