"""The exit codes of racwire, in a separate file: errors in options need them without the rest of the report."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of the command; their values are an interface."""

    PASS = 0
    WARNINGS = 1
    FAILURES = 2
    COULD_NOT_TELL = 3
    USAGE = 64
    INTERRUPTED = 130
