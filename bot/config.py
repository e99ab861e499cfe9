"""Settings of any process: a table of an optional ncubot.toml, then the environment over it."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar, get_args, get_origin, get_type_hints

import msgspec

from bot.jobs.errors import NcubotError
from runner_client.secret import Secret

T = TypeVar("T", bound=msgspec.Struct)
DEFAULT_FILE = "ncubot.toml"


class ConfigError(NcubotError):
    """A setting that cannot be used; `source` is the file or variable, `field` its name there."""

    def __init__(self, source: str, field: str, reason: str) -> None:
        super().__init__(source, field, reason)
        self.source, self.field, self.reason = source, field, reason


def load(
    cls: type[T],
    table: str,
    prefix: str,
    path: Path | None = None,
    environ: Mapping[str, str] | None = None,
    aliases: Mapping[str, str] | None = None,
) -> T:
    """Read the settings type `cls`.

    `path` must exist where it is given; without it `ncubot.toml` of the working folder is read if
    there is one. A field's variable is `prefix` and its name in capitals, or else the one that
    `aliases` names; an empty variable counts as unset. Lists come as JSON from the environment.
    Raises ConfigError.
    """
    file = path or Path(DEFAULT_FILE)
    hints = get_type_hints(cls, include_extras=True)
    content = _table(file, table, path)
    found = {name: (f"{file} [{table}]", value) for name, value in content.items()}
    _known(found, cls)
    variables = os.environ if environ is None else environ
    for name in cls.__struct_fields__:
        found |= _variable(name, hints[name], prefix, aliases or {}, variables)
    values = {
        name: _convert(value, hints[name], source, name) for name, (source, value) in found.items()
    }
    return _build(cls, values, prefix)


def _table(file: Path, table: str, asked: Path | None) -> dict[str, object]:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if asked is None:
            return {}
        raise ConfigError(str(file), "", "no such file") from None
    except (OSError, ValueError) as error:
        raise ConfigError(str(file), "", " ".join(str(error).split())) from error
    content = document.get(table, {})
    if not isinstance(content, dict):
        raise ConfigError(str(file), table, "expected a table")
    return content


def _known(found: Mapping[str, tuple[str, object]], cls: type[msgspec.Struct]) -> None:
    for name, (source, _) in found.items():
        if name not in cls.__struct_fields__:
            known = ", ".join(cls.__struct_fields__)
            raise ConfigError(source, name, f"no such setting; there are {known}")


def _variable(
    name: str, hint: object, prefix: str, aliases: Mapping[str, str], environ: Mapping[str, str]
) -> dict[str, tuple[str, object]]:
    for variable in (f"{prefix}{name.upper()}", aliases.get(name, "")):
        text = environ.get(variable, "")
        if text:
            return {name: (variable, _decode(text, hint, variable, name))}
    return {}


def _decode(text: str, hint: object, variable: str, name: str) -> object:
    if not _is_collection(hint):
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        raise ConfigError(variable, name, "expected JSON") from None


def _is_collection(hint: object) -> bool:
    origin = get_origin(hint)
    return origin in {tuple, list, dict, frozenset} or (
        hasattr(hint, "__metadata__") and _is_collection(get_args(hint)[0])
    )


def _convert(value: object, hint: object, source: str, name: str) -> object:
    try:
        return msgspec.convert(value, hint, strict=False, dec_hook=_hook)
    except msgspec.ValidationError as error:
        raise ConfigError(source, name, str(error)) from None


def _hook(kind: type, value: object) -> object:
    """Build the types that msgspec does not know; its errors name the place."""
    if kind is Secret or issubclass(kind, Path):
        if not isinstance(value, str) or not value:
            raise ValueError("expected text")
        return kind(value)
    raise NotImplementedError(kind)


def _build(cls: type[T], values: Mapping[str, object], prefix: str) -> T:
    for info in msgspec.structs.fields(cls):
        if info.required and info.name not in values:
            raise ConfigError(f"{prefix}{info.name.upper()}", info.name, "must be set")
    try:
        return cls(**values)
    except ValueError as error:
        # It is about several fields, which may come from different places.
        raise ConfigError("settings", "", str(error)) from None
