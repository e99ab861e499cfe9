"""Logs of both processes: text or one JSON object a line, with the job's id and no secret."""

import json
import logging
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import StrEnum
from typing import TextIO

from msgspec import Struct

from .secret import Secret

TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
HIDDEN = "(hidden)"
_SHAPES = (
    re.compile(r"(?<=Bearer )[^\s'\",]+", re.IGNORECASE),
    # A Discord token: the application's id, a time and a signature.
    re.compile(r"\b[\w-]{23,30}\.[\w-]{6}\.[\w-]{27,}"),
    # A password in a database's URL.
    re.compile(r"(?<=://)([^\s/:@]*):[^\s/@]+(?=@)"),
)
_job: ContextVar[str] = ContextVar("ncubot_job", default="")


class LogFormat(StrEnum):
    """What a line of the log is."""

    TEXT = "text"
    JSON = "json"


@contextmanager
def about_job(job_id: str) -> Iterator[None]:
    """Put the id into every line that is logged inside, by this task and those it starts."""
    token = _job.set(job_id)
    try:
        yield
    finally:
        _job.reset(token)


def configure(
    kind: LogFormat, secrets: Iterable[Secret] = (), stream: TextIO | None = None
) -> logging.Handler:
    """Send every log record to `stream`, or stderr, without the `secrets`; return the handler."""
    handler = logging.StreamHandler(stream or sys.stderr)
    formatter = JsonFormatter if kind is LogFormat.JSON else TextFormatter
    handler.setFormatter(formatter(secrets))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    return handler


def secrets_in(settings: Struct) -> tuple[Secret, ...]:
    """Return every secret of a settings value, those of its lists and tables too."""
    values = (getattr(settings, name) for name in settings.__struct_fields__)
    return tuple(secret for value in values for secret in _secrets_of(value))


def _secrets_of(value: object) -> tuple[Secret, ...]:
    if isinstance(value, Secret):
        return (value,)
    if isinstance(value, Struct):
        return secrets_in(value)
    inner = tuple(value.values()) if isinstance(value, dict) else value
    return tuple(s for one in inner for s in _secrets_of(one)) if isinstance(inner, tuple) else ()


class TextFormatter(logging.Formatter):
    """Lines for people; the job's id stands at the end."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        super().__init__(TEXT)
        self._secrets = tuple(secrets)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        """Return the line without its traceback."""
        job = _job.get()
        # Somebody else's text must not look like a line of its own.
        line = super().formatMessage(record).replace("\n", "\\n")
        return line + (f" [job {job}]" if job else "")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, secrets hidden."""
        return without_secrets(super().format(record), self._secrets)


class JsonFormatter(logging.Formatter):
    """Lines for machines: time, level, logger, message, and job and exception where there are."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        super().__init__()
        self._secrets = tuple(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """Return one JSON object, secrets hidden."""
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "job": _job.get(),
            "exception": self.formatException(record.exc_info) if record.exc_info else "",
        }
        shown = {
            name: without_secrets(text, self._secrets) for name, text in fields.items() if text
        }
        return json.dumps(shown, ensure_ascii=False)


def without_secrets(text: str, secrets: Iterable[Secret]) -> str:
    """Hide the secrets in `text`, and whatever has the shape of one."""
    for secret in secrets:
        text = text.replace(secret.reveal(), HIDDEN)
    for shape in _SHAPES:
        text = shape.sub(lambda match: f"{match[1]}:{HIDDEN}" if match.re.groups else HIDDEN, text)
    return text
