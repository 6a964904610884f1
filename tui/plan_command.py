"""`racwire plan`: every file, command, query and packet that checks and live samples would use, without using it."""

from __future__ import annotations

import argparse
import sys

from checks.plan import plan
from checks.plugin import discover
from checks.settings import Settings
from checks.traffic.plan import plan_samples
from tui.check_command import choose
from tui.errors import UsageError
from tui.printable import for_encoding, printable


def run_plan(args: argparse.Namespace, settings: Settings) -> int:
    """Print the plan. Raises UsageError for an unknown check, or where peers cannot be reached as set."""
    try:
        told = [*plan(choose(discover(), args.ids, []), settings), *(() if args.ids else plan_samples(settings))]
    except ValueError as error:
        raise UsageError(str(error)) from None
    print(for_encoding("\n".join(map(printable, told)), getattr(sys.stdout, "encoding", None)))
    return 0
