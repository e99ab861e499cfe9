"""The multipart form of a submission, decoded once and bounded."""

import asyncio
from dataclasses import dataclass

import msgspec
from aiohttp import BodyPartReader, hdrs, web
from aiohttp.http_exceptions import HttpProcessingError

from bot.jobs.errors import FileTooLarge, OptionInvalid
from bot.jobs.source import clean_name
from bot.phrases import short
from runner_client.captures import (
    DEFAULT_LAUNCHES,
    MAX_LAUNCHES,
    CaptureMode,
    CaptureOptions,
    KernelNameBase,
)
from runner_client.wire import MAX_SOURCE_BYTES

MAX_FIELD = 4_096
UPLOAD_S = 120.0
"""So long a form may take to arrive: a file has 1 MB at most."""
MOST_PARTS = 20
_NUMBERS = {"benchmark_index": (0, 9_999), "ncu_launch_count": (1, MAX_LAUNCHES)}
_UNREADABLE = (ValueError, RuntimeError, AssertionError, HttpProcessingError)
"""What the reader raises of a form that nobody sends in good faith."""
_TEXTS = ("leaderboard", "ncu_kernel_name", "ncu_kernel_name_base")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """What a client sent. `leaderboard` is None where the path names it."""

    file_name: str
    source: bytes
    leaderboard: str | None
    benchmark: int | None
    capture: CaptureOptions


async def read_upload(request: web.Request) -> Upload:
    """Read the form. Raises web.HTTPException, FileTooLarge, OptionInvalid."""
    if not request.content_type.startswith("multipart/"):
        raise web.HTTPUnsupportedMediaType(text="the body must be multipart/form-data")
    if hdrs.CONTENT_ENCODING in request.headers:
        raise web.HTTPUnsupportedMediaType(text="the body must not be compressed")
    form = _Form()
    try:
        async with asyncio.timeout(UPLOAD_S):
            await form.read(request)
    except TimeoutError:
        said = f"the file did not arrive within {UPLOAD_S:.0f} s: send it again"
        raise web.HTTPRequestTimeout(text=said) from None
    except _UNREADABLE as error:
        said = f"the form cannot be read: {short(str(error))}"
        raise web.HTTPBadRequest(text=said) from None
    if form.file is None:
        raise web.HTTPBadRequest(text="the form has no part `file` with a file in it")
    return _upload(form.file, form.fields)


class _Form:
    """The parts that are known, as they come in; others are passed over."""

    def __init__(self) -> None:
        self.file: tuple[str, bytes] | None = None
        self.fields: dict[str, str] = {}
        self.parts = 0

    async def read(self, request: web.Request) -> None:
        """Read every part. Raises ValueError, RuntimeError, FileTooLarge, OptionInvalid."""
        reader = await request.multipart()
        while (part := await reader.next()) is not None:
            await self._take(part)

    async def _take(self, part: object) -> None:
        self.parts += 1
        if self.parts > MOST_PARTS or not isinstance(part, BodyPartReader):
            raise ValueError("too many parts, or a form in the form")
        if part.name == "file":
            name = clean_name(part.filename or "submission")
            source, size = await _bounded(part, MAX_SOURCE_BYTES)
            if size > MAX_SOURCE_BYTES:
                raise FileTooLarge(name, size, MAX_SOURCE_BYTES)
            self.file = name, source
        elif part.name in _NUMBERS or part.name in _TEXTS:
            text, size = await _bounded(part, MAX_FIELD)
            if size > MAX_FIELD:
                raise OptionInvalid(part.name, f"it has at most {MAX_FIELD:,} bytes")
            self.fields[part.name] = text.decode("utf-8")


def _upload(file: tuple[str, bytes], fields: dict[str, str]) -> Upload:
    numbers = {name: _number(name, fields.get(name)) for name in _NUMBERS}
    base = fields.get("ncu_kernel_name_base")
    try:
        capture = msgspec.convert(
            {
                "mode": CaptureMode.FIRST.value,
                "kernel_name": fields.get("ncu_kernel_name"),
                "kernel_name_base": base,
                "launch_count": numbers["ncu_launch_count"] or DEFAULT_LAUNCHES,
            },
            CaptureOptions,
        )
    except msgspec.ValidationError:
        wrong = "ncu_kernel_name_base" if base not in {None, *KernelNameBase} else "ncu_kernel_name"
        raise OptionInvalid(wrong, _EXPECTED[wrong]) from None
    return Upload(
        file_name=file[0],
        source=file[1],
        leaderboard=fields.get("leaderboard"),
        benchmark=numbers["benchmark_index"],
        capture=capture,
    )


_EXPECTED = {
    "ncu_kernel_name_base": "it is one of " + ", ".join(KernelNameBase),
    "ncu_kernel_name": "it has 1 to 1,024 characters",
}


def _number(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    least, most = _NUMBERS[name]
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and least <= int(text) <= most):
        raise web.HTTPUnprocessableEntity(text=f"{name}: a number from {least} to {most:,}")
    return int(text)


async def _bounded(part: BodyPartReader, limit: int) -> tuple[bytes, int]:
    """Read a part to its end and return it with its size; what is over the limit is not kept."""
    data, size = bytearray(), 0
    while chunk := await part.read_chunk():
        size += len(chunk)
        if size <= limit:
            data += chunk
    return bytes(data), size
