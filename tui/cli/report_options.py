"""The options of `racwire report`, `save`, `diff` and `waive`, apart from what carries them out."""

from __future__ import annotations

import argparse

from tui.cli.report_formats import FORMATS

_Commands = argparse._SubParsersAction

_FORMATS = "\n".join(f"  {form.name:<12} {form.ending:<6} {form.what}" for form in FORMATS.values())
_REPORT = f"""\
formats, and what their files end in:
{_FORMATS}

examples:
  racwire report -o incident.html                 the checks, a short recording, and all of it in one page
  racwire report --from night.racwire -o night.md           of what was saved, on any machine
  racwire report --redact -o vendor.html          names and addresses as pseudonyms
  racwire report df-ping --format junit -o racwire.xml
  racwire report --format openmetrics > racwire.prom.new; mv racwire.prom.new racwire.prom

The last one is for node_exporter: with `;`, since `&&` would keep the old metrics whenever there is a problem. Where
node_exporter runs as the same user, -o racwire.prom --force does it: files of -o are readable to their owner alone.

exit codes: those of `racwire check`: 0 pass, 1 warnings, 2 failures, 3 could not tell, or the report could not be
written; 64 usage; 130 interrupted."""

_SAVE = """\
FILE holds what the checks found and what they found it in: facts, outputs as they were read, probes, results of the
database, and a recording of the traffic meanwhile. It needs no cluster and no Oracle to be opened:

  racwire save night.racwire
  racwire open night.racwire                      the console, on any machine
  racwire check --from night.racwire              the checks once more, on what was saved
  racwire report --from night.racwire -o night.html
  racwire diff night.racwire morning.racwire      what got better, what got worse

exit codes: those of `racwire check`: 0 pass, 1 warnings, 2 failures, 3 could not tell, or the file could not be
written; 64 usage; 130 interrupted."""

_DIFF = """\
A and B are saved files or reports as JSON; B is the later one.

exit codes: 0 nothing is worse; 1 a warning is new or graver; 2 a failure is; 3 something is not known any more that
was, or the comparison could not be written; 64 usage."""

_WAIVE = """\
Prints a waiver to be put into the settings file, for a finding that you know of and live with. It stays in every
report, marked, and out of the exit code, until it expires or the finding gets worse than it is in FILE.

  racwire report -o now.json
  racwire waive IC-BOOT-002 --from now.json --reason 'mended in January' --by 'Ann Lee' --until 2027-01-31"""


def add_evidence_options(parser: argparse.ArgumentParser) -> None:
    """What a report is made of, and who may read it."""
    evidence = parser.add_argument_group(
        "the evidence",
        "With --from, thresholds and waivers are those that were saved, unless --settings is given.",
    )
    evidence.add_argument(
        "--from",
        metavar="FILE",
        dest="from_file",
        help="take the evidence from FILE (a saved file, or a report as JSON) instead of the cluster",
    )
    evidence.add_argument(
        "--redact",
        action="store_true",
        help="names and addresses become pseudonyms; names like oracle, grid, root and racwire stay",
    )
    evidence.add_argument(
        "--redaction-map",
        metavar="FILE",
        help="where pseudonyms are kept, for you alone (default: ~/.local/state/racwire/redaction.json)",
    )


def add_report_parser(commands: _Commands[argparse.ArgumentParser], common: argparse.ArgumentParser) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "report",
        parents=[common],
        help="write the report: HTML, Markdown, JSON, JUnit, OpenMetrics, text",
        description="Runs the checks, or takes what was saved, and writes the report to hand on.",
        epilog=_REPORT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these checks (racwire explain lists them)")
    parser.add_argument("--skip", action="append", default=[], metavar="ID", help="leave this check out (repeatable)")
    parser.add_argument("--format", choices=FORMATS, help="else as FILE ends, else text")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file of mode 0600, whole or not at all")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    _add_record_option(parser, "HTML")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")
    add_evidence_options(parser)


def add_save_parser(commands: _Commands[argparse.ArgumentParser], common: argparse.ArgumentParser) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "save",
        parents=[common],
        help="run the checks and keep all evidence in one file",
        description="Runs the checks and keeps all evidence in one compressed file, to be looked at anywhere.",
        epilog=_SAVE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="the saved file, such as night.racwire")
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these checks (racwire explain lists them)")
    parser.add_argument("--skip", action="append", default=[], metavar="ID", help="leave this check out (repeatable)")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    _add_record_option(parser, "the file")
    parser.add_argument("--recording", metavar="REC", help="put this recording into the file instead of a new one")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")
    add_evidence_options(parser)


def add_diff_parser(commands: _Commands[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "diff",
        help="what got better and worse between two reports or saved files",
        description="Tells what got better and what got worse between two reports or saved files.",
        epilog=_DIFF,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("before", metavar="A", help="the earlier one")
    parser.add_argument("after", metavar="B", help="the later one")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how it is written")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file of mode 0600, whole or not at all")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")


def add_waive_parser(commands: _Commands[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "waive",
        help="print a waiver for the settings file",
        description="Prints a waiver to be put into the settings file.",
        epilog=_WAIVE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
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


def _add_record_option(parser: argparse.ArgumentParser, where: str) -> None:
    parser.add_argument(
        "--record", metavar="TIME", help=f"how long the traffic is recorded for {where} (default 15s; 0s: not at all)"
    )
