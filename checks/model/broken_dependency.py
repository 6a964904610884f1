"""A library of racwire's that cannot be loaded, named: half an installation is common on old nodes.

Needs the standard library only.
"""

from __future__ import annotations

import traceback

DEPENDENCIES = (
    "textual", "rich", "psutil", "pyroute2", "icmplib", "msgspec", "oracledb", "jinja2", "platformdirs",
)  # fmt: skip
"""The import names of what pyproject.toml lists."""


def named_dependency(error: BaseException) -> str:
    """`pyroute2 could not be loaded: ...`, where an error came out of loading a dependency; empty where it did not."""
    missing = (getattr(error, "name", None) or "").partition(".")[0]
    loading = [
        str(frame.f_globals.get("__name__", "")).partition(".")[0]
        for frame, _ in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_name == "<module>"
    ]
    for name in (*loading, missing if isinstance(error, ImportError) else ""):
        if name in DEPENDENCIES:
            why = " ".join(str(error).split()) or type(error).__name__
            return f"{name} could not be loaded: {why.rstrip('.')}; install racwire again, with all that it needs"
    return ""


def error_text(error: BaseException) -> str:
    """What broke: the dependency that could not be loaded, else `ValueError: the message`."""
    said = str(error).strip()
    return named_dependency(error) or (f"{type(error).__name__}: {said}" if said else type(error).__name__)
