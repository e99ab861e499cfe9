import pytest
from hypothesis import given
from hypothesis import strategies as st

from counters.units import base_unit, is_ambiguous, number


@pytest.mark.parametrize(
    ("unit", "value", "base", "expected"),
    [
        ("us", "21.06", "ns", 21060.0),
        ("usecond", "5.34", "ns", 5340.0),
        ("nsecond", "980", "ns", 980.0),
        ("ns", "21,056", "ns", 21056.0),
        ("msecond", "1.2", "ns", 1_200_000.0),
        ("ms", "0.5", "ns", 500_000.0),
        ("second", "3", "ns", 3e9),
        ("s", "1.5", "ns", 1.5e9),
        ("Ghz", "3.19", "hz", 3.19e9),
        ("Mhz", "877.5", "hz", 877.5e6),
        ("cycle/nsecond", "1.59", "hz", 1.59e9),
        ("cycle/usecond", "877.5", "hz", 877.5e6),
        ("cycle/second", "5", "hz", 5.0),
        ("Gbyte/s", "165.88", "byte/s", 165.88e9),
        ("Gbyte/second", "4.40", "byte/s", 4.4e9),
        ("Tbyte/s", "1.5", "byte/s", 1.5e12),
        ("byte/ns", "2", "byte/s", 2e9),
        ("Kbyte/block", "12.54", "byte/block", 12540.0),
        ("Mbyte", "11.80", "byte", 11.8e6),
        ("%", "2.88", "%", 2.88),
        ("inst/cycle", "1.93", "inst/cycle", 1.93),
        ("register/thread", "40", "register/thread", 40.0),
        ("", "0.49", "", 0.49),
    ],
)
def test_printed_value_comes_out_in_its_base_unit(
    unit: str, value: str, base: str, expected: float
) -> None:
    name, power = base_unit(unit)
    assert (name, number(value, power)) == (base, expected)


@pytest.mark.parametrize("unit", ["furlong", "Kfurlong", "furlong/fortnight", "msector", "Ms"])
def test_unknown_unit_is_kept_and_never_scaled(unit: str) -> None:
    assert base_unit(unit) == (unit, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3,193,262,411.35", 3193262411.35),
        ("41,605", 41605.0),
        ("-0.5", -0.5),
        (".5", 0.5),
        ("100", 100.0),
        ("0", 0.0),
        ("1.5e3", 1500.0),
        (" 7 ", 7.0),
        ("1e-07", 1e-07),
    ],
)
def test_numbers_of_the_c_locale(text: str, expected: float) -> None:
    assert number(text) == expected
    assert not is_ambiguous(text)


@pytest.mark.parametrize("text", ["", "n/a", "nan", "NaN", "-nan", "inf", "-inf", "1e999", "."])
def test_what_is_no_finite_number_is_missing(text: str) -> None:
    assert number(text) is None
    assert not is_ambiguous(text)


@pytest.mark.parametrize("text", ["PolicySpread", "all", "9.0 (gpu)", "٣", "0x10", "1 (2; 3)"])
def test_words_are_missing_and_nothing_to_report(text: str) -> None:
    assert number(text) is None
    assert not is_ambiguous(text)


@pytest.mark.parametrize("text", ["1.234,5", "1,5", "1.234.567", "1 234", "1'234", "12,34,567"])
def test_another_locale_is_not_guessed(text: str) -> None:
    assert number(text) is None
    assert is_ambiguous(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_that_is_written_is_read(value: float) -> None:
    assert number(repr(value)) == value


@given(st.integers(-(10**15), 10**15))
def test_grouped_integers_are_read(value: int) -> None:
    assert number(f"{value:,}") == value


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    assert number(text, 9) is None or not is_ambiguous(text)
    assert base_unit(text)[0] is not None
