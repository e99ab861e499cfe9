import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.reports.table import TABLE_WIDTH, render_table
from counters.parse import read_summary
from tests.counters.make import document, launch, with_value


def report(*arguments: str, **environment: str) -> tuple[int, str, str]:
    """Run `ncubot report` as a whole process: exit status, stdout, stderr."""
    done = subprocess.run(
        [sys.executable, "-c", "from cli.main import main; main()", "report", *arguments],
        capture_output=True,
        check=False,
        timeout=50,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode()


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "ncu-details.csv"
    path.write_text(document(launch(name="void ns::k<1>(int)")), encoding="utf-8")
    return path


def test_table_is_the_text_that_discord_shows(export: Path) -> None:
    assert report(str(export)) == (0, render_table(read_summary(export)) + "\n", "")


def test_markdown(export: Path) -> None:
    status, text, _ = report(str(export), "--format", "markdown")
    assert status == 0
    assert "| 0 | k | 1 | latency | 21.06 µs | 100.0 |" in text


def test_json(export: Path) -> None:
    status, text, _ = report(str(export), "--format", "json")
    assert status == 0
    assert json.loads(text)["kernels"][0]["short_name"] == "ns::k"


def test_json_of_rows_that_stand_apart_is_one_entry_a_launch(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    first, second = launch(0, "a"), launch(1, "b")
    path.write_text(document([*first[:3], *second, *first[3:]]) + "noise\n", encoding="utf-8")
    status, text, doubts = report(str(path), "--format", "json")
    kernels = json.loads(text)["kernels"]
    assert (status, [(one["id"], len(one["metrics"])) for one in kernels]) == (0, [(0, 6), (1, 6)])
    assert doubts == "not read: line 14: not a row of the table\n"


def test_doubts_go_to_stderr(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    rows = launch(metrics=with_value("Duration", "1.234,5"))
    path.write_text(document(rows) + "evil \x1b[2J\n", encoding="utf-8")
    status, text, doubts = report(str(path))
    assert status == 0
    assert "n/a" in text
    assert doubts.splitlines() == [
        "degraded: 29% of this table is missing: Duration",
        "not read: line 2: Duration: 1.234,5 may be read in two ways",
        "not read: line 8: not a row of the table",
    ]


@pytest.fixture
def later(tmp_path: Path) -> Path:
    path = tmp_path / "later" / "ncu-details.csv"
    path.parent.mkdir()
    rows = launch(name="void ns::k<1>(int)", metrics=with_value("Duration", "10.53"))
    path.write_text(document(rows), encoding="utf-8")
    return path


def test_against_another_export(export: Path, later: Path) -> None:
    status, text, error = report(str(export), "--against", str(later))
    assert (status, error) == (0, "")
    assert "\nduration                21.06 µs   10.53 µs  -50.0% + gain\n" in text
    status, text, _ = report(str(export), "--against", str(later), "--format", "json")
    assert json.loads(text)["kernels"][0]["differences"][0]["verdict"] == "gain"
    status, text, _ = report(str(export), "--against", str(later), "--format", "markdown")
    assert "| k | duration | 21.06 µs | 10.53 µs | -50.0% | gain |" in text


def test_manifests_beside_the_exports_are_compared(export: Path, later: Path) -> None:
    for path, gpu in ((export, "H200"), (later, "B200")):
        path.with_name("manifest.json").write_text(json.dumps({"gpu": gpu}), encoding="utf-8")
    _, text, _ = report(str(export), "--against", str(later))
    assert "warning: GPU differs: H200 and B200\n" in text


def test_the_doubts_of_both_exports_are_told(export: Path, later: Path) -> None:
    later.write_text(document(launch()[1:]) + "noise\n", encoding="utf-8")
    status, _, doubts = report(str(export), "--against", str(later))
    assert status == 0
    assert doubts.splitlines() == [
        f"{later}: degraded: 29% of this table is missing: Duration",
        f"{later}: not read: line 7: not a row of the table",
    ]


@pytest.mark.parametrize("content", ["", "a,b\n"])
def test_a_bad_export_to_compare_with_gets_one_line(
    export: Path, later: Path, content: str
) -> None:
    later.write_text(content, encoding="utf-8")
    status, text, error = report(str(export), "--against", str(later))
    assert (status, text, error.count("\n")) == (2, "", 1)
    assert error.startswith(f"ncubot: {later} ")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\x00\x01NVR\xff\n" * 100, "is not text"),
        (b"ID,Name\n1,2\n", "has no row that names the columns"),
        (b'"ID","Kernel Name","Device"\n"","",""\n', "is ncu's raw page"),
    ],
)
def test_what_is_no_export_gets_one_line_that_names_it(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    status, text, error = report(str(path))
    assert (status, text) == (2, "")
    assert error.startswith(f"ncubot: {path} {words}")
    assert error.count("\n") == 1


@pytest.mark.parametrize("name", ["absent.csv", "a\x1b[31m\nb.csv", "."])
def test_what_cannot_be_read_gets_one_line(tmp_path: Path, name: str) -> None:
    status, text, error = report(str(tmp_path / name))
    assert (status, text) == (2, "")
    assert "cannot be read: " in error
    assert error.count("\n") == 1
    assert "\x1b" not in error


@pytest.mark.parametrize("arguments", [[], ["x", "y"], ["x", "--format", "xml"]])
def test_wrong_arguments_get_one_line(arguments: list[str]) -> None:
    status, text, error = report(*arguments)
    assert (status, text, error.count("\n")) == (2, "", 1)


def test_a_terminal_without_these_letters_gets_question_marks(export: Path) -> None:
    status, text, error = report(str(export), PYTHONIOENCODING="latin-1:strict")
    assert (status, error) == (0, "")
    assert "?" * TABLE_WIDTH in text


def test_it_starts_without_what_it_does_not_need(export: Path) -> None:
    code = (
        "import sys; from cli.report import command; "
        "command([sys.argv[1]], standalone_mode=False); "
        "print({'discord', 'sqlalchemy', 'aiohttp', 'yaml', 'asyncio'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, export], capture_output=True, check=True, timeout=50
    )
    assert done.stdout.decode().endswith("set()\n")
