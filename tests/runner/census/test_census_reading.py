"""The census's files as a submission could have written them."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.census.model import Census, Launcher
from runner.census.reading import MAX_PROCESSES, read
from runner.census.table import MAX_BYTES, BadTable, decode
from tests.runner.census.make import HEAD, NAMES, ROW, table

WHOLE = table(NAMES, ROW)


def write(folder: Path, name: str, data: bytes) -> None:
    (folder / f"{name}.census").write_bytes(data)


def test_a_table_is_read(tmp_path: Path) -> None:
    write(tmp_path, "7.1", WHOLE)
    census = read(tmp_path)
    (kernel,) = census.kernels
    assert census.complete
    assert (census.range_ns, census.launches, census.total_ns) == (5_000, 4, 400)
    assert (kernel.name, kernel.demangled, kernel.launcher) == ("_Z1kv", "k()", Launcher.RANGE)
    assert (kernel.grid, kernel.block) == ((1, 2, 3), (32, 1, 1))
    assert kernel.sd_ns == 50


def test_processes_are_added_up(tmp_path: Path) -> None:
    other = b"kernel 0 0 1 2 3 32 1 1 2 100 40 60 5200 5 1 2 2\n"
    another = b"kernel 0 1 1 1 1 32 1 1 1 9 9 9 81 5 1 1 0\n"
    write(tmp_path, "7.1", WHOLE)
    write(tmp_path, "8.1", table(NAMES, other, another, head=HEAD.replace(b"5000 1", b"9000 2")))
    census = read(tmp_path)
    first, second = census.kernels
    assert (census.processes, census.ranges, census.range_ns) == (2, 3, 9_000)
    assert (first.launches, first.total_ns, first.min_ns, first.max_ns) == (6, 500, 40, 200)
    assert (first.processes, first.fewest, first.first_ns, first.in_graphs) == (2, 2, 5, 2)
    assert (second.launcher, second.fewest) == (Launcher.OTHER, 1)


def test_what_was_lost_makes_it_incomplete(tmp_path: Path) -> None:
    for line in (b"lost 3 0", b"lost 0 2", b"others 4 99"):
        old = line.partition(b" ")[0] + b" 0 0"
        write(tmp_path, "7.1", WHOLE.replace(old, line))
        assert not read(tmp_path).complete
    assert read(tmp_path).launches == 8
    assert read(tmp_path).total_ns == 499


def test_nothing_to_read(tmp_path: Path) -> None:
    assert read(tmp_path) == Census()
    assert read(tmp_path / "absent") == Census()


def test_a_process_that_never_had_the_range_open_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, "7.1", table(head=HEAD.replace(b"5000 1", b"0 0")))
    assert read(tmp_path) == Census()


def test_files_that_are_no_files(tmp_path: Path) -> None:
    write(tmp_path, "1.good", WHOLE)
    os.mkfifo(tmp_path / "2.census")
    (tmp_path / "3.census").symlink_to("/etc/passwd")
    (tmp_path / "4.census").mkdir()
    with (tmp_path / "5.census").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    census = read(tmp_path)
    assert census.launches == 4
    assert not census.complete


def test_more_processes_than_are_read(tmp_path: Path) -> None:
    for number in range(MAX_PROCESSES + 1):
        write(tmp_path, f"{number:03}.1", WHOLE)
    census = read(tmp_path)
    assert census.processes == MAX_PROCESSES
    assert not census.complete


@pytest.mark.parametrize(
    "data",
    [
        b"",
        WHOLE[:-1],
        WHOLE[: len(WHOLE) // 2],
        WHOLE.replace(b"census 1", b"census 2"),
        table(ROW),
        table(NAMES, b"kernel 0 2" + ROW[10:]),
        table(NAMES, ROW.replace(b" 400 ", b" 4000 ")),
        table(NAMES, ROW.replace(b" 400 ", b" 100 ")),
        table(NAMES, ROW.replace(b" 1 4 0", b" 2 4 0")),
        table(NAMES, ROW.replace(b" 1 4 0", b" 1 4 5")),
        table(NAMES, ROW.replace(b" 4 400 50 200", b" 0 0 0 0")),
        table(NAMES, ROW.replace(b" 50000 ", b" nan ")),
        table(NAMES, ROW.replace(b" 50000 ", b" inf ")),
        table(NAMES, ROW.replace(b" 50000 ", b" -1 ")),
        table(NAMES, ROW.replace(b" 50000 ", b" 1e300 ")),
        table(NAMES, ROW.replace(b" 400 ", b" " + b"9" * 20 + b" ")),
        table(NAMES, ROW.replace(b" 400 ", b" -400 ")),
        table(NAMES, b"kernel 0 0\n"),
        table(b"name 0 %20 k\n"),
        table(b"surprise\n"),
        b"x" * (MAX_BYTES + 1),
    ],
)
def test_what_is_no_table_is_refused(data: bytes) -> None:
    with pytest.raises(BadTable):
        decode(data)


def test_a_name_cannot_break_a_line_or_a_terminal() -> None:
    told = decode(table(b"name 0 a%0Ab%1B[31mc a%0A%0Ab\n", ROW))
    assert (told.rows[0].name, told.rows[0].demangled) == ("a bc", "a b")


@given(st.binary(max_size=300), st.integers(0, len(WHOLE)), st.integers(0, 40))
def test_any_bytes_give_a_table_or_a_refusal(junk: bytes, at: int, cut: int) -> None:
    for data in (junk, table(junk), table(NAMES, ROW, junk), WHOLE[:at] + junk + WHOLE[at + cut :]):
        try:
            told = decode(data)
        except BadTable:
            continue
        assert all(row.least <= row.total // row.launches <= row.most for row in told.rows)


_WORD = st.one_of(
    st.integers(0, 10**19).map(str), st.sampled_from(["0", "1", "nan", "-1", "x", ""])
)


@given(st.lists(_WORD, min_size=14, max_size=18))
def test_any_row_gives_finite_figures_or_a_refusal(words: list[str]) -> None:
    line = f"kernel 0 {' '.join(words)}\n".encode()
    try:
        told = decode(table(NAMES, line))
    except BadTable:
        return
    assert told.rows[0].squares <= 1.1 * told.rows[0].launches * told.rows[0].most ** 2
