"""CUDA evaluators, read by their tokens."""

import pytest

from bot.leaderboards.check.model import Verdict
from bot.leaderboards.check.task import check_task
from tests.leaderboards.check.tasks import cuda, cuda_task, rules

SOURCE = """
#include <nvtx3/nvToolsExt.h>
#include <string>
#include "task.h"

{above}

void test_case(const float* x) {{
    custom_kernel(x);
}}

int profile_case(const float* x) {{
    custom_kernel(x);  // warm up
    {body}
    return 0;
}}

int main(int argc, char** argv) {{
    const std::string mode = argv[1];
    {dispatch}
    return 2;
}}
"""
RANGE = """
    nvtxRangePushA("custom_kernel");
    custom_kernel(x);
    cudaDeviceSynchronize();
    nvtxRangePop();
"""
IF = 'if (mode == "profile") return profile_case(nullptr);'


def checked(
    body: str = RANGE, dispatch: str = IF, above: str = "", **headers: str
) -> tuple[Verdict, set[str]]:
    result = cuda(SOURCE.format(body=body, dispatch=dispatch, above=above), **headers)
    return result.profile, rules(result)


DISPATCHES = {
    "if": IF,
    "strcmp": 'if (std::strcmp(argv[1], "profile") == 0) { profile_case(nullptr); }',
    "not strcmp": 'if (!strcmp(argv[1], "profile")) profile_case(nullptr);',
    "not equal": 'if (mode != "profile") { test_case(nullptr); return 0; }\n'
    "return profile_case(nullptr);",
    "strcmp for others": 'if (strcmp(argv[1], "profile")) return 2;\nreturn profile_case(nullptr);',
    "else if": 'if (mode == "test") test_case(nullptr); else if (mode == "benchmark") '
    '{ test_case(nullptr); } else if (mode == "profile") profile_case(nullptr); else return 2;',
    "and": 'if (argc == 3 && mode == "profile") return profile_case(nullptr);',
    "enumeration": "if (kind == Mode::kProfile) return profile_case(nullptr);",
    "switch": "switch (kind) { case Mode::kTest: test_case(nullptr); break; "
    "case Mode::kProfile: return profile_case(nullptr); }",
    "loop": "for (int i = 0; i < count; ++i) { " + IF + " }",
    "try": "try { " + IF + " } catch (const std::exception& e) { return 1; }",
    "no braces": 'while (true) if (mode == "profile") return profile_case(nullptr);',
}


@pytest.mark.parametrize("dispatch", DISPATCHES.values(), ids=DISPATCHES.keys())
def test_a_real_dispatch(dispatch: str) -> None:
    assert checked(dispatch=dispatch) == (Verdict.NCU, set())


NOTHING = {
    "other modes": 'if (mode == "test") test_case(nullptr);',
    "refused": 'if (mode == "profile") { puts("not yet"); return 2; } test_case(nullptr);',
    "thrown": 'if (mode == "profile") throw std::runtime_error("no"); test_case(nullptr);',
    "exits": 'if (mode == "profile") exit(2); test_case(nullptr);',
    "listed": 'if (mode != "test" && mode != "profile") return 2; '
    'if (mode == "test") test_case(nullptr);',
}


@pytest.mark.parametrize("dispatch", NOTHING.values(), ids=NOTHING.keys())
def test_the_word_alone_is_no_dispatch(dispatch: str) -> None:
    assert checked(dispatch=dispatch) == (Verdict.NOT_IMPLEMENTED, {"profile-missing"})


def test_a_table_of_functions() -> None:
    table = 'const Handler kHandlers[] = {{"test", test_case}, {"profile", profile_case}};'
    found = checked(dispatch="return find(mode)(nullptr);", above=table)
    assert found == (Verdict.NCU, set())
    other = 'const Handler kHandlers[] = {{"test", test_case}, {"benchmark", profile_case}};'
    assert checked(dispatch="return find(mode)(nullptr);", above=other)[0] is Verdict.UNKNOWN


SYNCED = "custom_kernel(x); cudaDeviceSynchronize();"
OPENED = {
    "push": RANGE,
    "push without A": f'nvtxRangePush("custom_kernel"); {SYNCED} nvtxRangePop();',
    "attributes": 'attributes.message.ascii = "custom_kernel"; nvtxRangePushEx(&attributes); '
    f"{SYNCED} nvtxRangePop();",
    "scoped": f'{{ nvtx3::scoped_range range{{"custom_kernel"}}; {SYNCED} }}',
    "constant": f"nvtxRangePushA(kName); {SYNCED} nvtxRangePop();",
    "defined": f"nvtxRangePushA(RANGE_NAME); {SYNCED} nvtxRangePop();",
    "own class": f'{{ Range range("custom_kernel"); {SYNCED} }}',
    "macros": f'PUSH("custom_kernel"); {SYNCED} POP();',
    "scoping macro": f'{{ SCOPE("custom_kernel"); {SYNCED} }}',
    "launch": 'nvtxRangePushA("custom_kernel"); custom_kernel<<<1, 2>>>(x); '
    "cudaDeviceSynchronize(); nvtxRangePop();",
    "through a function": 'nvtxRangePushA("custom_kernel"); launch(x); '
    "cudaDeviceSynchronize(); nvtxRangePop();",
    "through a header": 'nvtxRangePushA("custom_kernel"); launch_there(x); '
    "cudaDeviceSynchronize(); nvtxRangePop();",
}
ABOVE = """
#ifdef WITHOUT
#define PUSH(name)
#else
#define PUSH(name) \\
    nvtxRangePushA(name)
#endif
#define POP() nvtxRangePop()
#define SCOPE(name) nvtx3::scoped_range scoped { name }
#define RANGE_NAME "custom_kernel"
constexpr const char* kName = "custom_kernel";
struct Range {
    explicit Range(const char* name) { nvtxRangePushA(name); }
    ~Range() { nvtxRangePop(); }
};
template <typename T>
void launch(const T* x) noexcept { custom_kernel(x); }
"""
HEADER = "inline void launch_there(const float* x) { custom_kernel(x); }"


