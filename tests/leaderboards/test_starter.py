"""Starter files."""

import pytest
from msgspec import structs

from bot.jobs.directives import read_directives
from bot.jobs.errors import TemplateMissing
from bot.leaderboards.model import Leaderboard
from bot.leaderboards.starter import starter_file
from runner_client.wire import CudaEvaluator
from tests.leaderboards.test_changes import STORED, TASK

BOARD = structs.replace(
    STORED, task=structs.replace(TASK, templates={"Python": "pass\n", "Triton": "import triton\n"})
)


def cuda(name: str) -> Leaderboard:
    evaluator = CudaEvaluator(sources=("eval.cu",))
    task = structs.replace(TASK, evaluator=evaluator, templates={"CUDA": "int x;\n"})
    return structs.replace(BOARD, name=name, task=task)


def test_the_file_names_its_leaderboard_so_that_profile_needs_no_option() -> None:
    starter = starter_file(BOARD, None)
    assert (starter.name, starter.text) == ("qr.py", "#!POPCORN leaderboard qr\npass\n")
    assert read_directives(starter.text, python=True).leaderboard == "qr"
    assert starter.words == (
        "Starter file of qr in Python; attach yours to /profile. There is one in Triton too."
    )
    assert starter_file(BOARD, "Triton").text.endswith("import triton\n")


def test_a_cuda_file_and_a_name_that_no_file_can_have() -> None:
    starter = starter_file(cuda("../a b"), "CUDA")
    assert (starter.name, starter.text) == ("a_b.cu", "int x;\n")
    assert starter_file(cuda("saxpy"), None).text == "//!POPCORN leaderboard saxpy\nint x;\n"
    assert starter_file(cuda("///"), None).name == "submission.cu"


def test_a_template_that_names_it_already_stays_as_it_is() -> None:
    text = "#!POPCORN leaderboard other\n"
    board = structs.replace(BOARD, task=structs.replace(TASK, templates={"Python": text}))
    assert starter_file(board, None).text == text


def test_no_template_and_another_language() -> None:
    with pytest.raises(TemplateMissing) as missing:
        starter_file(BOARD, "HIP")
    assert missing.value.known == ("Python", "Triton")
    with pytest.raises(TemplateMissing):
        starter_file(structs.replace(BOARD, task=structs.replace(TASK, templates={})), None)
