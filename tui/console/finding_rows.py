"""The rows of the Checks screen: a finding, a cause with its findings, an event, or all checks that passed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum, IntEnum
from itertools import chain, groupby

import msgspec
from msgspec.structs import replace

from checks.model.finding import PROBLEMS, Finding, Key, NextStep, Status, keyed
from checks.model.journal import Entry
from checks.model.report import Report
from checks.model.situation import Episode, Standing, Statement
from checks.report.causes import ReportEntry, stated_entries
from checks.report.folding import Alike, alone, grouped_by_reason
from checks.report.standings import Standings
from tui.text.line import has_words

FOLDED = (Status.PASS, Status.SKIPPED)
"""The statuses whose findings are one row until the operator unfolds it."""


class RowMark(Enum):
    """How a finding compares with the one of the run before."""

    NONE = ""
    NEW = "new"
    """The run before did not have the finding."""
    WORSE = "worse"
    BETTER = "better"
    """The run before had the finding; it has become less."""

    @property
    def sign(self) -> str:
        """The sign in front of a finding in the list."""
        return _SIGNS.get(self, " ")


_SIGNS = {RowMark.NEW: "+", RowMark.WORSE: "↑", RowMark.BETTER: "↓"}


class Section(IntEnum):
    """The parts of the list, in their order."""

    NEW = 0
    """Events that no run has examined."""
    CAUSES = 1
    PROBLEMS = 2
    NOT_KNOWN = 3
    """What was read, and is not known any more."""
    PLANNED = 4
    OVER = 5
    WAIVED = 6
    NOTES = 7
    CALM = 8
    """What passed or was skipped: a folded row each."""

    @property
    def heading(self) -> str:
        """The heading above the rows; empty where none is needed."""
        return _HEADINGS[self]


_HEADINGS = {
    Section.NEW: "New since the run",
    Section.CAUSES: "Causes",
    Section.PROBLEMS: "Problems",
    Section.NOT_KNOWN: "Not known any longer",
    Section.PLANNED: "Planned",
    Section.OVER: "Over",
    Section.WAIVED: "Waived",
    Section.NOTES: "Worth knowing",
    Section.CALM: "",
}
_OF_STANDING = {
    Standing.NEW: Section.NEW,
    Standing.UNKNOWN: Section.NOT_KNOWN,
    Standing.PLANNED: Section.PLANNED,
    Standing.WAS: Section.OVER,
    Standing.VERIFIED: Section.OVER,
}


_SECTION_SIGNS = {
    Section.NEW: "+",
    Section.NOT_KNOWN: "~",
    Section.PLANNED: "p",
    Section.OVER: "-",
    Section.WAIVED: "w",
}


UNSETTLED = (Section.NEW, Section.NOT_KNOWN, Section.PLANNED, Section.OVER)
"""The parts whose rows say how they stand."""


class FindingRow(msgspec.Struct, frozen=True):
    """A finding in the list, or what stands for several."""

    key: Key
    finding: Finding
    mark: RowMark
    report: Report
    """The report of the run that found it."""
    alike: Alike | None = None
    """The finding with the others that are UNKNOWN for the same reason; None where there are none."""
    keys: frozenset[Key] = frozenset()
    """The keys of all findings of the row; empty for a single finding."""
    entry: ReportEntry | None = None
    """The cause that the row stands for, as it stands; `finding` is then the strongest finding that shows it."""
    every: tuple[Finding, ...] = ()
    """All findings of that cause, also those that stand better: what proves it over looks at each."""
    calm: tuple[FindingRow, ...] = ()
    """The rows of the checks that passed, or were skipped, which the row stands for."""
    is_open: bool = False
    """Whether the rows of the findings that it stands for follow."""
    parent: Key | None = None
    """The key of the row that the finding belongs to: of its cause, or of all checks that passed."""
    before: Finding | None = None
    """The same problem in the run before; None where that did not have it."""
    said: Statement | None = None
    """The statement about it; None for a fold."""
    episode: Episode | None = None
    """The event that the row is about; `finding` then words it."""

    def has(self, key: Key) -> bool:
        """Return whether the row stands for the finding with that key."""
        return key == self.key or key in self.keys

    @property
    def is_fold(self) -> bool:
        """Whether the row stands for checks that passed or were skipped."""
        return bool(self.calm)

    @property
    def checks(self) -> tuple[str, ...]:
        """The checks of all findings of the row."""
        return tuple(dict.fromkeys(f.check for f in self.findings))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings that the row stands for; of checks that passed, the first."""
        return self.every or (self.entry.all_findings if self.entry else (self.finding, *self.likewise))

    @property
    def likewise(self) -> tuple[Finding, ...]:
        """The other findings that are UNKNOWN for the same reason, which the row stands for."""
        return self.alike.others if self.alike else ()

    @property
    def group_of_finding(self) -> Alike:
        """The finding with those that are UNKNOWN for the same reason."""
        return self.alike or alone(self.finding)

    @property
    def next(self) -> tuple[NextStep, ...]:
        """The next steps of the row; of what is over, none that changes anything."""
        return self.steps_of(self.entry or self.group_of_finding)

    def steps_of(self, part: ReportEntry | Alike) -> tuple[NextStep, ...]:
        """Return the next steps of a part of the row, as `next`."""
        return tuple(step for step in part.next if not (self.is_over and step.is_change))

    @property
    def status(self) -> Status:
        """The worst status of what the row stands for."""
        return self.entry.status if self.entry else self.finding.status

    @property
    def section(self) -> Section:
        """The part of the list that the row belongs to."""
        status = self.status
        standing = self.said.standing if self.said else Standing.HOLDS
        if self.calm:
            return {Standing.UNKNOWN: Section.NOT_KNOWN, Standing.PLANNED: Section.PLANNED}.get(standing, Section.CALM)
        if self.episode:
            return Section.NEW
        if self.finding.waived:
            return Section.WAIVED
        # What could not be read is a problem, also where it was not known before.
        is_unread = status is Status.UNKNOWN and standing is Standing.UNKNOWN
        if standing in _OF_STANDING and status is not Status.SKIPPED and not is_unread:
            return _OF_STANDING[standing]
        if status not in PROBLEMS:
            return Section.CALM if status in FOLDED else Section.NOTES
        return Section.CAUSES if self.entry else Section.PROBLEMS

    @property
    def sign(self) -> str:
        """The sign in front of the row: how it stands, else how it compares with the run before."""
        if self.is_fold:
            return " "
        return _SECTION_SIGNS.get(self.section, self.mark.sign)

    @property
    def is_over(self) -> bool:
        """Whether it is over, proved or not."""
        return self.said is not None and self.said.standing in (Standing.WAS, Standing.VERIFIED)

    @property
    def is_faint(self) -> bool:
        """Whether it is not a problem now, as far as known."""
        return self.section in (Section.PLANNED, Section.OVER, Section.WAIVED)

    @property
    def rank(self) -> tuple[int, int]:
        """The sort key of the list: by section, then the worst first."""
        return self.section, self.finding.status.gravity

    def matches(self, query: str) -> bool:
        """Return whether every word of the query occurs in the text of the finding or of its cause."""
        return has_words(_text_of(self), query)

    def evidence(self) -> list[Entry]:
        """Return the journal entries behind the finding, and behind those that the row stands for."""
        found = [entry for f in self.findings for entry in self.report.evidence(f)]
        return list({id(entry): entry for entry in found}.values())


