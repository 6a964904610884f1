"""`racwire change …` without the full screen. stdout is what was asked for; stderr tells what is next."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from checks.change.change_journal import ChangeJournalError
from checks.change.change_report import report_of, to_json
from checks.change.journal_files import journals
from checks.change.state import Change, ChangeError
from checks.model.report import ExitCode
from checks.model.settings import Settings
from tui.cli.change_asked import Asked
from tui.cli.change_decide import abandon, attest, note, override, roll_back
from tui.cli.change_json import as_json, harmless, list_document, status_document, steps_document
from tui.cli.change_new import new
from tui.cli.change_report_text import report_lines
from tui.cli.change_run import EndedEarlyError
from tui.cli.change_text import list_lines, plan_lines, status_lines
from tui.cli.change_verify import verify
from tui.cli.document import output_file
from tui.cli.errors import UsageError
from tui.cli.hints import Hints
from tui.cli.streams import leave, tell
from tui.console.start import no_console, run_console
from tui.text.line import sanitize_line
from tui.text.sanitize import for_encoding, sanitize_lines
from tui.text.step_lines import step_lines

_AS_ROOT = "As root"
"""How the place of commands begins that are for the root shell of a node."""


def run_change(args: argparse.Namespace, settings: Settings) -> int:
    """Carry out a command of `racwire change`; its exit code. Raises UsageError for what does not fit."""
    directory = getattr(args, "directory", None)
    for option, what in (("file", "the journal of a change"), ("directory", "where journals are")):
        if getattr(args, option, None) == "":
            raise UsageError(f"--{option}: it is empty; name {what}, or leave the option out.")
    if args.change_command is None and (file := getattr(args, "file", None)):
        directory = str(Path(file).parent)  # the console has all that lie there
    if directory:
        table = msgspec.structs.replace(settings.change, directory=directory)
        settings = msgspec.structs.replace(settings, change=table)
    for name in _TYPED:
        if isinstance(typed := getattr(args, name, None), str):
            setattr(args, name, _as_text(typed))
    if args.change_command is None:
        if not no_console(os.environ, sys.__stdin__, sys.__stderr__):
            return run_console(settings, first="change", again=Hints.of(args).command().strip("`"))
        args.change_command = "status"
    try:
        return leave(_COMMANDS[args.change_command](Asked(args, settings)))
    except ChangeError as error:
        raise UsageError(Hints.of(args).in_text(str(error))) from None
    except ChangeJournalError as error:
        tell(Hints.of(args).in_text(str(error)))
        return ExitCode.COULD_NOT_TELL
    except EndedEarlyError:
        tell("interrupted; nothing was written.")
        return leave(ExitCode.INTERRUPTED)


def _status(asked: Asked) -> int:
    change, path = asked.shown()
    code = asked.print(
        lambda width: status_lines(asked.hints.in_change(change), width, path=path),
        lambda: as_json(status_document(change, path)),
    )
    tell(asked.hints.here(change))
    return code


def _next(asked: Asked) -> int:
    change, path = asked.shown()
    node = asked.args.node or ""
    if node and node not in change.plan.nodes:
        raise UsageError(f"--node: {node} is none of this change's nodes, {', '.join(change.plan.nodes)}.")
    if asked.args.commands:
        return _only_commands(asked, change, node)
    current = change.current
    steps = list(change.plan.steps) if asked.args.all else [current] if current is not None else []

    def json() -> bytes:
        return as_json(steps_document(change, steps, path, node))

    if asked.args.all:
        code = asked.print(lambda width: plan_lines(asked.hints.in_change(change), width, node=node), json)
        tell(asked.hints.here(change))
        return code
    if current is None or not change.is_open:
        code = asked.print(lambda _: (), json)
        tell(asked.hints.here(change))
        return code
    told = asked.hints.in_change(change)
    code = asked.print(lambda width: step_lines(told, told.plan.step(current.id), width, node=node), json)
    if current.commands:
        tell("racwire runs none of these commands.")
    tell(asked.hints.after_step_shown(change))
    return code


def _only_commands(asked: Asked, change: Change, node: str) -> int:
    """The lines for the shell of one node as they are, to be piped; what else the step has is told.

    On a terminal, which would obey them, control characters in a name are shown instead.
    """
    if asked.args.format != "text":
        raise UsageError("--commands: they are lines for a shell, which --format json cannot be.")
    if not node:
        raise UsageError("--commands: name the node whose shell they are for with --node NODE.")
    step = change.current
    blocks = step.commands if step is not None and change.is_open else ()
    for block in blocks:
        if block.node == node and block.where.startswith(_AS_ROOT):
            text = f"# {sanitize_line(block.where)}\n" + "".join(f"{line}\n" for line in block.lines)
            _write(text)
        elif block.node in ("", node):
            tell(f"not among them: {block.where.rstrip(':')} ({asked.hints.command('next')} shows it).")
    if not any(block.node == node for block in blocks):
        tell(f"this step has no commands for {node}.")
    return ExitCode.PASS


def _write(text: str) -> None:
    """To a pipe as it is, whatever the locale."""
    if sys.stdout.isatty():
        sys.stdout.write(for_encoding(sanitize_lines(text), sys.stdout.encoding))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode(errors="surrogateescape"))


def _report(asked: Asked) -> int:
    change, path = asked.shown()
    output = output_file(asked.args.output, replace=asked.args.force) if asked.args.output else None
    if output is not None and output.exists() and output.samefile(path):
        raise UsageError(f"-o: {output} is the journal of the change; name another file.")
    report = report_of(change)
    document = asked.document("report", lambda width: report_lines(report, width), lambda: harmless(to_json(report)))
    return document.deliver(output, ExitCode.PASS, replace=asked.args.force)


def _list(asked: Asked) -> int:
    found = journals(asked.settings)
    code = asked.print(lambda width: list_lines(found, width), lambda: as_json(list_document(found)))
    if not found:
        tell(f"there is no change yet; {asked.hints.command('new')} plans one.")
    return code


def _as_text(typed: str) -> str:
    """What was typed, with a sign for each byte that is no character in this locale: it is to be kept all the same."""
    return typed.encode(errors="surrogateescape").decode(errors="replace")


_TYPED = ("by", "reason", "note", "text")
"""Options that are words of people."""

_COMMANDS: dict[str, Callable[[Asked], int]] = {
    "new": new,
    "status": _status,
    "next": _next,
    "verify": verify,
    "attest": attest,
    "override": override,
    "note": note,
    "rollback": roll_back,
    "abandon": abandon,
    "report": _report,
    "list": _list,
}
