"""Competition YAMLs: deadlines, precedence, and one broken entry among good ones."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.leaderboards.competition import Broken, Competition, load_competition
from bot.leaderboards.deadline import parse_deadline
from bot.leaderboards.errors import GrammarError
from bot.leaderboards.files import ProblemFiles
from bot.leaderboards.model import Problem
from tests.leaderboards.repository import change, make


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "repository")


def load(root: Path) -> Competition:
    return load_competition(root / "linalg.yaml", ProblemFiles(root))


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
        ('"2026-12-31"', "soon", "line 7, `problems[0].deadline`: expected a deadline like"),
        (
            "directory: linalg/qr",
            "directory: ../../etc",
            "line 5, `problems[0].directory`: `../../",
        ),
        ("directory: linalg/qr", "directory: /etc", "`/etc` leads out of the problem repository"),
        ("directory: linalg/qr", 'directory: "a\\0b"', "null"),
        ("directory: linalg/qr", "directory: nowhere", "no such file"),
        ("gpus: [H200, B200]", "gpus: H200", "line 8, `problems[0].gpus`: expected a list, got"),
        ("    name: qr\n", "", "line 5, `problems[0]`: `name` is missing"),
        ("name: qr\n", "nme: qr\n", "`name` is missing; was `nme` on line 6 meant?"),
        ("name: qr\n", "name: 7\n", "line 6, `problems[0].name`: expected text, got a whole num"),
        ("name: qr\n", 'name: "q\\nr"\n', "`problems[0]`: expected a name without control"),
        ("name: qr\n", 'name: " qr"\n', "expected a name without control characters or blanks"),
    ],
)
def test_a_broken_problem_leaves_the_other(root: Path, old: str, new: str, said: str) -> None:
    change(root / "linalg.yaml", old, new)
    assert [problem.name for problem in problems(root)] == ["eigh"]
    (wrong,) = broken(root)
    assert said in wrong.error.reason
    assert load(root).complete == (wrong.name == "qr")


def test_unknown_keys_are_warnings_with_their_line(root: Path) -> None:
    change(root / "linalg.yaml", "name: qr\n", "name: qr\n    gpu: B200\n")
    change(root / "linalg.yaml", "description: Linear", "descripton: Linear")
    change(root / "linalg" / "qr" / "task.yml", "seed: 7", "color: red")
    assert len(problems(root)) == 2
    assert load(root).warnings == (
        "linalg.yaml: line 3: unknown key `descripton` is ignored; did you mean `description`?",
        "linalg.yaml: line 7: unknown key `gpu` is ignored; did you mean `gpus`?",
        "linalg/qr/task.yml: line 19: unknown key `color` is ignored",
    )


def test_a_wrong_deadline_of_the_competition_has_its_line(root: Path) -> None:
    change(root / "linalg.yaml", 'deadline: ""', "deadline: someday")
    with pytest.raises(GrammarError, match="line 2, `deadline`: expected a deadline like"):
        load(root)


def test_a_file_that_two_problems_share_is_read_once(root: Path) -> None:
    qr, eigh = problems(root)
    assert qr.task.files[1].content is eigh.task.files[1].content


def test_gpus_come_from_the_task_where_the_competition_lists_none(root: Path) -> None:
    change(root / "linalg.yaml", "    gpus: [H200, B200]\n", "")
    assert problems(root)[0].gpus == ("B200",)


def test_a_gpu_listed_twice_counts_once(root: Path) -> None:
    change(root / "linalg.yaml", "gpus: [H200, B200]", "gpus: [H200, B200, h200]")
    assert problems(root)[0].gpus == ("H200", "B200")


def test_no_gpu_anywhere(root: Path) -> None:
    change(root / "linalg.yaml", "    gpus: [H200, B200]\n", "")
    change(root / "linalg" / "qr" / "task.yml", "gpus: [B200]\n", "")
    assert "line 5, `problems[0].gpus`: expected at least one GPU" in broken(root)[0].error.reason


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
