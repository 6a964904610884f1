"""The options of `racwire check`, `plan` and `explain`, apart from what carries them out: read at every start."""

from __future__ import annotations

import argparse

from tui.cli.report_options import add_evidence_options

_CHECK = """\
exit codes: 0 pass, 1 warnings, 2 failures, 3 could not tell, or the report could not be written; 64 usage;
130 interrupted. What a waiver of the settings covers does not count."""


def add_check_parser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser
) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "check",
        parents=[common],
        help="run checks and print the report",
        description="Runs the checks on this node and its peers, and prints what was found, worst first.",
        epilog=_CHECK,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these checks (racwire explain lists them)")
    parser.add_argument("--skip", action="append", default=[], metavar="ID", help="leave this check out (repeatable)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the report is written")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file of mode 0600, whole or not at all")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")
    add_evidence_options(parser)


def add_plan_parser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser
) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "plan",
        parents=[common],
        help="what racwire would read, ask and send, without doing it",
        description="Prints every file, command, query and packet that the checks would use, and at the end what live "
        "samples (the Traffic and Database screens, record, watch) read, ask and send. Nothing of it is done. The "
        "options are those of `racwire check`: with them, what would be used is another.",
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="only of these checks, and nothing of live samples")


def add_explain_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "explain",
        help="what a check does, or what a code means",
        description="Explains a check (what it judges, what it can find), the code of a finding (why it matters, "
        "where that is known from), or a kind of switch (how it is told to carry jumbo frames). Without any: the list "
        "of all checks and codes.",
    )
    parser.add_argument("what", nargs="?", metavar="ID|CODE|KIND", help="df-ping, IC-PATH-003, switches, ...")
