"""Mend, and look again: what two reports say about two faults, where the first has both and the second one only.

What ends when a fault is mended is its effect. So the second report is the truth about what the first one says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from checks.model.finding import FAULTS, Finding, Key, keyed
from checks.model.hypothesis import Hypothesis, Standing
from checks.model.observation import Observation
from checks.model.report import Report
from checks.model.traffic import Traffic

_FOUND = (Standing.PROVED, Standing.SUPPORTED)
_SURE_BLOCKS = 5
"""A loss of so many packets is seen in each look."""

Loss = tuple[str, tuple[Traffic, ...]]
"""What was lost, and on which legs."""


@dataclass(frozen=True)
class PlacedFault:
    """A fault at its place, with the causes of the catalogue any of which is right."""

    name: str
    causes: frozenset[str]
    node: str = ""
    network: str = ""
    """The private network, as a report names it; empty for all of them."""

    def __str__(self) -> str:
        place = " ".join(part for part in (self.node, self.network) if part)
        return f"{self.name} ({place})" if place else self.name

    def fits(self, hypothesis: Hypothesis) -> bool:
        """Whether this is the cause at the right place; a place that names neither node nor network is not wrong."""
        return (
            hypothesis.cause in self.causes
            and (not self.network or not hypothesis.networks or self.network in hypothesis.networks)
            and (not self.node or not hypothesis.nodes or self.node in hypothesis.nodes)
        )

    def is_excluded(self, hypotheses: Sequence[Hypothesis]) -> bool:
        """Whether a report excludes each of its causes where the fault is."""
        own = [h for h in hypotheses if h.cause in self.causes]
        out = {h.cause for h in own if h.standing is Standing.EXCLUDED or self.network in h.excluded_on}
        return out == self.causes and not any(h.standing in _FOUND and self.fits(h) for h in own)


@dataclass
class Counts:
    """The columns of the table."""

    faults: int = 0
    named: int = 0
    masked: int = 0
    missed: int = 0
    of_no_fault: int = 0
    excluded: int = 0
    false_explains: int = 0
    ended: int = 0
    """Losses that ended when the first fault was mended."""
    said: int = 0
    """Those of them that the report said to be of that fault."""
    notes: list[str] = field(default_factory=list)

    def add(self, other: Counts) -> None:
        """Add the counts of another pair."""
        for name in (
            "faults",
            "named",
            "masked",
            "missed",
            "of_no_fault",
            "excluded",
            "false_explains",
            "ended",
            "said",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.notes += other.notes

    def table(self, draws: int) -> str:
        """Return the counts in the columns of the tables in the design, with the notes."""
        columns = ("named", "masked", "missed", "of_no_fault", "excluded", "false_explains")
        cells = [f"{name.replace('_', ' ')} {getattr(self, name)}" for name in columns]
        line = f"{draws} pairs, {self.faults} faults: {', '.join(cells)}, said {self.said} of {self.ended} that ended"
        return "\n".join([line, *self.notes])


def compare(mended: PlacedFault, left: PlacedFault, both: Report, alone: Report) -> Counts:
    """Return what the report of both faults said right and wrong, by the report of the one that is left."""
    faults = (mended, left)
    hypotheses = both.diagnosis.hypotheses
    entries = entries_of(hypotheses)
    first = [h for entry in entries[: len(faults)] for h in entry]
    counts = Counts(faults=len(faults))
    for fault, is_masked in ((mended, _seen(both) == _seen(alone)), (left, _hidden(left, both, alone))):
        is_named = any(map(fault.fits, first))
        counts.named += is_named
        counts.masked += is_masked and not is_named
        counts.missed += not is_masked and not is_named
        if not is_masked and not is_named:
            counts.notes.append(f"missed {fault}")
        if fault.is_excluded(hypotheses):
            counts.excluded += 1
            counts.notes.append(f"excluded {fault}")
    for entry in entries:
        if not any(fault.fits(h) for fault in faults for h in entry):
            counts.of_no_fault += 1
            counts.notes.append(f"of no fault: {entry[0].cause} {entry[0].headline or entry[0].place.text}")
    _compare_explained(counts, mended, left, both, alone)
    return counts


def entries_of(hypotheses: Iterable[Hypothesis]) -> list[tuple[Hypothesis, ...]]:
    """Return the causes that were found, in the order of the report, those of one entry together."""
    entries: dict[object, list[Hypothesis]] = {}
    for place, hypothesis in enumerate(h for h in hypotheses if h.standing in _FOUND):
        entries.setdefault(hypothesis.entry or ("alone", place), []).append(hypothesis)
    return [tuple(entry) for entry in entries.values()]


def losses_of(finding: Finding) -> Iterator[tuple[Loss, Observation]]:
    """Yield what a finding saw lost or late, without the time of a line in a log."""
    for seen in finding.observed:
        if seen.is_loss:
            yield (seen.what, tuple(msgspec.structs.replace(leg, times=None) for leg in seen.legs)), seen


def _compare_explained(counts: Counts, mended: PlacedFault, left: PlacedFault, both: Report, alone: Report) -> None:
    own = [h for entry in entries_of(both.diagnosis.hypotheses) for h in entry if mended.fits(h) and not left.fits(h)]
    remains = {loss for finding in alone.findings for loss, _ in losses_of(finding)}
    findings = dict(keyed(both.findings))
    for key in sorted({key for h in own for key in h.explains}):
        if still := [loss for loss, _ in losses_of(findings[key]) if loss in remains]:
            counts.false_explains += 1
            counts.notes.append(f"not of {mended}: {findings[key].title} ({still[0][0]} {still[0][1][0].text})")
    said = {key for h in own for key in _said(h)}
    ended = dict[Loss, bool]()
    for key, finding in findings.items():
        for loss, seen in losses_of(finding) if finding.status in FAULTS else ():
            if loss not in remains and (seen.is_total or seen.number >= _SURE_BLOCKS):
                ended[loss] = ended.get(loss, False) or key in said
    counts.ended += len(ended)
    counts.said += sum(ended.values())


def _said(hypothesis: Hypothesis) -> Iterator[Key]:
    yield from (*hypothesis.shown_by, *hypothesis.explains, *hypothesis.in_part)
    yield from (together.finding for together in hypothesis.together)


def _seen(report: Report) -> set[object]:
    """Everything that a mended fault could change."""
    problems = [f for f in report.findings if f.status in FAULTS]
    return {(f.code, f.network, f.nodes) for f in problems} | {loss for f in problems for loss, _ in losses_of(f)}


def _hidden(fault: PlacedFault, both: Report, alone: Report) -> bool:
    """Whether the report said that the fault was not examined behind another one, and it was found after the repair."""
    hidden = {code for h in both.diagnosis.hypotheses if h.standing in _FOUND for code in h.hides}
    found = [h for h in alone.diagnosis.hypotheses if h.standing in _FOUND]
    return not fault.causes.isdisjoint(hidden) and any(map(fault.fits, found))
