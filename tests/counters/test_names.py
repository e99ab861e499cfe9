import pytest
from hypothesis import given
from hypothesis import strategies as st

from counters.names import clipped, display_width, escaped, last_component, plain, short_name

LAMBDA = (
    "void at::elementwise_kernel<128, 2, void at::gpu_kernel_impl_nocast<"
    "at::direct_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 3)]::operator ()()"
    " lambda() (instance 7)]::operator ()() lambda(float) (instance 1)]>"
    "(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)"
)
UNNAMED = (
    "void <unnamed>::elementwise_kernel_with_index<int, at::arange_cuda_out(at::Tensor &)::"
    "[lambda() (instance 1)]::operator ()() lambda() (instance 4)]::operator ()() lambda(long)"
    " (instance 1)]>(T1, T2, function_traits<T2>::result_type *)"
)


@pytest.mark.parametrize(
    ("name", "short", "last"),
    [
        (LAMBDA, "at::elementwise_kernel", "elementwise_kernel"),
        (
            UNNAMED,
            "<unnamed>::elementwise_kernel_with_index",
            "elementwise_kernel_with_index",
        ),
        (
            "void (anonymous namespace)::softmax<float, 10, false>(float*, int) [clone .kd]",
            "(anonymous namespace)::softmax",
            "softmax",
        ),
        ("void `anonymous namespace'::foo(int)", "`anonymous namespace'::foo", "foo"),
        ("void k<int, (char)44>(float*, int)", "k", "k"),
        ("void cub::Reduce<Policy<(a > b), 1>>::run(int)", "cub::Reduce::run", "run"),
        ("void thrust::f<a::operator->>(int)", "thrust::f", "f"),
        ("axpy(float, const float *, float *, int)", "axpy", "axpy"),
        ("unsigned long ns::get<1>(int) const", "ns::get", "get"),
        ("int *bar(int)", "bar", "bar"),
        ("decltype (x) foo<int>(int)", "foo", "foo"),
        ("foo[abi:cxx11](int)", "foo", "foo"),
        ("ns::S<int>::operator()(int) const", "ns::S::operator()", "S::operator()"),
        ("void S::operator<< <int>(int)", "S::operator<<", "S::operator<<"),
        (
            "void foo(int)::{lambda(float)#1}::operator()(float) const",
            "foo::{lambda(float)#1}::operator()",
            "foo::{lambda(float)#1}::operator()",
        ),
        ("add_kernel", "add_kernel", "add_kernel"),
        ("_ZN2at6kernelEv", "_ZN2at6kernelEv", "_ZN2at6kernelEv"),
        ("  triton poi fused  ", "triton poi fused", "triton poi fused"),
    ],
)
def test_signature_is_cut_down_to_the_name(name: str, short: str, last: str) -> None:
    assert short_name(name) == short
    assert last_component(short) == last


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("foo<int", "foo"),
        ("void foo(int", "foo"),
        ("foo>>)(", "foo>>)"),
        ("<<<<", "<<<<"),
        ("", ""),
    ],
)
def test_unbalanced_names_give_something(name: str, short: str) -> None:
    assert short_name(name) == short


@pytest.mark.parametrize(
    "piece", ["<", "([", "<(", "a::", "operator<", "`", "-", "()", "<(])", " "]
)
def test_long_hostile_names_take_linear_time(piece: str) -> None:
    # Quadratic work on this length would pass the time limit of the test run.
    last_component(short_name(piece * (200_000 // len(piece))))


@given(st.text(alphabet="<>()[]{}:- ab`operator*&\x1b\n", max_size=60))
def test_any_text_has_a_short_name(text: str) -> None:
    assert bool(short_name(text)) == bool(text.strip())
    assert last_component(short_name(text)) in short_name(text)


@given(st.text())
def test_plain_text_is_one_visible_line(text: str) -> None:
    assert plain(text).isprintable()
    assert plain(plain(text)) == plain(text)


def test_plain_drops_what_a_terminal_or_reader_would_obey() -> None:
    assert plain("a\x1b[31mb\r\nc\u202ed\u200be\x9bf\ttab") == "a[31mb cdef tab"
    assert plain("e\u0301\u0300\u0300x") == "éx"


def test_escaped_shows_what_it_disarms() -> None:
    assert escaped("a\x1b[31m\n\u202eµ") == r"a\x1b[31m\n\u202eµ"
    assert escaped("\udcff") == r"\udcff"


@given(st.text(), st.integers(1, 40))
def test_clipped_text_fits(text: str, width: int) -> None:
    assert display_width(clipped(text, width)) <= max(width, 1)


def test_clipped_keeps_both_ends() -> None:
    assert clipped("abcdefghij", 10) == "abcdefghij"
    assert clipped("abcdefghijk", 7) == "abc…ijk"
    assert display_width(clipped("漢字漢字漢字", 7)) <= 7
