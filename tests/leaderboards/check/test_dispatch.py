"""Whether `profile` reaches the submission: every way of dispatching that evaluators use."""

from textwrap import dedent

import pytest

from bot.leaderboards.check.model import Verdict
from tests.leaderboards.check.tasks import main, rules, whole

PROFILE = """
def profile():
    custom_kernel(0)
    torch.cuda.synchronize()
    with torch.cuda.nvtx.range("custom_kernel"):
        custom_kernel(0)
        torch.cuda.synchronize()
    return 0


def test():
    return custom_kernel(0)


def by_global():
    return {"test": test, "profile": profile}[chosen]()


def call(name, run, *, again=False):
    return run() if name == "profile" else again
"""
REAL = {
    "if": 'if mode == "profile":\n    return profile()\nreturn 2',
    "elif": 'if mode == "test":\n    return test()\nelif mode == "profile":\n    return profile()',
    "else": 'if mode in ("test", "benchmark"):\n    return test()\nreturn profile()',
    "not equal": 'if mode != "profile":\n    return test()\nreturn profile()',
    "dict": 'work = {"test": test, "profile": profile}\nreturn work[mode]()',
    "get": 'return {"test": test, "profile": profile}.get(mode, test)()',
    "match": 'match mode:\n    case "test":\n        return test()\n'
    '    case "profile" | "p":\n        return profile()\n    case _:\n        return 2',
    "globals": "return globals()[mode]()",
    "sys.modules": "return getattr(sys.modules[__name__], mode)()",
    "keywords": "return dict(test=test, profile=profile)[mode]()",
    "partial": "from functools import partial\nwork = {'profile': partial(profile)}\n"
    "return work[mode]()",
    "global": "global chosen\nchosen = mode\nreturn by_global()",
    "assert": 'assert mode in ("test", "profile")\nreturn profile() if mode != "test" else test()',
    "guard": 'match mode:\n    case word if word == "test":\n        return test()\n'
    '    case "profile" as word:\n        return profile()',
    "while": 'while mode == "test":\n    test()\nelse:\n    return profile()',
    "async": "import asyncio\nasync def run():\n    return profile()\nreturn asyncio.run(run())",
    "finally": "try:\n    pass\nfinally:\n    profile()",
    "unpacked": "_, wanted, *rest = sys.argv\nreturn {'profile': profile}[wanted]()",
    "walrus": "if (wanted := sys.argv[1]) == 'profile':\n    return profile()",
    "starred": "work = [('profile', profile)]\nreturn call(*work[0])",
    "comprehension": "return [run() for run in (profile,) if mode == 'profile'][0]",
    "lambda": 'return {"profile": lambda: profile()}[mode]()',
    "lower": 'if mode.lower() == "profile":\n    return profile()',
    "table of pairs": 'for name, run in (("test", test), ("profile", profile)):\n'
    "    if mode == name:\n        return run()\nreturn 2",
    "conditional": 'run = profile if mode == "profile" else test\nreturn run()',
    "added to a dict": 'work = {}\nwork["test"] = test\nwork["profile"] = profile\n'
    "return work[mode]()",
    "loop": 'while True:\n    if mode == "profile":\n        return profile()\n    return 2',
    "try": 'try:\n    return {"profile": profile}[mode]()\nexcept KeyError:\n    return 2',
    "argparse": "import argparse\nparser = argparse.ArgumentParser()\n"
    'args = parser.parse_args()\nif args.command == "test":\n    return test()\n'
    'if args.command == "profile":\n    return profile()',
    "length first": "if len(sys.argv) != 3:\n    return 2\nreturn profile()",
}
NOT_REAL = {
    "unknown mode": 'if mode == "test":\n    return test()\nreturn 2',
    "prints": 'if mode == "profile":\n    print("not yet")\n    return 2\nreturn test()',
    "raises": 'if mode == "profile":\n    raise NotImplementedError\nreturn test()',
    "exits": 'if mode not in ("test", "benchmark"):\n    sys.exit(2)\nreturn test()',
    "own usage": 'def usage():\n    print("usage")\n    sys.exit(2)\n'
    'if mode == "profile":\n    usage()\nreturn test()',
    "not in the dict": 'return {"test": test}.get(mode, lambda: 2)()',
    "accepted, not done": 'if mode not in ("test", "profile"):\n    return 2\n'
    'if mode == "test":\n    return test()\nreturn 0',
    "match": 'match mode:\n    case "test":\n        return test()\n    case _:\n        return 2',
}


