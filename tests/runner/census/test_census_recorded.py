"""Censuses of an H200, and what is chosen from them."""

import shutil
from pathlib import Path

import pytest

from runner.census.choose import choose
from runner.census.model import Census, Launcher
from runner.census.notes import notes
from runner.census.reading import read

TABLES = Path(__file__).parent / "tables"


def recorded(name: str, folder: Path) -> Census:
    shutil.copy(TABLES / f"{name}.census", folder)
    return read(folder)


def test_eigh(tmp_path: Path) -> None:
    census = recorded("eigh", tmp_path)
    assert (census.launches, census.ranges, census.complete) == (739_206, 2, True)
    choice = choose(census, 10)
    assert choice is not None
    assert [one.demangled.partition("<")[0] for one in choice.kernels] == [
        "void syevbj_batch_32x16",
        "void column_rotate_batch",
        "void row_rotate_batch_32x16_phase1",
        "void row_rotate_batch_32x32_phase2",
    ]
    assert round(choice.share, 3) == 0.989
    assert choice.nth == 72
    assert notes(census) == ()


def test_geqrf(tmp_path: Path) -> None:
    census = recorded("geqrf", tmp_path)
    choice = choose(census, 10)
    assert choice is not None
    assert choice.kernels[0].demangled.startswith("void geqr2_smem_domino_fast<float, float, 8")
    assert choice.share >= 0.95
    assert notes(census) == ()


def test_template_arguments_streams_and_warm_up(tmp_path: Path) -> None:
    census = recorded("plain", tmp_path)
    assert [(one.demangled, one.launches, one.grid) for one in census.kernels] == [
        ("beta(float*, int)", 10, (2, 1, 1)),
        ("alpha(float*)", 20, (1, 1, 1)),
        ("void scaled<2>(float*)", 6, (3, 1, 1)),
        ("void scaled<1>(float*)", 8, (1, 1, 1)),
    ]
    choice = choose(census, 10)
    assert choice is not None
    names = "_Z4betaPfi|_Z5alphaPf|_Z6scaledILi2EEvPf|_Z6scaledILi1EEvPf"
    assert choice.kernel_id_option == f"::regex:^({names})$:3"


def test_graphs_threads_and_processes(tmp_path: Path) -> None:
    graph = recorded("graph", tmp_path)
    assert [(one.launches, one.in_graphs) for one in graph.kernels] == [(8, 8), (4, 4)]
    (tmp_path / "thread").mkdir()
    thread = recorded("thread", tmp_path / "thread")
    assert {one.launcher: one.launches for one in thread.kernels} == {
        Launcher.OTHER: 7,
        Launcher.RANGE: 5,
    }
    processes = read(TABLES / "processes")
    (kernel,) = processes.kernels
    assert (kernel.launches, kernel.processes, kernel.fewest) == (60, 3, 10)


@pytest.mark.parametrize("name", ["odd$name", "odd$name$", "oddXname", "$odd"])
def test_names_of_regex_characters(tmp_path: Path, name: str) -> None:
    census = recorded("odd", tmp_path)
    choice = choose(census, 10)
    assert choice is not None
    assert name.replace("$", "\\x24") in choice.kernel_id_option
