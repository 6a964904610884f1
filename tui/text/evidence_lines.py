"""The evidence of a finding: each command, file and packet behind it, with the original output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.journal import Entry
from checks.report.actions import duration_text
from tui.text.line import Line, command_lines, folded, hanging, sanitize_line


def evidence_lines(entries: Sequence[Entry], width: int) -> Iterator[Line]:
    """Yield the journal entries in their order."""
    if not entries:
        yield from hanging([], "racwire read and sent nothing for this finding in particular.", width)
    for number, entry in enumerate(entries):
        if number:
            yield []
        yield from _entry(entry, width)


def _entry(entry: Entry, width: int) -> Iterator[Line]:
    when = entry.started_at[11:23] or entry.started_at
    head = f"{sanitize_line(entry.node)}  {sanitize_line(when)}  {duration_text(entry.duration_ms)}  "
    yield from hanging([(head, "title")], entry.outcome, width, "pass" if entry.outcome == "ok" else "warn")
    yield from command_lines(entry.action, 2, width)
    yield from folded(entry.text, 4, width)
