"""The directories of racwire's own files: the XDG directories that platformdirs finds.

The state directory has the log, the pseudonyms, copied commands, recordings of the console, what the console remembers,
the journals of changes, results of measurements, and files that could not be written to their intended place. The
configuration directory has the settings file, the cache directory the index of `racwire fleet`.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from pathlib import Path

_NAME = "racwire"


def state_directory() -> Path:
    """Return $XDG_STATE_HOME/racwire, else ~/.local/state/racwire."""
    from platformdirs import user_state_path  # late: the first screen does not wait for it

    return _absolute(user_state_path, "XDG_STATE_HOME", ".local/state")


def config_directory() -> Path:
    """Return $XDG_CONFIG_HOME/racwire, else ~/.config/racwire."""
    from platformdirs import user_config_path

    return _absolute(user_config_path, "XDG_CONFIG_HOME", ".config")


def cache_directory() -> Path:
    """Return $XDG_CACHE_HOME/racwire, else ~/.cache/racwire: what is there can be made again."""
    from platformdirs import user_cache_path

    return _absolute(user_cache_path, "XDG_CACHE_HOME", ".cache")


def change_directory() -> Path:
    """Return the directory of the journals of changes: `changes` in the state directory."""
    return state_directory() / "changes"


def _absolute(find: Callable[[str], Path], variable: str, usual: str) -> Path:
    """Return the directory that platformdirs finds from an absolute path, else the default.

    The XDG specification has relative paths ignored: they would be another directory for each working directory.
    """
    base = os.environ.get(variable, "").strip() or os.environ.get("HOME", "")
    return find(_NAME) if base.startswith("/") else _home() / usual / _NAME


def _home() -> Path:
    """Return the home of the user: $HOME, else the home in the user database, else / for a user without an entry."""
    home = os.environ.get("HOME", "")
    if home.startswith("/"):
        return Path(home)
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return Path("/")
