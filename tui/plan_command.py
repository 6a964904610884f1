"""`racwire plan`: every file, command and packet that checks would use, without using it."""

from __future__ import annotations

import argparse
import sys

from checks.plan import plan
from checks.plugin import discover
from checks.settings import Settings
from tui.check_command import choose
from tui.errors import UsageError
from tui.printable import for_encoding, printable


def run_plan(args: argparse.Namespace, settings: Settings) -> int:
    """Print the plan. Raises UsageError for an unknown check, or where peers cannot be reached as set."""
    try:
        lines = [printable(line) for line in plan(choose(discover(), args.ids, []), settings)]
    except ValueError as error:
        raise UsageError(str(error)) from None
    print(for_encoding("\n".join(lines), getattr(sys.stdout, "encoding", None)))
    return 0
