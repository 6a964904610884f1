"""The exit codes of racwire; a file of its own, since a wrong option needs them and nothing else of the report."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of the command: an interface."""

    PASS = 0
    WARNINGS = 1
    FAILURES = 2
    COULD_NOT_TELL = 3
    USAGE = 64
    INTERRUPTED = 130
