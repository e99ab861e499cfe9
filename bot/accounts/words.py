"""Why an account does not let somebody do what they want, in one sentence each."""

from functools import singledispatch

from bot.jobs import errors
from bot.phrases import at, short


@singledispatch
def account_sentence(error: errors.AccountRefusal) -> str:
    """Say in one sentence what is wrong and what to do next."""
    raise NotImplementedError(type(error))


@account_sentence.register
def _(_: errors.NotRegistered) -> str:
    return "You have no account yet: type /register first."


@account_sentence.register
def _(error: errors.Banned) -> str:
    return f"You may not use this bot ({short(error.reason)}): ask an admin."


@account_sentence.register
def _(error: errors.QuotaUsed) -> str:
    if error.until is None:
        return f"You may start no job here ({short(error.rule)}): ask an admin."
    return f"You have used your {short(error.rule)}: come back {at(error.until)}."


@account_sentence.register
def _(error: errors.TooManyUnderWay) -> str:
    return (
        f"You have {error.most} job{'' if error.most == 1 else 's'} under way, which is as many as "
        "you may have at once: wait for one to end, or cancel it."
    )


@account_sentence.register
def _(_: errors.CliIdUnreadable) -> str:
    return (
        "No popcorn-cli id was found in that: run `popcorn-cli register discord` and paste the id "
        "from .popcorn.yaml in your home directory."
    )


@account_sentence.register
def _(error: errors.CliIdUnknown) -> str:
    minutes = int(error.life.total_seconds() // 60)
    return (
        f"This server did not hand out that popcorn-cli id in the last {minutes} minutes: run "
        "`popcorn-cli reregister discord` against it and paste the new one."
    )


@account_sentence.register
def _(_: errors.CliIdTaken) -> str:
    return (
        "That popcorn-cli id belongs to another account: run `popcorn-cli reregister discord` and "
        "paste the new one."
    )
