"""Exports that the file breaks off in."""

import csv
import io
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.counters.make import document, launch, rule
from tests.counters.test_parse import ONE, exports, in_order, parsed

ENDS_WITH_21_06 = document([*launch()[1:], launch()[0]])


@pytest.mark.parametrize("lost", [5, 8, 9, 10])
def test_a_value_that_the_file_ends_in_is_not_believed(lost: int) -> None:
    assert ENDS_WITH_21_06.endswith('"us","21.06",""\n')
    report = parsed(ENDS_WITH_21_06[:-lost])
    assert report.kernels[0].metrics == parsed(ONE).kernels[0].metrics[1:]
    assert report.unread == ("line 7: the file ends within this row",)


def test_a_file_that_ends_right_before_a_value_is_said() -> None:
    report = parsed(ENDS_WITH_21_06.removesuffix('"21.06",""\n'))
    assert len(report.kernels[0].metrics) == 5
    assert report.unread == ("line 7: the file ends within this row",)


def test_a_last_row_that_ends_with_a_number_needs_no_line_end() -> None:
    assert parsed(ENDS_WITH_21_06[:-4]) == parsed(ENDS_WITH_21_06)


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_whole_value_in_a_row_that_the_file_ends_in_is_kept(lost: int) -> None:
    report = parsed(ENDS_WITH_21_06[:-lost])
    assert report.kernels == parsed(ENDS_WITH_21_06).kernels
    assert report.unread == ("line 7: the file ends within this row",)


LAST_ROWS = (
    launch(3, 'void k<"a", 1>(int)', [("S", "Text", "", "Policy")])[0],
    launch(3, "k", [("S", "Text", "", 'two\nlines, "quoted"')])[0],
    rule(3, "k", "R", "OPT", 'Look at "L2",\nthen more.', "global", "47.25"),
)


@pytest.mark.parametrize("row", LAST_ROWS)
@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
def test_wherever_the_last_record_is_cut_it_is_reported(
    row: list[str], quoting: Literal[0, 1]
) -> None:
    before = document(launch())
    file = io.StringIO()
    csv.writer(file, quoting=quoting, lineterminator="\n").writerow(row)
    record = file.getvalue()
    (whole,) = parsed(document([row])).kernels
    for end in range(1, len(record) - 1):
        report = parsed(before + record[:end])
        line = 8 + record[:end].rstrip("\n").count("\n")
        assert [note.partition(":")[0] for note in report.unread] == [f"line {line}"], record[:end]
        assert report.kernels[0] == parsed(ONE).kernels[0]
        for kernel in report.kernels[1:]:
            assert kernel == whole, record[:end]


@given(exports(), st.data())
def test_wherever_a_file_is_cut_nothing_is_made_up(
    export: tuple[list[str], list[list[str]]], data: st.DataObject
) -> None:
    text = document(in_order(*export))
    cut = parsed(text[: data.draw(st.integers(len(document([])), len(text)))])
    whole = {kernel.id: kernel for kernel in parsed(text).kernels}
    for kernel in cut.kernels:
        known = whole[kernel.id]
        assert kernel.name == known.name
        assert kernel.metrics == known.metrics[: len(kernel.metrics)]
        assert kernel.rules == known.rules[: len(kernel.rules)]
