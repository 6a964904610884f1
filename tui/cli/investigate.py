"""`racwire investigate`: separates what remains of a report, step by step, in the console or as plain text."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from checks.model.exit_codes import ExitCode
from tui.cli.document import Document, chosen_output
from tui.cli.errors import UsageError
from tui.cli.options import (
    add_check_options,
    add_console_options,
    add_document_options,
    add_quiet_option,
)
from tui.cli.streams import exit_past_hung_threads, print_message

if TYPE_CHECKING:
    from checks.model.investigation import SessionRecord
    from checks.model.report import Report
    from checks.model.settings import Settings
    from tui.console.sessions import KeptSessions
    from tui.text.line import Line

_ABOUT = """\
Lead from a report to one cause at one place.

racwire runs the checks, and asks for the step that separates most of the
causes that are left for the least effort: it sends packets by itself, prints a
command for a switch or a node and reads the output that you paste, or asks you
to move a cable where that is safe. After each answer it shows what is excluded.

Nothing is sent before you agree, and then at most what the settings allow:
60 s and 20,000 datagrams in one session, 500 a second."""
_EPILOG = """\
examples:
  racwire investigate                    in the console, on this cluster
  racwire plan investigate               all that a session reads and sends
  racwire investigate --plain            questions as plain text
  racwire investigate --from night.racwire
                                         on a saved file: only steps of people
  racwire investigate --resume           go on with the last session
  racwire investigate --list             the sessions that are kept

In plain text an answer is a line: Enter makes the step, s skips it, n means
that it is not possible here, u takes the last answer back, q leaves. An output
ends with a line that has only a dot; `< FILE` reads it from a file.

