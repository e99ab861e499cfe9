"""Where a runner is and how the bot gets in."""

import ipaddress
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from .secret import Secret

FINGERPRINT = r"^[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){31}$"


class RunnerAddress(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One runner.

    `gpu` is the name as the competition YAMLs write it (`H200`). Over https the certificate must
    come from a public authority, or from the one in file `ca`, or be the one whose SHA-256 is
    `fingerprint` (hex, as `openssl x509 -fingerprint -sha256` prints it). Raises ValueError where
    the URL is none, would carry the token in plain text over a network, or does not go with these.
    """

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
    url: str
    gpu: Annotated[str, Meta(min_length=1, max_length=100)]
    token: Secret | None = None
    allow_plain_http: bool = False
    ca: Path | None = None
    fingerprint: Annotated[str, Meta(pattern=FINGERPRINT)] | None = None

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
        if parts.scheme == "http" and (self.ca is not None or self.fingerprint is not None):
            raise ValueError(f"runner {self.name}: ca and fingerprint need an https URL")
        if self.ca is not None and self.fingerprint is not None:
            raise ValueError(f"runner {self.name}: set ca or fingerprint, not both")


def is_loopback(host: str) -> bool:
    """Whether `host` names this machine itself; names other than localhost never count."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
