"""What the options of /profile offer while somebody types. From memory, never the database."""

from collections.abc import Iterable, Mapping

from discord import app_commands

from bot.leaderboards.gpus import GpuNames
from bot.leaderboards.model import Leaderboard, spec_line
from bot.reports.neutral import clip, plain

MOST = 25
NAME_LIMIT = 100


def leaderboard_choices(
    boards: Iterable[Leaderboard], typed: str
) -> list[app_commands.Choice[str]]:
    """Offer the open leaderboards whose name holds what was typed."""
    names = (board.name for board in boards if not board.closed and len(board.name) <= NAME_LIMIT)
    return [app_commands.Choice(name=name, value=name) for name in _matching(names, typed)]


def board_choices(
    boards: Iterable[Leaderboard], typed: str, *, closed: bool | None = None
) -> list[app_commands.Choice[str]]:
    """Offer leaderboards for an admin's command: all, or those that are closed or open."""
    names = (board.name for board in boards if closed is None or board.closed is closed)
    return [app_commands.Choice(name=name, value=name) for name in _matching(names, typed)]


def gpu_choices(
    board: Leaderboard | None, available: tuple[str, ...], typed: str, names: GpuNames
) -> list[app_commands.Choice[str]]:
    """Offer the GPUs of the leaderboard; those without a runner come last and say so."""
    listed = available if board is None else board.gpus
    ready = set(names.both(listed, available))
    ordered = sorted(listed, key=lambda gpu: gpu not in ready)
    return [
        app_commands.Choice(name=_gpu_label(gpu, gpu in ready), value=gpu)
        for gpu in _matching((gpu for gpu in ordered if len(gpu) <= NAME_LIMIT), typed)
    ]


def benchmark_choices(board: Leaderboard | None, typed: str) -> list[app_commands.Choice[int]]:
    """Offer the benchmark entries with their shapes: `3 · batch: 640; n: 512`."""
    if board is None:
        return []
    labels = {
        index: f"{index} · {spec_line(case)}" for index, case in enumerate(board.task.benchmarks)
    }
    matching = [index for index, label in labels.items() if typed.casefold() in label.casefold()]
    return [
        app_commands.Choice(name=_shown(labels[index]), value=index) for index in matching[:MOST]
    ]


def rule_choices(words: Mapping[str, str], typed: str) -> list[app_commands.Choice[str]]:
    """Offer the rules of the settings: their words by their keys."""
    wanted = typed.strip().casefold()
    keys = [key for key, said in words.items() if wanted in said.casefold() or wanted == key]
    return [app_commands.Choice(name=_shown(words[key]), value=key) for key in keys[:MOST]]


def _matching(names: Iterable[str], typed: str) -> list[str]:
    wanted = typed.strip().casefold()
    return [name for name in names if wanted in name.casefold()][:MOST]


def _gpu_label(gpu: str, has_runner: bool) -> str:
    return _shown(gpu if has_runner else f"{gpu} (no runner here)")


def _shown(label: str) -> str:
    return clip(" ".join(plain(label).split()) or "?", NAME_LIMIT)
