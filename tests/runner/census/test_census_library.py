"""What the census library counts, over a stand-in of CUPTI; real ones are in test_gpu_census."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runner.census.environment import environment
from runner.census.model import Census, Launcher, Library
from runner.census.reading import read

PROGRAM = Path(__file__).parent / "program.py"


@pytest.fixture
def counted(library: Library, tmp_path: Path) -> "Counted":
    return Counted(library, tmp_path)


class Counted:
    """Runs a case of program.py and reads its census."""

    def __init__(self, library: Library, folder: Path) -> None:
        self._library = library
        self.folder = folder

    def peak(self, count: int) -> int:
        """Return the most memory that so many launches take, in kB."""
        folder = self.folder / str(count)
        folder.mkdir()
        env = os.environ | environment(self._library, folder, sandboxed=False)
        argv = (sys.executable, str(PROGRAM), str(self._library.path), "launches", str(count))
        pid = os.posix_spawn(sys.executable, argv, env)
        _, status, usage = os.wait4(pid, 0)
        assert status == 0
        return usage.ru_maxrss

    def __call__(self, case: str, count: int = 0, *, status: int = 0) -> Census:
        env = environment(self._library, self.folder, sandboxed=False)
        argv = (sys.executable, PROGRAM, self._library.path, case, str(count))
        ended = subprocess.run(argv, env=os.environ | env, check=False)
        assert ended.returncode == status
        return read(self.folder)


def launches(census: Census) -> dict[str, int]:
    counts: dict[str, int] = {}
    for one in census.kernels:
        name = f"{one.name} of another thread" if one.launcher is Launcher.OTHER else one.name
        counts[name] = counts.get(name, 0) + one.launches
    return counts


def test_only_the_launches_of_the_range_are_counted(counted: Counted) -> None:
    census = counted("plain")
    beta, alpha = census.kernels
    assert census.complete
    assert (census.processes, census.ranges, census.launches) == (1, 1, 6)
    assert census.range_ns > 0
    assert (beta.name, beta.grid, beta.block) == ("beta", (7, 1, 1), (32, 1, 1))
    assert (alpha.name, alpha.demangled) == ("_Z5alphaPf", "alpha(float*)")
    assert (alpha.launches, alpha.total_ns, alpha.min_ns, alpha.max_ns) == (4, 8_000, 1_000, 5_000)
    assert alpha.sd_ns == pytest.approx(1_732.05, abs=0.01)
    assert (alpha.first, alpha.last, alpha.fewest, alpha.first_ns) == (1, 4, 4, 0)
    assert (beta.first_ns, beta.sd_ns) == (8_000, 0)


@pytest.mark.parametrize(
    ("case", "ranges", "expected"),
    [
        ("nested", 1, {"_Z5alphaPf": 3}),
        ("twice", 2, {"_Z5alphaPf": 7}),
        ("variants", 6, {"_Z5alphaPf": 6}),
        ("thread", 1, {"_Z5alphaPf": 4, "beta": 2, "beta of another thread": 6}),
    ],
)
def test_ranges(counted: Counted, case: str, ranges: int, expected: dict[str, int]) -> None:
    census = counted(case)
    assert launches(census) == expected
    assert census.ranges == ranges
    assert census.complete


def test_too_many_names_are_others(counted: Counted) -> None:
    census = counted("names", 8_200)
    assert len(census.kernels) == 8_192
    assert census.others_launches == 2 * 8 + 1
    assert census.others_ns == 2 * 8 * 10 + 7
    assert census.launches == 2 * 8_200 + 1
    assert not census.complete


def test_too_many_shapes_are_added_up_under_their_name(counted: Counted) -> None:
    census = counted("shapes", 33_000)
    assert launches(census) == {"_Z5alphaPf": 33_000}
    (rest,) = [one for one in census.kernels if one.grid == (0, 0, 0)]
    assert (rest.launches, rest.first, rest.last) == (33_000 - 32_768, 32_769, 33_000)
    assert census.complete


def test_many_launches_fill_many_buffers(counted: Counted) -> None:
    census = counted("launches", 150_000)
    (kernel,) = census.kernels
    assert (kernel.launches, kernel.total_ns) == (150_000, 1_500_000)
    assert census.dropped == 0
    (file,) = counted.folder.iterdir()
    assert file.stat().st_size < 500
    # A million takes too long here (the test on a GPU has it); what is kept of each would show.
    assert counted.peak(150_000) - counted.peak(50_000) < 4_000


def test_what_still_runs_is_told_and_graph_nodes_are_counted(counted: Counted) -> None:
    census = counted("unfinished")
    assert census.unfinished == 1
    assert not census.complete
    assert [(one.launches, one.in_graphs) for one in census.kernels] == [(4, 4)]


def test_odd_names_stay_one_name_each(counted: Counted) -> None:
    census = counted("odd")
    assert census.complete
    nice = sorted(one.demangled for one in census.kernels)
    assert nice == ["50%", "_Z", "a b end", "a<int>::b()", "odd$name", "��"]


def test_each_forked_child_has_a_table_of_its_own(counted: Counted) -> None:
    census = counted("forked")
    assert (census.processes, census.ranges) == (3, 3)
    (kernel,) = census.kernels
    assert (kernel.launches, kernel.processes, kernel.fewest) == (6, 3, 1)


def test_a_process_that_is_killed_after_its_range_has_told_all(counted: Counted) -> None:
    assert launches(counted("killed", status=-9)) == {"_Z5alphaPf": 3}


def test_a_folder_that_is_not_there_breaks_no_program(counted: Counted) -> None:
    counted.folder = counted.folder / "absent"
    census = counted("plain")
    assert census == Census()
