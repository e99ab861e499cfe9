"""Which launches are chosen, and how ncu is told."""

import re

from hypothesis import given
from hypothesis import strategies as st

from runner.census.choose import MAX_PATTERN, TUNED_THROUGH, choose, escaped
from runner.census.model import Census, Launcher
from tests.runner.census.make import census, kernel

EIGH = census(
    kernel("syevbj_batch_32x16", 3_678, 201_283),
    kernel("column_rotate_batch", 1_756, 201_283),
    kernel("row_rotate_batch_32x16_phase1", 1_672, 201_283),
    kernel("row_rotate_batch_32x32_phase2", 1_170, 201_283),
    kernel("copy", 80, 26_429),
)


def test_the_kernels_that_hold_95_percent() -> None:
    choice = choose(EIGH, 10)
    assert choice is not None
    names = "row_rotate_batch_32x16_phase1|row_rotate_batch_32x32_phase2"
    pattern = f"^(syevbj_batch_32x16|column_rotate_batch|{names})$"
    assert choice.kernel_id_option == f"::regex:{pattern}:{choice.nth}"
    assert (choice.base, choice.count, choice.expected) == ("mangled", 4, 4)
    assert round(choice.share, 2) == 0.99
    assert choice.unseen == 0
    assert 50 <= choice.nth <= 201_283 // 2


def test_a_launch_in_the_middle_of_every_run() -> None:
    choice = choose(census(kernel("a", 50, 40), kernel("b", 50, 9)), 10)
    assert choice is not None
    assert choice.nth == 4
    once = choose(census(kernel("a", 50, 40), kernel("b", 50, 1)), 10)
    assert once is not None
    assert once.nth == 1


def test_a_tuner_that_launches_for_a_time_is_not_waited_for() -> None:
    shapes = [(4_096, 128), (4_096, 256), (1_024, 128), (1_024, 256)]
    tried = [kernel("add", 25, 4_200, grid=grid, block=block) for grid, block in shapes]
    fill = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int> >(int)"
    told = census(*tried, kernel("_Zfill", 1_300, 13_458, demangled=fill))
    choice = choose(told, 10)
    assert choice is not None
    assert choice.nth == TUNED_THROUGH
    assert [one.name for one in choice.kernels] == ["_Zfill", "add"]
    assert choice.share == 1


def test_the_cap_keeps_the_hottest() -> None:
    choice = choose(EIGH, 2)
    assert choice is not None
    assert [one.name for one in choice.kernels] == ["syevbj_batch_32x16", "column_rotate_batch"]
    assert round(choice.share, 2) == 0.65


def test_the_shapes_of_a_name_are_one_choice() -> None:
    choice = choose(census(kernel("a", 4, 10), kernel("a", 5, 10, grid=2), kernel("b", 6, 10)), 10)
    assert choice is not None
    assert [(one.name, one.launches) for one in choice.kernels] == [("a", 20), ("b", 10)]


def test_template_arguments_are_told_apart() -> None:
    one, two = "_Z6scaledILi1EEvPf", "_Z6scaledILi2EEvPf"
    choice = choose(census(kernel(one, 90), kernel(two, 10)), 1)
    assert choice is not None
    assert choice.kernel_id_option.startswith(f"::regex:^({one})$:")


def test_kernels_of_other_threads_are_not_captured_but_told() -> None:
    choice = choose(census(kernel("a", 75), kernel("b", 25, launcher=Launcher.OTHER)), 10)
    assert choice is not None
    assert [one.name for one in choice.kernels] == ["a"]
    assert (choice.share, choice.unseen) == (0.75, 0.25)
    assert choose(census(kernel("b", 25, launcher=Launcher.OTHER)), 10) is None


def test_nothing_to_choose() -> None:
    assert choose(Census(), 10) is None
    assert choose(EIGH, 0) is None


def test_each_process_has_its_launch() -> None:
    one = kernel("a", 80, 300, processes=3, fewest=20)
    choice = choose(census(one, kernel("b", 20, 100)), 3)
    assert choice is not None
    assert (choice.count, choice.nth) == (3, 10)


def test_a_pattern_that_would_be_too_long_is_cut_at_a_kernel() -> None:
    many = [kernel(f"k{number}" + "y" * 3_000, 10) for number in range(20)]
    choice = choose(census(*many, kernel("short", 1)), 30)
    assert choice is not None
    assert len(choice.kernel_id_option) < MAX_PATTERN + 20
    assert len(choice.kernels) == 6
    assert choice.kernels[-1].name == "short"


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1))
def test_a_pattern_matches_its_name_alone(name: str) -> None:
    assert re.fullmatch(escaped(name), name)
    assert not re.fullmatch(escaped(name), name + "x")
    assert ":" not in escaped(name)


@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=5), st.integers(0, 10**6), st.integers(1, 10**6)),
        unique_by=lambda each: each[0],
        max_size=8,
    ),
    st.integers(0, 12),
)
def test_any_census_gives_a_possible_choice(kernels: list[tuple[str, int, int]], cap: int) -> None:
    choice = choose(census(*(kernel(name, ms, n) for name, ms, n in kernels)), cap)
    if choice is None:
        return
    assert 1 <= choice.expected == len(choice.kernels) <= cap
    assert 0 <= choice.share <= 1.0001
    assert 1 <= choice.nth <= max(1, min(one.launches for one in choice.kernels) // 2)
