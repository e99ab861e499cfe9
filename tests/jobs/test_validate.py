"""What is checked before a job exists."""

from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.jobs import errors
from bot.jobs.directives import Directives, read_directives
from bot.jobs.model import ProfileRequest
from bot.jobs.source import clean_name, decode_source
from bot.jobs.spec import all_benchmarks, build_spec
from bot.jobs.validate import Draft, Rules, check
from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.check.model import CheckResult, Verdict
from bot.leaderboards.gpus import GpuNames
from bot.leaderboards.model import Leaderboard, ProblemFile, Task
from bot.wording import sentence
from runner_client.captures import CaptureOptions
from runner_client.wire import CudaEvaluator, JobSpec, Mode, PythonEvaluator

NOW = datetime(2026, 9, 1, tzinfo=UTC)
TASK = Task(
    files=(ProblemFile("eval.py", "print()"), ProblemFile("submission.py", None)),
    evaluator=PythonEvaluator(main="eval.py"),
    description="",
    tests=({"n": 8},),
    benchmarks=({"n": 32}, {"n": 64}),
)
QR = Leaderboard(
    id=1,
    version_id=1,
    name="qr_v2",
    competition="linalg",
    deadline=NOW,
    closed=False,
    gpus=("H200", "B200"),
    commit=None,
    task=TASK,
)
CUDA = msgspec.structs.replace(
    QR,
    name="saxpy",
    task=msgspec.structs.replace(TASK, evaluator=CudaEvaluator(sources=("eval.cu",))),
)
RULES = Rules(gpus=("h200",), now=NOW, profile_after_deadline=True)
REQUEST = ProfileRequest(
    user_id=1, file_name="kernel.py", source=b"print()", leaderboard="qr_v2", gpu="H200"
)


def passed(
    board: Leaderboard = QR, rules: Rules = RULES, request: ProfileRequest = REQUEST
) -> Draft:
    return check(request, Catalogue((board,)), rules)


def checked(verdict: Verdict, *, overridden: bool = False, name: str = "qr_v2") -> Leaderboard:
    """Return the leaderboard with what the check said of it."""
    found = CheckResult(verdict)
    return msgspec.structs.replace(QR, name=name, check=found, check_overridden=overridden)


CANNOT = [one for one in Verdict if one not in {Verdict.NCU, Verdict.UNKNOWN}]


@pytest.mark.parametrize("verdict", CANNOT)
def test_a_problem_that_cannot_give_counters_is_refused_with_those_that_can(
    verdict: Verdict,
) -> None:
    others = (
        checked(Verdict.NCU, name="eigh"),
        checked(Verdict.UNKNOWN, name="sort"),
        msgspec.structs.replace(checked(Verdict.NCU, name="old"), closed=True),
    )
    with pytest.raises(errors.ProfileUnsupported) as refused:
        check(REQUEST, Catalogue((checked(verdict), *others)), RULES)
    assert refused.value.leaderboard == "qr_v2"
    assert (refused.value.verdict, refused.value.able) == (verdict, ("eigh",))
    assert "qr_v2 cannot give hardware counters, since" in sentence(refused.value)
    assert sentence(refused.value).endswith(": profile one of eigh.")


def test_an_admin_lets_it_run_all_the_same() -> None:
    draft = passed(checked(Verdict.TORCH_PROFILER_ONLY, overridden=True))
    assert [note for note in draft.notes if "an admin lets it run" in note]


def test_what_the_check_cannot_tell_is_a_note() -> None:
    draft = passed(checked(Verdict.UNKNOWN))
    assert [note for note in draft.notes if "could not be told from its source" in note]
    assert passed(checked(Verdict.NCU)).notes == passed(QR).notes == ()


def test_names_become_canonical() -> None:
    draft = passed(request=replace(REQUEST, leaderboard=" QR_V2", gpu=" h200 ", benchmark=1))
    assert (draft.leaderboard.name, draft.gpu, draft.notes) == ("qr_v2", "H200", ())
    assert [(entry.index, entry.spec) for entry in draft.benchmarks] == [(1, "n: 64")]


def test_no_benchmark_typed_means_every_one() -> None:
    assert [entry.index for entry in passed().benchmarks] == [0, 1]


def test_the_nearest_leaderboard_is_guessed() -> None:
    with pytest.raises(errors.LeaderboardUnknown) as unknown:
        passed(request=replace(REQUEST, leaderboard="qr_v3"))
    assert (unknown.value.nearest, unknown.value.known) == ("qr_v2", ("qr_v2",))


