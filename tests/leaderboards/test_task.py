"""task.yml: what is read, and what is refused with which words."""

import hashlib
import json
from pathlib import Path

import msgspec
import pytest

from bot.leaderboards.digest import config_sha256
from bot.leaderboards.errors import GrammarError
from bot.leaderboards.model import ProblemFile, spec_line
from bot.leaderboards.task import load_task
from bot.wording import sentence
from runner_client.wire import CaptureOptions, CudaEvaluator, PythonEvaluator
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
        ("lang: py", "lang: rust", "`$.lang`"),
        ("lang: py\n", "", "required field `lang`"),
        ("seed: 7", "sede: 7", "unknown field `sede`"),
        ("seed: 7", "seed: 7\nseed: 8", "line 20: key `seed` stands twice"),
        ("{main: eval.py}", "{main: eval.py, extra: 1}", "config: Object contains unknown field"),
        ("{main: eval.py}", "{main: other.py}", "`config` names `other.py`"),
        ("test_timeout: 60", "test_timeout: -1", "`$.test_timeout`"),
        ("test_timeout: 60", "test_timeout: soon", "`$.test_timeout`"),
        ("n: 8", "n: 8.5", "`$.tests[0][...]`"),
        ("kind: dense", 'kind: "a; b: 1"', "no semicolon or line break may stand in `kind`"),
        ("kind: dense", 'kind: "a\\nb"', "no semicolon or line break may stand in `kind`"),
        ("name: eval.py", "name: ../eval.py", "`$.files[1].name`"),
        ("name: eval.py", "name: reference.py", "`files` names a file twice"),
        ("source: ../eval.py", "source: ../../../secret", "leads out of the problem repository"),
        ("source: ../eval.py", "source: /etc/passwd", "leads out of the problem repository"),
        ("source: ../eval.py", "source: missing.py", "`missing.py` is no file"),
        ("source: ../eval.py", "source: ..", "`..` is no file"),
        ("Python: template.py", "Python: ../../../x", "leads out of the problem repository"),
        ("Python: template.py", "Perl: template.py", "`key` in `$.templates`"),
        ('"@SUBMISSION@"', "reference.py", "exactly one entry with the source @SUBMISSION@"),
        ("ranking_by: geom", "ranking_by: best", "`$.ranking_by`"),
        ("lang: py", "lang: [py", "line 6"),
        ("seed: 7", "seed: &a 7\nx: *a", "aliases are not read"),
        ("seed: 7", "seed: !!python/object/apply:os.system [ls]", "could not determine"),
        ("seed: 7", "seed: " + "[" * 50, "nested too deeply"),
        ("seed: 7", 'libraries2: "\\uD800"', "not Unicode text"),
        ("seed: 7", "? [a, b]\n: 1", "line 19: expected a text key"),
        ("seed: 7", "seed: 7\x07", "special characters are not allowed"),
        ("seed: 7", "seed: 99999999999999999999", "`$.seed`"),
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
    with pytest.raises(GrammarError, match="Expected `object`"):
        load_task(folder, root)


def test_a_yaml_that_is_too_large(folder: Path, root: Path) -> None:
    (folder / "task.yml").write_text("#" * 1_000_001)
    with pytest.raises(GrammarError, match="larger than 1,000,000 bytes"):
        load_task(folder, root)


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
