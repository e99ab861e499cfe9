"""YAML as the problem files use it: safe, no duplicate keys, no aliases, dates left as text."""

from pathlib import Path
from typing import Any

import yaml

MAX_BYTES = 1_000_000
MAX_DEPTH = 30
TIMESTAMP = "tag:yaml.org,2002:timestamp"


class _Loader(yaml.SafeLoader):
    """Refuses what hostile files are made of."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not read", problem_mark=self.get_mark())
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem="nested too deeply", problem_mark=self.get_mark())
        node = super().compose_node(parent, index)
        self.depth -= 1
        if isinstance(node, yaml.ScalarNode) and not _is_storable(node.value):
            raise yaml.MarkedYAMLError(problem="not Unicode text", problem_mark=node.start_mark)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                problem = "expected a text key"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            if key.value in seen:
                problem = f"key `{key.value}` stands twice"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _is_storable(text: str) -> bool:
    """Lone surrogates, written as escapes, can be neither encoded nor stored."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


# Unquoted deadlines would arrive as dates, quoted ones as text: one way in for both.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in pairs if tag != TIMESTAMP]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_yaml(file: Path) -> object:
    """Return the document of `file`. Raises ValueError with the reason and the line, or OSError."""
    if file.stat().st_size > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES:,} bytes")
    text = file.read_text(encoding="utf-8")
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark else ""
        raise ValueError(f"{line}{error.problem or 'not YAML'}") from None
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
