"""GPU names: however somebody spells one, it is found among those that are listed.

`H200`, `h200`, `NVIDIA H200`, `H200 SXM` and `H200-SXM5-141GB` are one GPU; `H100 NVL` and
`B200_Nebius` are others than `H100` and `B200`. An operator can add spellings.
"""

import re
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[^\W_]+")
NOISE = frozenset(
    {"nvidia", "amd", "tesla", "instinct", "gpu", "graphics", "accelerator", "pcie", "oam"}
    | {"hgx", "dgx", "sxm", *(f"sxm{number}" for number in range(2, 7))}
    | {"hbm", "hbm2", "hbm2e", "hbm3", "hbm3e", "gb"}
)
"""Words that makers, forms and memories add to the name of a GPU."""
_MEMORY = re.compile(r"\d{1,3}(gb|g)")


def plain_key(name: str) -> str:
    """Return what is left of a name without case, blanks, maker, form and size of memory."""
    words: list[str] = _WORD.findall(name.casefold())
    kept = [word for word in words if word not in NOISE and not _MEMORY.fullmatch(word)]
    return "".join(kept or words)


class GpuNames:
    """What counts as the same GPU; `aliases` maps an operator's spellings to names."""

    def __init__(self, aliases: Mapping[str, str] | None = None) -> None:
        self._aliases = {plain_key(name): plain_key(to) for name, to in (aliases or {}).items()}

    def key(self, name: str) -> str:
        """Return the key that all spellings of one GPU share."""
        key = plain_key(name)
        return self._aliases.get(key, key)

    def find(self, typed: str, listed: Iterable[str]) -> str | None:
        """Return the listed name that was meant: the very spelling, else the only one it can be."""
        every = tuple(listed)
        exact = [name for name in every if name.casefold() == typed.strip().casefold()]
        alike = [name for name in every if self.key(name) == self.key(typed)]
        found = exact or alike
        return found[0] if len(found) == 1 else None

    def both(self, listed: Iterable[str], available: Iterable[str]) -> tuple[str, ...]:
        """Return the listed names that are available too, in any spelling."""
        keys = {self.key(name) for name in available}
        return tuple(name for name in listed if self.key(name) in keys)


def each_once(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names in their order, one that differs in its case only once."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(name.casefold(), name)
    return tuple(first.values())