def _text_of(row: FindingRow) -> str:
    """Return everything that the page of a finding says, for a search."""
    finding = row.finding
    steps = chain.from_iterable((step.text, step.where, *step.commands) for step in row.next)
    cells = chain.from_iterable(finding.table.rows) if finding.table else ()
    words = (
        *(finding.status, finding.code, finding.check, finding.subject, finding.title, row.mark.value),
        *(finding.network, *finding.nodes, "waived" if finding.waived else ""),
        *(*finding.seen, *finding.expected, finding.why, *finding.sources, *steps, *cells),
        *(text for other in row.likewise for text in (other.check, other.code, other.title)),
    )
    return " ".join(words)


def folded_rows(rows: Sequence[FindingRow]) -> list[FindingRow]:
    """Return the rows with one row in place of all that are UNKNOWN for the same reason: the first of them."""
    found: dict[Key, FindingRow] = {}
    for _, alike in groupby(rows, key=lambda row: (row.mark.value, id(row.report), row.section)):
        by_id = {id(row.finding): row for row in alike}
        findings = [row.finding for row in by_id.values()]
        for group in grouped_by_reason(findings):
            own = by_id[id(group.finding)]
            keys = frozenset(by_id[id(one)].key for one in (group.finding, *group.others))
            found[own.key] = replace(own, alike=group, keys=keys) if group.others else own
    return [found[row.key] for row in rows if row.key in found]


def calm_folded(rows: Iterable[FindingRow], unfolded: Collection[Key]) -> Iterator[FindingRow]:
    """Yield the rows with one row for all that passed and is not known any longer, one for all that passed and a plan
    has stopped, one for all that passed, and one for all that were skipped. What belongs to one of `unfolded` follows
    it."""
    calm: dict[str, list[FindingRow]] = {}
    left: list[FindingRow] = []
    for row in rows:
        if (fold := _fold_of(row)) is None:
            left.append(row)
        else:
            calm.setdefault(fold, []).append(row)
    begin = 0
    for section in (Section.NOT_KNOWN, Section.PLANNED):
        # What belongs to a cause follows it, however it stands itself.
        calmer = (n for n, row in enumerate(left) if row.parent is None and row.section > section)
        end = next(calmer, len(left))
        yield from left[begin:end]
        yield from _folds(calm, (section.name,), unfolded)
        begin = end
    yield from left[begin:]
    yield from _folds(calm, FOLDED, unfolded)


