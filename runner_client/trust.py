"""Which certificate of a runner counts."""

import ssl

from aiohttp import Fingerprint

from .address import RunnerAddress
from .errors import Untrusted

Trust = ssl.SSLContext | Fingerprint | bool


def trust(address: RunnerAddress) -> Trust:
    """Return what aiohttp checks the runner's certificate by. Blocking. Raises Untrusted."""
    if address.fingerprint is not None:
        return Fingerprint(bytes.fromhex(address.fingerprint.replace(":", "")))
    if address.ca is None:
        return True
    try:
        return ssl.create_default_context(cafile=address.ca)
    except OSError as error:
        raise Untrusted(f"{address.ca} cannot be read: {error.strerror or error}") from error


def reason_of(error: Exception) -> str:
    """Say what is wrong with a certificate, in the words of the TLS library."""
    said = getattr(error, "verify_message", "")
    return said if isinstance(said, str) and said else "it could not be verified"
