"""task.yml: what is read, and what is refused with which words."""

import hashlib
import json
from pathlib import Path

import msgspec
import pytest

from bot.leaderboards import task as task_module
from bot.leaderboards.digest import config_sha256
from bot.leaderboards.errors import GrammarError
from bot.leaderboards.files import ProblemFiles
from bot.leaderboards.model import ProblemFile, spec_line
from bot.leaderboards.task import load_task, read_task
from bot.wording import sentence
from runner_client.captures import CaptureOptions
from runner_client.wire import CudaEvaluator, PythonEvaluator
from tests.leaderboards.repository import change, make

CUDA = """\
files:
  - {name: submission.cu, source: "@SUBMISSION@"}
  - {name: eval.cu, source: eval.cu}
  - {name: utils.h, source: eval.cu}
lang: cu
config: {sources: [eval.cu, submission.cu], defines: {N: 4, MODE: fast}, compile_flags: [-O3]}
description: add
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "repository")


@pytest.fixture
def folder(root: Path) -> Path:
    return root / "linalg" / "qr"


def test_every_key_is_read(folder: Path, root: Path) -> None:
    task = load_task(folder, root)
    assert task.files == (
        ProblemFile("submission.py", None),
        ProblemFile("eval.py", "print()\n"),
        ProblemFile("reference.py", "# qr\n"),
    )
    assert task.submission_name == "submission.py"
    assert task.evaluator == PythonEvaluator(main="eval.py")
    assert task.description == "Factorise.\n"
    assert [spec_line(case) for case in task.benchmarks] == [
        "batch: 20; n: 32",
        "batch: 640; n: 512; masked: True; dims: [1, 2]; kind: dense",
    ]
    assert (task.test_timeout, task.benchmark_timeout, task.ranked_timeout) == (60, 90.5, 180)
    assert (task.ranking_by, task.gpus, task.multi_gpu, task.seed) == ("geom", ("B200",), False, 7)
    assert task.templates == {"Python": "def custom_kernel(data): ...\n"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("N: 4", "N-1: 4", "`config.defines`: expected macro names"),
        ("N: 4", "N: [4]", "`config.defines`: expected true or false or a whole"),
        ("[eval.cu, sub", "[other.cu, sub", "`config.sources[0]`: expected a name from `files`"),
        (
            "sources: [eval.cu, submission.cu]",
            "sources: []",
            "`config.sources`: expected a list of",
        ),
    ],
)
def test_a_wrong_cuda_task(folder: Path, root: Path, old: str, new: str, said: str) -> None:
    (folder / "eval.cu").write_text("int main() {}\n")
    (folder / "task.yml").write_text(CUDA)
    change(folder / "task.yml", old, new)
    with pytest.raises(GrammarError) as wrong:
        load_task(folder, root)
    assert said in wrong.value.reason


def test_a_cuda_task(folder: Path, root: Path) -> None:
    (folder / "task.yml").write_text(CUDA)
    (folder / "eval.cu").write_text("int main() {}\n")
    task = load_task(folder, root)
    assert task.evaluator == CudaEvaluator(
        sources=("eval.cu", "submission.cu"), defines={"N": "4", "MODE": "fast"}
    )
    assert (task.benchmarks, task.seed, task.ranking_by) == ((), None, "last")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("lang: py", "lang: rust", "line 5, `lang`: expected one of py, cu, not `rust`"),
        ("lang: py\n", "", "line 1: `lang` is missing"),
        ("lang: py", "langg: py", "`lang` is missing; was `langg` on line 5 meant?"),
        ("seed: 7", "seed: 7\nseed: 8", "line 20: key `seed` stands twice, first on line 19"),
        ("{main: eval.py}", "{main: 3}", "line 6, `config.main`: expected text, got a whole num"),
        ("{main: eval.py}", "{}", "line 6, `config`: `main` is missing"),
        ("{main: eval.py}", "{main: other.py}", "`config.main`: expected a name from `files`"),
        ("test_timeout: 60", "test_timeout: -1", "line 14, `test_timeout`: expected a number > 0"),
        ("test_timeout: 60", "test_timeout: soon", "expected a number, got text"),
        ("test_timeout: 60", "test_timeout: .nan", "`test_timeout`: expected a number > 0"),
        ("n: 8,", "n: 8.5,", "line 10, `tests[0].n`: expected a whole number, text, true or"),
        ("n: 8,", "n: [1, x],", "line 10, `tests[0].n`: expected a whole number, text, true or"),
        ("n: 8,", "n: ,", "line 10, `tests[0].n`: expected a whole number, text, true or"),
        ("{batch: 2, n: 8, seed: 1}", "{}", "line 10, `tests[0]`: expected at least one value"),
        ("kind: dense", 'kind: "a; b: 1"', "line 13, `benchmarks[1].kind`: expected neither a sem"),
        ("kind: dense", 'kind: "a\\nb"', "expected neither a semicolon nor a line break"),
        ("kind: dense", f"kind: {'x' * 1_025}", "line 13, `benchmarks[1]`: expected at least one"),
        ("name: eval.py", "name: ../eval.py", "line 3, `files[1].name`: expected text of letters"),
        ("name: eval.py", "name: reference.py", "`files[2].name`: `reference.py` stands twice"),
        ("source: ../eval.py", "source: ../../../secret", "leads out of the problem repository"),
        ("source: ../eval.py", "source: /etc/passwd", "leads out of the problem repository"),
        (
            "source: ../eval.py",
            "source: missing.py",
            "line 3, `files[1].source`: `missing.py` is no",
        ),
        ("source: ../eval.py", "source: ..", "`..` is no file"),
        ("source: ../eval.py", 'source: "a\\0b"', "null"),
        ("source: ../eval.py", f"source: {'x' * 900}", "cannot be read: file name too long"),
        ("Python: template.py", "Python: ../../../x", "line 17, `templates.Python`: `../../../x`"),
        ("Python: template.py", "Pyton: template.py", "not `Pyton`; did you mean `Python`?"),
        ('"@SUBMISSION@"', "reference.py", "exactly one entry with the source @SUBMISSION@"),
        ("ranking_by: geom", "ranking_by: geo", "not `geo`; did you mean `geom`?"),
        ("gpus: [B200]", "gpus: B200", "line 18, `gpus`: expected a list, got text"),
        ("lang: py", "lang: [py", "line 6"),
        ("seed: 7", "seed: &a 7\nx: *a", "line 20: aliases are not read"),
        ("seed: 7", "seed: 99999999999999999999", "line 19, `seed`: "),
    ],
)
def test_what_is_wrong_is_said_with_the_file(
    folder: Path, root: Path, old: str, new: str, said: str
) -> None:
    change(folder / "task.yml", old, new)
    with pytest.raises(GrammarError) as wrong:
        load_task(folder, root)
    assert wrong.value.file == "linalg/qr/task.yml"
    assert said in wrong.value.reason
    assert sentence(wrong.value).startswith("linalg/qr/task.yml: ")


@pytest.mark.parametrize("text", ["", "[]", "just words", "1"])
def test_a_file_that_is_no_mapping(folder: Path, root: Path, text: str) -> None:
    (folder / "task.yml").write_text(text)
    with pytest.raises(GrammarError, match="line 1: expected a mapping, got"):
        load_task(folder, root)


def test_a_yaml_that_is_too_large(folder: Path, root: Path) -> None:
    (folder / "task.yml").write_text("#" * 1_000_001)
    with pytest.raises(GrammarError, match="larger than 1,000,000 bytes"):
        load_task(folder, root)


def test_what_can_be_used_all_the_same_is_a_warning(folder: Path, root: Path) -> None:
    change(folder / "task.yml", "seed: 7", "sede: 7\nowner: somebody")
    change(folder / "task.yml", "{main: eval.py}", "{main: eval.py, extra: 1}")
    change(folder / "task.yml", "source: reference.py}", "source: reference.py, sorce: x}")
    reading = read_task(folder, ProblemFiles(root))
    assert reading.task.seed is None
    assert reading.warnings == (
        "line 19: unknown key `sede` is ignored; did you mean `seed`?",
        "line 20: unknown key `owner` is ignored",
        "line 6: unknown key `extra` is ignored",
        "line 4: unknown key `sorce` is ignored; did you mean `source`?",
    )


def test_no_file_at_all(root: Path) -> None:
    with pytest.raises(GrammarError, match="no such file"):
        load_task(root / "linalg" / "svd", root)


def test_a_link_out_of_the_repository_is_not_followed(folder: Path, root: Path) -> None:
    secret = root.parent / "secret.py"
    secret.write_text("token\n")
    (folder / "reference.py").unlink()
    (folder / "reference.py").symlink_to(secret)
    with pytest.raises(GrammarError, match=r"`reference\.py` leads out"):
        load_task(folder, root)


def test_a_link_inside_the_repository_is(folder: Path, root: Path) -> None:
    (folder / "reference.py").unlink()
    (folder / "reference.py").symlink_to(root / "linalg" / "eigh" / "reference.py")
    assert load_task(folder, root).files[2].content == "# eigh\n"


def test_gits_own_files_are_no_problem_files(folder: Path, root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("url = https://token@host\n")
    change(folder / "task.yml", "source: ../eval.py", "source: ../../.git/config")
    with pytest.raises(GrammarError, match=r"is git's own"):
        load_task(folder, root)


def test_links_in_a_circle(folder: Path, root: Path) -> None:
    (folder / "reference.py").unlink()
    (folder / "reference.py").symlink_to("reference.py")
    with pytest.raises(GrammarError, match=r"reference\.py"):
        load_task(folder, root)


def test_files_that_are_too_large_or_no_text(folder: Path, root: Path) -> None:
    (folder / "reference.py").write_bytes(b"\xff\xfe")
    with pytest.raises(GrammarError, match="not UTF-8"):
        load_task(folder, root)
    with (folder / "reference.py").open("wb") as file:
        file.truncate(10**9)
    with pytest.raises(GrammarError, match="larger than 4,000,000 bytes"):
        load_task(folder, root)


def test_all_files_together_are_bounded(
    folder: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_module, "MAX_TASK_BYTES", 10)
    with pytest.raises(GrammarError, match="at most 10 characters in all files together"):
        load_task(folder, root)


def test_the_digest_is_that_of_the_eight_entries(folder: Path, root: Path) -> None:
    task = load_task(folder, root)
    entries = {
        "lang": "py",
        "main": "eval.py",
        "sources": {
            "submission.py": "@SUBMISSION@",
            "eval.py": "print()\n",
            "reference.py": "# qr\n",
        },
        "headers": None,
        "arch": None,
        "tests": [{"batch": 2, "n": 8, "seed": 1}],
        "benchmarks": [
            {"batch": 20, "n": 32},
            {"batch": 640, "n": 512, "masked": True, "dims": [1, 2], "kind": "dense"},
        ],
        "profile_options": {"launch_count": 3},
    }
    expected = hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
    assert config_sha256(task, CaptureOptions(launch_count=3)) == expected


def test_the_digest_follows_the_problem_and_not_its_limits(folder: Path, root: Path) -> None:
    task = load_task(folder, root)
    slower = msgspec.structs.replace(task, benchmark_timeout=1.0)
    other = msgspec.structs.replace(task, benchmarks=task.benchmarks[:1])
    assert config_sha256(slower) == config_sha256(task)
    assert config_sha256(other) != config_sha256(task)


def test_headers_of_a_cuda_task_stand_apart(folder: Path, root: Path) -> None:
    (folder / "task.yml").write_text(CUDA)
    (folder / "eval.cu").write_text("x")
    task = load_task(folder, root)
    moved = msgspec.structs.replace(
        task, evaluator=CudaEvaluator(sources=("eval.cu", "submission.cu", "utils.h"))
    )
    assert config_sha256(task) != config_sha256(moved)
