"""What counts as a kernel of the submission, and which shapes are verified."""

import pytest

from bot.leaderboards.verify import own_kernels, two_shapes
from tests.leaderboards.check.tasks import python_task

SUBMISSIONS = {
    "cuda": ("__global__ void add(float* x) {}", ("add",)),
    "bounds": (
        'extern "C" __global__ void __launch_bounds__(256, 2) fast_add(int n) {}',
        ("fast_add",),
    ),
    "template": (
        "template <int N>\n__global__\nvoid tile(const T *x);\nvoid host(int n);",
        ("tile",),
    ),
    "inline": ('source = """\n__global__ void a(int n) {}\n__global__ void b() {}"""', ("a", "b")),
    "triton": ("@triton.jit\ndef add_kernel(x, BLOCK: tl.constexpr):\n    pass", ("add_kernel",)),
    "autotuned": ("@triton.autotune(configs)\n@triton.jit\n# a note\ndef k(x):\n    pass", ("k",)),
    "decorated": ("@triton.jit(debug=True)\n@other\ndef k(x):\n    pass", ("k",)),
    "none": ("import torch\ndef custom_kernel(x):\n    return x + 1", ()),
}


@pytest.mark.parametrize(("source", "names"), SUBMISSIONS.values(), ids=SUBMISSIONS.keys())
def test_own_kernels(source: str, names: tuple[str, ...]) -> None:
    assert own_kernels(source) == names


def test_a_file_full_of_beginnings_takes_no_time() -> None:
    assert own_kernels("__global__ " * 90_000 + "@triton.jit\n" * 50_000) == ()


def test_the_first_shape_and_the_next_that_differs() -> None:
    task = python_task("", {"n": 1}, {"n": 1}, {"n": 2}, {"n": 3})
    assert [(one.index, one.spec) for one in two_shapes(task)] == [(0, "n: 1"), (2, "n: 2")]
    assert [one.index for one in two_shapes(python_task("", {"n": 1}, {"n": 1}))] == [0]
    assert two_shapes(python_task("")) == ()
