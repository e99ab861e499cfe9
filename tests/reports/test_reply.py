"""What the author of a job reads, for each way that it can end."""

import zipfile
from pathlib import Path

import pytest

from bot.failures import FAILURES
from bot.jobs.model import BenchmarkOutcome
from bot.reports.message import DESCRIPTION_LIMIT, TITLE_LIMIT, ReplyMessage, Tone
from bot.reports.neutral import FENCE
from bot.reports.reply import compose
from counters.parse import read_summary
from runner_client.captures import CaptureMode, CensusReport, Coverage
from runner_client.wire import BenchmarkStatus, Check, Failure, FailureKind
from tests.reports.outcomes import failed, outcome, report, result, succeeded

LIMIT = 10_000
CUT = "capture was cut at 4 launches, later kernels are not in the report"


def only(messages: tuple[ReplyMessage, ...]) -> ReplyMessage:
    assert len(messages) == 1
    return messages[0]


def facts(message: ReplyMessage) -> dict[str, str]:
    return {fact.name: fact.value for fact in message.facts}


def names(message: ReplyMessage) -> list[str]:
    return [file.name for file in message.files]


def test_a_profile_has_facts_table_files_and_the_viewer_to_use(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text("{}")
    message = only(compose(outcome(succeeded(tmp_path), manifest=manifest), LIMIT))
    assert message.title == "qr_v2 · benchmark 0"
    assert message.tone is Tone.GOOD
    assert facts(message) == {
        "GPU": "`NVIDIA H200`",
        "Check": "evaluator said: pass",
        "Shape": "`batch: 20; n: 32`",
        "Captured": "4 launches (cap 10)",
    }
    assert message.table.count(FENCE) == 2
    assert "geqrf_kernel" in message.table
    assert names(message) == [
        "profile.0-batch-20-n-32.ncu-rep",
        "ncu-details.csv",
        "ncu-details.txt",
        "manifest.json",
    ]
    assert message.footer == "Open the .ncu-rep with Nsight Compute 2025.3.1 or newer."


def test_each_benchmark_has_its_message_and_the_first_the_manifest(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text("{}")
    benchmarks = [succeeded(tmp_path, index) for index in range(3)]
    messages = compose(outcome(*benchmarks, manifest=manifest, notes=("gpu H200 won.",)), LIMIT)
    assert [message.title for message in messages] == [
        f"qr_v2 · benchmark {index}" for index in range(3)
    ]
    assert ["manifest.json" in names(message) for message in messages] == [True, False, False]
    assert ["gpu H200 won" in message.description for message in messages] == [True, False, False]


def test_a_replayed_capture_says_so_in_every_message(tmp_path: Path) -> None:
    benchmarks = (succeeded(tmp_path), failed(1, FailureKind.NOT_RECORDED, "only qr_v2 starter"))
    messages = compose(outcome(*benchmarks, recorded_on="NVIDIA H200"), LIMIT)
    assert len(messages) == 2
    assert all("recorded on NVIDIA H200" in message.description for message in messages)
    assert "only qr\\_v2 starter" in messages[1].description


def test_a_full_window_is_said_and_a_roomy_one_is_not(tmp_path: Path) -> None:
    full = only(compose(outcome(succeeded(tmp_path), cap=4), LIMIT))
    roomy = only(compose(outcome(succeeded(tmp_path), cap=5), LIMIT))
    assert CUT in full.description
    assert "was cut" not in roomy.description


def test_one_launch_is_counted_as_one(tmp_path: Path) -> None:
    message = only(compose(outcome(succeeded(tmp_path, kernels=1), cap=1), LIMIT))
    assert facts(message)["Captured"] == "1 launch (cap 1)"
    assert "capture was cut at 1 launch, later" in message.description


def test_a_wrong_answer_is_a_banner_and_the_report_goes_out(tmp_path: Path) -> None:
    wrong = succeeded(
        tmp_path,
        check=Check(passed=False, message="mismatch at **(0, 1)** @everyone"),
        failure=Failure(kind=FailureKind.WRONG_ANSWER, detail="mismatch"),
    )
    message = only(compose(outcome(wrong), LIMIT))
    assert message.tone is Tone.WARNING
    assert "**Wrong answer**, the evaluator said: mismatch at \\*\\*(0, 1)\\*\\*" in (
        message.description
    )
    assert "@everyone" not in message.description
    assert facts(message)["Check"] == "evaluator said: fail"
    assert "profile.0-batch-20-n-32.ncu-rep" in names(message)


def test_no_verdict_is_said_as_such(tmp_path: Path) -> None:
    message = only(compose(outcome(succeeded(tmp_path, check=None)), LIMIT))
    assert facts(message)["Check"] == "evaluator said: nothing"


def test_a_partial_capture_keeps_its_table_and_names_the_cause(tmp_path: Path) -> None:
    partial = succeeded(
        tmp_path,
        status=BenchmarkStatus.PARTIAL,
        failure=Failure(kind=FailureKind.TIME_LIMIT, detail="480 s, last kernel geqrf_*`kernel"),
    )
    message = only(compose(outcome(partial), LIMIT))
    assert message.tone is Tone.WARNING
    assert message.description.startswith(
        "⚠️ **Partial**, only what was captured until then: The time limit of a benchmark was "
        "reached (480 s, last kernel geqrf\\_\\*"
    )
    assert "geqrf_kernel" in message.table
    assert message.files


@pytest.mark.parametrize("kind", list(FailureKind))
def test_every_kind_beside_a_report_keeps_it_and_is_said(tmp_path: Path, kind: FailureKind) -> None:
    failure = Failure(kind=kind, detail="480 s, last kernel " + "k" * 900)
    for status in (BenchmarkStatus.PARTIAL, BenchmarkStatus.FAILED):
        left = succeeded(tmp_path, status=status, failure=failure, degraded=True, missing_share=0.4)
        message = only(compose(outcome(left), LIMIT))
        assert message.tone in {Tone.WARNING, Tone.BAD}
        assert "profile.0-batch-20-n-32.ncu-rep" in names(message)
        assert len(message.description) <= DESCRIPTION_LIMIT
        assert "**Degraded**" in message.description
        if kind is not FailureKind.WRONG_ANSWER:
            assert FAILURES[kind].cause.split("_")[0] in message.description


def test_a_report_without_a_table_is_said_and_sent(tmp_path: Path) -> None:
    kind = FailureKind.EXPORT_FAILED
    captured = succeeded(tmp_path, status=BenchmarkStatus.FAILED, failure=Failure(kind=kind))
    unread = BenchmarkOutcome(result=captured.result, report=None, files=captured.files)
    message = only(compose(outcome(unread), LIMIT))
    assert message.table == ""
    assert "could not be read into a table: open the .ncu-rep file" in message.description
    assert "profile.0-batch-20-n-32.ncu-rep" in names(message)


def test_a_degraded_profile_names_the_versions(tmp_path: Path) -> None:
    degraded = succeeded(tmp_path, degraded=True, missing_share=0.6)
    message = only(compose(outcome(degraded), LIMIT))
    assert message.tone is Tone.WARNING
    assert "60% of the table's counters are missing" in message.description
    assert "driver 580.159" in message.description


def test_a_failure_is_a_sentence_with_the_programs_last_words() -> None:
    tail = "Traceback\n" + "\n".join(f"line {n}" for n in range(30)) + "\nValueError: ```bad"
    broken = failed(0, FailureKind.SUBMISSION_ERROR, "ValueError: bad", tail)
    message = only(compose(outcome(broken), LIMIT))
    assert message.tone is Tone.BAD
    assert message.title == "qr_v2 · benchmark 0: no counters"
    assert message.description.startswith("Your submission failed (ValueError: bad)")
    assert message.description.count(FENCE) == 2
    assert "line 29" in message.description
    assert "line 3\n" not in message.description


def test_an_operators_failure_shows_no_output_of_the_program() -> None:
    message = only(compose(outcome(failed(0, FailureKind.COUNTERS_DENIED, tail="noise")), LIMIT))
    assert "this is not your fault" in message.description
    assert "noise" not in message.description


def test_neighbours_with_one_cause_share_a_message() -> None:
    kind = FailureKind.PROFILE_MODE_MISSING
    message = only(compose(outcome(*(failed(index, kind) for index in range(3))), LIMIT))
    assert message.title == "qr_v2 · benchmarks 0, 1, 2: no counters"
    assert "2 · batch: 640; n: 512" in facts(message)["Shapes"]


@pytest.mark.parametrize(
    ("kind", "title", "tone"),
    [
        (FailureKind.COMPILE_ERROR, "qr_v2 on H200: no counters", Tone.BAD),
        (FailureKind.CANCELLED, "qr_v2 on H200: cancelled", Tone.WARNING),
    ],
)
def test_a_job_that_ended_early_has_one_message(kind: FailureKind, title: str, tone: Tone) -> None:
    message = only(compose(outcome(failure=Failure(kind=kind, detail="x.cu(3)")), LIMIT))
    assert (message.title, message.tone) == (title, tone)
    assert "x.cu(3)" in message.description


def test_cancelled_benchmarks_share_one_message() -> None:
    cut = (failed(0, FailureKind.CANCELLED, "kernel 3"), failed(1, FailureKind.CANCELLED))
    message = only(compose(outcome(*cut), LIMIT))
    assert message.title == "qr_v2 · benchmarks 0, 1: cancelled"
    assert message.tone is Tone.WARNING


def test_what_was_captured_before_a_cancel_is_delivered(tmp_path: Path) -> None:
    cancelled = Failure(kind=FailureKind.CANCELLED)
    benchmarks = (succeeded(tmp_path), failed(1, FailureKind.CANCELLED))
    messages = compose(outcome(*benchmarks, failure=cancelled), LIMIT)
    assert [message.title for message in messages] == [
        "qr_v2 on H200: cancelled",
        "qr_v2 · benchmark 0",
    ]


def test_a_result_without_benchmarks_is_the_runners_fault() -> None:
    message = only(compose(outcome(), LIMIT))
    assert message.description.startswith("The runner failed")


def test_a_report_over_the_limit_goes_zipped(tmp_path: Path) -> None:
    benchmark = succeeded(tmp_path)
    (tmp_path / "profile.0-batch-20-n-32.ncu-rep").write_bytes(b"0" * 50_000)
    message = only(compose(outcome(benchmark), LIMIT))
    assert names(message)[0] == "profile.0-batch-20-n-32.ncu-rep.zip"
    assert message.files[0].size < LIMIT
    with zipfile.ZipFile(message.files[0].path) as archive:
        assert archive.read("profile.0-batch-20-n-32.ncu-rep") == b"0" * 50_000
    assert message.footer


def test_a_report_too_large_even_zipped_is_named_with_its_size(tmp_path: Path) -> None:
    message = only(compose(outcome(succeeded(tmp_path, size=LIMIT * 3)), LIMIT))
    assert names(message) == ["ncu-details.csv", "ncu-details.txt"]
    assert [file.name for file in message.kept] == ["profile.0-batch-20-n-32.ncu-rep"]
    assert "`profile.0-batch-20-n-32.ncu-rep` (30.0 kB). Kept on the bot's disk." in (
        message.description
    )


def test_a_file_that_discord_refused_is_named(tmp_path: Path) -> None:
    message = only(compose(outcome(succeeded(tmp_path)), LIMIT))
    lighter = message.without(message.files[0], "Discord refused it")
    assert names(lighter) == ["ncu-details.csv", "ncu-details.txt"]
    assert lighter.description.startswith(message.description)
    assert "Discord refused it: `profile.0-batch-20-n-32.ncu-rep`" in lighter.description


def test_hostile_names_and_sixty_kernels_stay_within_discords_limits(tmp_path: Path) -> None:
    benchmark = succeeded(tmp_path)
    name = "k```<@1>@everyone" * 30
    loud = BenchmarkOutcome(
        result=result(
            0,
            spec="n: `1`" * 150,
            degraded=True,
            missing_share=0.5,
            check=Check(passed=False, message="*" * 1_000),
            failure=Failure(kind=FailureKind.SUBMISSION_ERROR, detail="_" * 1_000),
            output_tail="`" * 8_000,
        ),
        report=report(60, name),
        files=benchmark.files,
    )
    message = compose(outcome(loud, recorded_on="[x](y)" * 50, notes=("~" * 2_000,) * 5), 10)[0]
    for file in message.files:
        message = message.without(file, "refused")
    assert len(message.title) <= TITLE_LIMIT
    assert len(message.description) <= DESCRIPTION_LIMIT
    assert all(len(fact.value) <= 1_024 for fact in message.facts)
    total = len(message.title) + len(message.description) + len(message.footer)
    assert total + sum(len(fact.name) + len(fact.value) for fact in message.facts) <= 6_000
    assert message.description.count(FENCE) % 2 == 0
    assert len(message.table) <= 2_000
    assert message.table.count(FENCE) == 2
    assert "@everyone" not in message.table
    assert "<@1>" not in message.table


def test_the_table_of_a_real_capture_is_whole(recordings: Path, tmp_path: Path) -> None:
    real = read_summary(recordings / "ok-geqrf-four-kernels" / "ncu-details.csv")
    benchmark = succeeded(tmp_path)
    shown = BenchmarkOutcome(result=benchmark.result, report=real, files=benchmark.files)
    message = only(compose(outcome(shown), LIMIT))
    assert "more lines" not in message.table
    assert "total captured time 288.64 µs" in message.table


def test_timed_launches_are_not_checked(tmp_path: Path) -> None:
    timed = Coverage(mode=CaptureMode.PROFILER_API)
    message = only(compose(outcome(succeeded(tmp_path, check=None, coverage=timed)), LIMIT))
    assert facts(message)["Check"] == "not checked"


def test_a_timeline_is_its_files_and_says_what_to_open(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("profile.0.nsys-rep", "nsys-kernels.0.csv")}
    for path in files.values():
        path.write_text("x")
    told = result(kernels=0, check=None, coverage=Coverage(mode=CaptureMode.TIMELINE))
    message = only(compose(outcome(BenchmarkOutcome(result=told, report=None, files=files)), LIMIT))
    assert names(message) == ["profile.0.nsys-rep", "nsys-kernels.0.csv"]
    assert facts(message)["Captured"] == "a timeline, no counters"
    assert "open the .nsys-rep with Nsight Systems" in message.description
    assert message.table == ""


def test_a_census_that_saw_nothing_has_no_empty_table(tmp_path: Path) -> None:
    empty = CensusReport(launches=0, total_ns=0, range_ns=0, kernels=0, processes=0, complete=False)
    told = result(
        kernels=0,
        status=BenchmarkStatus.FAILED,
        failure=Failure(kind=FailureKind.NOTHING_IN_RANGE),
        coverage=Coverage(mode=CaptureMode.CENSUS, census=empty),
    )
    path = tmp_path / "census.0.json"
    path.write_text("{}")
    census = BenchmarkOutcome(result=told, report=None, files={path.name: path})
    message = only(compose(outcome(census), LIMIT))
    assert message.table == ""
    assert "range" in message.description
