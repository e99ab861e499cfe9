"""Files, pictures and parts of a reply: nothing too large, nothing lost, nothing unnamed."""

from pathlib import Path

from bot.jobs.model import BenchmarkOutcome
from bot.reports.illustrate import NOT_DRAWN, illustrated, illustrations, picture_request
from bot.reports.message import SMALLER, ReplyMessage, Tone
from bot.reports.parts import MOST_FILES, in_parts
from bot.reports.pictures.values import Kind, Picture, PictureRequest, Pictures, Skipped
from bot.reports.pictures.worker import CannotDrawError, PictureWorker
from bot.reports.reply import compose
from bot.reports.uploads import Upload
from runner_client.wire import FailureKind
from tests.reports.outcomes import failed, outcome, result, succeeded

LIMIT = 10_000


def drawn(folder: Path, index: int = 0, size: int = 100) -> Pictures:
    """Return two pictures on the disk, and one that was skipped."""
    made = []
    for kind in (Kind.TIME, Kind.STALLS):
        path = folder / f"{kind}.{index}.png"
        path.write_bytes(b"p" * size)
        made.append(Picture(kind=kind, path=str(path), alt=f"the {kind}"))
    skipped = (Skipped(kind=Kind.ROOFLINE, why="no *work*"),)
    return Pictures(drawn=tuple(made), skipped=skipped)


def test_pictures_are_shown_by_benchmark_and_missing_ones_are_said(tmp_path: Path) -> None:
    shown = illustrations(outcome(succeeded(tmp_path)), {0: drawn(tmp_path)}, LIMIT)
    (one,) = shown
    assert one.title == "qr_v2 · benchmark 0"
    assert one.missing == "No picture of roofline (no \\*work\\*)."
    assert [(file.name, file.alt) for file in one.files] == [
        ("time.0.png", "the time"),
        ("stalls.0.png", "the stalls"),
    ]


def test_a_picture_over_the_limit_is_said_too(tmp_path: Path) -> None:
    large = drawn(tmp_path, size=LIMIT + 1)
    (one,) = illustrations(outcome(succeeded(tmp_path)), {0: large}, LIMIT)
    assert one.files == ()
    assert "time by kernel, warp stalls (over Discord's limit)" in one.missing


def test_files_of_several_benchmarks_have_names_that_differ(tmp_path: Path) -> None:
    benchmarks = [succeeded(tmp_path, index) for index in range(3)]
    messages = compose(outcome(*benchmarks), LIMIT)
    names = [file.name for message in messages for file in message.files]
    assert len(set(names)) == len(names)
    assert "ncu-details.2.csv" in names
    assert [message.footer.split(" · ")[0] for message in messages] == [
        "part 1 of 3",
        "part 2 of 3",
        "part 3 of 3",
    ]


def test_more_than_ten_files_become_parts_with_the_table_first() -> None:
    files = tuple(Upload(f"{number}.txt", Path("x"), 1) for number in range(23))
    whole = ReplyMessage(
        title="t", tone=Tone.GOOD, description="d", table="```\nx\n```", files=files
    )
    parts = in_parts([whole])
    assert [len(part.files) for part in parts] == [MOST_FILES, MOST_FILES, 3]
    assert tuple(file for part in parts for file in part.files) == files
    assert [bool(part.table) for part in parts] == [True, False, False]
    assert parts[1].footer == "part 2 of 3"


def test_a_kept_report_comes_with_the_offer_of_a_smaller_one(tmp_path: Path) -> None:
    (message,) = compose(outcome(succeeded(tmp_path, size=LIMIT * 3)), LIMIT)
    assert message.description.endswith(f"Kept on the bot's disk. {SMALLER}")
    (other,) = compose(outcome(succeeded(tmp_path)), LIMIT)
    csv = next(file for file in other.files if file.name.endswith(".csv"))
    assert SMALLER not in other.without(csv, "refused").description


def test_only_benchmarks_with_counters_are_drawn(tmp_path: Path) -> None:
    good = succeeded(tmp_path)
    whole = outcome(good, failed(1, FailureKind.TIME_LIMIT))
    request = picture_request(whole, good)
    assert request is not None
    assert request.folder == str(tmp_path)
    assert request.raw == str(tmp_path / "ncu-raw.0.csv")
    assert [bar.ids for bar in request.bars] == [(0, 1, 2, 3)]
    assert picture_request(whole, whole.benchmarks[1]) is None
    unread = BenchmarkOutcome(result=result(0), report=None, files=good.files)
    assert picture_request(whole, unread) is None


async def test_after_one_failure_no_more_is_drawn(tmp_path: Path) -> None:
    class Broken(PictureWorker):
        asked = 0

        async def draw(self, request: PictureRequest) -> Pictures:
            self.asked += 1
            raise CannotDrawError("EOFError")

    worker = Broken(tmp_path)
    whole = outcome(*(succeeded(tmp_path, index) for index in range(3)))
    assert await illustrated(worker, whole) == dict.fromkeys(range(3), NOT_DRAWN)
    assert worker.asked == 1
    (first, *_) = illustrations(whole, {0: NOT_DRAWN}, LIMIT)
    assert first.missing == "No picture of time by kernel, roofline, warp stalls (drawing failed)."
