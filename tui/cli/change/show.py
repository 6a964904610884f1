"""The commands of `racwire change` that print a change, and write nothing into its journal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from checks.change.board.change_report import ChangeReport, ReportedFile, report_of, to_json
from checks.change.board.journal_remarks import journal_remarks
from checks.change.progress.state import Change
from checks.change.record.journal_files import journals
from checks.change.session.open_here import peers_of
from checks.model.exit_codes import ExitCode
from tui.cli.change.change_context import ChangeContext
from tui.cli.change.change_json import as_json, escaped, list_document, status_document, steps_document
from tui.cli.change.change_report_text import report_lines
from tui.cli.change.change_text import list_lines, plan_lines, status_lines
from tui.cli.document import Handout, chosen_output
from tui.cli.errors import UsageError
from tui.cli.report_formats import OF_A_CHANGE, Format, chosen_format, refuse_terminal
from tui.cli.streams import print_message
from tui.text.line import sanitize_line
from tui.text.sanitize import for_encoding, sanitize_lines
from tui.text.step_lines import step_lines


def status(context: ChangeContext) -> int:
    """Print the status of the change. Return the exit code. Raises ChangeError, ChangeJournalError."""
    journal = context.displayed()
    change, path = journal.change, str(journal.path)
    code = context.print(
        lambda width: status_lines(change, width, context.hints, path=path),
        lambda: as_json(status_document(change, path, journal.seal)),
    )
    for remark in journal_remarks(change.lines[-1:], journal.seal):
        print_message(remark)
    print_message(context.hints.next_action(change))
    return code


def next_(context: ChangeContext) -> int:
    """Print the current step, or all steps, with their commands. Return the exit code.

    Raises ChangeError, ChangeJournalError, UsageError.
    """
    journal = context.displayed()
    change, path = journal.change, str(journal.path)
    node = context.args.node or ""
    if node and node not in change.plan.nodes:
        raise UsageError(f"--node: {node} is not a node of this change; the nodes are {', '.join(change.plan.nodes)}.")
    if context.args.commands:
        return _only_commands(context, change, node)
    current = change.current
    steps = list(change.plan.steps) if context.args.all else [current] if current is not None else []

    def json() -> bytes:
        return as_json(steps_document(change, steps, path, node))

    if context.args.all:
        code = context.print(lambda width: plan_lines(change, width, context.hints, node=node), json)
        print_message(context.hints.next_action(change))
        return code
    if current is None or not change.is_open:
        code = context.print(lambda _: (), json)
        print_message(context.hints.next_action(change))
        return code
    return _current(context, change, node, json)


def finish(context: ChangeContext, change: Change, code: int) -> int:
    """Print the next action after a command that returns `code`; with --next, the next step itself.

    Return the exit code.
    """
    if code == ExitCode.PASS and context.args.next and change.is_open and change.current is not None:
        return max(code, _current(context, change))
    print_message(context.hints.next_action(change))
    return code


def _current(context: ChangeContext, change: Change, node: str = "", json: Callable[[], bytes] = bytes) -> int:
    """Print the current step, of which there must be one. Return the exit code."""
    step = change.current
    assert step is not None
    code = context.print(lambda width: step_lines(change, step, width, context.hints, node=node), json)
    if step.commands:
        print_message("racwire does not run these commands.")
    if one_line := context.hints.one_line_a_node(step):
        print_message(one_line)
    print_message(context.hints.after_step(change))
    return code


def _only_commands(context: ChangeContext, change: Change, node: str) -> int:
    """Print the commands for the root shell of a node unchanged, for a pipe. Name the other commands on stderr.

    On a terminal, control characters in names are escaped. Raises UsageError for a wrong option.
    """
    if context.args.format != "text":
        raise UsageError("--commands prints lines for a shell; leave --format json out.")
    if not node:
        raise UsageError("--commands needs the node whose shell runs them: add --node NODE.")
    step = change.current
    blocks = step.commands if step is not None and change.is_open else ()
    for block in blocks:
        if block.node == node and block.is_piped:
            text = f"# {sanitize_line(block.heading)}\n" + "".join(f"{line}\n" for line in block.lines)
            _write(text)
        elif block.node in ("", node):
            print_message(f"not printed: {block.heading.rstrip(':')} ({context.hints.command('next')} shows it).")
    if not any(block.node == node for block in blocks):
        print_message(f"this step has no commands for {node}.")
    return ExitCode.PASS


def _write(text: str) -> None:
    """Write the text to stdout: unchanged into a pipe, sanitized on a terminal."""
    if sys.stdout.isatty():
        sys.stdout.write(for_encoding(sanitize_lines(text), sys.stdout.encoding))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode(errors="surrogateescape"))


def report(context: ChangeContext) -> int:
    """Write the report of the change. Return the exit code. Raises ChangeError, ChangeJournalError, UsageError."""
    form = chosen_format(context.args, OF_A_CHANGE)
    journal = context.displayed()
    output = chosen_output(context.args)
    if output is not None and output.path.exists() and output.path.samefile(journal.path):
        raise UsageError(f"-o: {output} is the journal of the change; name another file.")
    refuse_terminal(form, output)
    whole = report_of(
        journal.change, ReportedFile(journal.path, journal.seal, peers_of(journal.change.opened, os.uname().nodename))
    )
    return _handout(form, whole, context).deliver(output, ExitCode.PASS)


def _handout(form: Format, whole: ChangeReport, context: ChangeContext) -> Handout:
    match form.name:
        case "html":
            from checks.change.board.board_html import to_html

            return Handout("report", lambda: to_html(whole), ending=form.ending)
        case "markdown":
            from checks.change.board.board_markdown import to_markdown

            return Handout("report", lambda: to_markdown(whole), ending=form.ending)
        case "json":
            return Handout("report", lambda: escaped(to_json(whole)), ending=form.ending)
    return context.document("report", lambda width: report_lines(whole, width))


def list_(context: ChangeContext) -> int:
    """Print all changes in the directory of the journals. Return the exit code."""
    found = journals(context.settings)
    code = context.print(lambda width: list_lines(found, width), lambda: as_json(list_document(found)))
    if not found:
        print_message(
            f"there is no {context.hints.program} in this directory; {context.hints.command('new')} opens one."
        )
    return code
