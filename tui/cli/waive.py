"""`racwire waive CODE`: a waiver for the settings file, made of a finding of a report."""

from __future__ import annotations

import argparse

_EPILOG = """\
Prints a waiver to be put into the settings file, for a finding that you know of and live with. It stays in every
report, marked, and out of the exit code, until it expires or the finding gets worse than it is in FILE.

  racwire report -o now.json
  racwire waive IC-BOOT-002 --from now.json --reason 'mended in January' --by 'Ann Lee' --until 2027-01-31"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Prints a waiver to be put into the settings file."
    parser.epilog = _EPILOG
    parser.add_argument("code", metavar="CODE", help="of the finding, such as IC-PATH-003")
    parser.add_argument(
        "--subject",
        metavar="TEXT",
        default="",
        help="of the finding, where several have the code; `*` stands for any text",
    )
    parser.add_argument("--from", metavar="FILE", dest="from_file", required=True, help="the report that has it")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why it may stay")
    parser.add_argument("--by", required=True, metavar="NAME", help="who takes that on")
    parser.add_argument("--until", required=True, metavar="DATE", help="its last day, such as 2027-01-31")


def run(args: argparse.Namespace) -> int:
    """Print the waiver. Raises UsageError where there is nothing to waive, or not so."""
    from tui.cli.waiver import print_waiver

    return print_waiver(args)
