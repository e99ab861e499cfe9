"""Whether a push/pop range named custom_kernel stands around the call, and what else is there."""

import pytest

from bot.leaderboards.check.model import Verdict
from tests.leaderboards.check.tasks import main, rules, whole

CALL = "custom_kernel(0)\ntorch.cuda.synchronize()"


def profiled(body: str, above: str = "") -> tuple[Verdict, set[str]]:
    """Check a `profile` mode of these lines, after a warm-up."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    result = main(f'if mode == "profile":\n    custom_kernel(0)\n{lines}', above)
    return result.profile, rules(result)


def in_with(item: str) -> str:
    return f"with {item}:\n    custom_kernel(0)\n    torch.cuda.synchronize()"


GOOD = {
    "torch": in_with('torch.cuda.nvtx.range("custom_kernel")'),
    "from": "from torch.cuda.nvtx import range as r\n" + in_with('r("custom_kernel")'),
    "module": "import torch.cuda.nvtx as n\n" + in_with('n.range("custom_kernel")'),
    "push and pop": 'torch.cuda.nvtx.range_push("custom_kernel")\n'
    f"{CALL}\ntorch.cuda.nvtx.range_pop()",
    "annotate": "import nvtx\n" + in_with('nvtx.annotate("custom_kernel", color="red")'),
    "annotate by word": "import nvtx\n" + in_with('nvtx.annotate(message="custom_kernel")'),
    "nvtx push": f'import nvtx\nnvtx.push_range("custom_kernel")\n{CALL}\nnvtx.pop_range()',
    "ctypes": "import ctypes\nlib = ctypes.CDLL('libnvToolsExt.so')\n"
    f'lib.nvtxRangePushA(b"custom_kernel")\n{CALL}\nlib.nvtxRangePop()',
    "nested": in_with('torch.cuda.nvtx.range("all"), torch.cuda.nvtx.range("custom_kernel")'),
    "constant": 'NAME = "custom" + "_kernel"\n' + in_with("torch.cuda.nvtx.range(NAME)"),
    "stack": "import contextlib\nwith contextlib.ExitStack() as stack:\n"
    '    stack.enter_context(torch.cuda.nvtx.range("custom_kernel"))\n'
    "    custom_kernel(0)\n    torch.cuda.synchronize()",
    "decorator": '@torch.cuda.nvtx.range("custom_kernel")\ndef run():\n'
    "    custom_kernel(0)\n    torch.cuda.synchronize()\nrun()",
    "by truth": 'if os.environ.get("POPCORN_NCU") == "1":\n    '
    + in_with('torch.cuda.nvtx.range("custom_kernel")').replace("\n", "\n    "),
    "compiled": "fast = torch.compile(custom_kernel)\n"
    'with torch.cuda.nvtx.range("custom_kernel"):\n    fast(0)\n    torch.cuda.synchronize()',
    "module of the submission": "import importlib\n"
    'kernel = getattr(importlib.import_module("submission"), "custom_kernel")\n'
    'with torch.cuda.nvtx.range("custom_kernel"):\n    kernel(0)\n    torch.cuda.synchronize()',
}
BAD = {
    "other name": (in_with('torch.cuda.nvtx.range("kernel")'), "range-name"),
    "name in other case": (in_with('torch.cuda.nvtx.range("Custom_Kernel")'), "range-name"),
    "none": (CALL, "range-missing"),
    "around something else": (
        in_with('torch.cuda.nvtx.range("custom_kernel")').replace("custom_kernel(0)", "pass")
        + f"\n{CALL}",
        "range-missing",
    ),
    "popped before": (
        'torch.cuda.nvtx.range_push("custom_kernel")\ntorch.cuda.nvtx.range_pop()\n' + CALL,
        "range-missing",
    ),
    "start and end": (
        f'n = torch.cuda.nvtx.range_start("custom_kernel")\n{CALL}\ntorch.cuda.nvtx.range_end(n)',
        "range-kind",
    ),
    "domain": (
        "import nvtx\n" + in_with('nvtx.annotate("custom_kernel", domain="mine")'),
        "range-domain",
    ),
}


@pytest.mark.parametrize("body", GOOD.values(), ids=GOOD.keys())
def test_a_range_that_ncu_selects(body: str) -> None:
    assert profiled(body) == (Verdict.NCU, set())


@pytest.mark.parametrize(("body", "rule"), BAD.values(), ids=BAD.keys())
def test_a_range_that_ncu_does_not_select(body: str, rule: str) -> None:
    verdict, found = profiled(body)
    assert verdict is Verdict.NOT_IMPLEMENTED
    assert rule in found


def test_another_name_is_told() -> None:
    result = main(in_with('torch.cuda.nvtx.range("benchmark loop")'))
    assert 'the range is named "benchmark loop"' in result.findings[0].message


OWN_CONTEXTS = {
    "generator": """
        import contextlib

        @contextlib.contextmanager
        def kernel_range():
            torch.cuda.nvtx.range_push("custom_kernel")
            try:
                yield
            finally:
                torch.cuda.nvtx.range_pop()
        """,
    "generator around": """
        from contextlib import contextmanager

        @contextmanager
        def kernel_range():
            with torch.cuda.nvtx.range("custom_kernel"):
                yield
        """,
    "class": """
        class kernel_range:
            def __enter__(self):
                torch.cuda.nvtx.range_push("custom_kernel")

            def __exit__(self, *args):
                torch.cuda.nvtx.range_pop()
        """,
    "function": """
        def kernel_range():
            return torch.cuda.nvtx.range("custom_kernel")
        """,
}


@pytest.mark.parametrize("above", OWN_CONTEXTS.values(), ids=OWN_CONTEXTS.keys())
def test_context_managers_of_the_evaluator(above: str) -> None:
    assert profiled(in_with("kernel_range()"), above) == (Verdict.NCU, set())
    # It is closed again behind the block.
    verdict, _ = profiled(f"with kernel_range():\n    pass\n{CALL}", above)
    assert verdict is Verdict.NOT_IMPLEMENTED


TORCH = "with torch.profiler.profile() as profiler:\n    custom_kernel(0)"
IN_TORCH = (
    "with torch.profiler.profile() as profiler:\n"
    '    with torch.cuda.nvtx.range("custom_kernel"):\n        custom_kernel(0)'
)
RECORD = (
    'with torch.profiler.record_function("custom_kernel"):\n'
    "    custom_kernel(0)\n    torch.cuda.synchronize()"
)
STARTED = f"profiler = torch.profiler.profile()\nprofiler.start()\n{GOOD['torch']}"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (TORCH, {"torch-profiler", "range-missing"}),
        (IN_TORCH, {"torch-profiler", "range-profiled"}),
        (RECORD, {"record-function", "range-missing"}),
        (STARTED, {"torch-profiler"}),
    ],
)
def test_torch_profiler_only(body: str, found: set[str]) -> None:
    verdict, rule = profiled(body)
    assert verdict is Verdict.TORCH_PROFILER_ONLY
    assert rule >= found


def either(condition: str) -> str:
    lines = [f"if {condition}:", *GOOD["torch"].splitlines(), "else:", *TORCH.splitlines()]
    return "\n".join(line if line.startswith(("if", "else")) else f"    {line}" for line in lines)


@pytest.mark.parametrize(
    "condition",
    [
        'os.environ.get("POPCORN_NCU") == "1"',
        'os.environ["POPCORN_NCU"] != "0"',
        'int(os.getenv("POPCORN_NCU", "0"))',
        'os.getenv("POPCORN_NCU", "0") in ("1", "true")',
        '(os.environ.get("POPCORN_NCU") or "0") == "1"',
        'os.environ.pop("POPCORN_NCU", None) == "1" and mode == "profile"',
    ],
)
def test_popcorn_ncu_by_its_value(condition: str) -> None:
    assert profiled(either(condition)) == (Verdict.NCU, set())


@pytest.mark.parametrize(
    "condition",
    [
        'os.environ.get("POPCORN_NCU")',
        'bool(os.getenv("POPCORN_NCU", "0"))',
        '"POPCORN_NCU" in os.environ',
        'os.getenv("POPCORN_NCU") is not None',
        'not not os.getenv("POPCORN_NCU")',
        'os.getenv("POPCORN_NCU") and True',
    ],
)
def test_popcorn_ncu_by_truth_is_told(condition: str) -> None:
    assert profiled(either(condition)) == (Verdict.NCU, {"ncu-truth"})


def test_a_condition_that_cannot_be_told_leaves_it_open() -> None:
    verdict, found = profiled(either("torch.cuda.is_available()"))
    assert (verdict, found) == (Verdict.UNKNOWN, {"torch-profiler"})


WORKER = """
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
    import multiprocessing

    def work(data):
        custom_kernel(data)
        with torch.cuda.nvtx.range("custom_kernel"):
            custom_kernel(data)
            torch.cuda.synchronize()

    def bare(data):
        custom_kernel(data)
    """
IN_WORKER = {
    "submit": "with ProcessPoolExecutor(1) as pool:\n    return pool.submit(work, 0).result()",
    "apply": "with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
    "    return pool.apply(work, (0,))",
    "process": "process = multiprocessing.Process(target=work, args=(0,))\nprocess.start()",
    "torch": "torch.multiprocessing.spawn(work, (0,))",
    "map": "with ProcessPoolExecutor(1) as pool:\n    list(pool.map(work, [0]))",
}


@pytest.mark.parametrize("body", IN_WORKER.values(), ids=IN_WORKER.keys())
def test_work_in_another_process(body: str) -> None:
    assert profiled(body, WORKER) == (Verdict.NCU, set())


def test_a_range_around_the_pool_is_not_open_in_the_worker() -> None:
    body = (
        "with ThreadPoolExecutor(1) as pool:\n"
        '    with torch.cuda.nvtx.range("custom_kernel"):\n        pool.submit(bare, 0)'
    )
    verdict, found = profiled(body, WORKER)
    assert (verdict, found) == (Verdict.NOT_IMPLEMENTED, {"range-thread", "range-missing"})


def test_a_worker_that_no_process_can_import() -> None:
    body = "with ProcessPoolExecutor(1) as pool:\n    pool.submit(lambda: work(0))"
    assert profiled(body, WORKER) == (Verdict.NCU, {"worker-scope"})
    threads = body.replace("ProcessPool", "ThreadPool")
    assert profiled(threads, WORKER) == (Verdict.NCU, set())


INSIDE = {
    "clone": ("custom_kernel(data.clone())", "set-up-in-range"),
    "generate": ("custom_kernel(generate_input())", "set-up-in-range"),
    "check": ("check_implementation(custom_kernel(0))", "check-in-range"),
    "twice": ("custom_kernel(0)\n    custom_kernel(0)", "calls-in-range"),
    "loop": ("for _ in data:\n        custom_kernel(0)", "calls-in-range"),
}


@pytest.mark.parametrize(("lines", "rule"), INSIDE.values(), ids=INSIDE.keys())
def test_more_than_one_call_inside(lines: str, rule: str) -> None:
    above = "def generate_input(): ...\n\ndef check_implementation(output): ...\n"
    body = (
        "data = torch.ones(1)\n"
        f'with torch.cuda.nvtx.range("custom_kernel"):\n    {lines}\n    torch.cuda.synchronize()'
    )
    assert profiled(body, above) == (Verdict.NCU, {rule})


def test_no_synchronize_and_no_warm_up() -> None:
    result = whole("""
        import torch
        from submission import *
        with torch.cuda.nvtx.range("custom_kernel"):
            custom_kernel(0)
        """)
    assert (result.profile, rules(result)) == (Verdict.NCU, {"no-sync", "no-warm-up"})
    assert {finding.line for finding in result.findings} == {5}
