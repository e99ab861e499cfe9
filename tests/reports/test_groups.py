import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reports.bound import Word
from bot.reports.groups import LABEL_WIDTH, KernelGroup, group
from bot.reports.labels import labels
from counters.columns import OCCUPANCY, SM
from counters.model import Metric
from counters.names import display_width
from counters.parse import read_summary
from tests.counters.make import SPEED_OF_LIGHT, launch, summary, with_value


def groups(*rows: list[str]) -> tuple[KernelGroup, ...]:
    return group(summary(*rows))


def timed(kernel_id: int, name: str, duration: str, *, grid: str = "(16, 2, 1)") -> list[list[str]]:
    return launch(kernel_id, name, with_value("Duration", duration, "us"), grid=grid)


def test_repeated_launches_are_one_group_the_hottest_first() -> None:
    rows = [*timed(0, "a", "3"), *timed(1, "b", "8"), *timed(2, "a", "1"), *timed(3, "a", "8")]
    first, second = groups(*rows)
    assert (first.label, first.launches, first.count) == ("a", (0, 2, 3), 3)
    assert (first.min_ns, first.median_ns, first.max_ns) == (1000.0, 3000.0, 8000.0)
    assert (first.total_ns, first.share) == (12_000.0, 0.6)
    assert (second.label, second.total_ns, second.share) == ("b", 8000.0, 0.4)


def test_counters_are_medians_and_one_launch_is_as_printed() -> None:
    values = [launch(i, "k", with_value("Achieved Occupancy", v)) for i, v in enumerate("924")]
    (three,) = groups(*(row for rows in values for row in rows))
    assert three.value(OCCUPANCY) == 4.0
    assert three.counters[4] == Metric("Occupancy", "Achieved Occupancy", "%", 4.0, "4")
    (one,) = groups(*launch())
    assert one.counters[0] == Metric(SPEED_OF_LIGHT, "Duration", "ns", 21060.0, "21.06")


def test_a_missing_counter_is_passed_over_and_none_at_all_stays_missing() -> None:
    (two,) = groups(
        *launch(0, "k", with_value("Compute (SM) Throughput", "n/a")),
        *launch(1, "k", with_value("Compute (SM) Throughput", "80")),
    )
    assert (two.value(SM), two.bound.word) == (80.0, Word.COMPUTE)
    (none,) = groups(*launch(0, "k", with_value("Compute (SM) Throughput", "nan")))
    assert (none.value(SM), none.bound.word) == (None, Word.UNKNOWN)


def test_other_registers_are_another_variant_of_the_kernel() -> None:
    rows = [
        *launch(0, "k", with_value("Registers Per Thread", "40")),
        *launch(1, "k", with_value("Registers Per Thread", "32")),
        *launch(2, "k", with_value("Registers Per Thread", "40")),
    ]
    found = groups(*rows)
    assert {one.label: one.launches for one in found} == {
        "k (40 regs)": (0, 2),
        "k (32 regs)": (1,),
    }


def test_shapes_that_vary_are_none() -> None:
    (two,) = groups(*timed(0, "k", "1"), *timed(1, "k", "1", grid="(9, 1, 1)"))
    assert (two.grid, two.block) == (None, (32, 8, 1))


def test_a_group_without_a_duration_comes_last() -> None:
    rows = [*launch(0, "lost", with_value("Duration", "n/a")), *timed(1, "known", "0")]
    known, lost = groups(*rows)
    assert (known.label, known.total_ns) == ("known", 0.0)
    assert (lost.label, lost.total_ns, lost.share, lost.median_ns) == ("lost", None, None, None)


def test_no_kernels_are_no_groups() -> None:
    assert groups() == ()


def test_a_real_run(recordings: Path) -> None:
    found = group(read_summary(recordings / "ok-geqrf-four-kernels" / "ncu-details.csv"))
    assert [(one.label, one.launches) for one in found] == [
        ("geqr2_batch_kernel_shmem", (3,)),
        ("elementwise_kernel_with_index", (1, 2)),
        ("elementwise_kernel", (0,)),
    ]
    assert (found[1].min_ns, found[1].median_ns, found[1].max_ns) == (1700.0, 1715.0, 1730.0)


FILL = "void at::vec_kernel<4, at::FillFunctor<float>, std::array<char *, 1>>(int, T2, T3)"
SELF = "void at::vec_kernel<4, at::OnSelfAdd<float>, std::array<char *, 1>>(int, T2, T3)"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["void ns::k<int>(int)", "other"], ["k", "other"]),
        (["void a::k(int)", "void b::k(int)"], ["a::k", "b::k"]),
        (["void k<int, 4>(int)", "void k<float, 4>(int)"], ["k<int, 4>", "k<float, 4>"]),
        ([FILL, SELF], ["vec_kernel …FillFunctor…", "vec_kernel …OnSelfAdd…"]),
        (["k(int)", "k(float)"], ["k(int)", "k(float)"]),
        (["\x1b", "\u202e"], ["(no name) #1", "(no name) #2"]),
    ],
)
def test_labels_keep_what_tells_two_apart(names: list[str], expected: list[str]) -> None:
    assert list(labels([(name, None) for name in names], 40)) == expected


def test_labels_of_many_of_one_family_differ_by_their_own_words() -> None:
    names = [
        f"void at::kernel<4, at::{first}Functor<{kind}, at::Loader<{kind}>>, Policy>(int, T1, T2)"
        for first in ("Fill", "Add", "Mul")
        for kind in ("float", "double", "c10::Half")
    ]
    found = labels([(name, None) for name in names], 36)
    assert len(set(found)) == len(names)
    assert not any("#" in label for label in found)
    assert all("Functor" in label or "float" in label or "double" in label for label in found[:2])


NAMES = st.text("ab<>(), :#…µ漢", max_size=30) | st.sampled_from([FILL, SELF, "k(int)", "k(float)"])
REGS = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(NAMES, REGS), unique=True, max_size=8), st.integers(12, LABEL_WIDTH))
def test_labels_are_unique_and_fit(kernels: list[tuple[str, float | None]], width: int) -> None:
    found = labels(kernels, width)
    assert len(set(found)) == len(kernels)
    assert all(0 < display_width(label) <= width for label in found)
    assert all(label.isprintable() for label in found)


def test_names_that_differ_after_thousands_of_characters_are_told_apart() -> None:
    long = "std::pair<int, float>, " * 800
    names = [f"void k<{long}{index}, {long}>(int)" for index in range(40)]
    assert list(labels([(name, None) for name in names], LABEL_WIDTH)) == [
        f"k …{index}…" for index in range(40)
    ]


def test_many_long_names_of_one_base_take_little_memory() -> None:
    names = [(f"void k<{'a, ' * (index % 700)}b{index}>(int)", None) for index in range(1_000)]
    tracemalloc.start()
    found = labels(names, LABEL_WIDTH)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(set(found)) == 1_000
    assert peak < 10_000_000


def test_sixty_long_names_are_labelled_in_no_time() -> None:
    names = [
        (f"void k<{'std::pair<int, float>, ' * 800}{index}>(int)", None) for index in range(60)
    ]
    assert len(set(labels(names, LABEL_WIDTH))) == 60
