"""An internal error of racwire: its traceback goes to stderr and into the log, and a sentence says how to report it."""

from __future__ import annotations

import time
import traceback
from contextlib import suppress

from checks.model.exit_codes import ExitCode
from checks.run.directories import state_directory
from tui.cli.log_file import LogFile, log_path
from tui.cli.streams import print_message

HOW_TO_REPORT = "`racwire bug` prints what a bug report needs"


def end_after(error: Exception) -> int:
    """Print and log the traceback of an error that no part of racwire expects, and return the exit code."""
    with suppress(OSError, ValueError):
        traceback.print_exception(error)
    log = LogFile(log_path(state_directory()))
    started = f"{time.strftime('%Y-%m-%d %H:%M:%S')} racwire: an internal error\n"
    log.write(started + "".join(traceback.format_exception(error)))
    print_message(f"this is an internal error of racwire, and says nothing of the cluster; {HOW_TO_REPORT}.")
    return ExitCode.COULD_NOT_TELL
