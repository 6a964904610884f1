"""An entry of a report as lines: the cause in a sentence, because of what, what it explains, and the next steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.finding import Finding, NextStep
from checks.model.report import Report
from checks.model.wording import counted, few, listed
from checks.report.causes import ReportEntry
from checks.report.other_causes import other_causes, short_codes
from checks.rules.waivers import ended_text, lifted_for
from tui.text.abridged import shortened
from tui.text.finding_lines import (
    STREAM,
    FindingLayout,
    beside,
    pane_layout,
    part_lines,
    remedy_lines,
    role_of,
    status_word,
)
from tui.text.line import LINK, Line, flowing, hanging, sanitize_line

WHOLE_REPORT = 30
"""The most lines of a text report up to the end of the next steps of its first entry, at 80 columns."""
_LEAST_ROOM = 13
"""Lines for the next steps of an entry, where the lines above leave less; also for each entry after the first."""
_EFFECTS, _SHARED = 4, 2
"""The most findings that a cause explains, and those of each kind that it explains with others."""
_BECAUSE_LINES = 4
_COMMANDS = 5
"""The most commands of a step that changes nothing; of a change, all are shown."""


def entry_head(entry: ReportEntry, width: int) -> Iterator[Line]:
    """Yield the status and the sentence of an entry of a text for a stream."""
    yield from hanging([status_word(entry.status)], entry.headline, width, "title")


def brief_entry_lines(
    entry: ReportEntry, width: int, room: int = 0, *, how: str = "", has_next_above: bool = False
) -> Iterator[Line]:
    """Yield an entry of a text for a stream in at most `room` lines where that is possible; the rest is in the full
    report. `how` says how it stands; `has_next_above`: an entry before it has the same next steps."""
    lines = [*entry_head(entry, width), *_causes(entry, width, STREAM, how)]
    if entry.causes:
        lines += _because(entry, width)
        lines += _effects(entry, width, STREAM)
        lines += part_lines("", (_hidden(entry),), width, STREAM)
    else:
        lines += part_lines("Because", entry.because, width, STREAM)
    yield from lines
    if has_next_above:
        yield from part_lines("Next", ("the same steps as above",), width, STREAM)
        return
    yield from _brief_steps(entry.next, width, max(room - len(lines), _LEAST_ROOM))


def pane_entry_lines(
    entry: ReportEntry, report: Report, width: int, note: str, steps: Sequence[NextStep]
) -> Iterator[Line]:
    """Yield an entry for a pane: the sentence, the first of its `steps`, the reasons, the further ones, what it
    explains, and the other causes. So the first step and the reasons need no key, also in a low pane."""
    layout = pane_layout(width)
    codes = listed(dict.fromkeys(cause.cause for cause in entry.causes), "or")
    standing = entry.causes[0].standing.value if entry.causes else ""
    yield from hanging([], entry.headline, width, "title")
    yield from hanging([(entry.status, role_of(entry.status)), ("  ", "")], f"{standing}: {codes}", width)
    if note:
        yield from hanging([], note, width, "accent")
    lifted = filter(None, (lifted_for(finding, report.waivers) for finding in entry.all_findings))
    yield from part_lines("Waiver", map(ended_text, lifted), width, layout, "warn")
    yield from remedy_lines("Next", steps[:1], width, layout)
    yield from part_lines("Because", entry.because, width, layout)
    yield from part_lines("Against", entry.against, width, layout)
    yield from remedy_lines("Then", steps[1:], width, layout, first=2)
    yield from _effects(entry, width, layout)
    yield from part_lines("Hidden", (_hidden(entry),), width, layout)
    yield from _causes(entry, width, layout)
    if others := tuple(other_causes(report)):
        yield []
    for label, text in others:
        yield from flowing([(f"{label}  ", "label")], text, width, indent=layout.label or 2)


def _causes(entry: ReportEntry, width: int, layout: FindingLayout, how: str = "") -> Iterator[Line]:
    stands = f", {how}" if how else ""
    if entry.causes:
        codes = ", ".join(dict.fromkeys(f.code for f in entry.findings))
        found_by = f". Found by {entry.codes}." if layout.is_pane else f" ({codes}){stands}"
        yield from part_lines("Cause", (f"{entry.standing}{found_by}", entry.tells_apart), width, layout)
        return
    finding = entry.findings[0]
    checks = dict.fromkeys(f.check for f in (finding, *entry.likewise))
    text = f"{finding.check} ({finding.code})"
    if len(checks) > 1:
        text = f"{counted(len(checks), 'check')} could not look ({finding.code}): {few(tuple(checks), 7)}"
    yield from part_lines("Check", (f"{text}{stands}",), width, layout)


def _because(entry: ReportEntry, width: int) -> Iterator[Line]:
    """Yield the first reason, and the next ones while they fit; then what speaks against the cause."""
    shown: list[str] = []
    for number in range(1, len(entry.because) + 1):
        lines = list(part_lines("Because", entry.because[:number], width, STREAM))
        if shown and len(lines) > _BECAUSE_LINES:
            break
        shown = list(entry.because[:number])
    yield from part_lines("Because", shown, width, STREAM)
    yield from part_lines("Against", entry.against[:1], width, STREAM)


def _hidden(entry: ReportEntry) -> str:
    return f"Not examined behind it: {short_codes(entry.hides)}." if entry.hides else ""


def _effects(entry: ReportEntry, width: int, layout: FindingLayout) -> Iterator[Line]:
    """Yield what ends with the cause, alone or with others: in a stream one line each, and the number of those left
    out."""
    for part in entry.explained:
        most = len(part.findings) if layout.is_pane else _SHARED if part.is_shared else _EFFECTS
        if layout.is_pane:
            yield []
        if part.is_shared:
            yield from hanging([(" " * layout.margin, "")], f"{part.label}:", width, "label")
        yield from _effect_lines("" if part.is_shared else part.label, part.findings, most, width, layout)


def _effect_lines(
    word: str, findings: Sequence[Finding], most: int, width: int, layout: FindingLayout
) -> Iterator[Line]:
    start = layout.margin + layout.label
    shown = findings if len(findings) <= most else findings[: most - 1]
    for number, finding in enumerate(shown):
        own = word if number == 0 else ""
        label = (f"{own} " if own else "  ") if layout.flows else f"{' ' * layout.margin}{own:<{layout.label}}"
        head: Line = [(label, "label"), (f"{finding.status.letter} ", role_of(finding.status))]
        if layout.is_pane:
            yield from beside([head[0], ("→ ", LINK), head[1]], finding.title, width, layout)
        else:
            yield [*head, (shortened(sanitize_line(finding.title), max(width - start - 2, 20)), "")]
    if left := len(findings) - len(shown):
        yield [(" " * start, ""), (f"  and {counted(left, 'more finding')}", "faint")]


def _brief_steps(steps: Sequence[NextStep], width: int, room: int) -> Iterator[Line]:
    """Yield the steps that fit, with their numbers: the first look and the first change always, then the others."""
    numbered = list(enumerate(steps, 1))
    wanted = [next((s for s in numbered if s[1].is_change is change), None) for change in (False, True)]
    chosen = {step[0] for step in wanted if step}
    for number, _ in numbered:
        if len(list(_numbered(numbered, {*chosen, number}, width))) <= room:
            chosen.add(number)
    yield from _numbered(numbered, chosen, width)


def _numbered(steps: Sequence[tuple[int, NextStep]], chosen: set[int], width: int) -> Iterator[Line]:
    """Yield these steps, and at the end the numbers of the others."""
    indent = STREAM.margin + STREAM.label
    is_first = True
    for number, step in steps:
        if number not in chosen:
            continue
        lines = list(remedy_lines("Next" if is_first else "", (_cut(step),), width, STREAM, first=number))
        is_first = False
        yield from lines
    left = [str(number) for number, _ in steps if number not in chosen]
    if left:
        noun = "step" if len(left) == 1 else "steps"
        yield [(" " * indent, ""), (f"   {noun} {', '.join(left)}: in the full report", "faint")]


def _cut(step: NextStep) -> NextStep:
    if step.is_change or len(step.commands) <= _COMMANDS:
        return step
    left = len(step.commands) - _COMMANDS + 1
    note = f"# {counted(left, 'more command')} in the full report"
    return NextStep(step.text, (*step.commands[: _COMMANDS - 1], note), step.where, effect=step.effect)
