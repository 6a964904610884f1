"""The directories of racwire's own files, whatever the environment contains."""

import os
import pwd
from pathlib import Path

import pytest

from checks.change.record.journal_files import directory_of
from checks.model.settings import Settings
from checks.run.directories import cache_directory, change_directory, config_directory, state_directory

USUAL = {"state": ".local/state", "config": ".config", "cache": ".cache"}
FUNCTIONS = {"state": state_directory, "config": config_directory, "cache": cache_directory}


@pytest.mark.parametrize("kind", USUAL)
@pytest.mark.parametrize(
    ("base", "home", "directory"),
    [
        ("/base", "/home/ann", "/base/racwire"),
        (None, "/home/ann", "/home/ann/{usual}/racwire"),
        ("", "/home/ann", "/home/ann/{usual}/racwire"),
        ("base", "/home/ann", "/home/ann/{usual}/racwire"),
        (None, "", "{own}/{usual}/racwire"),
        (None, "here", "{own}/{usual}/racwire"),
        (None, "~nobody-of-that-name", "{own}/{usual}/racwire"),
        (None, None, "{own}/{usual}/racwire"),
    ],
)
def test_a_directory_follows_xdg_even_with_an_invalid_environment(kind, base, home, directory, monkeypatch):
    for name, value in ((f"XDG_{kind.upper()}_HOME", base), ("HOME", home)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    own = pwd.getpwuid(os.getuid()).pw_dir
    assert FUNCTIONS[kind]() == Path(directory.format(own=own, usual=USUAL[kind]))


def test_a_user_without_a_passwd_entry_has_the_root_directory_as_home(monkeypatch):
    def unknown(_):
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert state_directory() == Path("/.local/state/racwire")


def test_the_journals_of_changes_are_in_the_state_directory(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert change_directory() == directory_of(Settings()) == tmp_path / "state/racwire/changes"
