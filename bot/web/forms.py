"""The multipart form of a submission, decoded once and bounded."""

from dataclasses import dataclass

import msgspec
from aiohttp import BodyPartReader, web

from bot.jobs.errors import FileTooLarge, OptionInvalid
from bot.jobs.source import clean_name
from runner_client.captures import (
    DEFAULT_LAUNCHES,
    MAX_LAUNCHES,
    CaptureMode,
    CaptureOptions,
    KernelNameBase,
)
from runner_client.wire import MAX_SOURCE_BYTES

MAX_FIELD = 4_096
MOST_PARTS = 20
_NUMBERS = {"benchmark_index": (0, 9_999), "ncu_launch_count": (1, MAX_LAUNCHES)}
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
    form = _Form()
    try:
        reader = await request.multipart()
        while (part := await reader.next()) is not None:
            await form.take(part)
    except (ValueError, RuntimeError) as error:
        raise web.HTTPBadRequest(text=f"the form cannot be read: {error}") from None
    if form.file is None:
        raise web.HTTPBadRequest(text="the form has no part `file` with a file in it")
    return _upload(form.file, form.fields)


class _Form:
    """The parts that are known, as they come in; others are passed over."""

    def __init__(self) -> None:
        self.file: tuple[str, bytes] | None = None
        self.fields: dict[str, str] = {}
        self.parts = 0

    async def take(self, part: object) -> None:
        """Read one part. Raises ValueError, FileTooLarge."""
        self.parts += 1
        if self.parts > MOST_PARTS or not isinstance(part, BodyPartReader):
            raise ValueError("too many parts, or a form in the form")
        if part.name == "file":
            name = clean_name(part.filename or "submission")
            self.file = name, await _bounded(part, MAX_SOURCE_BYTES, name)
        elif part.name in _NUMBERS or part.name in _TEXTS:
            self.fields[part.name] = (await _bounded(part, MAX_FIELD, part.name)).decode("utf-8")


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


async def _bounded(part: BodyPartReader, limit: int, name: str) -> bytes:
    """Read a part; what is over the limit is not kept. Raises FileTooLarge."""
    data = bytearray()
    while chunk := await part.read_chunk():
        data += chunk
        if len(data) > limit:
            raise FileTooLarge(name, len(data), limit)
    return bytes(data)
