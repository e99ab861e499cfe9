"""Autotuning and compilation in the range, by their marks in a census."""

from runner.census.model import Census
from runner.census.notes import Sign, notes
from tests.runner.census.make import census, kernel

FILL = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, "
    "std::array<char*, 1ul> >(int, at::native::FillFunctor<int>, std::array<char*, 1ul>)"
)


def signs(told: Census) -> list[Sign]:
    return [note.sign for note in notes(told)]


def test_a_tuner_with_its_cache_flushes() -> None:
    shapes = [(64, 128), (64, 256), (128, 128), (128, 256), (32, 64)]
    tried = [kernel("add", 20, 3_362, grid=grid, block=block) for grid, block in shapes]
    told = census(*tried, kernel("fill", 1_300, 13_458, demangled=FILL))
    flush, tuning = notes(told)
    assert (flush.sign, flush.kernel, flush.launches) == (Sign.CACHE_FLUSH, FILL, 13_458)
    assert (tuning.sign, tuning.kernel, tuning.launches) == (Sign.AUTOTUNING, "add", 16_810)
    assert round(flush.share + tuning.share, 6) == 1


def test_a_tuner_gives_fast_candidates_more_launches() -> None:
    # Four configurations of two block sizes; a tuner spends the same time on each.
    tried = [
        kernel("matmul", 100, launches, grid=grid, block=block)
        for grid, block, launches in ((64, 128, 310), (64, 256, 120), (16, 128, 95), (16, 256, 60))
    ]
    flush = kernel("fill", 45, 585, demangled=FILL)
    found = {note.sign: note for note in notes(census(*tried, flush, idle_ms=40))}
    assert found.keys() == {Sign.AUTOTUNING, Sign.CACHE_FLUSH}
    assert found[Sign.AUTOTUNING].launches == 585
    # Of one block size only the flush gives it away.
    alike = [kernel("matmul", 100, 100, grid=grid) for grid in (16, 32, 64, 128)]
    assert signs(census(*alike, kernel("fill", 40, 400, demangled=FILL))) == [Sign.CACHE_FLUSH]


def test_a_search_with_compilation_of_each_candidate() -> None:
    tried = [
        kernel("triton_mm", 2, 25, grid=grid, block=block, first_ns=grid)
        for grid, block in ((64, 128), (64, 256), (16, 128), (16, 256))
    ]
    assert signs(census(*tried, idle_ms=2_400)) == [Sign.AUTOTUNING, Sign.COMPILATION]


def test_the_candidates_of_a_library() -> None:
    many = [
        kernel(f"_Z{n}", 3, 25, demangled=f"void gemm::Kernel<Tile<{n}> >(Params)")
        for n in range(9)
    ]
    (note,) = notes(census(*many))
    assert (note.sign, note.launches) == (Sign.AUTOTUNING, 225)


def test_compilation_before_the_first_kernel() -> None:
    (note,) = notes(census(kernel("late", 100, 3, first_ns=5), kernel("a", 1, 3), idle_ms=900))
    assert (note.sign, note.kernel) == (Sign.COMPILATION, "a")
    assert round(note.share, 2) == 0.9


def test_ordinary_calls_have_no_marks() -> None:
    shrinking = [kernel("panel", 1, 1, grid=size, block=128) for size in range(1, 33)]
    assert signs(census(*shrinking)) == []
    assert signs(census(kernel("a", 8_000, 800_000), idle_ms=1_100)) == []
    assert signs(census(kernel("fill", 0.01, 1, demangled=FILL), kernel("a", 5, 1))) == []
    assert signs(Census()) == []