exit codes: 0 proved, left over, or nothing to investigate; 3 no step can tell
them apart, no cause that racwire knows fits, or not ended; 64 usage, or FILE
cannot be read; 130 interrupted."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = _ABOUT
    parser.epilog = _EPILOG
    session = parser.add_argument_group("session")
    session.add_argument(
        "--from", metavar="FILE", dest="from_file", help="investigate a saved file; racwire sends nothing"
    )
    session.add_argument(
        "--resume",
        nargs="?",
        const="",
        metavar="ID",
        help="go on with a session (default: the last that has not ended)",
    )
    session.add_argument("--list", action="store_true", help="list the sessions that are kept, and how each ended")
    session.add_argument("--plain", action="store_true", help="ask in plain text, also on a terminal")
    output = parser.add_argument_group("output")
    add_document_options(output)
    add_quiet_option(output)
    add_check_options(parser)
    add_console_options(parser)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Investigate, and return the exit code. Raises UsageError for wrong options or an unreadable file."""
    from tui.console.start import no_console, run_console

    output = chosen_output(args)
    if args.list:
        return _print_list(args)
    if args.from_file is not None and args.resume is not None:
        raise UsageError("--resume continues a session of this machine, --from opens a file: leave one of them out.")
    is_text = args.plain or args.format != "text" or output is not None
    if not is_text and not no_console(os.environ, sys.__stdin__, sys.__stderr__):
        if args.from_file is not None:
            return _on_saved(args, settings)
        return run_console(settings, sessions=_sessions(args, settings))
    return _as_text(args, settings)


def _on_saved(args: argparse.Namespace, settings: Settings) -> int:
    from checks.saved import SavedError
    from tui.console.sessions import KeptSessions
    from tui.console.start import run_console_on_saved

    try:
        return run_console_on_saved(
            Path(args.from_file), settings, judged_by=None, sessions=KeptSessions(settings, is_live=False)
        )
    except SavedError as error:
        raise UsageError(str(error)) from None


def _sessions(args: argparse.Namespace, settings: Settings) -> KeptSessions:
    """Return the sessions of the live cluster, or of a saved file; the one that is resumed first. Raises UsageError."""
    from checks.run.session_journal import SessionJournalError
    from checks.saved.session_run import session_named
    from tui.cli.password import password_of
    from tui.console.sessions import KeptSessions

    try:
        resumed = session_named(args.resume).path if args.resume is not None else None
    except SessionJournalError as error:
        raise UsageError(str(error)) from None
    password = password_of(settings.database) if args.from_file is None else None
    return KeptSessions(settings, is_live=args.from_file is None, resumed=resumed, password=password)


# --- plain text -------------------------------------------------------------------------------------------------------


def _as_text(args: argparse.Namespace, settings: Settings) -> int:
    from checks.run.session_journal import SessionJournalError
    from checks.saved.session_run import run_of, session_named
    from tui.cli.own_loop import run_in_own_loop

    sessions = _sessions(args, settings)
    try:
        report = _report(args, settings) if args.resume is None else run_of(session_named(args.resume).path)
        record = run_in_own_loop(_ask(args, settings, report, sessions))
    except SessionJournalError as error:
        raise UsageError(str(error)) from None
    return exit_past_hung_threads(_conclude(args, record, sessions, report))


def _report(args: argparse.Namespace, settings: Settings) -> Report:
    """Return the report to investigate: of a new run, or of a saved file."""
    from tui.cli.load_or_run import load_or_run

    whole = argparse.Namespace(
        **{**vars(args), "ids": [], "skip": [], "redact": False, "redaction_map": None, "record": None}
    )
    with load_or_run(whole, settings) as found:
        return found.evidence.report


async def _ask(args: argparse.Namespace, settings: Settings, report: Report, sessions: KeptSessions) -> SessionRecord:
    import asyncio

    from tui.cli.interrupts import graceful_loop_stop
    from tui.cli.investigating import Dialogue
    from tui.cli.status_line import StatusLine
    from tui.text.consent_lines import consent_sentences

    stop = asyncio.Event()
    guided = await asyncio.to_thread(sessions.begin, report)
    is_json = args.format == "json" and args.output is None
    stream = sys.stderr if is_json else sys.stdout
    try:
        with graceful_loop_stop(stop.set):
            dialogue = Dialogue(
                guided,
                write=lambda lines: _write(lines, stream),
                status=StatusLine(quiet=args.quiet),
                stop=stop,
                consent=consent_sentences(settings),
            )
            await dialogue.run()
    finally:
        await sessions.close()
    return guided.record


def _write(lines: Callable[[int], Iterable[Line]], stream: TextIO) -> None:
    from tui.cli.output import columns_of, render

    stream.write(render(lines(columns_of(stream, narrowest=40, widest=100)), stream))
    stream.flush()


def _conclude(args: argparse.Namespace, record: SessionRecord, sessions: KeptSessions, report: Report) -> int:
    import msgspec

    from checks.model.investigation import End
    from checks.report.age import zone_of
    from checks.report.how_found import how_found
    from checks.run.sensed_findings import sensed_findings
    from tui.text.session_lines import how_found_lines

    def text(stream: TextIO) -> str:
        from tui.cli.output import columns_of, render

        found = how_found(record, zone_of(report.started_at), sensed_findings(report, record))
        return "\n" + render(how_found_lines(found, columns_of(stream, narrowest=40, widest=100)), stream)

    known = all(one.end in (End.PROVED, End.LEFT_OVER) for one in record.endings)
    code = ExitCode.PASS if record.is_ended and known else ExitCode.COULD_NOT_TELL
    if not record.answers:
        if record.is_ended:
            print_message("This run leaves nothing open: no packets are lost, or their cause is proved.")
        if args.format == "text":
            return code
    document = Document(
        "session",
        args.format,
        json=lambda: msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n",
        text=text,
    )
    code = ExitCode(document.deliver(chosen_output(args), code))
    if not record.is_ended and sessions.id:
        print_message(f"the session is kept: racwire investigate --resume {sessions.id}")
    return code


def _print_list(args: argparse.Namespace) -> int:
    import msgspec

    from checks.report.how_found import how_found
    from checks.run.session_journal import kept_sessions
    from tui.text.line import hanging

    known = [(one.path.stem, one.record) for one in kept_sessions() if one.record is not None and one.record.answers]

    def text(stream: TextIO) -> str:
        from tui.cli.output import columns_of, render

        zone = datetime.now().astimezone().tzinfo
        width = columns_of(stream, narrowest=40, widest=100)
        lines = [
            line
            for name, record in known
            for line in hanging(
                [(f"{name}  ", "title")], f"{record.cluster}: {how_found(record, zone).in_short}", width
            )
        ]
        return render(lines, stream) if lines else "No session is kept.\n"

    return Document(
        "list",
        args.format,
        json=lambda: (
            msgspec.json.format(
                msgspec.json.encode([{"id": name, "session": record} for name, record in known]), indent=2
            )
            + b"\n"
        ),
        text=text,
    ).deliver(chosen_output(args), ExitCode.PASS)
