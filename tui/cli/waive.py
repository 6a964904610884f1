"""`racwire waive CODE`: print a waiver for the settings file, made from a finding of a report."""

from __future__ import annotations

import argparse

_EPILOG = """\
A waived finding stays in every report, marked as waived. It does not count for
the exit code until the waiver expires or the finding gets worse than in FILE.

examples:
  racwire report -o now.json
  racwire waive IC-BOOT-002 --from now.json --reason 'fixed in January' \\
      --by 'Ann Lee' --until 2027-01-31
  racwire waive IC-LOST-002 --from now.json --subject 'prod1*' \\
      --reason 'test load' --by 'Ann Lee' --until 2027-01-31 >> settings.toml

exit codes: 0 printed; 64 usage, or FILE has no such finding."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Print a waiver for the settings file: you accept a finding for some time."
    parser.epilog = _EPILOG
    finding = parser.add_argument_group("which finding")
    finding.add_argument("code", metavar="CODE", help="code of the finding, such as IC-PATH-003")
    finding.add_argument(
        "--from", metavar="FILE", dest="from_file", required=True, help="saved file or JSON report with the finding"
    )
    finding.add_argument(
        "--subject",
        metavar="TEXT",
        default="",
        help="subject of the finding, where several findings have the code; `*` matches any text",
    )
    waiver = parser.add_argument_group("the waiver")
    waiver.add_argument("--reason", required=True, metavar="TEXT", help="why the finding is accepted")
    waiver.add_argument("--by", required=True, metavar="NAME", help="the person who accepts it")
    waiver.add_argument("--until", required=True, metavar="DATE", help="last day of the waiver, such as 2027-01-31")


def run(args: argparse.Namespace) -> int:
    """Print the waiver and return the exit code. Raises UsageError where there is none to print."""
    from tui.cli.waiving import print_waiver

    return print_waiver(args)
