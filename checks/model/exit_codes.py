"""The exit codes of racwire, and its end by a signal, in a separate file: errors in options need them without the rest
of the report."""

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


class Interrupted(KeyboardInterrupt):
    """A signal ends racwire. A plain KeyboardInterrupt in a check is an error of the check."""