def test_a_closed_one() -> None:
    with pytest.raises(errors.LeaderboardClosed):
        passed(msgspec.structs.replace(QR, closed=True))


@pytest.mark.parametrize("allowed", [True, False])
def test_after_the_deadline_it_is_the_operators_choice(allowed: bool) -> None:
    later = replace(RULES, now=datetime(2026, 9, 2, tzinfo=UTC), profile_after_deadline=allowed)
    if allowed:
        assert passed(rules=later).gpu == "H200"
        return
    with pytest.raises(errors.DeadlinePassed):
        passed(rules=later)


def test_several_gpus_at_once() -> None:
    task = msgspec.structs.replace(TASK, multi_gpu=True)
    with pytest.raises(errors.MultiGpu):
        passed(msgspec.structs.replace(QR, task=task))


def test_a_task_without_benchmarks() -> None:
    task = msgspec.structs.replace(TASK, benchmarks=())
    with pytest.raises(errors.NoBenchmarks):
        passed(msgspec.structs.replace(QR, task=task))


@pytest.mark.parametrize("index", [-1, 2, 10**30])
def test_a_benchmark_that_is_not_there(index: int) -> None:
    with pytest.raises(errors.BenchmarkOutOfRange) as wrong:
        passed(request=replace(REQUEST, benchmark=index))
    assert wrong.value.valid == all_benchmarks(TASK)


def test_a_gpu_that_is_not_listed_or_has_no_runner() -> None:
    with pytest.raises(errors.GpuNotListed) as unlisted:
        passed(request=replace(REQUEST, gpu="T4"))
    assert unlisted.value.listed == ("H200", "B200")
    with pytest.raises(errors.GpuWithoutRunner) as without:
        passed(request=replace(REQUEST, gpu="B200"))
    assert without.value.available == ("H200",)


@pytest.mark.parametrize("typed", ["NVIDIA H200", "h200-sxm", "H200 SXM5 141GB"])
def test_a_gpu_in_another_spelling_is_the_listed_one(typed: str) -> None:
    rules = replace(RULES, gpus=("NVIDIA H200",))
    assert passed(rules=rules, request=replace(REQUEST, gpu=typed)).gpu == "H200"
    source = f"#!POPCORN gpu {typed.rsplit(maxsplit=1)[-1]}\n".encode()
    if " " not in typed:
        assert passed(rules=rules, request=replace(REQUEST, gpu=None, source=source)).gpu == "H200"


def test_an_operators_alias_counts() -> None:
    rules = replace(RULES, names=GpuNames({"hopper": "H200"}))
    assert passed(rules=rules, request=replace(REQUEST, gpu="Hopper")).gpu == "H200"


def test_no_gpu_typed() -> None:
    request = replace(REQUEST, gpu=None)
    draft = passed(request=request)
    assert draft.gpu == "H200"
    assert draft.notes == ("No GPU was typed; H200 is the only one with a runner.",)
    with pytest.raises(errors.GpuMissing) as missing:
        passed(rules=replace(RULES, gpus=("H200", "B200")), request=request)
    assert missing.value.listed == ("H200", "B200")
    with pytest.raises(errors.GpuWithoutRunner):
        passed(rules=replace(RULES, gpus=()), request=request)
    only = passed(msgspec.structs.replace(QR, gpus=("H200",)), request=request)
    assert (only.gpu, only.notes) == ("H200", ())


def test_directives_count_where_nothing_was_typed() -> None:
    source = b"#!POPCORN leaderboard qr_v2\n#!POPCORN gpus H200\n"
    draft = passed(request=replace(REQUEST, leaderboard=None, gpu=None, source=source))
    assert (draft.leaderboard.name, draft.gpu, draft.notes) == ("qr_v2", "H200", ())


def test_what_was_typed_wins_and_is_said() -> None:
    source = b"#!POPCORN leaderboard eigh\n#!POPCORN gpu B200\n"
    assert passed(request=replace(REQUEST, source=source)).notes == (
        "The file names leaderboard eigh; qr_v2 was typed and counts.",
        "The file names GPU B200; H200 was typed and counts.",
    )


def test_a_file_that_names_two_gpus_leaves_the_choice_open() -> None:
    rules = replace(RULES, gpus=("H200", "B200"))
    request = replace(REQUEST, gpu=None, source=b"#!POPCORN gpus B200 H200\n")
    with pytest.raises(errors.GpuMissing):
        passed(rules=rules, request=request)


