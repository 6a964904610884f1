"""All there is to read of a step: what its gate said, what came as a surprise, what was read, and its own log."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.change_events import Verified
from checks.change.change_plan import Step
from checks.change.change_text import minute, sentence_of
from checks.change.state import Change
from checks.model.report import Report
from tui.screens.change.alarms import all_alarm_lines
from tui.screens.change.gate_lines import detail_lines
from tui.widgets.evidence_text import evidence_lines
from tui.widgets.line import Line, clean, hanging


def details_lines(change: Change, step: Step, report: Report | None, width: int) -> Iterator[Line]:
    """The gate in full, the log of the step, and what was read where the last look was made from here."""
    alarms = list(all_alarm_lines(change, width))
    yield from alarms
    if alarms:
        yield []
    if step.gates or change.mark(step).verified:
        yield from detail_lines(change, step, width)
        yield []
    yield [("What happened in this step", "title")]
    told = [line for line in change.lines if getattr(line.event, "step", None) == step.id]
    for line in told:
        # What a gate said stands above in full.
        said = "looked at its gate" if isinstance(line.event, Verified) else sentence_of(line.event)
        yield from hanging([(f" {minute(line.at)}  ", "label"), (f"{clean(line.who)}  ", "")], said, width)
    if not told:
        yield [(" Nothing yet.", "faint")]
    looked = next((line.event.step for line in reversed(change.lines) if isinstance(line.event, Verified)), "")
    if report is not None and looked == step.id:
        yield []
        yield [("What was read and sent for the last look", "title")]
        yield from evidence_lines(report.journal, width)
