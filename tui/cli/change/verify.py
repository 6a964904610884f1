"""`racwire change verify`: check the gate of the current step on all nodes."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.gates import gate_checks
from checks.change.progress.change_events import Verified
from checks.change.progress.change_text import gate_word
from checks.change.progress.own_commands import OwnCommands
from checks.change.progress.state import Change, ChangeError
from checks.model.check import Check
from checks.model.exit_codes import ExitCode
from checks.model.own_command import OwnCommand
from checks.run.check_discovery import discover
from tui.cli.change.change_context import ChangeContext
from tui.cli.change.change_json import as_json, verified_document
from tui.cli.change.change_text import event_lines
from tui.cli.change.completion import verify_gates
from tui.cli.change.show import finish
from tui.cli.password import password_for
from tui.text.gate_lines import gate_lines
from tui.text.line import Line, sanitize_line

_CODES = {"passed": ExitCode.PASS, "not passed": ExitCode.FAILURES, "could not tell": ExitCode.COULD_NOT_TELL}


def verify(context: ChangeContext) -> int:
    """Check the gate, print its results, and return the exit code: 0 passed, 2 not passed, 3 could not tell.

    Raises ChangeError, ChangeJournalError, EndedEarlyError, UsageError.
    """
    session = context.session(lambda change: password_for(context.settings.database, gates_now(change)))
    before = session.change
    step = before.current
    if step is not None and before.is_open and not step.gates:
        raise ChangeError(f"Step {step.id} has no gate to check; attest it: ", OwnCommand("attest", "--by NAME"), ".")
    verify_gates(session, quiet=context.args.quiet)
    new_lines = session.change.lines[len(before.lines) :]
    last = [line for line in new_lines if isinstance(line.event, Verified)][-1]
    verified = last.event
    assert isinstance(verified, Verified)
    code = context.print(
        lambda width: _lines(context.hints, session.change, len(before.lines), last.number, width),
        lambda: as_json(verified_document(session.change, verified, new_lines, str(session.path))),
        code=_CODES[gate_word(verified.results, verified.passed)],
    )
    return finish(context, session.change, code)


def gates_now(change: Change) -> tuple[Check, ...]:
    """The checks of the current step's gates, and of earlier gates that must still hold."""
    step = change.current
    return () if step is None else tuple(gate_checks(change, step, discover).values())


def _lines(own: OwnCommands, change: Change, before: int, number: int, width: int) -> Iterator[Line]:
    """The events after the first `before` lines of the journal, then the results of the gate in line `number`."""
    new_lines = change.lines[before:]
    line = next(line for line in new_lines if line.number == number)
    verified = line.event
    assert isinstance(verified, Verified)
    step = change.plan.step(verified.step)
    yield [(f"Step {change.plan.position(step.id) + 1} of {len(change.plan.steps)}: {sanitize_line(step.title)}", "")]
    yield from event_lines(new_lines, width)
    yield from gate_lines(verified.results, line, width, own)
