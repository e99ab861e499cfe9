"""ncu's progress lines, in any pieces, and the rate at which they are told."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.capture.progress import MAX_LINE, Progress, ProgressReader, Publisher, last_kernel

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
    seen = read((recordings / name / "stdout.txt").read_bytes(), size=size)
    assert seen[0] == Progress(0, 10, "", connected=True)
    assert list(dict.fromkeys(one.kernel for one in seen if one.kernel)) == kernels
    assert len([one for one in seen if one.passes]) == len(kernels)
    is_monotone(seen)


def is_monotone(seen: list[Progress]) -> None:
    places = [(one.kernel, one.percent, one.passes > 0) for one in seen]
    assert places == sorted(places)


def test_a_kernel_and_its_passes_are_told_before_the_line_ends() -> None:
    begun = b'==PROF== Profiling "add" - 0 (1/10): 0%..'
    assert read(begun) == [
        Progress(1, 10, "add"),
        Progress(1, 10, "add", percent=10),
        Progress(1, 10, "add", percent=20),
    ]
    assert read(begun + b"..50%....100% - 38 passes")[-1] == Progress(
        1, 10, "add", percent=100, passes=38
    )


def test_a_line_may_begin_in_the_middle_of_the_programs_own() -> None:
    assert read(b'no line end==PROF== Profiling "add" - 0 (1/10): 0%') == [Progress(1, 10, "add")]


def test_names_with_quotes_and_colours() -> None:
    assert read(LINE % (b'k<"a", 1>\x1b[31m', 0, 1))[0].name == 'k<"a", 1>'


def test_it_never_goes_back_nor_past_the_limit() -> None:
    forged = LINE % (b"f", 0, 900) + LINE % (b"f", 0, 3) + LINE % (b"g", 0, 5)
    seen = read(forged)
    is_monotone(seen)
    assert {one.kernel for one in seen} == {10}
    assert max(one.percent for one in seen) == 100
    assert read(b'==PROF== Profiling "x": 0%\n' * 50, limit=3)[-1].kernel == 3
    assert read(b'==PROF== Profiling "x": 999%' + b"." * 50)[-1].percent == 100


@given(st.binary(max_size=200), st.integers(1, 50))
def test_any_bytes_in_any_pieces(noise: bytes, size: int) -> None:
    data = noise.replace(b"\n", b"") + b"\n" + LINE % (b"add", 0, 1)
    seen = read(data, size=size)
    is_monotone(seen)
    assert seen[-1] == Progress(1, 10, "add", percent=100, passes=38)


def test_a_line_without_end_is_not_kept_whole() -> None:
    reader = ProgressReader(10, lambda _: None)
    for _ in range(100):
        reader.feed(b"x" * 10_000)
    assert len(reader._line) <= 2 * MAX_LINE


def test_a_line_full_of_marks_is_read_once() -> None:
    hostile = b'==PROF== Profiling "' * 400
    assert read(hostile + b"\n" + LINE % (b"add", 0, 1))[0].kernel == 1
    assert last_kernel(hostile.decode() * 8) == ""


def test_the_last_kernel_of_a_stream(recordings: Path) -> None:
    text = (recordings / "ok-geqrf-four-kernels" / "stdout.txt").read_text(encoding="utf-8")
    assert last_kernel(text) == "geqr2_batch_kernel_shmem"
    assert last_kernel("nothing") == ""


async def rested() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_steps_between_two_events_become_one_and_the_last_is_told() -> None:
    told: list[int] = []

    async def emit(seen: Progress) -> None:
        told.append(seen.kernel)

    publisher = Publisher(emit, every_s=60.0)
    for kernel in range(1, 8):
        publisher.show(Progress(kernel, 10, ""))
        if kernel == 1:
            await rested()
    await rested()
    assert told == [1]
    await publisher.close()
    assert told == [1, 7]


async def test_steps_far_apart_are_told_one_by_one_and_silence_not_at_all() -> None:
    told: list[int] = []

    async def emit(seen: Progress) -> None:
        told.append(seen.kernel)

    publisher = Publisher(emit, every_s=0.0)
    for kernel in (1, 2, 3):
        publisher.show(Progress(kernel, 10, ""))
        await asyncio.sleep(0.01)
    await publisher.close()
    assert told == [1, 2, 3]


async def test_an_event_that_cannot_be_kept_is_an_error_of_the_job() -> None:
    async def emit(_: Progress) -> None:
        raise OSError("disk full")

    publisher = Publisher(emit)
    publisher.show(Progress(1, 10, ""))
    with pytest.raises(OSError, match="disk full"):
        await publisher.close()
