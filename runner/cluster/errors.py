"""What can go wrong between a runner and its cluster; importable where Ray is not installed."""


class NoCluster(Exception):  # noqa: N818 - named for what is wrong
    """No Ray cluster answers at the address."""


class Lost(Exception):  # noqa: N818 - named for what happened
    """The node, or the process on it, is gone. What it had not sent is lost."""


class Broken(Exception):  # noqa: N818 - named for what happened
    """The work raised an exception of its own; the text says which."""


class Withdrawn(Exception):  # noqa: N818 - named for what happened
    """The work was cancelled before or while it ran."""
