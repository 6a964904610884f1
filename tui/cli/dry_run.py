"""`racwire plan`: list every file, command, query and packet that checks and live samples would use."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tui.cli.errors import UsageError
from tui.cli.options import add_check_options
from tui.cli.pager import print_paged
from tui.text.sanitize import sanitize_lines

if TYPE_CHECKING:
    from checks.model.settings import Settings


_COMMANDS = ("measure", "drill", "investigate")
"""Words in the place of checks: what these commands read and send is listed."""
_EPILOG = """\
racwire only lists these uses. The options are those of `racwire check`; the
list depends on them. Without ID, the list ends with the live samples: what the
Traffic and Database screens, `racwire record` and `racwire watch` read, query
and send; with what `racwire doctor` reads; and with the rights that all this
needs. With --sudoers, racwire prints the lines that let a user run the refused
tools by sudo: full paths, exact arguments, no wildcard, no shell. racwire uses
them only with --sudo, or with `sudo = true` under [cluster] in the settings.

examples:
  racwire plan                          all checks and live samples
  racwire plan df-ping                  one check
  racwire plan --connect rac-scan:1521/prod --user racwire
                                        the SQL statements too
  racwire plan measure                  the program that a measurement runs on
                                        a peer, in full
  racwire plan drill                    the same, and what a drill reads
  racwire plan investigate              what guided troubleshooting sends and
                                        reads by itself
  racwire plan --sudoers --for dba1     lines of sudoers for the user dba1

exit codes: 0 listed; 64 usage, or ssh cannot be used as configured."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "List every file, command, query and packet that the checks would use."
    parser.epilog = _EPILOG
    checks = parser.add_argument_group("which checks")
    checks.add_argument("ids", nargs="*", metavar="ID", help="list only these checks, and no live samples")
    sudoers = parser.add_argument_group("sudoers")
    sudoers.add_argument(
        "--sudoers",
        action="store_true",
        help="print lines of sudoers for the tools that refuse a user, and nothing else",
    )
    sudoers.add_argument("--for", metavar="USER", dest="for_user", help="with --sudoers: this user (default: yourself)")
    add_check_options(parser)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Print the list. Raises UsageError for an unknown check, or where RACWIRE_RSH names no program."""
    from checks.change.gates import documented
    from checks.run.check_discovery import Checks, discover
    from checks.run.dry_run import plan_checks, plan_doctor, plan_drill, plan_measurement, plan_rights, plan_samples
    from checks.run.dry_run_steps import plan_investigation
    from tui.cli.check_selection import choose

    if args.sudoers:
        return _print_sudoers(args.for_user, settings)
    if args.for_user is not None:
        raise UsageError("--for needs --sudoers.")
    if args.ids in (["measure"], ["drill"]):
        return _print_measure(args.ids[0])
    if args.ids == ["investigate"]:
        print_paged("\n".join(list(plan_investigation(settings))[1:]) + "\n")
        return 0
    try:
        # Only `racwire change` runs the gates of a change, so the list contains them only where they are named.
        known = discover()
        found = Checks((*known, *(documented() if args.ids else ())), on_request=known.on_request)
        chosen = choose(found, args.ids, [], words=_COMMANDS)
        lines = list(plan_checks(chosen, settings))
        if not args.ids:
            lines += [*plan_samples(settings), *plan_doctor(), *plan_measurement(), *plan_drill()]
            lines += plan_investigation(settings)
        lines += plan_rights(chosen, samples=not args.ids)
    except ValueError as error:
        raise UsageError(str(error)) from None
    print_paged("\n".join(map(sanitize_lines, lines)) + "\n")
    return 0


def _print_measure(command: str) -> int:
    """Print what a measurement or a drill reads, and the program that it runs on a peer, in full."""
    from checks.measure.preparing import far_end_texts
    from checks.run.dry_run import plan_drill, plan_measurement

    lines = [*plan_measurement(), *(plan_drill() if command == "drill" else ())]
    for language, digest, text in far_end_texts():
        lines += ["", f"The far end in {language}, sent through ssh, only with --go (SHA-256 {digest}):", text.rstrip()]
    print_paged("\n".join(lines[1:]) + "\n")
    return 0


def _print_sudoers(user: str | None, settings: Settings) -> int:
    """Print the lines. Raises UsageError where they cannot be written for this user and Grid home."""
    from checks.run.sudoers import SudoersError, sudoers_here

    try:
        print("\n".join(sudoers_here(user or "", settings.cluster)))
    except SudoersError as error:
        raise UsageError(str(error)) from None
    return 0
