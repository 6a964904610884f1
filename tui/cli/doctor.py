"""`racwire doctor`: one page before the first check: the user, the nodes, the database, and what will be UNKNOWN."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from checks.model.wording import counted, few
from tui.cli.document import Document, output_file
from tui.cli.options import (
    SAMPLING_OPTIONS,
    add_cluster_options,
    add_database_options,
    add_options as add_declared,
    add_output_options,
    add_quiet_option,
)
from tui.cli.progress import Progress, progress_line
from tui.cli.streams import exit_past_hung_threads

if TYPE_CHECKING:
    from checks.model.facts import Unknown
    from checks.model.report import Report
    from checks.model.settings import Settings
    from checks.readiness.reading import Account
    from checks.readiness.readiness_items import Readiness, ReadinessItem
    from checks.readiness.refusals import Refusal
    from checks.run.engine import Engine
    from checks.run.events import Event
    from tui.text.line import Line

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
  racwire doctor -v                    nothing shortened
  racwire doctor --format json -o ready.json
                                       for a program

exit codes: 0 ready, 3 something will be UNKNOWN in a check, or the page could
not be written; 64 usage; 130 interrupted."""

_NARROWEST = 40
_LABEL = 11
_FIRST = 2
"""Refusals of an item, and commands of a step, on the page without --verbose."""
_MOST_CHECKS = 6
"""Names of checks on the page without --verbose."""
_ALL = 1_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "List on one page what a check can read here, what is missing, and how to fix that."
    parser.epilog = _EPILOG
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=("text", "json"), default="text", help="format (default text)")
    output.add_argument("-v", "--verbose", action="store_true", help="shorten no list")
    add_output_options(output)
    add_quiet_option(output)
    add_cluster_options(parser)
    add_database_options(parser)
    licence = parser.add_argument_group("licence")
    add_declared(licence, [option for option in SAMPLING_OPTIONS if option.name == "--awr"])


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Read what a check would read, print the page, and return the exit code. Raises UsageError for a wrong file."""
    import msgspec

    from checks.readiness.reading import readiness_engine
    from checks.readiness.readiness_items import readiness
    from checks.run.check_discovery import discover
    from tui.cli.own_loop import run_in_own_loop
    from tui.cli.password import password_for

    output = None if args.output is None else output_file(args.output, replace=args.force)
    found = discover()
    password = password_for(settings.database, found)
    engine = readiness_engine(found, settings, broken=found.broken, password=password)
    with progress_line(sys.stderr.isatty() and not args.quiet) as progress:
        report, account = run_in_own_loop(_read(engine, _Gathering(progress)))
    ready = readiness(report, [check.id for check in found], account, settings.database)
    document = Document(
        "page",
        args.format,
        json=lambda: msgspec.json.format(msgspec.json.encode(ready), indent=2) + b"\n",
        text=lambda stream: doctor_page(ready, stream, verbose=args.verbose),
    )
    return exit_past_hung_threads(document.deliver(output, ready.exit_code, replace=args.force))


class _Gathering(Progress):
    """The progress of reading. The checks run, but are no step that the operator waits for."""

    def __init__(self, line: Progress) -> None:
        super().__init__(False)
        self._line = line

    def __call__(self, event: Event) -> None:
        from checks.run.events import CheckConcluded

        if not isinstance(event, CheckConcluded):
            self._line(event)


async def _read(engine: Engine, progress: Progress) -> tuple[Report, Account | Unknown]:
    """Read everything at the same time; the first signal ends the reading."""
    from checks.model.facts import Unknown
    from checks.readiness.reading import account
    from tui.cli.checking import check

    user = asyncio.create_task(account())
    try:
        report = await check(engine, progress)
        if report.interrupted and not user.done():
            return report, Unknown("The user was not read before racwire was stopped.")
        return report, await user
    finally:
        user.cancel()


# --- the page ---------------------------------------------------------------------------------------------------------


def doctor_page(ready: Readiness, stream: TextIO, *, verbose: bool = False) -> str:
    """The page for that stream: coloured for a terminal (unless NO_COLOR), plain for a pipe or a file."""
    from tui.cli.output import columns_of, render

    return render(_lines(ready, columns_of(stream, narrowest=_NARROWEST), verbose), stream)


def _lines(ready: Readiness, width: int, verbose: bool) -> Iterator[Line]:
    from tui.text.line import hanging

    yield [(_header(ready), "title")]
    yield from hanging([], _verdict(ready), width, "unknown" if ready.unknown or ready.interrupted else "pass")
    yield []
    for item in ready.items:
        yield from _item_lines(item, width, verbose)
    yield []
    yield from hanging([], _last_line(ready, verbose), width, "faint")


def _header(ready: Readiness) -> str:
    from checks.report.age import time_text
    from tui.text.line import sanitize_line

    parts = [f"racwire {ready.racwire_version} doctor", ready.cluster, f"{ready.local_node}*"]
    parts += [time_text(ready.started_at), f"{ready.duration_s:.1f} s"]
    return "  ".join(sanitize_line(part) for part in parts if part)


def _verdict(ready: Readiness) -> str:
    if ready.interrupted:
        return "Interrupted: the page has what was read up to then."
    if not ready.unknown:
        return "Ready: nothing that racwire read here makes a check UNKNOWN."
    number = len(ready.unknown)
    return f"Not ready: {number} of {counted(len(ready.checks), 'check')} will be UNKNOWN, in part or in full."


def _last_line(ready: Readiness, verbose: bool) -> str:
    more = " `racwire doctor -v` shows all." if not verbose and any(map(_is_shortened, ready.items)) else ""
    return f"racwire sent no ping: only `racwire check` tests the paths between the nodes.{more}"


def _is_shortened(item: ReadinessItem) -> bool:
    steps = (*item.next, *(step for refusal in item.refusals for step in refusal.next))
    return (
        len(item.refusals) > _FIRST
        or len(item.skipped) > _MOST_CHECKS
        or len({check for refusal in item.refusals for check in refusal.checks}) > _MOST_CHECKS
        or any(len(step.commands) > _FIRST for step in steps)
    )


def _item_lines(item: ReadinessItem, width: int, verbose: bool) -> Iterator[Line]:
    """The fact, then the refused sources, the checks that suffer, and the next step."""
    from tui.text.finding_lines import status_word
    from tui.text.line import hanging

    label = f"{item.topic.capitalize():<{_LABEL}}"
    yield from hanging([status_word(item.status), (label, "label")], item.fact, width)
    start: Line = [(" " * (len(status_word(item.status)[0]) + _LABEL), "")]
    own = [refusal for refusal in item.refusals if refusal.reason == item.fact]
    others = [refusal for refusal in item.refusals if refusal not in own]
    shown = others if verbose else others[:_FIRST]
    for refusal in own:
        yield from _refusal_steps(refusal, start, width, verbose)
    for refusal in shown:
        yield from _refusal_lines(refusal, start, width, verbose)
    if len(others) > len(shown):
        yield from hanging(start, f"- and {len(others) - len(shown)} more", width, "faint")
    if item.consequence:
        yield from hanging(start, item.consequence, width)
    unknown = sorted({check for refusal in (own if verbose else item.refusals) for check in refusal.checks})
    yield from _checks_line("UNKNOWN: ", unknown, start, width, verbose)
    yield from _checks_line("Skipped: ", item.skipped, start, width, verbose)
    for step in item.next if verbose else item.next[:1]:
        yield from _step_lines(step.text, step.commands, start, width, verbose)


def _refusal_lines(refusal: Refusal, start: Line, width: int, verbose: bool) -> Iterator[Line]:
    """The source and the reason; a reason that names the node or the source needs no second name."""
    from tui.text.line import hanging

    names = [name for name in (refusal.source, *refusal.nodes) if name not in refusal.reason]
    where = few(names[1:] if names[:1] == [refusal.source] else names, _ALL if verbose else 4)
    source = refusal.source if refusal.source in names and refusal.topic != "nodes" else ""
    head = " on ".join(filter(None, (source, where)))
    yield from hanging([*start, ("- ", "")], f"{head}: {refusal.reason}" if head else refusal.reason, width)
    inner: Line = [*start, ("  ", "")]
    if verbose:
        yield from _checks_line("UNKNOWN: ", refusal.checks, inner, width, verbose)
    yield from _refusal_steps(refusal, inner, width, verbose)


def _refusal_steps(refusal: Refusal, start: Line, width: int, verbose: bool) -> Iterator[Line]:
    for step in refusal.next if verbose else refusal.next[:1]:
        new = [command for command in step.commands if command not in refusal.reason]
        if new or not step.commands:
            yield from _step_lines(step.text, new, start, width, verbose)


def _checks_line(label: str, checks: Sequence[str], start: Line, width: int, verbose: bool) -> Iterator[Line]:
    from tui.text.line import hanging

    if checks:
        yield from hanging([*start, (label, "label")], few(checks, _ALL if verbose else _MOST_CHECKS), width)


def _step_lines(text: str, commands: Sequence[str], start: Line, width: int, verbose: bool) -> Iterator[Line]:
    """The step; without --verbose only its first commands, and no text where these are enough."""
    from tui.text.line import command_lines, hanging, width_of

    if verbose or not commands or commands[0].startswith("racwire check"):
        yield from hanging(start, text, width)
    for command in commands if verbose else commands[:_FIRST]:
        indent = width_of(start)
        for number, line in enumerate(command_lines(command, indent + 2, width)):
            is_first = number == 0 and not line[0][0].strip()
            yield [(" " * indent + "> ", "label"), *line[1:]] if is_first else line
