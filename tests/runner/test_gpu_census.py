"""The census of real kernels, and ncu's capture of what was chosen from it; never in CI.

About a minute on an H200.
"""

import asyncio
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from runner.census import build
from runner.census.choose import choose
from runner.census.environment import environment
from runner.census.model import Census, Choice, Launcher, Library
from runner.census.reading import read
from runner.settings import RunnerSettings

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(180)]
CASES = Path(__file__).parent / "census" / "cases.cu"
ALPHA = "alpha(float*)"
BETA = "beta(float*, int)"
NCU = (
    *("ncu", "--metrics", "gpu__time_duration.sum", "--nvtx", "--nvtx-include", "custom_kernel/"),
    *("--target-processes", "all", "--clock-control", "none"),
)
MB = 1_000


@dataclass(frozen=True, slots=True)
class Native:
    """The compiled cases and the library that counts them."""

    program: Path
    library: Library

    def count(self, folder: Path, *words: str) -> Census:
        """Run a case and read its census."""
        folder.mkdir()
        env = environment(self.library, folder, sandboxed=False)
        subprocess.run((self.program, *words), env=os.environ | env, check=True, timeout=120)
        return read(folder)

    def peak(self, folder: Path, *words: str) -> int:
        """Return the most memory that a counted case takes, in kB."""
        folder.mkdir()
        env = os.environ | environment(self.library, folder, sandboxed=False)
        pid = os.posix_spawn(self.program, (str(self.program), *words), env)
        _, status, usage = os.wait4(pid, 0)
        assert status == 0
        return usage.ru_maxrss

    def capture(self, choice: Choice, case: str) -> list[str]:
        """Run a case under ncu as chosen; return what it says that it profiled."""
        asked = (
            *("--kernel-id", choice.kernel_id_option, "--kernel-name-base", choice.base),
            *("--launch-count", str(choice.count), "--kill", "yes"),
        )
        said = subprocess.run(
            (*NCU, *asked, self.program, case), stdout=subprocess.PIPE, text=True, check=False
        )
        return re.findall(r'Profiling "([^"]+)"', said.stdout)


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Native:
    folder = tmp_path_factory.mktemp("census")
    library = asyncio.run(build.library(RunnerSettings(data=folder / "data")))
    assert isinstance(library, Library), library
    program = folder / "cases"
    nvcc = shutil.which("nvcc")
    assert nvcc
    flags = ("-O2", "-std=c++17", "-arch=native")
    subprocess.run((nvcc, *flags, "-o", program, CASES, "-lcuda", "-ldl"), check=True)
    return Native(program, library)


def launches(census: Census, launcher: Launcher = Launcher.RANGE) -> dict[str, int]:
    counts: dict[str, int] = {}
    for one in census.kernels:
        if one.launcher is launcher:
            counts[one.demangled] = counts.get(one.demangled, 0) + one.launches
    return counts


@pytest.mark.parametrize(
    ("case", "ranges", "expected"),
    [
        (
            "plain",
            1,
            {ALPHA: 20, BETA: 10, "void scaled<1>(float*)": 8, "void scaled<2>(float*)": 6},
        ),
        ("graph", 1, {ALPHA: 8, BETA: 4}),
        ("nested", 2, {ALPHA: 6, BETA: 3}),
        ("twice", 2, {ALPHA: 7}),
        ("variants", 5, {ALPHA: 5}),
    ],
)
def test_the_launches_in_the_range(
    native: Native, tmp_path: Path, case: str, ranges: int, expected: dict[str, int]
) -> None:
    census = native.count(tmp_path / case, case)
    assert launches(census) == expected
    assert census.ranges == ranges
    assert census.complete
    assert census.total_ns > 0
    assert all(0 < one.min_ns <= one.max_ns for one in census.kernels)
    in_graphs = sum(one.in_graphs for one in census.kernels)
    assert in_graphs == (12 if case == "graph" else 0)


def test_another_thread(native: Native, tmp_path: Path) -> None:
    census = native.count(tmp_path / "one", "thread")
    assert launches(census) == {ALPHA: 5}
    assert launches(census, Launcher.OTHER) == {BETA: 7}
    # Four threads whose first NVTX call comes at once: CUPTI's own hooks crash one time in ten.
    for number in range(12):
        census = native.count(tmp_path / str(number), "threads")
        assert launches(census) == {ALPHA: 400}
        assert launches(census, Launcher.OTHER) == {BETA: 200}


def test_several_processes(native: Native, tmp_path: Path) -> None:
    census = native.count(tmp_path / "three", "processes", "3")
    assert launches(census) == {ALPHA: 60}
    assert (census.processes, census.ranges) == (3, 3)
    assert census.kernels[0].fewest == 10


def test_a_million_launches_in_bounded_memory(native: Native, tmp_path: Path) -> None:
    few = native.peak(tmp_path / "few", "launches", "1000")
    many = native.peak(tmp_path / "many", "launches", "1000000")
    assert many - few < 400 * MB
    census = read(tmp_path / "many")
    assert launches(census) == {ALPHA: 1_000_000}
    assert census.complete


def test_more_names_than_are_kept(native: Native, tmp_path: Path) -> None:
    census = native.count(tmp_path / "names", "names", "9000")
    assert len(census.kernels) == 8_192
    assert census.others_launches == 9_000 - 8_192
    assert not census.complete


def test_ncu_captures_what_was_chosen(native: Native, tmp_path: Path) -> None:
    choice = choose(native.count(tmp_path / "plain", "plain"), 10)
    assert choice is not None
    assert choice.share >= 0.95
    captured = native.capture(choice, "plain")
    assert len(captured) == choice.expected
    assert all(name.endswith(f":{choice.nth}") for name in captured)


def test_ncu_captures_a_name_of_regex_characters(native: Native, tmp_path: Path) -> None:
    census = native.count(tmp_path / "odd", "odd")
    assert set(launches(census)) == {"odd$name", "odd$name$", "oddXname", "$odd"}
    for one in census.kernels:
        choice = choose(replace(census, kernels=(one,)), 1)
        assert choice is not None
        assert native.capture(choice, "odd") == [f"1:7:{one.name}:1"]
