"""The settings file: what a mistake in it is told as, and that the template is true."""

import pytest

from checks.settings import Settings
from checks.settings_file import SettingsError, load_settings, parse_settings, template


def test_the_template_is_the_defaults():
    assert parse_settings(template(), "template") == Settings()


def test_every_setting_is_in_the_template_with_its_meaning():
    lines = template().splitlines()
    for number, line in enumerate(lines):
        if " = " in line and not line.startswith("#"):
            assert lines[number - 1].startswith("# "), line


def test_values_are_taken_and_the_rest_stays_default():
    settings = parse_settings('[probe]\npackets = 50\n[cluster]\npeers = ["rac2"]\n', "s.toml")
    assert settings.probe.packets == 50
    assert settings.cluster.peers == ("rac2",)
    assert settings.ssh == Settings().ssh


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[prob]\n", "s.toml line 1: 'prob' is not known; did you mean 'probe'?"),
        ("\n\n[probe]\npackts = 5\n", "s.toml line 4: 'packts' is not known; did you mean 'packets'?"),
        ("[probe]\npackets = 1\n", "s.toml line 2: 'packets' must be a whole number >= 3."),
        ("[probe]\npackets = 'x'\n", "s.toml line 2: 'packets' must be a whole number, got text."),
        ("probe = 3\n", "s.toml line 1: 'probe' is a table of settings; write [probe] above them."),
        ("[cluster]\npeers = 'rac2'\n", "s.toml line 2: 'peers' must be a list, got text."),
    ],
)
def test_a_mistake_is_told_with_line_and_what_was_meant(text, sentence):
    with pytest.raises(SettingsError) as told:
        parse_settings(text, "s.toml")
    assert str(told.value) == sentence


@pytest.mark.parametrize("text", ["x =", "[[", "\x00", "a = 1\na = 2"])
def test_what_is_not_toml_is_one_sentence(text):
    with pytest.raises(SettingsError, match="is not valid TOML"):
        parse_settings(text, "s.toml")


def test_the_file_named_must_be_there_but_the_default_one_need_not(tmp_path):
    assert load_settings(None, {"XDG_CONFIG_HOME": str(tmp_path)}) == Settings()
    with pytest.raises(SettingsError, match="does not exist"):
        load_settings(str(tmp_path / "nowhere.toml"), {})


def test_the_environment_names_a_file_and_the_command_line_another(tmp_path):
    for name, packets in (("env", 30), ("line", 40)):
        (tmp_path / name).write_text(f"[probe]\npackets = {packets}\n")
    environ = {"RACWIRE_SETTINGS": str(tmp_path / "env")}
    assert load_settings(None, environ).probe.packets == 30
    assert load_settings(str(tmp_path / "line"), environ).probe.packets == 40


def test_a_directory_or_bytes_that_are_no_text_are_one_sentence(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path, tmp_path / "binary"):
        with pytest.raises(SettingsError, match="could not be read"):
            load_settings(str(path), {})
