"""No file of a problem, however it is made, breaks the check or keeps it busy."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.leaderboards.check.model import CheckResult, Verdict
from bot.leaderboards.check.task import check_task
from tests.leaderboards.check.tasks import cuda_task, python_task, rules

BRANCHES = "\n".join(
    f"def f{n}(x):\n    if x: f{n + 1}(x)\n    else: f{n + 1}([x, custom_kernel])"
    for n in range(60)
)
SOURCES = {
    "syntax": "def main(:\n",
    "NUL": "print(1)\0",
    "deep brackets": "(" * 5_000 + ")" * 5_000,
    "deep sum": "x = " + "1+" * 20_000 + "1",
    "deep attributes": "x = a" + ".b" * 20_000,
    "deep calls": "x = a" + "()" * 20_000,
    "deep blocks": "".join(" " * n + "if x:\n" for n in range(99)) + " " * 99 + "pass",
    "many branches": f"from submission import custom_kernel\n{BRANCHES}\nf0(open)",
    "large": "x = 1\n" * 200_000,
    "long number": "x = " + "9" * 10_000,
    "many names": "x = [" + "a, " * 100_000 + "]",
    "endless growth": "x = 'a'\n" + "x = x + x\n" * 200,
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_python_that_cannot_be_followed_is_unknown(source: str) -> None:
    result = check_task(python_task(source))
    assert result.profile is Verdict.UNKNOWN
    assert rules(result) <= {"unreadable", "mode-unused", "not-followed"}
    assert len(result.findings) == 1


def test_the_finding_names_file_line_and_reason() -> None:
    found = check_task(python_task("import os\ndef main(:\n")).findings
    assert [(one.file, one.line) for one in found] == [("eval.py", 2)]
    assert "it is no Python" in found[0].message


def test_nothing_is_executed() -> None:
    source = "open('/tmp/ncubot-was-here', 'w').close()\nraise SystemExit(7)"
    assert check_task(python_task(source)).profile is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "source",
    [
        "def f(): f()\nf()",
        "def f(g): return g(g)\nf(f)",
        "class A:\n    def __call__(self): return self()\nA()()",
        "f = lambda: f()\nf()",
        "import eval\n",
        "from eval import *\n",
        "global x\nx = 1",
        "class A(A): pass",
        "def f():\n    yield f\nwith f(): pass",
        "for x.y in (1, 2): x[0] = 1",
        "del x\nx: int\nx += 1\n(y := 1)\n*a, b = 1, 2",
        "print(f'{x!r:>{y}}')\nlambda *a, k=1, **b: a",
        "async def f():\n    async with g() as h:\n        async for i in h: await i\nf()",
        "match x:\n    case [1, *y] | {'a': z} if z: pass\n    case A(b=1) as c: pass",
        "try:\n    pass\nexcept* ValueError as e:\n    pass\nfinally:\n    pass",
    ],
)
def test_odd_python(source: str) -> None:
    assert check_task(python_task(source)).profile is Verdict.UNKNOWN


WORDS = [
    "if ",
    "mode",
    " == ",
    '"profile"',
    ":",
    "\n",
    "    ",
    "custom_kernel(0)",
    "with ",
    "(",
    "torch.cuda.nvtx.range(",
    ")",
    "return ",
    "[",
    "]",
    "{",
    "}",
    "\nlambda",
    '"custom_kernel"',
    "def f(x):",
    "f(f)",
    "x = ",
    "yield",
    "class A:",
    "from submission import custom_kernel",
]
TEXT = st.lists(st.sampled_from(WORDS), max_size=30).map("".join)


@settings(max_examples=150, deadline=None)
@given(TEXT)
def test_any_python(source: str) -> None:
    assert isinstance(check_task(python_task(source)), CheckResult)


TOKENS = [
    "int main(",
    ") {",
    "}",
    "{",
    "(",
    ")",
    "if (",
    "else ",
    'mode == "profile"',
    "!",
    "&&",
    "custom_kernel(x)",
    "nvtxRangePop()",
    "for (",
    '\nnvtxRangePushA("custom_kernel")',
    "switch (x)",
    "case 1:",
    "||",
    '"',
    "'",
    "/*",
    "*/",
    "return",
    "\n#if 0\n",
    "\n#endif\n",
]
PIECES = st.lists(st.sampled_from([*TOKENS, ";"]), max_size=40).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(PIECES)
def test_any_cuda(source: str) -> None:
    assert isinstance(check_task(cuda_task(source)), CheckResult)


CUDA = {
    "deep blocks": "int main() " + "{" * 3_000 + "}" * 3_000,
    "open blocks": "int main() " + "{" * 3_000,
    "deep ifs": "int main() { " + "if (x) " * 3_000 + "; }",
    "deep brackets": "int main() { x = " + "(" * 20_000 + ")" * 20_000 + "; }",
    "large": "int x;\n" * 200_000,
    "recursion": "void f() { f(); } int main() { f(); }",
    "branches": "".join(f"void f{n}() {{ f{n + 1}(); f{n + 1}(); }}\n" for n in range(80))
    + "void f80() { cudaDeviceSynchronize(); }\nint main() { f0(); }",
    "many functions": "".join(f"void f{n}() {{}}\n" for n in range(5_000)) + "int main() {}",
    "many names": "int main() { " + "f(" * 5_000 + " }",
}


@pytest.mark.parametrize("source", CUDA.values(), ids=CUDA.keys())
def test_cuda_that_cannot_be_followed_is_unknown(source: str) -> None:
    assert check_task(cuda_task(source)).profile is Verdict.UNKNOWN


DOUBLING = {
    "tuples": "x = (1, 2)\ny = (1, 2)\n" + "x = (x, x)\ny = (y, y)\n" * 200,
    "dicts": "x = {1: 2}\ny = {1: 2}\n" + "x = {1: x, 2: x}\ny = {1: y, 2: y}\n" * 200,
    "partials": "from functools import partial\nx = partial(print)\ny = partial(print)\n"
    + "x = partial(x, x, x)\ny = partial(y, y, y)\n" * 200,
    "choices": "x = 1\ny = 2\n" + "x = (x, y) if a else (y, x)\ny = (y, x) if a else x\n" * 99,
    "methods": "x = y = a\n" + "x = x.b\ny = y.b\n" * 500,
}


@pytest.mark.parametrize("source", DOUBLING.values(), ids=DOUBLING.keys())
def test_values_that_double(source: str) -> None:
    compared = "z = x if a else y\nx == y\nprint(x, y)\nx in y\n{x: y}.get(x)\nx()"
    assert check_task(python_task(source + compared)).profile is Verdict.UNKNOWN
