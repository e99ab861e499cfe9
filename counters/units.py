"""Units as ncu prints them -> base units. Numbers as ncu prints them -> floats.

Prefixes are decimal: ncu prints 102,400 byte as 102.40 Kbyte. Builds before 2022 spell seconds out
(usecond, Gbyte/second) and frequencies as cycle/nsecond.
"""

import math
import re
from functools import lru_cache

_BYTE_PREFIXES = {"": 0, "K": 3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
_SECONDS = {
    "s": 0, "second": 0, "ms": -3, "msecond": -3, "us": -6, "usecond": -6, "ns": -9, "nsecond": -9,
}  # fmt: skip
_QUANTITIES = {
    **{f"{prefix}byte": ("byte", power) for prefix, power in _BYTE_PREFIXES.items()},
    **{f"{prefix}hz": ("hz", power) for prefix, power in _BYTE_PREFIXES.items()},
    **{f"{prefix}Hz": ("hz", power) for prefix, power in _BYTE_PREFIXES.items()},
    **{unit: ("ns", power + 9) for unit, power in _SECONDS.items()},
}

# The C locale's form: groups of three by commas, then a decimal point.
_NUMBER = re.compile(
    r"([+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]*)?)(?:[eE]([+-]?[0-9]{1,4}))?"
)
# The same without signs of plus, exponents and outer spaces: what ncu prints, almost always.
_USUAL = re.compile(r"-?(?:[0-9]{1,3}(?:,[0-9]{3}){1,40}|[0-9]{1,15})(?:\.[0-9]{1,15})?")
_NUMBER_LIKE = re.compile(r"[+-]?[0-9][0-9.,'_\s]*")


@lru_cache(maxsize=1024)
def base_unit(unit: str) -> tuple[str, int]:
    """Return the base unit and the power of ten that leads there.

    A unit that is not known comes back as it was, with power 0: its values are never scaled.
    """
    top, slash, bottom = unit.partition("/")
    name, power = _QUANTITIES.get(top, (top, 0))
    if not slash:
        return name, power
    if bottom not in _SECONDS:
        return f"{name}/{bottom}", power
    power -= _SECONDS[bottom]
    return ("hz" if name == "cycle" else f"{name}/s"), power


def number(text: str, power: int = 0) -> float | None:
    """Return what `text` says times 10**power, or None where it is no finite number.

    The power is applied to the decimal text, so 21.06 us is exactly the float 21060.0.
    """
    if _USUAL.fullmatch(text):
        digits = text.replace(",", "")
        return float(f"{digits}e{power}") if power else float(digits)
    return _unusual(text.strip(), power) if text else None


def _unusual(text: str, power: int) -> float | None:
    match = _NUMBER.fullmatch(text)
    if match is None or not any(map(str.isdigit, match[1])):
        return None
    value = float(f"{match[1].replace(',', '')}e{int(match[2] or 0) + power}")
    return value if math.isfinite(value) else None


def is_usual(text: str) -> bool:
    """Whether `text` is a number in the form that ncu almost always prints; `number` reads more."""
    return _USUAL.fullmatch(text) is not None


def is_ambiguous(text: str) -> bool:
    """Whether `text` is made of digits and separators, but not in the C locale's form (1.234,5)."""
    text = text.strip()
    return _NUMBER_LIKE.fullmatch(text) is not None and _NUMBER.fullmatch(text) is None
