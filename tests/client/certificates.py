"""Certificates of our own, made by openssl for one test run."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

REQUEST = (
    *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
    *("-nodes", "-days", "2", "-subj", "/CN=runner"),
)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A self-signed certificate and its key, in PEM files."""

    cert: Path
    key: Path

    @property
    def fingerprint(self) -> str:
        """Return what `openssl x509 -fingerprint -sha256` prints after the sign."""
        command = ("openssl", "x509", "-in", self.cert, "-noout", "-fingerprint", "-sha256")
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return said.strip().partition("=")[2]


def make_certificate(folder: Path, name: str, host: str = "IP:127.0.0.1") -> Certificate:
    """Make a certificate for `host`."""
    made = Certificate(folder / f"{name}.pem", folder / f"{name}.key")
    files = ("-out", made.cert, "-keyout", made.key, "-addext", f"subjectAltName={host}")
    subprocess.run((*REQUEST, *files), check=True, capture_output=True)
    return made
