"""YAML to values with lines; what hostile and careless files are refused for."""

import pytest
import yaml

from bot.leaderboards import yaml as ours
from bot.leaderboards.yaml import parse_yaml

TEXT = """\
name: sets
problems:
  - directory: a
    gpus: [H200, "B200"]
  - {directory: b, deadline: 2026-09-30}
"""


@pytest.fixture(params=["CSafeLoader", "SafeLoader"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read with libyaml, and without it as where PyYAML was built alone."""
    monkeypatch.setattr(ours, "LOADER", getattr(yaml, request.param))


def test_every_value_knows_its_line() -> None:
    document = parse_yaml(TEXT)
    assert document.at(("problems", 0, "gpus", 1)) == "B200"
    assert document.line(("name",)) == 1
    assert document.line(("problems", 0)) == 3
    assert document.line(("problems", 0, "gpus")) == 4
    assert document.line(("problems", 1, "deadline")) == 5
    assert document.line(("problems", 1, "nowhere", "at", "all")) == 5
    assert document.line(("nowhere",)) == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-09-30", "2026-09-30"),
        ("2026-09-30 7:00:00", "2026-09-30 7:00:00"),
        ("7", 7),
        ("'7'", "7"),
        ("1.5", 1.5),
        ("True", True),
        ("off", False),
        ("~", None),
        ("", None),
        ("a word", "a word"),
        ("[]", []),
        ("{}", {}),
        ("|\n  two\n  lines", "two\nlines\n"),
        ("0x10", 16),
    ],
)
def test_plain_words_become_what_yaml_says_but_never_dates(text: str, value: object) -> None:
    assert parse_yaml(f"key: {text}\n").at(("key",)) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3: key `a` stands twice, first on line 1"),
        ("a: &x [1]\nb: *x\n", "line 2: aliases are not read"),
        ("a: !!python/object/apply:os.system [ls]\n", "line 1: tags are not read"),
        ("a: !!int 3\n", "line 1: tags are not read"),
        ("a:\n  b: " + "[" * 40 + "]" * 40, "line 2: nested too deeply"),
        ("a: " + "[" * 100_000, "nest"),
        ("? [a, b]\n: 1\n", "line 1: expected a text key"),
        ("a: 1\n---\nb: 2\n", "line 2: a second document is not read"),
        ("a: 1\nb: [py\n", "line 3: "),
        ("a: 1\nb: \x07\n", "line 2: "),
        ('a: "\\uD800"\n', "line 1: "),
        ("a: " + "9" * 5_000, "line 1: expected a number that can be read"),
        ("[" + "0," * 1_000 + "]", "line 1: more than 1,000 values"),
    ],
)
def test_what_is_refused(text: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "MAX_VALUES", 1_000)
    with pytest.raises(ValueError, match="line") as refused:
        parse_yaml(text)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_bomb_of_aliases_is_refused_before_it_grows() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]"
        for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    with pytest.raises(ValueError, match="line 2: aliases are not read"):
        parse_yaml("\n".join(lines))


def test_an_empty_text_is_nothing() -> None:
    assert parse_yaml("").value is None
    assert parse_yaml("# words\n").value is None
    assert parse_yaml("").line(("x",)) == 1
