"""The directories of racwire's own files: XDG's, as platformdirs finds them.

State holds the log, the pseudonyms, copied commands, recordings of the console, the journals of changes, and what could
not be written where it was to go; configuration holds the settings file.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from pathlib import Path

_NAME = "racwire"


def state_directory() -> Path:
    """$XDG_STATE_HOME/racwire, else ~/.local/state/racwire."""
    from platformdirs import user_state_path  # late: the first screen does not wait for it

    return _absolute(user_state_path, "XDG_STATE_HOME", ".local/state")


def config_directory() -> Path:
    """$XDG_CONFIG_HOME/racwire, else ~/.config/racwire."""
    from platformdirs import user_config_path

    return _absolute(user_config_path, "XDG_CONFIG_HOME", ".config")


def change_directory() -> Path:
    """The directory of the journals of changes: of the state, or where racwire 0.1.0, which knew of no $XDG_STATE_HOME,
    left some and there is no other yet."""
    usual = state_directory() / "changes"
    of_old = _home() / ".local/state" / _NAME / "changes"
    return of_old if of_old.is_dir() and not usual.is_dir() else usual


def _absolute(find: Callable[[str], Path], variable: str, usual: str) -> Path:
    """What platformdirs finds, where it goes by an absolute path. XDG has others ignored: a relative one would be
    another directory wherever racwire is started."""
    goes_by = os.environ.get(variable, "").strip() or os.environ.get("HOME", "")
    return find(_NAME) if goes_by.startswith("/") else _home() / usual / _NAME


def _home() -> Path:
    """The home of the user, that which the system knows where HOME says none; / for a user without a name."""
    home = os.environ.get("HOME", "")
    if home.startswith("/"):
        return Path(home)
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return Path("/")
