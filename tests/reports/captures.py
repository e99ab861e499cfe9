"""Captures as the pictures need them: the packaged recordings, and launches made by hand."""

from collections.abc import Mapping
from pathlib import Path

from bot.reports.groups import group
from bot.reports.pictures.values import Bar, PictureRequest
from counters.model import Metric
from counters.parse import read_summary
from counters.raw import RawKernel
from runner.settings import RECORDINGS

QR = RECORDINGS / "qr_v2-starter-0"
"""Three kernels, two of them variants of one name."""


def launch(number: int, **values: float) -> RawKernel:
    """Return a launch; names are those of ADD and its neighbours below."""
    metrics = {NAMES[key]: Metric("", NAMES[key], "", value, "") for key, value in values.items()}
    return RawKernel(number, "k", metrics)


NAMES: Mapping[str, str] = {
    "time": "gpu__time_duration.sum",
    "traffic": "dram__bytes.sum.per_second",
    "dram_width": "dram__bytes.sum.peak_sustained",
    "dram_clock": "dram__cycles_elapsed.avg.per_second",
    "fadd": "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed",
    "fmul": "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed",
    "ffma_twice": "derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2",
    "dfma": "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum.per_cycle_elapsed",
    "ffma_peak": "derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2",
    "dfma_peak": "derived__sm__sass_thread_inst_executed_op_dfma_pred_on_x2",
    "smsp_clock": "smsp__cycles_elapsed.avg.per_second",
    "sm_clock": "sm__cycles_elapsed.avg.per_second",
    "tensor": "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum.per_second",
    "tensor_peak": "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off"
    ".sum.peak_sustained_elapsed.per_second",
    "tensor_total": "sm__ops_path_tensor_src_bf16_dst_fp32.sum.per_second",
    "barrier": "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "wait": "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
    "selected": "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio",
}


def bar(label: str, *ids: int, ns: float | None = 1_000.0, share: float = 0.5) -> Bar:
    """Return a kernel with launches of these numbers."""
    return Bar(
        label=label, total_ns=ns, share=share, count=len(ids), bound="memory", ids=tuple(ids)
    )


def request(
    folder: Path, *bars: Bar, raw: Path | None = None, gpu: str = "NVIDIA H200"
) -> PictureRequest:
    """Return a request that draws into `folder`."""
    return PictureRequest(
        index=3, gpu=gpu, bars=bars, raw=str(raw) if raw else None, folder=str(folder)
    )


def recorded(folder: Path, recording: Path = QR) -> PictureRequest:
    """Return the request for a packaged recording."""
    groups = group(read_summary(recording / "ncu-details.csv"))
    bars = (
        Bar(
            label=found.label,
            total_ns=found.total_ns,
            share=found.share,
            count=found.count,
            bound=found.bound.word.value,
            ids=found.launches,
        )
        for found in groups
    )
    return request(folder, *bars, raw=recording / "ncu-raw.csv")
