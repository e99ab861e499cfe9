"""Every hostile submission is contained, named rightly, and the next job does not feel it.

One real runner process serves all of them, with bubblewrap around the stand-in ncu. All run where
NCUBOT_SOAK is 1, else a seeded sample of each group.
"""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import ClientSession

from runner.isolation import cgroup
from runner_client.wire import BenchmarkResult, BenchmarkStatus, JobResult, Mode
from tests.hostile.case import Case
from tests.hostile.cases import CASES, GROUPS
from tests.hostile.problem import GOOD, hostile_job
from tests.runner.api import Api
from tests.runner.processes import of_jobs
from tests.standin.tools import install

TOKEN = "only-for-this-7e57"
MEGABYTE = 1_048_576
LIMITS = {
    "MAX_MEMORY_BYTES": 256 * MEGABYTE,
    "MAX_PROCESSES": 64,
    "MAX_JOB_BYTES": 64 * MEGABYTE,
    "MAX_SHM_BYTES": 8 * MEGABYTE,
    "MAX_OPEN_FILES": 256,
    "MAX_OUTPUT_BYTES": 50 * MEGABYTE,
    "PREPARE_TIMEOUT_S": 1.5,
    "GRACE_S": 0.5,
}
SOAK = os.environ.get("NCUBOT_SOAK") == "1"
_DICE = random.Random(20_261_130)  # noqa: S311 - the same sample each time
SAMPLE = tuple(case for group in GROUPS for case in _DICE.sample(group, 2))
PROGRAM = (sys.executable, "-c", "from cli.main import main; main()", "runner")


@dataclass(frozen=True, slots=True)
class Prison:
    """A running runner: its address, its data folder, how many descriptors it has when idle."""

    url: str
    data: Path
    pid: int

    @property
    def port(self) -> str:
        """Return its port."""
        return self.url.rsplit(":", 1)[1]

    def groups(self) -> list[str]:
        """Return its control groups that are there now."""
        found = cgroup.find()
        mark = f"{cgroup.NAME}{cgroup.mark_of(self.data)}-*"
        return [
            path.name for folder in (found.folders if found else ()) for path in folder.glob(mark)
        ]


@pytest.fixture(scope="module")
def prison(tmp_path_factory: pytest.TempPathFactory, recordings: Path) -> Iterator[Prison]:
    """Start one runner with low limits."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    folder = tmp_path_factory.mktemp("hostile")
    tools = install(folder / "bin", recordings)
    settings = {"NCU": tools.ncu, "GPU": "H200", "READ_ONLY": tools.variable, "SELF_TEST": "false"}
    variables = {f"NCUBOT_RUNNER_{name}": str(value) for name, value in (settings | LIMITS).items()}
    with subprocess.Popen(
        (*PROGRAM, "--port", "0", "--data", str(folder / "data")),
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | variables | {"NCUBOT_RUNNER_TOKEN": TOKEN},
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        yield Prison(url, folder / "data", process.pid)
        process.terminate()
    assert process.returncode == 0


@pytest.fixture
async def api(prison: Prison) -> AsyncIterator[Api]:
    """Speak to the runner with its token."""
    async with ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as session:
        yield Api(session, prison.url + "/v1")


def judge(case: Case, result: JobResult) -> None:
    """Check what became of a case."""
    assert result.failure is None
    assert len(result.benchmarks) == case.count
    for one in result.benchmarks:
        told = f"{one.failure}\n{one.output_tail}"
        assert (one.failure.kind if one.failure else None) is case.kind, told
        assert one.status is case.status, told
        assert one.kernels == case.kernels, told
        judge_words(case, one)


def judge_words(case: Case, one: BenchmarkResult) -> None:
    """Check what a case printed, in the tail that people see and in the failure."""
    told = one.output_tail + (one.failure.detail if one.failure else "")
    for words in case.shows:
        assert words in told
    for words in case.hides:
        assert words.replace("{token}", TOKEN) not in told
    assert len(one.output_tail) <= 8_192
    assert sum(map(len, one.log.values())) <= 65_536 + 8_000


@pytest.mark.parametrize("case", CASES if SOAK else SAMPLE, ids=lambda case: case.name)
async def test_it_is_contained(case: Case, prison: Prison, api: Api) -> None:
    source = case.source.replace("{port}", prison.port)
    result = await api.run(
        hostile_job(source, case.mode, count=case.count, timeout_s=case.timeout_s)
    )
    judge(case, result)
    assert of_jobs(prison.data / "work") == []
    assert prison.groups() == []
    assert list((prison.data / "work").iterdir()) == []
    after = await api.run_one(hostile_job(GOOD, Mode.TEST))
    assert after.status is BenchmarkStatus.SUCCEEDED, after


def test_there_are_enough() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 25
