"""Whether the evaluator's own grammar takes what task.yml declares."""

import pytest

from bot.leaderboards.check.model import CheckResult, Verdict
from bot.leaderboards.check.task import check_task
from bot.leaderboards.model import Case
from tests.leaderboards.check.tasks import HEAD, TAIL, python_task, rules

LETTERS = r"\s*([a-zA-Z]+):\s*([a-zA-Z]+|[+-]?[0-9]+)\s*"
LISTS = r"\s*([a-zA-Z_]+)\s*:\s*(\[[^\]]*\]|[a-zA-Z_]+|[+-]?[0-9]+)\s*"
APPLIED = {
    "fullmatch": "match = r'{0}'\nif not re.fullmatch(match, part): sys.exit(113)",
    "compiled": "field = re.compile(r'{0}')\nif field.fullmatch(part) is None: sys.exit(113)",
    "both": "found = re.match(r'{0}', part)\nif not re.fullmatch(r'{0}', part): sys.exit(113)",
}
PROFILE = """\
custom_kernel(0)
with torch.cuda.nvtx.range("custom_kernel"):
    custom_kernel(0)
    torch.cuda.synchronize()
return mode == "profile"
"""


def checked(pattern: str, *cases: Case, how: str = "fullmatch", more: str = "") -> CheckResult:
    parse = f"part = open(sys.argv[2]).read()\n{APPLIED[how].format(pattern)}\n{more}"
    lines = "".join(f"    {line}\n" for line in (parse + "\n" + PROFILE).splitlines())
    source = f"import re\n{HEAD}\ndef main(mode):\n{lines}{TAIL}"
    return check_task(python_task(source, *cases))


@pytest.mark.parametrize("how", APPLIED)
def test_values_that_are_taken(how: str) -> None:
    result = checked(LETTERS, {"n": 32, "kind": "dense", "seed": -4}, how=how)
    assert result == CheckResult(Verdict.NCU)


REJECTED: tuple[tuple[str, Case, str], ...] = (
    (LETTERS, {"n_rows": 3}, "`n_rows: 3`"),
    (LETTERS, {"n": [1, 2]}, "`n: [1, 2]`"),
    (LETTERS, {"kind": ""}, "`kind: `"),
    (LETTERS, {"ratio": "0.5"}, "`ratio: 0.5`"),
    (LISTS, {"x1": 3}, "`x1: 3`"),
)


@pytest.mark.parametrize("how", APPLIED)
@pytest.mark.parametrize(("pattern", "case", "said"), REJECTED)
def test_values_that_are_not_taken(pattern: str, case: Case, said: str, how: str) -> None:
    result = checked(pattern, {"n": 1}, case, how=how)
    assert result.profile is Verdict.UNKNOWN
    assert rules(result) == {"spec-rejected"}
    finding = result.findings[0]
    assert finding.file == "task.yml"
    assert f"benchmarks[1]: {said} is not taken by the evaluator's own grammar at eval.py:" in (
        finding.message
    )


def test_a_list_that_is_taken() -> None:
    assert checked(LISTS, {"m": [1, 2], "k": 3}).profile is Verdict.NCU


def test_a_key_is_told_once() -> None:
    cases: tuple[Case, ...] = tuple({"n_rows": number} for number in range(9))
    assert len(checked(LETTERS, *cases).findings) == 1


def test_booleans_reach_the_evaluator_as_text() -> None:
    result = checked(LETTERS, {"n": 1, "masked": False})
    assert (result.profile, rules(result)) == (Verdict.NCU, {"bool-as-text"})
    assert '`masked` reaches the evaluator as the text "False"' in result.findings[0].message


@pytest.mark.parametrize(
    "more",
    [
        'value = part == "True"',
        'value = {"True": True, "False": False}.get(part, part)',
        'value = part.lower() == "true"',
        "import ast\nvalue = ast.literal_eval(part)",
    ],
)
def test_an_evaluator_that_reads_booleans(more: str) -> None:
    assert checked(LETTERS, {"masked": False}, more=more).findings == ()


def test_lower_case_words_never_match_what_python_writes() -> None:
    result = checked(LETTERS, {"masked": False}, more='value = part == "true"')
    assert rules(result) == {"bool-as-text"}


@pytest.mark.parametrize("pattern", [r"(?<=x)(\w+):(\w+)", r"\w+", r"(\w+) (\w+)"])
def test_what_is_no_grammar_rejects_nothing(pattern: str) -> None:
    assert checked(pattern, {"n": [1]}).findings == ()
