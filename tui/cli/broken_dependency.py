"""A library of racwire's that cannot be loaded, named in one sentence: half an installation is common on old nodes."""

from __future__ import annotations

import sys
import traceback

DEPENDENCIES = (
    "textual", "rich", "psutil", "pyroute2", "icmplib", "msgspec", "oracledb", "jinja2", "platformdirs",
)  # fmt: skip
"""The import names of what pyproject.toml lists."""
_COULD_NOT_TELL = 3
"""`ExitCode.COULD_NOT_TELL`, which cannot be loaded without msgspec."""


def named_dependency(error: BaseException) -> str:
    """`pyroute2 could not be loaded: ...`, where an error came out of loading a dependency; empty where it did not."""
    missing = (getattr(error, "name", None) or "").partition(".")[0]
    loading = [
        frame.f_globals.get("__name__", "").partition(".")[0]
        for frame, _ in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_name == "<module>"
    ]
    for name in (*loading, missing):
        if name in DEPENDENCIES:
            why = " ".join(str(error).split()) or type(error).__name__
            return f"{name} could not be loaded: {why.rstrip('.')}; install racwire again, with all that it needs."
    return ""


def report_broken(sentence: str) -> int:
    """Tell the sentence without help of any library; the exit code."""
    print("racwire: " + "".join(c if c.isprintable() else "?" for c in sentence), file=sys.stderr)
    return _COULD_NOT_TELL
