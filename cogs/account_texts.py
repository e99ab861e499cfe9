"""What is said about accounts: plain values to Discord's text. Nothing here talks to Discord."""

from bot.accounts.model import Account, Ban, Departure, Standing
from bot.accounts.quota import Use, rule_words
from bot.reports.neutral import code, inline, plain
from bot.settings import BotSettings
from bot.storage.audit import Entry
from cogs.board_texts import as_lines, moment

WELCOME = "You are registered. Type /profile and attach a kernel to get its counters."
KNOWN = "You were registered already; nothing changed."
NOBODY = "You have no account here; nothing of you is stored. /register makes one."
LINKED = "Your popcorn-cli now speaks for you here; an id from before no longer does."
LINKED_BEFORE = "That popcorn-cli id was yours already."
UNLINKED = "No popcorn-cli speaks for you any more."
GOOD_BYE = "Your account is closed"
FAIR = "A job that fails by a fault of this server or of the problem does not count."
LEAVE = (
    "This closes your account: jobs under way are cancelled, and what you sent and got is deleted "
    "here, files and counters. Messages that Discord has already shown you stay with you."
)


def quota_text(standing: Standing) -> str:
    """Return one line a rule: what it allows, what is used, when the next job is free."""
    most = standing.most_under_way
    lines = [f"{most} job{_s(most)} at once: {standing.under_way} under way"]
    return as_lines([*lines, *map(use_line, standing.uses)])


def use_line(use: Use) -> str:
    """Return how somebody stands to one rule."""
    free = f", the next is free {moment(use.until, 'R')}" if use.until is not None else ""
    return f"{inline(rule_words(use.quota, use.most))}: {use.used} used{free}"


def rules_text(settings: BotSettings) -> str:
    """Return the rules of this server."""
    return f"{plain(settings.rules)}\n{FAIR}" if settings.rules else FAIR


def stored_text(settings: BotSettings) -> str:
    """Return what is stored of somebody."""
    days = f"{settings.keep_days:g} day{'' if settings.keep_days == 1 else 's'}"
    return (
        "Your Discord id and name, the kernels that you profile, and what came of them; report "
        f"files go after {days}. The replies are shown to nobody but you. /unregister deletes it."
    )


def account_text(account: Account, standing: Standing) -> str:
    """Return who somebody is here."""
    linked = "speaks for you" if account.linked else "is not linked"
    return as_lines(
        [
            f"{code(account.name)} ({account.user_id})",
            f"since {moment(account.created_at, 'D')}",
            f"{standing.jobs} profile{_s(standing.jobs)} stored",
            f"popcorn-cli {linked}",
        ]
    )


def departure_text(departure: Departure) -> str:
    """Return what became of everything."""
    jobs = f"{departure.jobs} profile{_s(departure.jobs)} deleted"
    if departure.until is None:
        return f"{GOOD_BYE}, and nothing of you is left here: {jobs}."
    return (
        f"{GOOD_BYE}: {jobs}. That you had jobs, without what was in them, still counts until "
        f"{moment(departure.until, 'f')}; then that goes too."
    )


def member_text(user_id: int, standing: Standing, ban: Ban | None) -> str:
    """Return for an admin how a user stands."""
    if standing.account is None:
        who = f"{user_id} has no account here."
    else:
        who = account_text(standing.account, standing)
    banned = [ban_text(ban)] if ban is not None else []
    return "\n".join([*banned, who, "", quota_text(standing)])


def ban_text(ban: Ban) -> str:
    """Return since when and why somebody is banned."""
    by = f" by {ban.by}" if ban.by is not None else ""
    return f"**Banned** {moment(ban.at, 'R')}{by}: {inline(ban.reason, 400)}"


def entries_text(entries: tuple[Entry, ...]) -> str:
    """Return what admins did about a user, newest first."""
    return as_lines(
        f"{moment(entry.at, 'f')} {inline(entry.action, 40)} by {inline(entry.who.name, 100)}"
        for entry in entries
    )


def _s(number: int) -> str:
    return "" if number == 1 else "s"
