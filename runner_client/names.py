"""Names under which fetched files are kept: built here from their parts, never taken over."""

import re

from .errors import Broken

_NAME = re.compile(
    r"(?P<stem>profile|ncu-details|ncu-raw|census|nsys-kernels)\.(?P<index>\d{1,4})"
    r"(?:-(?P<shape>[A-Za-z0-9._-]{1,80}))?\.(?P<kind>ncu-rep|nsys-rep|csv|txt|json)",
    re.ASCII,
)
_KINDS = {
    "profile": {"ncu-rep", "nsys-rep"},
    "ncu-details": {"csv", "txt"},
    "ncu-raw": {"csv"},
    "census": {"json"},
    "nsys-kernels": {"csv"},
}


def local_name(name: str) -> str:
    """Return the file name for artifact `name`. Raises Broken for one not on the list."""
    if name == "manifest.json":
        return "manifest.json"
    parts = _NAME.fullmatch(name)
    if parts is None or parts["kind"] not in _KINDS[parts["stem"]]:
        raise Broken("an artifact name that is not on the list")
    shape = f"-{parts['shape']}" if parts["shape"] else ""
    built = f"{parts['stem']}.{int(parts['index'])}{shape}.{parts['kind']}"
    if built != name or (shape and parts["stem"] != "profile"):
        raise Broken("an artifact name that is not on the list")
    return built
