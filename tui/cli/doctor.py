"""`racwire doctor`: one page before the first check: the user, the nodes, the database, and what will be UNKNOWN."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tui.cli.document import Document, chosen_output
from tui.cli.options import (
    add_cluster_options,
    add_database_options,
    add_document_options,
    add_licence_option,
    add_quiet_option,
)
from tui.cli.streams import exit_past_hung_threads

if TYPE_CHECKING:
    from checks.model.settings import Settings

_EPILOG = """\
racwire doctor reads what a check reads, but sends no ping and waits for no
interval: it takes a few seconds. It names each source that was refused, the
right that is missing, and the checks that will be UNKNOWN without it.

examples:
  racwire doctor                       on a node, on the first day
  racwire doctor --connect rac-scan:1521/prod --user racwire
                                       the login and the grants too
  racwire doctor --grid-home /u01/app/19.0.0/grid
                                       where racwire does not find the Grid home
  racwire doctor -v                    nothing shortened, and what is read
  racwire doctor --format json -o ready.json
                                       for a program

exit codes: 0 ready, 3 something will be UNKNOWN in a check, or the page could
not be written; 64 usage; 130 interrupted."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "List on one page what a check can read here, and how to get what is missing."
    parser.epilog = _EPILOG
    output = parser.add_argument_group("output")
    add_document_options(output)
    add_quiet_option(output)
    add_cluster_options(parser)
    add_database_options(parser)
    add_licence_option(parser)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Read what a check would read, print the page, and return the exit code. Raises UsageError for a wrong file."""
    import msgspec

    from checks.readiness.readiness_items import readiness
    from checks.readiness.reading import readiness_engine
    from checks.run.check_discovery import discover
    from tui.cli.diagnosing import diagnose
    from tui.cli.doctor_page import doctor_page
    from tui.cli.own_loop import run_in_own_loop
    from tui.cli.password import password_for
    from tui.cli.progress import progress_line

    output = chosen_output(args)
    found = discover()
    password = password_for(settings.database, found)
    engine = readiness_engine(found, settings, broken=found.broken, password=password)
    with progress_line(sys.stderr.isatty() and not args.quiet) as progress:
        report, account = run_in_own_loop(diagnose(engine, progress))
    ready = readiness(report, [check.id for check in found], account, settings.database)
    document = Document(
        "page",
        args.format,
        json=lambda: msgspec.json.format(msgspec.json.encode(ready), indent=2) + b"\n",
        text=lambda stream: doctor_page(ready, stream, verbose=settings.log.verbose),
    )
    return exit_past_hung_threads(document.deliver(output, ready.exit_code))
