"""ncu's progress lines, in any pieces."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.progress import MAX_LINE, Progress, ProgressReader, last_kernel

LINE = b'==PROF== Profiling "%s" - %d (%d/10): 0%%....50%%....100%% - 38 passes\n'


def read(data: bytes, limit: int = 10, size: int = 1) -> list[Progress]:
    """Feed `data` in pieces of `size` bytes."""
    seen: list[Progress] = []
    reader = ProgressReader(limit, seen.append)
    for start in range(0, len(data), size):
        reader.feed(data[start : start + size])
    return seen


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize(
    ("name", "kernels"),
    [
        ("ok-geqrf-four-kernels", [1, 2, 3, 4]),
        ("ok-hot-four-kernels", [1, 2, 3, 4]),
        ("ok-kernel-id-third", [1, 2, 3, 4]),
        ("ok-native-cuda", [1]),
        ("fail-no-range", []),
    ],
)
def test_recorded_output(recordings: Path, name: str, kernels: list[int], size: int) -> None:
    data = (recordings / name / "stdout.txt").read_bytes()
    assert [seen.kernel for seen in read(data, size=size)] == kernels


def test_a_kernel_is_told_before_its_line_ends() -> None:
    assert read(b'==PROF== Profiling "add" - 0 (1/10): 0%..') == [Progress(1, 10, "add")]


def test_a_line_may_begin_in_the_middle_of_the_programs_own() -> None:
    assert read(b'no line end==PROF== Profiling "add" - 0 (1/10): 0%') == [Progress(1, 10, "add")]


def test_names_with_quotes_and_colours() -> None:
    (seen,) = read(LINE % (b'k<"a", 1>\x1b[31m', 0, 1))
    assert seen.name == 'k<"a", 1>'


def test_it_never_goes_back_nor_past_the_limit() -> None:
    forged = LINE % (b"f", 0, 900) + LINE % (b"f", 0, 3) + LINE % (b"g", 0, 5)
    assert read(forged) == [Progress(10, 10, "f")]
    assert read(b'==PROF== Profiling "x": 0%\n' * 50, limit=3)[-1].kernel == 3


@given(st.binary(max_size=200), st.integers(1, 50))
def test_any_bytes_in_any_pieces(noise: bytes, size: int) -> None:
    data = noise.replace(b"\n", b"") + b"\n" + LINE % (b"add", 0, 1)
    assert read(data, size=size)[-1] == Progress(1, 10, "add")


def test_a_line_without_end_is_not_kept_whole() -> None:
    reader = ProgressReader(10, lambda _: None)
    for _ in range(100):
        reader.feed(b"x" * 10_000)
    assert len(reader._line) <= 2 * MAX_LINE


def test_the_last_kernel_of_a_stream(recordings: Path) -> None:
    text = (recordings / "ok-geqrf-four-kernels" / "stdout.txt").read_text(encoding="utf-8")
    assert last_kernel(text) == "geqr2_batch_kernel_shmem"
    assert last_kernel("nothing") == ""
