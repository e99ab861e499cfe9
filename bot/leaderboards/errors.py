"""What is wrong with a competition's files: typed here, worded in bot/wording.py."""

from dataclasses import dataclass

from bot.jobs.errors import NcubotError


@dataclass(eq=False)
class GrammarError(NcubotError):
    """A competition YAML or task.yml, or a file it names, cannot be used.

    `file` is relative to the folder that is read; `reason` names line and key and says what was
    expected.
    """

    file: str
    reason: str


@dataclass(eq=False)
class SourceError(NcubotError):
    """What was to be synced cannot be had, or holds no competition YAML."""

    source: str
    reason: str


class SyncBusy(NcubotError):  # noqa: N818 - an answer, not an error
    """Another sync of this bot is under way."""