@pytest.mark.parametrize(
    ("board", "name", "fits"),
    [
        (QR, "a.py", True),
        (QR, "A.PY", True),
        (QR, "a.cu", False),
        (QR, "py", False),
        (QR, "a.py.txt", False),
        (CUDA, "a.cu", True),
        (CUDA, "a.cuh", True),
        (CUDA, "a.cpp", True),
        (CUDA, "a.py", False),
    ],
)
def test_file_endings(board: Leaderboard, name: str, fits: bool) -> None:
    request = replace(REQUEST, file_name=name, leaderboard=board.name)
    if fits:
        assert passed(board, request=request).file_name == name
        return
    with pytest.raises(errors.FileTypeWrong):
        passed(board, request=request)


@pytest.mark.parametrize(
    ("text", "python", "expected"),
    [
        ("#!POPCORN leaderboard qr\n#!POPCORN gpu H200\n", True, Directives("qr", ("H200",))),
        ("\n# words\n#!POPCORN  GPUS  A B\n", True, Directives(None, ("A", "B"))),
        ("//!POPCORN leaderboard qr\n", True, Directives("qr")),
        ("// words\n//!POPCORN leaderboard qr\n", False, Directives("qr")),
        ("#!POPCORN leaderboard qr\n", False, Directives("qr")),
        ("#include <x>\n//!POPCORN leaderboard qr\n", False, Directives()),
        ("import x\n#!POPCORN leaderboard qr\n", True, Directives()),
        ("#!POPCORN leaderboard a\n#!POPCORN leaderboard b\n", True, Directives("a")),
        ("#!POPCORN\n#!POPCORN leaderboard\n#!POPCORNS gpu A\n", True, Directives()),
        ("", True, Directives()),
    ],
)
def test_directives(text: str, python: bool, expected: Directives) -> None:
    assert read_directives(text, python=python) == expected


@pytest.mark.parametrize(
    ("capture", "option"),
    [
        (CaptureOptions(launch_count=0), "launch_count"),
        (CaptureOptions(launch_count=1_001), "launch_count"),
        (CaptureOptions(kernel_name=""), "kernel_name"),
        (CaptureOptions(kernel_name="x" * 1_025), "kernel_name"),
        (CaptureOptions(kernel_name="regex:"), "kernel_name"),
        (CaptureOptions(kernel_name="a\nb"), "kernel_name"),
        (CaptureOptions(kernel_name="a\0b"), "kernel_name"),
        (CaptureOptions(kernel_name="--export"), "kernel_name"),
    ],
)
def test_capture_options(capture: CaptureOptions, option: str) -> None:
    with pytest.raises(errors.OptionInvalid) as wrong:
        passed(request=replace(REQUEST, capture=capture))
    assert wrong.value.option == option


@pytest.mark.parametrize(
    ("source", "error"),
    [
        (b"", errors.FileEmpty),
        (b" \r\n\t", errors.FileEmpty),
        (b"\xef\xbb\xbf", errors.FileEmpty),
        ("café".encode("latin-1"), errors.FileNotText),
        ("print()".encode("utf-16"), errors.FileNotText),
        (b"a\0b", errors.FileNotText),
        (b"x" * 1_000_001, errors.FileTooLarge),
    ],
)
def test_bytes_that_are_no_submission(source: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        decode_source("a.py", source)


def test_text_is_made_plain() -> None:
    assert decode_source("a.py", b"\xef\xbb\xbfa\r\nb\rc\n") == "a\nb\nc\n"
    assert len(decode_source("a.py", b"x" * 1_000_000)) == 1_000_000


@given(st.text())
def test_file_names_are_short_and_printable(name: str) -> None:
    cleaned = clean_name(name)
    assert 0 < len(cleaned) <= 100
    assert cleaned.isprintable()
    assert not set("/\\") & set(cleaned)


def test_a_long_name_keeps_its_ending() -> None:
    assert clean_name("../x/" + "k" * 500 + ".cuh").endswith("k.cuh")


@pytest.mark.parametrize("mode", list(Mode))
def test_a_spec_passes_the_wires_own_checks(mode: Mode) -> None:
    spec = build_spec(
        id="0" * 32,
        requester="somebody",
        leaderboard="qr_v2",
        commit="a" * 40,
        gpu="H200",
        task=TASK,
        submission="print()\n",
        benchmarks=all_benchmarks(TASK, mode),
        capture=CaptureOptions(),
        mode=mode,
    )
    assert msgspec.json.decode(msgspec.json.encode(spec), type=JobSpec) == spec
    assert [file.name for file in spec.files] == ["eval.py"]
    assert spec.submission.name == "submission.py"
    assert spec.benchmarks[0].spec == ("n: 8" if mode is Mode.TEST else "n: 32")
