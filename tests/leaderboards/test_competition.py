"""Competition YAMLs: deadlines, precedence, and one broken entry among good ones."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.leaderboards.competition import Broken, Competition, load_competition
from bot.leaderboards.deadline import parse_deadline
from bot.leaderboards.errors import GrammarError
from bot.leaderboards.model import Problem
from tests.leaderboards.repository import change, make


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "repository")


def load(root: Path) -> Competition:
    return load_competition(root / "linalg.yaml", root)


def problems(root: Path) -> list[Problem]:
    return [problem for problem in load(root).problems if isinstance(problem, Problem)]


def broken(root: Path) -> list[Broken]:
    return [problem for problem in load(root).problems if isinstance(problem, Broken)]


def test_problems_are_listed_with_their_deadlines(root: Path) -> None:
    qr, eigh = problems(root)
    assert (qr.name, qr.competition, qr.gpus) == ("qr", "linalg", ("H200", "B200"))
    assert qr.deadline == datetime(2026, 12, 31, tzinfo=UTC)
    assert eigh.deadline == datetime(2026, 9, 1, 9, 5, tzinfo=UTC)
    assert load(root).complete


@pytest.mark.parametrize(
    ("competition", "problem", "expected"),
    [
        ('""', '""', None),
        ("", "", None),
        ("2026-01-01", '""', datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01", "2026-02-02", datetime(2026, 2, 2, tzinfo=UTC)),
        ('""', "2026-02-02", datetime(2026, 2, 2, tzinfo=UTC)),
    ],
)
def test_the_problems_deadline_wins_over_the_competitions(
    root: Path, competition: str, problem: str, expected: datetime | None
) -> None:
    change(root / "linalg.yaml", 'deadline: ""', f"deadline: {competition}")
    change(root / "linalg.yaml", 'deadline: "2026-12-31"', f"deadline: {problem}")
    assert problems(root)[0].deadline == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-09-30", datetime(2026, 9, 30, tzinfo=UTC)),
        ("2026-9-3", datetime(2026, 9, 3, tzinfo=UTC)),
        ("2026-09-30 7:00", datetime(2026, 9, 30, 7, tzinfo=UTC)),
        ("2026-09-30 23:59:59", datetime(2026, 9, 30, 23, 59, 59, tzinfo=UTC)),
        ("2026-09-30T12:00:00Z", datetime(2026, 9, 30, 12, tzinfo=UTC)),
        ("2026-09-30 12:00 UTC", datetime(2026, 9, 30, 12, tzinfo=UTC)),
        ("2026-09-30 12:00 +02:00", datetime(2026, 9, 30, 10, tzinfo=UTC)),
        ("2026-09-30 12:00-0700", datetime(2026, 9, 30, 19, tzinfo=UTC)),
        ("  ", None),
        (None, None),
    ],
)
def test_deadlines(text: str | None, expected: datetime | None) -> None:
    assert parse_deadline(text) == expected


@pytest.mark.parametrize(
    "text",
    ["soon", "2026-13-01", "2026-02-30", "2026-01-01 25:00", "01.02.2026", "0001-01-01 +23:00"],
)
def test_no_deadlines(text: str) -> None:
    with pytest.raises(ValueError, match="expected a deadline like"):
        parse_deadline(text)


@pytest.mark.parametrize("quote", ["", '"', "'"])
@pytest.mark.parametrize("text", ["2026-09-30", "2026-09-30 7:00", "2026-09-30 07:00:00"])
def test_quoted_or_not_is_the_same(root: Path, quote: str, text: str) -> None:
    change(root / "linalg.yaml", '"2026-12-31"', f"{quote}{text}{quote}")
    assert problems(root)[0].deadline == parse_deadline(text)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"2026-12-31"', "soon", "qr: expected a deadline like"),
        ("directory: linalg/qr", "directory: ../../etc", "leads out of the problem repository"),
        ("directory: linalg/qr", "directory: /etc", "leads out of the problem repository"),
        ("directory: linalg/qr", "directory: nowhere", "no such file"),
        ("gpus: [H200, B200]", "gpus: H200", "problems[0]: Expected `array`"),
        ("    name: qr\n", "", "problems[0]: Object missing required field `name`"),
        ("name: qr\n", "name: qr\n    colour: red\n", "problems[0]: Object contains unknown field"),
        ("name: qr\n", 'name: "q\\nr"\n', "problems[0]: expected a name without control"),
    ],
)
def test_a_broken_problem_leaves_the_other(root: Path, old: str, new: str, said: str) -> None:
    change(root / "linalg.yaml", old, new)
    assert [problem.name for problem in problems(root)] == ["eigh"]
    (wrong,) = broken(root)
    assert said in wrong.error.reason
    assert load(root).complete == (wrong.name == "qr")


def test_gpus_come_from_the_task_where_the_competition_lists_none(root: Path) -> None:
    change(root / "linalg.yaml", "    gpus: [H200, B200]\n", "")
    assert problems(root)[0].gpus == ("B200",)


def test_a_gpu_listed_twice_counts_once(root: Path) -> None:
    change(root / "linalg.yaml", "gpus: [H200, B200]", "gpus: [H200, B200, h200]")
    assert problems(root)[0].gpus == ("H200", "B200")


def test_no_gpu_anywhere(root: Path) -> None:
    change(root / "linalg.yaml", "    gpus: [H200, B200]\n", "")
    change(root / "linalg" / "qr" / "task.yml", "gpus: [B200]\n", "")
    assert broken(root)[0].error.reason == "qr: `gpus` lists none"


@pytest.mark.parametrize("text", ["", "- a\n", "name: x\n", "name: [x\n", "problems: 3\nname: x\n"])
def test_a_yaml_that_is_no_competition(root: Path, text: str) -> None:
    (root / "linalg.yaml").write_text(text)
    with pytest.raises(GrammarError) as wrong:
        load(root)
    assert wrong.value.file == "linalg.yaml"


def test_a_linked_yaml_is_not_followed_out(root: Path) -> None:
    outside = root.parent / "other.yaml"
    outside.write_text("name: x\nproblems: []\n")
    (root / "linalg.yaml").unlink()
    (root / "linalg.yaml").symlink_to(outside)
    with pytest.raises(GrammarError, match="leads out"):
        load(root)
