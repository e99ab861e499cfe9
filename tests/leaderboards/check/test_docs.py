"""docs/writing-a-problem.md knows every verdict and every rule."""

import re
from pathlib import Path

from bot.leaderboards.check.model import Verdict

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "bot" / "leaderboards" / "check"
RULE = re.compile(r'(?:_?[Ff]inding\(\s*(?:\w+(?:\[-?\d\])?, )?|: \()"([a-z][a-z-]+)"')


def test_every_verdict_and_rule_is_told() -> None:
    page = (ROOT / "docs" / "writing-a-problem.md").read_text(encoding="utf-8")
    texts = [path.read_text(encoding="utf-8") for path in SOURCES.glob("*.py")]
    rules = {rule for text in texts for rule in RULE.findall(text)}
    assert rules >= {
        "profile-missing",
        "range-name",
        "ncu-truth",
        "spec-rejected",
        "gpu",
        "grammar",
    }
    assert [rule for rule in rules if f"`{rule}`" not in page] == []
    assert [verdict for verdict in Verdict if f"| `{verdict}` |" not in page] == []
