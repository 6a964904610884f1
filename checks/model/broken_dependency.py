"""The name of a dependency that cannot be loaded: incomplete installations are common on old nodes.

Needs only the standard library.
"""

from __future__ import annotations

import traceback

from checks.model.system_limits import limit_reached

DEPENDENCIES = (
    "textual", "rich", "psutil", "pyroute2", "icmplib", "msgspec", "oracledb", "jinja2", "platformdirs",
)  # fmt: skip
"""The import names of the dependencies in pyproject.toml."""


def named_dependency(error: BaseException) -> str:
    """Return `pyroute2 could not be loaded: ...` for an error from loading a dependency; empty for other errors."""
    missing = (getattr(error, "name", None) or "").partition(".")[0]
    loading = [
        str(frame.f_globals.get("__name__", "")).partition(".")[0]
        for frame, _ in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_name == "<module>"
    ]
    for name in (*loading, missing if isinstance(error, ImportError) else ""):
        if name in DEPENDENCIES:
            why = " ".join(str(error).split()) or type(error).__name__
            return f"{name} could not be loaded: {why.rstrip('.')}; install racwire again, with all its dependencies"
    return ""


def error_text(error: BaseException) -> str:
    """Return the limit of the system, or the dependency that could not be loaded, else `ValueError: the message`."""
    if known := limit_reached(error) or named_dependency(error):
        return known
    try:
        message = str(error).strip()
    except BaseException:  # the text of a foreign error is foreign code
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
