"""A submission's bytes and name, made safe to keep."""

from bot.jobs import errors
from runner_client.wire import MAX_SOURCE_BYTES

MAX_NAME = 100


def clean_name(name: str) -> str:
    """Return the last part of a path, printable and cut in the middle if it is long."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    printable = "".join(character for character in base if character.isprintable()).strip()
    if len(printable) > MAX_NAME:
        printable = f"{printable[: MAX_NAME - 21]}…{printable[-20:]}"
    return printable or "submission"


def decode_source(name: str, source: bytes) -> str:
    """Return a submission's text: strict UTF-8, a BOM removed, line ends made LF.

    Raises FileTooLarge, FileNotText, FileEmpty.
    """
    if len(source) > MAX_SOURCE_BYTES:
        raise errors.FileTooLarge(name, len(source), MAX_SOURCE_BYTES)
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise errors.FileNotText(name) from None
    if "\0" in text:
        raise errors.FileNotText(name)
    if not text.strip():
        raise errors.FileEmpty(name)
    return text.replace("\r\n", "\n").replace("\r", "\n")