@pytest.mark.parametrize("body", REAL.values(), ids=REAL.keys())
def test_a_real_dispatch(body: str) -> None:
    result = main(body, PROFILE)
    assert (result.profile, result.findings) == (Verdict.NCU, ())


@pytest.mark.parametrize("body", NOT_REAL.values(), ids=NOT_REAL.keys())
def test_the_word_alone_is_no_dispatch(body: str) -> None:
    result = main(body, PROFILE)
    assert result.profile is Verdict.NOT_IMPLEMENTED
    assert rules(result) == {"profile-missing"}
    assert result.findings[0].file == "eval.py"
    assert 'torch.cuda.nvtx.range("custom_kernel")' in result.findings[0].message


def test_a_finding_names_the_line_of_the_dispatch() -> None:
    result = whole("""\
        import sys
        from submission import custom_kernel
        if sys.argv[1] == "test":
            custom_kernel(0)
        """)
    assert [(one.file, one.line) for one in result.findings] == [("eval.py", 3)]


@pytest.mark.parametrize(
    "body",
    [
        "import registry\nreturn registry.work[mode](mode)",
        "import harness\nreturn harness.run(mode)",
        "return eval(mode)()",
        'import subprocess\nif mode == "test":\n    return 0\nsubprocess.run(["worker"])',
        'import lib\nif mode == "test":\n    return 0\nlib.run(["worker", mode])',
    ],
)
def test_what_cannot_be_followed_is_unknown(body: str) -> None:
    assert main(body).profile is Verdict.UNKNOWN


def test_an_evaluator_that_never_asks_for_the_mode_is_unknown() -> None:
    result = whole("print()")
    assert (result.profile, rules(result)) == (Verdict.UNKNOWN, {"mode-unused"})


IN_SIBLING = """
    import torch
    import {name} as it

    def run(kernel, data):
        kernel(data)
        with torch.cuda.nvtx.range(it.RANGE):
            kernel(data)
            torch.cuda.synchronize()
"""


def test_siblings_are_followed_and_only_those_of_the_task() -> None:
    body = 'if mode == "profile":\n    import ranges\n    return ranges.run(custom_kernel, 0)'
    names = 'RANGE = "custom_kernel"'
    found = main(body, ranges=IN_SIBLING.format(name="names"), names=names)
    assert found.profile is Verdict.NCU
    missing = main(body, ranges=IN_SIBLING.format(name="elsewhere"), names=names)
    assert (missing.profile, rules(missing)) == (Verdict.UNKNOWN, {"range-name"})
    assert missing.findings[0].file == "ranges.py"


CLASSES = {
    "method": """
        class Evaluator:
            def __init__(self, mode):
                self.chosen = mode

            def run(self):
                return getattr(self, f"run_{self.chosen}")()

            def run_test(self):
                return test()

            def run_profile(self):
                return profile()
        """,
    "call and base": """
        class Base:
            @property
            def work(self):
                return {"test": test, "profile": profile}[self.chosen]

        class Evaluator(Base):
            @classmethod
            def make(cls, mode):
                return cls(chosen=mode)

            def __call__(self):
                return self.work()

            def run(self):
                return self()
        """,
    "dataclass": """
        from dataclasses import dataclass
        from enum import StrEnum

        class Mode(StrEnum):
            TEST = "test"
            PROFILE = "profile"

        @dataclass
        class Evaluator:
            chosen: Mode

            def run(self):
                if self.chosen is Mode.TEST:
                    return test()
                if Mode(self.chosen) is Mode.PROFILE:
                    return profile()
        """,
}


@pytest.mark.parametrize("classes", CLASSES.values(), ids=CLASSES.keys())
def test_through_classes(classes: str) -> None:
    result = main("return Evaluator(mode).run()", PROFILE + dedent(classes))
    assert (result.profile, result.findings) == (Verdict.NCU, ())
