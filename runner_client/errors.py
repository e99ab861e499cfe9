"""What can go wrong between the bot and a runner."""


class ClientError(Exception):
    """Base of every error of this package."""


class Unreachable(ClientError):  # noqa: N818 - named for the state of the runner
    """No answer, or one cut short: asking again may help."""


class Denied(ClientError):  # noqa: N818
    """The runner did not take the token."""


class Untrusted(ClientError):  # noqa: N818
    """The runner's certificate is not the one expected; `reason` is what is wrong with it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Unknown(ClientError):  # noqa: N818
    """The runner does not know the job or the artifact."""


class Refused(ClientError):  # noqa: N818
    """The runner answered that it will not; `reason` is its own sentence, bounded."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(status, reason)
        self.status, self.reason = status, reason


class Broken(ClientError):  # noqa: N818
    """The runner's answer breaks the contract; `reason` is in this program's own words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