def _fold_of(row: FindingRow) -> str | None:
    """Return the fold of a row that is no problem; None for a row of its own."""
    if row.episode or row.entry or row.parent or row.finding.status not in (*FOLDED, Status.INFO) or row.finding.waived:
        return None
    standing = row.said.standing if row.said else Standing.HOLDS
    if standing in (Standing.UNKNOWN, Standing.PLANNED):
        return _OF_STANDING[standing].name
    return row.finding.status if row.finding.status in FOLDED else None


def _folds(
    calm: Mapping[str, Sequence[FindingRow]], names: Iterable[str], unfolded: Collection[Key]
) -> Iterator[FindingRow]:
    for name in names:
        if not (own := calm.get(name)):
            continue
        key = ("", "FOLD", str(name), (), 0)
        said = None if name in FOLDED else max((row.said for row in own if row.said), key=_newest, default=None)
        keys = frozenset(row.key for row in own)
        is_open = key in unfolded
        yield FindingRow(
            key, own[0].finding, RowMark.NONE, own[0].report, keys=keys, calm=tuple(own), is_open=is_open, said=said
        )
        if is_open:
            yield from (replace(row, parent=key) for row in own)


def _newest(said: Statement) -> float:
    return said.outdated.at if said.outdated else 0.0


def cause_rows(report: Report, standings: Standings | None) -> Iterator[FindingRow]:
    """Yield a row for each cause of a report; its keys are those of its findings. Without standings, as for a former
    report, each has none."""
    key_of = {id(finding): key for key, finding in keyed(report.findings)}
    seen: list[Key] = []
    for whole, entry in stated_entries(report, standings):
        first = entry.causes[0]
        where = (" ".join(first.networks), first.nodes)
        keys = frozenset(key_of[id(f)] for f in whole.all_findings)
        number = sum(row_key[1:4] == (first.cause, *where) for row_key in seen)
        seen.append(("", first.cause, *where, number))
        yield FindingRow(
            seen[-1], entry.findings[0], RowMark.NONE, report, keys=keys, entry=entry, every=whole.all_findings,
            said=entry.said,
        )  # fmt: skip


def by_cause(
    rows: Sequence[FindingRow], causes: Sequence[FindingRow], unfolded: Collection[Key]
) -> Iterator[FindingRow]:
    """Yield the causes, each with the rows of its findings where it is unfolded, and the rows that belong to none, by
    section. A finding that is more urgent than a cause that does not hold any more stands by itself."""
    taken: set[Key] = set()
    found: list[tuple[FindingRow, ...]] = []
    for cause in causes:
        least = cause.section if cause.section > Section.PROBLEMS else Section.NEW
        own = (row for row in rows if row.key in cause.keys and row.report is cause.report)
        if below := [row for row in own if row.section >= least]:
            taken |= {row.key for row in below}
            found.append(tuple(_unfolded(replace(cause, mark=_common_mark(cause, below)), below, unfolded)))
    found += [(row,) for row in rows if row.key not in taken]
    for group in sorted(found, key=lambda group: (group[0].section, 0 if group[0].entry else group[0].rank[1])):
        yield from group


def _unfolded(cause: FindingRow, below: Sequence[FindingRow], unfolded: Collection[Key]) -> Iterator[FindingRow]:
    is_open = cause.key in unfolded
    yield replace(cause, is_open=is_open)
    if is_open:
        yield from (replace(row, parent=cause.key) for row in below)


def _common_mark(cause: FindingRow, below: Sequence[FindingRow]) -> RowMark:
    """Return the mark of a cause: that of its findings where they have the same, otherwise the cause's own."""
    marks = {row.mark for row in below}
    return marks.pop() if len(marks) == 1 else cause.mark


def nearest_row(row: FindingRow, rows: Sequence[FindingRow]) -> int | None:
    """Return the place in new rows of what a row was about: its own, else of the row that now stands for it, else of
    the same cause or kind of finding at a place that has nodes in common with it; of an event, what a run has found
    about it. None where there is none."""
    tests: tuple[Callable[[FindingRow], bool], ...] = (
        lambda other: (other.key, other.parent) == (row.key, row.parent),
        lambda other: other.key == row.key,
        lambda other: other.has(row.key),
        lambda other: other.key[:2] == row.key[:2] and bool({*other.key[3]} & {*row.key[3]}),
        lambda other: row.entry is not None and not other.is_fold and bool(other.keys & row.keys),
        lambda other: row.entry is not None and other.key in row.keys,
        lambda other: _is_about(other, row),
    )
    return next((n for test in tests for n, other in enumerate(rows) if test(other)), None)


def _is_about(row: FindingRow, event: FindingRow) -> bool:
    """Return whether a row shows a condition bad that the event of another row made bad."""
    if event.episode is None or row.is_fold:
        return False
    from checks.situation.conditions import shown_bad  # late: the first screen has no event

    return any(not shown_bad(f).isdisjoint(event.episode.event.conditions) for f in row.findings)
