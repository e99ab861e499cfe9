"""Captures with a census and those without counters, from a runner that can count, to Discord."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner_client.address import RunnerAddress
from tests.cogs.conftest import World, messages, serving
from tests.standin.census import EIGH, counting
from tests.standin.toolkit import make_toolkit
from tests.standin.tools import install

# The sample problem's evaluator needs PyTorch: this one only calls the submission.
PYTHON = f"""#!{sys.executable} -I
import os, sys
if len(sys.argv) != 4 or sys.argv[1] != "eval.py":
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
sys.path.insert(0, "")
import submission
os.write(int(os.environ["POPCORN_FD"]), b"check: pass\\n")
"""
RECORDED = "standin-hot: ok-hot-four-kernels"


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory, recordings: Path) -> Iterator[RunnerAddress]:
    """Run `ncubot runner` with a census library and nsys; submissions write the census."""
    folder = tmp_path_factory.mktemp("counting")
    tools = install(folder / "bin", recordings)
    python = folder / "bin" / "python3"
    python.write_text(PYTHON, encoding="utf-8")
    python.chmod(0o755)
    settings = {
        "NCUBOT_RUNNER_NCU": str(tools.ncu),
        "NCUBOT_RUNNER_NSYS": str(tools.nsys),
        "NCUBOT_RUNNER_NVCC": str(make_toolkit(folder / "toolkit")),
        "NCUBOT_RUNNER_PYTHON": str(python),
        "NCUBOT_RUNNER_GPU": "H200",
        "NCUBOT_RUNNER_SELF_TEST": "false",
        "NCUBOT_RUNNER_READ_ONLY": tools.variable,
        "PATH": "/usr/bin:/bin",
    }
    with serving(folder, "local", settings) as address:
        yield address


async def test_hot_kernels_come_with_their_census(world: World) -> None:
    (reply,) = await world.profile(counting(EIGH, RECORDED))
    said = (reply.embeds[0].description or "").splitlines()
    assert said[0] == "captured 4 of 831,561 launches, representing 99.0 % of GPU time"
    place = "of each kernel, launch 72 of 201,283 to 209,426 was taken, early in the call"
    assert said[1] == f"{place}: ncu lets launches pass slowly"
    assert "census.0.json" in [file.filename for file in reply.attachments]


async def test_a_census_is_its_table_and_can_be_shown_again(world: World) -> None:
    (reply,) = await world.profile(counting(EIGH), capture="census")
    assert "syevbj_batch_32x16" in reply.content
    facts = {field.name: field.value for field in reply.embeds[0].fields}
    assert facts["Captured"] == "a census, no counters"
    assert reply.components == []
    (past,) = await world.alice.autocomplete(world.channel, "profiles show", "job", "")
    again = await world.alice.slash(world.channel, "profiles show", job=past["value"])
    assert messages(again)[0].content == reply.content
    value = f"{past['value']}.0"
    compared = await world.alice.slash(world.channel, "profiles compare", a=value, b=value)
    assert "is a census and has no counters" in messages(compared)[0].content
