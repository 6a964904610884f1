"""`racwire grants`: print the script for a database user that can read the views of racwire, and nothing else."""

from __future__ import annotations

import argparse
import re
import sys

from checks.sources.database.grants import DEFAULT_USER, grants_script
from tui.cli.errors import UsageError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_$#]{0,127}")


_EPILOG = """\
The script grants CREATE SESSION, and SELECT on the views that racwire reads. A
DBA runs the script; racwire does not run it. --ic-clients adds the one object
that the script creates: a view over X$KSXPCLIENT, which SYS alone can read.

examples:
  racwire grants > racwire.sql; sqlplus / as sysdba @racwire.sql
  racwire grants --user C##RACWIRE > racwire.sql
  racwire grants --statspack > racwire.sql

exit codes: 0 printed; 64 usage."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Print a SQL*Plus script that creates a read-only database user for racwire."
    parser.epilog = _EPILOG
    user = parser.add_argument_group("which user")
    # Not `user`: the script's user need not be the one that racwire logs in as.
    user.add_argument(
        "--user",
        dest="grantee",
        default=DEFAULT_USER,
        metavar="NAME",
        help=f"its name (default {DEFAULT_USER})",
    )
    reads = parser.add_argument_group("additional views")
    reads.add_argument("--awr", dest="grant_awr", action="store_true", help="AWR (needs the Diagnostics Pack)")
    reads.add_argument("--statspack", action="store_true", help="Statspack, where it is installed")
    reads.add_argument(
        "--ic-clients", action="store_true", help="create a view of the interconnect's users (over X$KSXPCLIENT)"
    )


def run(args: argparse.Namespace) -> int:
    """Print the script. Raises UsageError where --user is not a valid name."""
    if not _NAME.fullmatch(args.grantee):
        raise UsageError("--user: use a name of letters, digits, _, $ and #, such as RACWIRE or C##RACWIRE.")
    script = grants_script(
        args.grantee.upper(), awr=args.grant_awr, statspack=args.statspack, ic_clients=args.ic_clients
    )
    sys.stdout.write(script)
    return 0
