"""`racwire change begin`: start a step that stops something, so that its stop is planned and no alarm."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.progress.change_events import Begun, JournalLine
from checks.change.progress.state import Change
from tui.cli.change.change_context import ChangeContext
from tui.cli.change.change_json import as_json, started_document
from tui.cli.change.completion import start_step
from tui.text.line import Line, sanitize_line
from tui.text.stop_lines import start_lines


def begin(context: ChangeContext) -> int:
    """Read what the step stops, write its start, and print both. Return the exit code.

    Raises ChangeError, ChangeJournalError, EndedEarlyError.
    """
    session = context.session()
    line = start_step(session, context.args.step, quiet=context.args.quiet)
    change = session.change
    return context.print(
        lambda width: _lines(change, line, width), lambda: as_json(started_document(change, line, str(session.path)))
    )


def _lines(change: Change, line: JournalLine, width: int) -> Iterator[Line]:
    assert isinstance(line.event, Begun)
    step = change.plan.step(line.event.step)
    yield [(f"Step {change.plan.position(step.id) + 1} of {len(change.plan.steps)}: {sanitize_line(step.title)}", "")]
    yield from start_lines(change, line.at, line.event.look, width)
