"""`ncubot check` as a user and a program call it."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.main import main
from tests.leaderboards.repository import change

ROOT = Path(__file__).resolve().parents[2]
Check = Callable[..., tuple[int, str, str]]


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Return a function that runs `ncubot check` and gives status, stdout and stderr."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ncubot", "check", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    """Copy the sample problems, to be bent."""
    shutil.copytree(ROOT / "problems", tmp_path / "problems")
    return tmp_path / "problems"


def test_our_own_problems_pass(check: Check) -> None:
    status, out, err = check(ROOT / "problems")
    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == "5 of 5 give counters"
    assert "qr_v2       ncu                  linalg/qr_v2" in out


def test_broken_evaluators_are_named_with_place_and_mend(check: Check) -> None:
    status, out, _ = check(ROOT / "tests" / "problems")
    assert status == 1
    assert "no_range    not-implemented" in out
    assert 'eval.py:19: the range is named "benchmark": ncu selects custom_kernel only' in out
    assert "[profile-missing]" in out
    assert out.splitlines()[-1] == "0 of 2 give counters"


def test_json_for_programs(check: Check) -> None:
    status, out, _ = check(ROOT / "tests" / "problems", "--format", "json")
    assert status == 1
    first, second = json.loads(out)
    assert list(first) == ["leaderboard", "directory", "profile", "findings"]
    assert (first["leaderboard"], first["directory"]) == ("no_range", "no_range")
    assert first["profile"] == second["profile"] == "not-implemented"
    [finding] = first["findings"]
    assert list(finding) == ["rule", "file", "line", "message"]
    assert (finding["rule"], finding["file"], finding["line"]) == ("range-name", "eval.py", 19)
    assert json.loads(check(ROOT / "problems", "--format", "json")[1])[0]["findings"] == []


def test_one_problem_a_yaml_and_a_folder_that_holds_problems(check: Check, problems: Path) -> None:
    for path in (problems / "linalg" / "eigh_py", problems / "linalg" / "eigh_py" / "task.yml"):
        status, out, _ = check(path, "--format", "json")
        [found] = json.loads(out)
        assert status == 0
        assert (found["leaderboard"], found["directory"]) == ("eigh", "linalg/eigh_py")
    status, out, _ = check(problems / "nvidia.yaml")
    assert (status, out.splitlines()[-1]) == (0, "3 of 3 give counters")
    assert check(problems.parent)[1].splitlines()[-1] == "5 of 5 give counters"


def test_a_problem_that_no_yaml_lists(check: Check, problems: Path) -> None:
    (problems / "linalg.yaml").unlink()
    status, out, _ = check(problems / "linalg" / "qr_v2")
    assert status == 0
    assert out.startswith("qr_v2  ncu")


def test_the_gpus_of_the_competition_count(check: Check, problems: Path) -> None:
    for old in ('name: qr_v2\n    deadline: "2099-12-31"\n    gpus: [H200, H100, B200, A100]',):
        change(problems / "linalg.yaml", old, old.replace("H200, H100, B200, A100", "MI300X"))
    for path in (problems, problems / "linalg" / "qr_v2"):
        status, out, _ = check(path)
        assert status == 1
        assert "not-nvidia" in out
        assert "this problem is for MI300X" in out
    change(problems / "linalg.yaml", "MI300X", "MI300X, H100")
    assert check(problems)[0] == 0


def test_a_task_over_several_gpus(check: Check, problems: Path) -> None:
    file = problems / "linalg" / "qr_v2" / "task.yml"
    file.write_text("multi_gpu: true\n" + file.read_text())
    status, out, _ = check(problems / "linalg" / "qr_v2", "--format", "json")
    assert (status, json.loads(out)[0]["profile"]) == (1, "multi-gpu")


def test_a_problem_that_cannot_be_loaded_is_unknown_with_its_reason(
    check: Check, problems: Path
) -> None:
    change(problems / "linalg" / "qr_v2" / "task.yml", "lang: py", "lang: rust")
    status, out, _ = check(problems, "--format", "json")
    found = {one["leaderboard"]: one for one in json.loads(out)}
    assert (status, len(found)) == (1, 5)
    assert found["qr_v2"]["profile"] == "unknown"
    [finding] = found["qr_v2"]["findings"]
    assert (finding["rule"], finding["file"]) == ("grammar", "linalg/qr_v2/task.yml")
    assert found["eigh"]["profile"] == "ncu"


def test_findings_are_no_control_characters(check: Check, problems: Path) -> None:
    evaluator = problems / "linalg" / "qr_v2" / "eval.py"
    change(evaluator, 'range("custom_kernel")', 'range("\\x1b[31mred")')
    status, out, _ = check(problems / "linalg" / "qr_v2")
    assert status == 1
    assert "\x1b" not in out
    assert "\\x1b[31mred" in out


@pytest.mark.parametrize("path", ["nowhere", ".", "linalg"])
def test_bad_input(check: Check, path: str, tmp_path: Path, problems: Path) -> None:
    (tmp_path / "empty").mkdir()
    place = tmp_path / "empty" if path == "." else problems / path
    status, out, err = check(place)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert str(place) in err


def test_one_broken_problem_alone_is_bad_input(check: Check, problems: Path) -> None:
    folder = problems / "linalg" / "qr_v2"
    (folder / "task.yml").write_text("lang: [")
    status, _, err = check(folder)
    assert status == 2
    assert "task.yml" in err
