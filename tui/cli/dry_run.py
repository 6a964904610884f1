"""`racwire plan`: every file, command, query and packet that checks and live samples would use, without using it."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tui.cli.errors import UsageError
from tui.cli.options import add_check_options
from tui.text.sanitize import for_encoding, sanitize_lines

if TYPE_CHECKING:
    from checks.model.settings import Settings


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.formatter_class = argparse.HelpFormatter
    parser.description = (
        "Prints every file, command, query and packet that the checks would use, and at the end what live "
        "samples (the Traffic and Database screens, record, watch) read, ask and send. Nothing of it is done. The "
        "options are those of `racwire check`: with them, what would be used is another."
    )
    add_check_options(parser)
    parser.add_argument("ids", nargs="*", metavar="ID", help="only of these checks, and nothing of live samples")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Print the plan. Raises UsageError for an unknown check, or where peers cannot be reached as set."""
    from checks.change.gates import documented
    from checks.run.check_discovery import Checks, discover
    from checks.run.dry_run import plan_checks, plan_samples
    from tui.cli.check_selection import choose

    try:
        # The gates of a change are looked at by `racwire change` alone, so they are told only where they are named.
        found = Checks((*discover(), *(documented() if args.ids else ())))
        told = [*plan_checks(choose(found, args.ids, []), settings), *(() if args.ids else plan_samples(settings))]
    except ValueError as error:
        raise UsageError(str(error)) from None
    print(for_encoding("\n".join(map(sanitize_lines, told)), getattr(sys.stdout, "encoding", None)))
    return 0
