"""Where a runner is and how the bot gets in."""

import ipaddress
from typing import Annotated
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from .secret import Secret


class RunnerAddress(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One runner.

    `gpu` is the name as the competition YAMLs write it (`H200`). Raises ValueError where the URL
    is none, or would carry the token in plain text over a network.
    """

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
    url: str
    gpu: Annotated[str, Meta(min_length=1, max_length=100)]
    token: Secret | None = None
    allow_plain_http: bool = False

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"runner {self.name}: expected an http or https URL")
        if parts.username or parts.query or parts.fragment:
            raise ValueError(f"runner {self.name}: expected a URL without user, query or fragment")
        plain = parts.scheme == "http" and not is_loopback(parts.hostname)
        if plain and not self.allow_plain_http:
            raise ValueError(
                f"runner {self.name}: plain http to a host that is not loopback needs "
                "allow_plain_http = true"
            )


def is_loopback(host: str) -> bool:
    """Whether `host` names this machine itself; names other than localhost never count."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
