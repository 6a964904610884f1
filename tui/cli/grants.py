"""`racwire grants`: the script for a database user that can read what racwire reads, and nothing else."""

from __future__ import annotations

import argparse
import re
import sys

from checks.sources.database.grants import DEFAULT_USER, grants_script
from tui.cli.errors import UsageError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_$#]{0,127}")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.formatter_class = argparse.HelpFormatter
    parser.description = (
        "Prints a SQL*Plus script that makes a user with CREATE SESSION and SELECT on what racwire reads. "
        "A DBA runs it; racwire runs nothing of it."
    )
    # Not `user`: the script's user need not be the one that racwire logs in as.
    parser.add_argument("--user", dest="grantee", default=DEFAULT_USER, metavar="NAME", help="the user's name")
    parser.add_argument("--awr", dest="grant_awr", action="store_true", help="AWR too (needs the Diagnostics Pack)")
    parser.add_argument("--statspack", action="store_true", help="Statspack too, where it is installed")


def run(args: argparse.Namespace) -> int:
    """Print the script. Raises UsageError for what cannot be a user's name."""
    if not _NAME.fullmatch(args.grantee):
        raise UsageError("--user: write a plain name of letters, digits, _, $ and #, such as RACWIRE or C##RACWIRE.")
    sys.stdout.write(grants_script(args.grantee.upper(), awr=args.grant_awr, statspack=args.statspack))
    return 0
