"""The pictures: right numbers, worked out by hand, and drawings that survive any name."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from PIL import Image

from bot.reports.pictures.draw import draw
from bot.reports.pictures.launches import read_launches
from bot.reports.pictures.roofline import NOMINAL, Roof, Roofline, roofline
from bot.reports.pictures.stalls import Stalls, stalls
from bot.reports.pictures.style import drawable, si
from bot.reports.pictures.values import ALT_LIMIT, Kind, Skipped
from counters.raw import RawKernel
from tests.reports.captures import QR, bar, launch, recorded, request
from tests.standin.ncu import range_table

H200 = "NVIDIA H200"
# 100 FMA lanes at 1 GHz are 200 GFLOP/s; 50 bytes a cycle at 2 GHz are 100 GB/s.
PEAKS = {"ffma_peak": 200, "sm_clock": 1e9, "dram_width": 50, "dram_clock": 2e9, "smsp_clock": 1e9}


def drawn(*launches: RawKernel, gpu: str = H200) -> Roofline:
    """Return the roofline of one kernel with these launches."""
    bars = [bar("k", *(one.id for one in launches))]
    found = roofline(bars, {one.id: one for one in launches}, gpu)
    assert isinstance(found, Roofline)
    return found


def test_work_is_additions_multiplications_and_twice_the_fused_ones() -> None:
    counters = {"fadd": 10, "fmul": 20, "ffma_twice": 70, "traffic": 1e9}
    found = drawn(launch(0, time=1.0, **counters, **PEAKS))
    (point,) = found.points
    assert point.rate == pytest.approx(100e9)
    assert point.intensity == pytest.approx(100)
    assert found.roofs == (Roof("FP32", 200e9),)
    assert found.bandwidth == pytest.approx(100e9)
    assert found.source == "roofs at the clocks of this capture"


def test_launches_of_one_kernel_are_averaged_over_their_time() -> None:
    short = launch(0, time=1.0, fadd=40, traffic=4e9, **PEAKS)
    long = launch(1, time=3.0, fadd=20, traffic=8e9, **PEAKS)
    (point,) = drawn(short, long).points
    assert point.rate == pytest.approx(25e9)
    assert point.intensity == pytest.approx(25 / 7)


def test_a_kernel_stands_under_the_roof_that_it_comes_closest_to() -> None:
    double = launch(0, time=1.0, fadd=20, dfma=15, traffic=1e9, dfma_peak=100, **PEAKS)
    found = drawn(double)
    assert found.points[0].roof == "FP64"
    assert found.points[0].rate == pytest.approx(30e9)
    assert found.roofs == (Roof("FP64", 100e9), Roof("FP32", 200e9))


def test_tensor_work_has_its_own_roof_and_totals_are_no_kind_of_their_own() -> None:
    tensor = launch(
        0, time=1.0, tensor=500e9, tensor_peak=1_000e9, tensor_total=700e9, traffic=1e9, **PEAKS
    )
    found = drawn(tensor)
    assert found.points[0].rate == pytest.approx(500e9)
    assert found.roofs == (Roof("FP32", 200e9), Roof("tensor BF16", 1_000e9))


def test_without_peaks_the_data_sheet_of_that_gpu_is_taken() -> None:
    bare = launch(0, time=1.0, fadd=10, smsp_clock=1e9, traffic=1e9)
    found = drawn(bare)
    assert found.bandwidth == NOMINAL["H200"].bandwidth
    assert found.roofs == (Roof("FP32", NOMINAL["H200"].fp32),)
    assert found.source == "roofs from NVIDIA's data sheet"
    unknown = roofline([bar("k", 0)], {0: bare}, "NVIDIA Z9")
    assert unknown == "neither the report nor a data sheet has this GPU's peaks"


def test_what_cannot_stand_on_a_roofline_is_counted_or_said() -> None:
    copy = launch(1, time=1.0, traffic=1e9, **PEAKS)
    work = launch(0, time=1.0, fadd=10, traffic=1e9, **PEAKS)
    found = roofline([bar("k", 0), bar("copy", 1)], {0: work, 1: copy}, H200)
    assert isinstance(found, Roofline)
    assert (found.idle, [point.label for point in found.points]) == (1, ["k"])
    assert roofline([bar("copy", 1)], {1: copy}, H200) == (
        "no kernel did floating-point work that ncu counts"
    )
    assert roofline([bar("k", 0)], {0: launch(0, fadd=1)}, H200) == (
        "the report has no counter of DRAM traffic"
    )


def test_stalls_are_shares_of_all_waiting_averaged_over_launches() -> None:
    first = launch(0, barrier=3.0, wait=1.0, selected=1.0)
    second = launch(1, barrier=1.0, wait=1.0, selected=1.0)
    found = stalls([bar("k", 0, 1), bar("never measured", 9)], {0: first, 1: second})
    assert isinstance(found, Stalls)
    assert found.reasons == ("barrier", "wait (fixed latency)", "other")
    (one,) = found.bars
    assert one.shares == pytest.approx((0.625, 0.375, 0.0))
    assert one.cycles == pytest.approx(3.0)
    assert stalls([bar("k", 0)], {0: launch(0, fadd=1.0)}) == (
        "the report has no counters of warp states"
    )


def test_a_real_capture_gives_three_pictures_that_say_what_they_show(tmp_path: Path) -> None:
    made = draw(recorded(tmp_path))
    assert [picture.kind for picture in made.drawn] == [Kind.TIME, Kind.ROOFLINE, Kind.STALLS]
    assert made.skipped == ()
    for picture in made.drawn:
        path = Path(picture.path)
        assert path.name == f"{picture.kind}.3.png"
        with Image.open(path) as image:
            assert image.width == 800
            assert image.convert("RGB").getpixel((790, 2)) == (0x2B, 0x2D, 0x31)
        assert path.stat().st_size < 100_000
    time, roofs, waits = (picture.alt for picture in made.drawn)
    assert "householder_panel_kernel (40 regs): 41.6 %  10.53 µs" in time
    assert "Roofline under DRAM 4.8 TB/s and FP32 67 TFLOP/s." in roofs
    # 26.73 + 53.42 + 15.55 operations a cycle at 2.001 GHz, over 4.474 GB/s.
    assert "192 GFLOP/s of FP32 at 42.8 FLOP a byte" in roofs
    assert "apply_reflectors_kernel: " in waits


def test_without_a_raw_page_the_time_is_drawn_and_the_rest_is_said(tmp_path: Path) -> None:
    made = draw(structs.replace(recorded(tmp_path), raw=None))
    assert [picture.kind for picture in made.drawn] == [Kind.TIME]
    assert made.skipped == (
        Skipped(kind=Kind.ROOFLINE, why="the export has no raw page"),
        Skipped(kind=Kind.STALLS, why="the export has no raw page"),
    )


def test_a_raw_page_that_is_none_or_was_deleted_is_like_a_missing_one(tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text("no table\n")
    assert read_launches(str(tmp_path / "raw.csv")) == {}
    assert read_launches(str(tmp_path / "absent.csv")) == {}


def test_no_duration_means_no_bars(tmp_path: Path) -> None:
    made = draw(request(tmp_path, bar("k", 0, ns=None)))
    assert made.drawn == ()
    assert made.skipped[0] == Skipped(kind=Kind.TIME, why="no kernel has a duration")


def test_cooler_kernels_are_summed_up(tmp_path: Path) -> None:
    bars = [bar(f"kernel_{number}", number, share=1 / 60) for number in range(60)]
    (time,) = draw(request(tmp_path, *bars)).drawn
    assert "53 other kernels: 88.3 %  53.00 µs" in time.alt
    assert "kernel_6: " in time.alt
    assert "kernel_7: " not in time.alt


@pytest.mark.parametrize("name", ["$x$_{", "核\U0001f600", "\u202eabc\x1b[31m", "k" * 48, ""])
def test_no_name_breaks_a_drawing(tmp_path: Path, name: str) -> None:
    known = recorded(tmp_path)
    bars = tuple(structs.replace(one, label=name) for one in known.bars)
    made = draw(structs.replace(known, bars=bars))
    assert len(made.drawn) == 3
    assert all(len(picture.alt) <= ALT_LIMIT for picture in made.drawn)


@given(st.text(), st.integers(min_value=3, max_value=60))
def test_drawable_text_is_short_and_in_the_font(text: str, width: int) -> None:
    seen = drawable(text, width)
    assert len(seen) <= width
    assert all(0x20 <= ord(c) < 0x400 or c in "…×" for c in seen)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.5 B/s"), (999.9, "1 kB/s"), (4.81e12, "4.81 TB/s"), (6.7e13, "67 TB/s")],
)
def test_values_have_their_prefix(value: float, text: str) -> None:
    assert si(value, "B/s") == text


def test_a_reason_of_a_newer_ncu_is_shown_by_its_own_name() -> None:
    odd = launch(0, barrier=1.0)
    metrics = {name.replace("barrier", "new_reason"): m for name, m in odd.metrics.items()}
    renamed = {name: replace(metric, name=name) for name, metric in metrics.items()}
    found = stalls([bar("k", 0)], {0: replace(odd, metrics=renamed)})
    assert isinstance(found, Stalls)
    assert found.reasons == ("new reason", "other")


def test_a_range_is_drawn_without_block_and_grid(tmp_path: Path) -> None:
    for page in ("details", "raw"):
        text = (QR / f"ncu-{page}.csv").read_text(encoding="utf-8")
        (tmp_path / f"ncu-{page}.csv").write_text(range_table(text), encoding="utf-8")
    made = draw(recorded(tmp_path, tmp_path))
    assert [picture.kind for picture in made.drawn] == [Kind.TIME, Kind.ROOFLINE, Kind.STALLS]
    assert "range: 100.0 %" in made.drawn[0].alt
