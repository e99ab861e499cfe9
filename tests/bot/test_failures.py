"""The table of failures is whole, consistent, and the one in the documentation."""

from pathlib import Path

import pytest

from bot.failures import FAILURES, FailureRow, Fault
from bot.wording import failure_sentence
from runner_client.wire import Failure, FailureKind

PAGE = Path(__file__).resolve().parents[2] / "docs" / "failures.md"


def documented() -> dict[str, tuple[str, str, str]]:
    """Return fault, charged and retry of each kind in docs/failures.md."""
    rows = [line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    cells = [[cell.strip() for cell in row] for row in rows if len(row) > 6]
    return {row[1].strip("`"): (row[2], row[3], row[4]) for row in cells if row[1].startswith("`")}


def words(*, yes: bool) -> str:
    return "yes" if yes else "no"


def test_every_kind_has_its_row() -> None:
    assert set(FAILURES) == set(FailureKind)


def test_the_page_shows_the_table() -> None:
    assert documented() == {
        kind.value: (row.fault.value, words(yes=row.charged), words(yes=row.retry))
        for kind, row in FAILURES.items()
    }


@pytest.mark.parametrize("row", FAILURES.values(), ids=lambda row: row.kind.value)
def test_nobody_pays_for_anothers_fault(row: FailureRow) -> None:
    if row.fault in {Fault.OPERATOR, Fault.PROBLEM}:
        assert not row.charged
    sentence = failure_sentence(Failure(kind=row.kind))
    assert not (row.fault is Fault.SUBMISSION and "not your fault" in sentence)
    assert sentence.count(": ") == 1


@pytest.mark.parametrize("row", FAILURES.values(), ids=lambda row: row.kind.value)
def test_an_operators_fault_is_said_to_be_nobody_elses(row: FailureRow) -> None:
    if row.fault is Fault.OPERATOR and row.kind is not FailureKind.EXPORT_FAILED:
        assert "this is not your fault" in row.mend


def test_an_empty_range_names_its_candidates_in_order() -> None:
    mend = FAILURES[FailureKind.NOTHING_IN_RANGE].mend
    places = [mend.index(word) for word in ("launches kernels at all", "another thread", "opens")]
    assert places == sorted(places)
