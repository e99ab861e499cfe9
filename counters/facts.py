"""Counters beyond the table's columns: what one kernel's page and the bound rule are made of."""

from counters.columns import Column

_SPEED_OF_LIGHT = ("GPU Speed Of Light Throughput", "GPU Speed Of Light")
_MEMORY = ("Memory Workload Analysis", "Memory Workload Analysis Tables")
_LAUNCH = ("Launch Statistics",)
_OCCUPANCY = ("Occupancy",)
_SCHEDULER = ("Scheduler Statistics",)
_PERCENT = ("%",)
_BLOCKS = ("block", "")
_PER_BLOCK = ("byte/block", "byte")


def _column(
    sections: tuple[str, ...], label: str, metric: str, units: tuple[str, ...] = ("",)
) -> Column:
    return Column(metric, sections, (label,), (metric,), units)


L1_THROUGHPUT = _column(
    _SPEED_OF_LIGHT,
    "L1/TEX Cache Throughput",
    "l1tex__throughput.avg.pct_of_peak_sustained_active",
    _PERCENT,
)
L2_THROUGHPUT = _column(
    _SPEED_OF_LIGHT,
    "L2 Cache Throughput",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    _PERCENT,
)
DRAM_RATE = _column(_MEMORY, "Memory Throughput", "dram__bytes.sum.per_second", ("byte/s",))
L1_HITS = _column(_MEMORY, "L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct", _PERCENT)
L2_HITS = _column(_MEMORY, "L2 Hit Rate", "lts__t_sector_hit_rate.pct", _PERCENT)
MEMORY_BUSY = _column(
    _MEMORY,
    "Mem Busy",
    "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed",
    _PERCENT,
)
MEMORY_PIPES = _column(
    _MEMORY,
    "Mem Pipes Busy",
    "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed",
    _PERCENT,
)
SPILLS = _column(_MEMORY, "Local Memory Spilling Requests", "derived__local_spilling_requests")

THEORETICAL_OCCUPANCY = _column(
    _OCCUPANCY, "Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct", _PERCENT
)
LIMIT_REGISTERS = _column(
    _OCCUPANCY, "Block Limit Registers", "launch__occupancy_limit_registers", _BLOCKS
)
LIMIT_SHARED = _column(
    _OCCUPANCY, "Block Limit Shared Mem", "launch__occupancy_limit_shared_mem", _BLOCKS
)
LIMIT_WARPS = _column(_OCCUPANCY, "Block Limit Warps", "launch__occupancy_limit_warps", _BLOCKS)
LIMIT_BARRIERS = _column(
    _OCCUPANCY, "Block Limit Barriers", "launch__occupancy_limit_barriers", _BLOCKS
)
LIMIT_SM = _column(_OCCUPANCY, "Block Limit SM", "launch__occupancy_limit_blocks", _BLOCKS)

WAVES = _column(_LAUNCH, "Waves Per SM", "launch__waves_per_multiprocessor")
GRID_BLOCKS = _column(_LAUNCH, "Grid Size", "launch__grid_size")
SM_COUNT = _column(_LAUNCH, "# SMs", "launch__sm_count", ("SM", ""))
STATIC_SHARED = _column(
    _LAUNCH,
    "Static Shared Memory Per Block",
    "launch__shared_mem_per_block_static",
    _PER_BLOCK,
)
DYNAMIC_SHARED = _column(
    _LAUNCH,
    "Dynamic Shared Memory Per Block",
    "launch__shared_mem_per_block_dynamic",
    _PER_BLOCK,
)

ELIGIBLE = _column(
    _SCHEDULER,
    "One or More Eligible",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    _PERCENT,
)

FACTS = (
    L1_THROUGHPUT,
    L2_THROUGHPUT,
    DRAM_RATE,
    L1_HITS,
    L2_HITS,
    MEMORY_BUSY,
    MEMORY_PIPES,
    SPILLS,
    THEORETICAL_OCCUPANCY,
    LIMIT_REGISTERS,
    LIMIT_SHARED,
    LIMIT_WARPS,
    LIMIT_BARRIERS,
    LIMIT_SM,
    WAVES,
    GRID_BLOCKS,
    SM_COUNT,
    STATIC_SHARED,
    DYNAMIC_SHARED,
    ELIGIBLE,
)
"""All of them."""
