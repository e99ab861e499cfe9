"""Settings from ncubot.toml and the environment."""

from pathlib import Path

import msgspec
import pytest

from bot.config import ConfigError, load
from bot.settings import BotSettings, load_settings
from bot.wording import sentence
from runner_client.secret import Secret

RUNNER = '{"name": "a", "url": "https://gpu.example.org", "gpu": "H200", "token": "hush"}'


class Needs(msgspec.Struct):
    token: Secret


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def from_file(text: str, environ: dict[str, str] | None = None) -> BotSettings:
    Path("ncubot.toml").write_text(text)
    return load_settings(environ=environ or {})


def test_defaults_make_one_machine_work(tmp_path: Path) -> None:
    settings = load_settings(environ={})
    assert settings.discord_token is None
    assert settings.runners == ()
    assert settings.database == f"sqlite:///{tmp_path}/ncubot-data/ncubot.db"
    assert (settings.problems / "linalg.yaml").is_file()
    assert settings.profile_after_deadline


def test_a_file_then_the_environment_over_it() -> None:
    text = '[bot]\ndata = "here"\nupload_limit = 5\nprofile_after_deadline = false\n'
    environ = {"NCUBOT_UPLOAD_LIMIT": "7", "NCUBOT_ADMIN_ROLE": "", "NCUBOT_RUNNER_TOKEN": "x"}
    settings = from_file(text, environ)
    assert settings.data == Path("here")
    assert settings.upload_limit == 7
    assert settings.admin_role is None
    assert not settings.profile_after_deadline


def test_well_known_variables() -> None:
    environ = {"DISCORD_TOKEN": "abc", "DATABASE_URL": "postgresql://db/x"}
    settings = load_settings(environ=environ)
    assert settings.discord_token == Secret("abc")
    assert settings.database == "postgresql://db/x"
    assert load_settings(environ=environ | {"NCUBOT_DISCORD_TOKEN": "own"}).discord_token == Secret(
        "own"
    )


def test_runners_from_either_place() -> None:
    (runner,) = load_settings(environ={"NCUBOT_RUNNERS": f"[{RUNNER}]"}).runners
    assert (runner.name, runner.gpu, runner.token) == ("a", "H200", Secret("hush"))
    text = '[[bot.runners]]\nname = "a"\nurl = "http://localhost:1"\ngpu = "A100"\n'
    assert from_file(text).runners[0].gpu == "A100"


def test_no_secret_is_shown() -> None:
    environ = {
        "DISCORD_TOKEN": "hush",
        "DATABASE_URL": "postgresql://u:hush@h/x",
        "NCUBOT_RUNNERS": f"[{RUNNER}]",
    }
    assert "hush" not in repr(load_settings(environ=environ))


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"NCUBOT_UPLOAD_LIMIT": "much"}, "NCUBOT_UPLOAD_LIMIT, upload_limit: Expected `int"),
        ({"NCUBOT_UPLOAD_LIMIT": "0"}, "NCUBOT_UPLOAD_LIMIT, upload_limit: Expected `int` >= 1."),
        ({"NCUBOT_RUNNERS": "h200"}, "NCUBOT_RUNNERS, runners: expected JSON."),
        ({"NCUBOT_RUNNERS": "[{}]"}, "missing required field `name`"),
        (
            {"NCUBOT_RUNNERS": f"[{RUNNER},{RUNNER}]"},
            "settings: runners: each needs a name of its own",
        ),
        ({"NCUBOT_PROFILE_AFTER_DEADLINE": "perhaps"}, "profile_after_deadline: Expected `bool`"),
        ({"DISCORD_TOKEN": "a b"}, "DISCORD_TOKEN, discord_token: expected a secret without"),
    ],
)
def test_a_wrong_variable_is_named(environ: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        load_settings(environ=environ)
    assert said in sentence(wrong.value)
    assert "hush" not in sentence(wrong.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[bot", "ncubot.toml: "),
        ("bot = 3", "ncubot.toml, bot: expected a table."),
        ("[bot]\nuplod_limit = 3", "ncubot.toml [bot], uplod_limit: no such setting"),
        ("[bot]\ndata = 3", "ncubot.toml [bot], data: expected text"),
        ('[bot]\nupload_limit = "x"', "ncubot.toml [bot], upload_limit: Expected `int"),
        (
            '[[bot.runners]]\nname = "a"\nurl = "http://10.0.0.1"\ngpu = "H200"\n',
            "plain http to a host that is not loopback",
        ),
    ],
)
def test_a_wrong_file_is_named(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        from_file(text)
    assert said in sentence(wrong.value)
    assert "\n" not in sentence(wrong.value)


def test_a_file_that_was_named_must_be_there() -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_settings(Path("absent.toml"), {})


def test_a_field_without_a_default_must_be_set() -> None:
    with pytest.raises(ConfigError) as wrong:
        load(Needs, "x", "X_", environ={"X_TOKEN": ""})
    assert sentence(wrong.value) == "X_TOKEN, token: must be set."
    assert load(Needs, "x", "X_", environ={"X_TOKEN": "t"}).token == Secret("t")


def test_tokens_of_git_hosts_stay_hidden(tmp_path: Path) -> None:
    environ = {"NCUBOT_GIT_TOKENS": '{"github.com": "hush"}', "NCUBOT_GPU_ALIASES": '{"a": "B"}'}
    settings = load_settings(environ=environ)
    assert settings.git_tokens["github.com"].reveal() == "hush"
    assert settings.gpu_aliases == {"a": "B"}
    assert "hush" not in repr(settings)
