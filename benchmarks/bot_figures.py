"""What is measured of a bot that works beside the small Discord, as figures."""

from benchmarks.figures import Figure
from tests.discord.lag import Lag
from tests.discord.orders import Counts

LAG_TARGET_S, MEMORY_TARGET = 0.050, 300_000_000


def bot_figures(who: str, busy: Lag, idle: Lag, counts: Counts) -> list[Figure]:
    """Return how the bot fared: loop and memory beside itself idle, and what it asked of Discord.

    `who` is what it worked for. Each figure of the loop tells how late a timer of 5 ms came.
    """
    return [
        *_lag(who, busy, idle),
        Figure(
            name=f"{who}: memory of the bot at most",
            values=(busy.memory_bytes / 1e6,),
            baseline="the same bot idle",
            baseline_values=(idle.memory_bytes / 1e6,),
            target=MEMORY_TARGET / 1e6,
            unit="MB",
        ),
        Figure(
            name=f"{who}: calls beyond Discord's limits",
            values=(float(sum(counts.broken.values())),),
            baseline="all calls",
            baseline_values=(float(sum(counts.calls.values())),),
            target=0,
            unit="calls",
        ),
    ]


def _lag(who: str, busy: Lag, idle: Lag) -> list[Figure]:
    taken = (
        ("half of the time", busy.p50_s, idle.p50_s, None),
        ("99 of 100", busy.p99_s, idle.p99_s, LAG_TARGET_S * 1e3),
        ("at most", busy.max_s, idle.max_s, None),
    )
    return [
        Figure(
            name=f"{who}: lag of the bot's loop, {share}",
            values=(late_s * 1e3,),
            baseline="the same bot idle",
            baseline_values=(idle_s * 1e3,),
            target=target,
            unit="ms",
        )
        for share, late_s, idle_s, target in taken
    ]


def most_called(counts: Counts) -> str:
    """Name the calls that were made most."""
    ordered = sorted(counts.calls.items(), key=lambda item: -item[1])
    return ", ".join(f"{count} {call}" for call, count in ordered[:6])
