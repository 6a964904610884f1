"""The differences between two reports as text: the verdict, then what got worse, then the other changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from checks.model.finding import PROBLEMS, Finding
from checks.model.wording import few, listed
from checks.report.age import time_text
from checks.report.coverage import coverage_text
from checks.report.diff import DiffSide, ReportDiff, verdict
from checks.report.diff_facts import FactChange
from checks.report.diff_findings import FindingChange
from checks.report.diff_kind import DiffKind
from checks.rules.waivers import waived_text
from tui.cli.output import columns_of, render
from tui.text.finding_lines import finding_head
from tui.text.line import Line, hanging

_NARROWEST, _WIDEST = 80, 118
_MOST_FACTS = 12
"""Maximum lines of one group of facts."""
_INDENT = "  "

_WORSE = (DiffKind.MORE_SEVERE, DiffKind.HIGHER, DiffKind.MORE_NODES, DiffKind.OTHER_NODES, DiffKind.WAIVER_ENDED)
_HEADINGS = ("Worse", "New", "No longer known", "Better", "Gone", "Not compared")


def diff_text(difference: ReportDiff, stream: TextIO) -> str:
    """The whole comparison for that stream: coloured for a terminal (unless NO_COLOR), plain for a pipe or a file."""
    return render(lines_of(difference, columns_of(stream, narrowest=_NARROWEST, widest=_WIDEST)), stream)


def lines_of(difference: ReportDiff, width: int) -> Iterator[Line]:
    """The lines of the comparison, for `width` columns."""
    yield from _paragraph("", verdict(difference.findings), width, "title")
    yield []
    yield from _paragraph("BEFORE  ", _named(difference.before), width)
    yield from _paragraph("AFTER   ", _named(difference.after), width)
    for caution in difference.cautions:
        yield from _paragraph("NOTE    ", caution, width, "warn")
    sections: dict[str, list[FindingChange]] = {heading: [] for heading in _HEADINGS}
    for change in difference.findings:
        if heading := _heading(change):
            sections[heading].append(change)
    for heading, changes in sections.items():
        if changes:
            yield []
            yield [(f"{heading}: {len(changes)}", "title")]
        for change in changes:
            yield from _finding(change, width, difference.by_name)
    yield from _facts(difference.facts, width)
    yield []
    yield from _paragraph("", _same(difference), width)


def _named(side: DiffSide) -> str:
    who = side.cluster_name or listed(side.nodes)
    when = f"as of {side.moment}" if side.moment else time_text(side.started_at)
    return ", ".join(filter(None, (side.name, who, when, f"racwire {side.racwire_version}")))


def _heading(change: FindingChange) -> str:
    """The heading of a change; empty for a change that is not listed."""
    match change.change:
        case DiffKind.SAME | DiffKind.NO_PROBLEM:
            return ""
        case DiffKind.BECAME_UNKNOWN:
            return "No longer known"
        case DiffKind.NOT_RERUN | DiffKind.FIRST_RUN:
            return "Not compared"
        case DiffKind.NEW:
            return "New"
        case DiffKind.BECAME_KNOWN:
            return "New" if change.after and change.after.status in PROBLEMS else "Gone"
        case DiffKind.GONE:
            return "Gone"
    return "Worse" if change.change in _WORSE else "Better"


def _finding(change: FindingChange, width: int, by_name: bool) -> Iterator[Line]:
    """The title of the finding in its latest form, and a remark on its change."""
    finding = change.finding
    yield [(_INDENT, ""), *finding_head(finding)]
    yield from _paragraph(_INDENT * 2, finding.title, width)
    if remark := _remark(change, by_name):
        yield from _paragraph(_INDENT * 2, remark, width, "faint")


def _remark(change: FindingChange, by_name: bool) -> str:
    """The details of the change that the heading does not contain."""
    one, other = change.before, change.after
    waived = f"Waived {waived_text(other.waived)}" if other and other.waived else ""
    if one is None or other is None:
        return waived or _alone(change)
    if one.code != other.code:
        return f"Was {one.status} {one.code}: {one.title}"
    parts = [f"was {one.status}"] if one.status is not other.status else []
    if not_compared := coverage_text(one, other):
        parts.append(not_compared)
    elif _extent(one) != _extent(other):
        parts.append(f"was {_extent(one) or 'not measured'}, is {_extent(other) or 'not measured'}")
    if by_name and (came := [node for node in other.nodes if node not in one.nodes]):
        unseen = change.change is DiffKind.BECAME_KNOWN
        parts.append(f"not known before on {listed(came)}" if unseen else f"also on {listed(came)}")
    if by_name and (left := [node for node in one.nodes if node not in other.nodes]):
        unseen = change.change is DiffKind.BECAME_UNKNOWN
        parts.append(f"no longer known on {listed(left)}" if unseen else f"no longer on {listed(left)}")
    if change.change is DiffKind.WAIVER_ENDED and one.waived:
        parts.append(f"was waived until {one.waived.expires} by {one.waived.by}")
    sentence = "; ".join(parts)
    return ". ".join(filter(None, (sentence[:1].upper() + sentence[1:], waived)))


def _alone(change: FindingChange) -> str:
    match change.change:
        case DiffKind.BECAME_UNKNOWN if change.after is None:
            return "It is no longer known: the later run could not check it, or did not examine that place."
        case DiffKind.BECAME_KNOWN if change.before is None:
            return "The earlier run could not check it, or did not examine that place."
        case DiffKind.BECAME_KNOWN:
            return "The earlier run could not tell; the later run can."
        case DiffKind.NOT_RERUN:
            return "Its check is not part of the later run."
        case DiffKind.FIRST_RUN:
            return "Its check is not part of the earlier run."
    return ""


def _extent(finding: Finding) -> str:
    return f"{finding.extent.value:,g} {finding.extent.unit}" if finding.extent else ""


def _facts(facts: Sequence[FactChange], width: int) -> Iterator[Line]:
    """The changed facts; facts that changed in the same way are on one line."""
    if not facts:
        return
    yield []
    yield [("Changed", "title")]
    groups: dict[str, dict[tuple[str, str], list[str]]] = {}
    for fact in facts:
        groups.setdefault(fact.group, {}).setdefault((fact.before, fact.after), []).append(fact.name)
    for group, alike in groups.items():
        label = f"{group:<12}"
        for (before, after), names in list(alike.items())[:_MOST_FACTS]:
            yield from _paragraph(f"{_INDENT}{label}", f"{few(names, 3)}: {before} → {after}", width)
            label = " " * len(label)
        if len(alike) > _MOST_FACTS:
            yield from _paragraph(f"{_INDENT}{label}", f"and {len(alike) - _MOST_FACTS} more (--format json)", width)


def _same(difference: ReportDiff) -> str:
    """A sentence on the unchanged findings."""
    same = [c.finding for c in difference.findings if c.change is DiffKind.SAME]
    problems = sum(f.status in PROBLEMS for f in same)
    of_them = f", {problems} of them {'a problem' if problems == 1 else 'problems'}" if problems else ""
    waived = sum(bool(f.waived) for f in same)
    return f"Same: {len(same)}{of_them}{f' ({waived} waived)' if waived else ''}."


def _paragraph(label: str, text: str, width: int, role: str = "") -> Iterator[Line]:
    yield from hanging([(label, role)], text, width, role)
