"""TLS of the service: its certificate, and the fingerprint by which a bot can pin it."""

import hashlib
import ssl
from pathlib import Path

from runner.settings import RunnerSettings


class BadCertificate(Exception):  # noqa: N818 - named for what it is about
    """The certificate or its key cannot be used; the text names the file."""


def server_context(settings: RunnerSettings) -> ssl.SSLContext | None:
    """Return the context to serve https with, or None for plain http.

    Blocking. Raises BadCertificate.
    """
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    for path in (settings.tls_cert, settings.tls_key):
        _readable(path)
    try:
        context.load_cert_chain(settings.tls_cert, settings.tls_key, password=_no_password)
    except (OSError, ValueError) as error:
        files = f"{settings.tls_cert} and {settings.tls_key}"
        raise BadCertificate(f"{files}: no certificate and its own unlocked key in PEM") from error
    return context


def fingerprint(certificate: Path) -> str:
    """Return the SHA-256 of the first certificate in a PEM file, in hex. Raises BadCertificate."""
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    text = _readable(certificate).decode("ascii", "replace")
    first = text[text.find(begin) :].partition(end)[0]
    try:
        der = ssl.PEM_cert_to_DER_cert(first + end)
    except ValueError as error:
        raise BadCertificate(f"{certificate}: no certificate in PEM") from error
    return hashlib.sha256(der).hexdigest()


def _readable(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadCertificate(f"{path}: {error.strerror or error}") from error


def _no_password() -> str:
    """Stand in for the question that OpenSSL would put to the terminal."""
    return ""