@pytest.mark.parametrize("body", OPENED.values(), ids=OPENED.keys())
def test_a_range_that_ncu_selects(body: str) -> None:
    assert checked(body, above=ABOVE, task=HEADER) == (Verdict.NCU, set())


CLOSED = {
    "other name": (RANGE.replace('"custom_kernel"', '"kernel"'), "range-name"),
    "none": (SYNCED, "range-missing"),
    "closed before": (
        f'nvtxRangePushA("custom_kernel"); nvtxRangePop(); {SYNCED}',
        "range-missing",
    ),
    "scope ends": (
        f'{{ nvtx3::scoped_range range{{"custom_kernel"}}; }} {SYNCED}',
        "range-missing",
    ),
    "start and end": (
        f'auto id = nvtxRangeStartA("custom_kernel"); {SYNCED} nvtxRangeEnd(id);',
        "range-kind",
    ),
    "in a comment": (f'// nvtxRangePushA("custom_kernel");\n{SYNCED}', "range-missing"),
    "switched off": (
        f'\n#if 0\nnvtxRangePushA("custom_kernel");\n#endif\n{SYNCED}',
        "range-missing",
    ),
}


@pytest.mark.parametrize(("body", "rule"), CLOSED.values(), ids=CLOSED.keys())
def test_a_range_that_ncu_does_not_select(body: str, rule: str) -> None:
    verdict, found = checked(body)
    assert verdict is Verdict.NOT_IMPLEMENTED
    assert rule in found


DECLARED = 'const char* ncu = std::getenv("POPCORN_NCU");\n'


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ('ncu == nullptr || std::string(ncu) != "1"', set()),
        ('!ncu || strcmp(ncu, "1") != 0', set()),
        ("ncu == nullptr || *ncu != '1'", set()),
        ("!ncu || !atoi(ncu)", set()),
        ("ncu == nullptr", {"ncu-truth"}),
        ("!ncu", {"ncu-truth"}),
        ('!getenv("POPCORN_NCU")', {"ncu-truth"}),
    ],
)
def test_popcorn_ncu(condition: str, found: set[str]) -> None:
    dispatch = f'{DECLARED}if (mode == "profile" && ({condition})) return 2;\n{IF}'
    assert checked(dispatch=dispatch) == (Verdict.NCU, found)
    kept = f"{DECLARED}const bool without = {condition};\nif (without) return 2;\n{IF}"
    assert checked(dispatch=kept) == (Verdict.NCU, found)


def test_what_the_range_holds() -> None:
    for lines, rule in (
        ("custom_kernel(x); custom_kernel(x);", "calls-in-range"),
        ("for (int i = 0; i < 9; ++i) custom_kernel(x);", "calls-in-range"),
        ("generate_input(x); custom_kernel(x);", "set-up-in-range"),
        ("custom_kernel(x); check_implementation(x);", "check-in-range"),
    ):
        body = f'nvtxRangePushA("custom_kernel"); {lines} cudaDeviceSynchronize(); nvtxRangePop();'
        assert checked(body) == (Verdict.NCU, {rule})
    body = 'nvtxRangePushA("custom_kernel"); custom_kernel(x); nvtxRangePop();'
    assert checked(body) == (Verdict.NCU, {"no-sync"})


def test_hip_is_not_nvidia() -> None:
    verdict, found = checked(above="#include <hip/hip_runtime.h>")
    assert (verdict, found) == (Verdict.NOT_NVIDIA, {"hip"})


def test_lines_are_those_of_the_file() -> None:
    text = SOURCE.format(above="/* two\nlines */", body=SYNCED, dispatch=IF)
    line = text.splitlines().index("    " + SYNCED) + 1
    found = [one for one in cuda(text).findings if one.rule == "range-missing"]
    assert [(one.file, one.line) for one in found][-1] == ("eval.cu", line)


def test_the_grammar_of_a_cuda_evaluator() -> None:
    above = r'static const std::regex field(R"(\s*([a-z]+)\s*:\s*(\d+)\s*)");'
    parse = f"void parse() {{ {above} }}"
    source = SOURCE.format(above=parse, body=RANGE, dispatch=f"parse();\n{IF}")
    fine = check_task(cuda_task(source, {"size": 3}))
    assert (fine.profile, fine.findings) == (Verdict.NCU, ())
    bad = check_task(cuda_task(source, {"size": -3}))
    assert (bad.profile, rules(bad)) == (Verdict.UNKNOWN, {"spec-rejected"})


@pytest.mark.parametrize(
    "source",
    ['const char* x = R"(no end', "/* no end", '"no end\n', "'"],
)
def test_no_cuda_is_unknown(source: str) -> None:
    result = cuda(source)
    assert result.profile is Verdict.UNKNOWN
