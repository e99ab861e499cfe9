"""Rules of the house that no linter checks."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("bot", "cli", "cogs", "counters", "runner_client", "runner", "migrations", "benchmarks")
LONGEST_FUNCTION = 50
LONGEST_FILE = 400


def sources() -> Iterator[Path]:
    for package in (*PACKAGES, "tests"):
        yield from sorted((ROOT / package).rglob("*.py"))


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


@pytest.mark.parametrize("path", list(sources()), ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_stay_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE
    assert [name for name, lines in functions(path) if lines > LONGEST_FUNCTION] == []


def test_constraints_name_no_index() -> None:
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in pinned if "://" in line or line.startswith("-")] == []
    assert all("==" in line for line in pinned)
