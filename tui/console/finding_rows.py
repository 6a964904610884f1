"""The rows of the Checks screen: a finding, a cause with its findings, or all checks that passed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import Enum
from itertools import chain, groupby

import msgspec
from msgspec.structs import replace

from checks.model.finding import PROBLEMS, Finding, Key, NextStep, Status, keyed
from checks.model.journal import Entry
from checks.model.report import Report
from checks.report.causes import ReportEntry, cause_entries
from checks.report.folding import Alike, alone, grouped_by_reason
from tui.text.line import has_words

_CALM_GRAVITY = Status.INFO.gravity
FOLDED = (Status.PASS, Status.SKIPPED)
"""The statuses whose findings are one row until the operator unfolds it."""


class RowMark(Enum):
    """How a finding compares with the previous run."""

    NONE = ""
    NEW = "new"
    """The previous run did not have the finding."""
    WORSE = "worse"
    """The previous run had the finding; it has become worse."""
    BETTER = "better"
    """The previous run had the finding; it has become less."""
    GONE = "gone"
    """Only an earlier run had the finding; a later one checked the same and did not find it."""
    UNSEEN = "unseen"
    """Only the previous run had the finding; this run could not check it, so it may still exist."""
    BEFORE = "before"
    """The finding is from the previous run: its check has not concluded again yet."""

    @property
    def sign(self) -> str:
        """The sign in front of a finding in the list."""
        return _SIGNS.get(self, " ")


_SIGNS = {RowMark.NEW: "+", RowMark.WORSE: "↑", RowMark.BETTER: "↓", RowMark.GONE: "-", RowMark.UNSEEN: "~"}


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
    """The cause that the row stands for; `finding` is then the strongest finding that shows it."""
    calm: tuple[FindingRow, ...] = ()
    """The rows of the checks that passed, or were skipped, which the row stands for."""
    is_open: bool = False
    """Whether the rows of the findings that it stands for follow."""
    parent: Key | None = None
    """The key of the row that the finding belongs to: of its cause, or of all checks that passed."""
    before: Finding | None = None
    """The same problem in the previous run; None where that did not have it."""
    old_key: Key | None = None
    """The key of that finding in the previous run, where it has another one."""
    missed_at: str = ""
    """The start of the first run that no longer found what is gone."""

    def has(self, key: Key) -> bool:
        """Return whether the row stands for the finding with that key."""
        return key in (self.key, self.old_key) or key in self.keys

    def is_of(self, keys: Collection[Key]) -> bool:
        """Return whether one of the keys is that of the finding, in this run or in the previous one."""
        return self.key in keys or self.old_key in keys

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
        return self.entry.all_findings if self.entry else (self.finding, *self.likewise)

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
        """The next steps of the row."""
        return self.entry.next if self.entry else self.group_of_finding.next

    @property
    def rank(self) -> float:
        """The sort key of the list: problems, worst first, then waived findings, gone findings, and the rest."""
        if self.mark is RowMark.GONE:
            return _CALM_GRAVITY - 0.25
        return _CALM_GRAVITY - 0.5 if self.finding.waived else self.finding.status.gravity

    @property
    def group(self) -> str:
        """The heading above the row; the order of the ranks keeps each group together. Empty where none is needed."""
        if self.is_fold or self.finding.status in FOLDED:
            return ""
        if self.mark is RowMark.GONE:
            return "Gone"
        if self.entry or self.parent:
            return "Causes"
        if self.finding.waived:
            return "Waived"
        return "Problems" if self.finding.status in PROBLEMS else "Worth knowing"

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
    for _, alike in groupby(rows, key=lambda row: (row.mark.value, id(row.report), row.group)):
        by_id = {id(row.finding): row for row in alike}
        findings = [row.finding for row in by_id.values()]
        for group in grouped_by_reason(findings):
            own = by_id[id(group.finding)]
            keys = frozenset(by_id[id(one)].key for one in (group.finding, *group.others))
            found[own.key] = replace(own, alike=group, keys=keys) if group.others else own
    return [found[row.key] for row in rows if row.key in found]


def calm_folded(rows: Iterable[FindingRow], unfolded: Collection[Key]) -> Iterator[FindingRow]:
    """Yield the rows with one row for all that passed and one for all that were skipped, at the end. What belongs to
    one of `unfolded` follows it."""
    calm: dict[Status, list[FindingRow]] = {status: [] for status in FOLDED}
    for row in rows:
        if row.finding.status in calm and row.mark is not RowMark.GONE:
            calm[row.finding.status].append(row)
        else:
            yield row
    for status, own in calm.items():
        if not own:
            continue
        key = ("", "FOLD", status.value, (), 0)
        keys = frozenset(row.key for row in own)
        is_open = key in unfolded
        mark = RowMark.BEFORE if all(row.mark is RowMark.BEFORE for row in own) else RowMark.NONE
        yield FindingRow(key, own[0].finding, mark, own[0].report, keys=keys, calm=tuple(own), is_open=is_open)
        if is_open:
            yield from (replace(row, parent=key) for row in own)


def cause_rows(report: Report, mark: RowMark = RowMark.NONE) -> Iterator[FindingRow]:
    """Yield a row for each cause of a report; its keys are those of its findings."""
    key_of = {id(finding): key for key, finding in keyed(report.findings)}
    seen: list[Key] = []
    for entry in cause_entries(report):
        first = entry.causes[0]
        where = (" ".join(first.networks), first.nodes)
        keys = frozenset(key_of[id(f)] for f in entry.all_findings)
        number = sum(row_key[1:4] == (first.cause, *where) for row_key in seen)
        seen.append(("", first.cause, *where, number))
        yield FindingRow(seen[-1], entry.findings[0], mark, report, keys=keys, entry=entry)


def by_cause(
    rows: Sequence[FindingRow],
    causes: Sequence[FindingRow],
    gone: Sequence[FindingRow],
    unfolded: Collection[Key],
) -> Iterator[FindingRow]:
    """Yield the causes, each with the rows of its findings where it is unfolded, then the rows that belong to none.

    Of the causes in `gone`, those come last whose findings are all gone; what has a problem left is shown by itself."""
    taken: set[Key] = set()
    for cause in causes:
        below = [row for row in rows if row.is_of(cause.keys) and row.mark is not RowMark.GONE]
        if below:
            taken |= {row.key for row in below}
            yield from _unfolded(replace(cause, mark=_common_mark(cause, below)), below, unfolded)
    ended: list[FindingRow] = []
    for cause in gone:
        codes = {finding.code for finding in cause.entry.findings} if cause.entry else ()
        shows = [row for row in rows if row.is_of(cause.keys) and row.finding.code in codes]
        if shows and all(row.mark is RowMark.GONE for row in shows):
            mine = (row for row in rows if row.is_of(cause.keys) and row.key not in taken)
            below = [row for row in mine if row.mark is RowMark.GONE]
            taken |= {row.key for row in below}
            missed_at = max(row.missed_at for row in below)
            ended += _unfolded(replace(cause, mark=RowMark.GONE, missed_at=missed_at), below, unfolded)
    left = [row for row in rows if row.key not in taken]
    yield from (row for row in left if row.rank < RANK_OF_GONE)
    yield from ended
    yield from (row for row in left if row.rank >= RANK_OF_GONE)


RANK_OF_GONE = _CALM_GRAVITY - 0.25


def _unfolded(cause: FindingRow, below: Sequence[FindingRow], unfolded: Collection[Key]) -> Iterator[FindingRow]:
    is_open = cause.key in unfolded
    yield replace(cause, is_open=is_open)
    if is_open:
        yield from (replace(row, parent=cause.key) for row in below)


def _common_mark(cause: FindingRow, below: Sequence[FindingRow]) -> RowMark:
    """Return the mark of a cause: that of its findings where they have the same, otherwise the cause's own."""
    marks = {row.mark for row in below}
    common = marks.pop() if len(marks) == 1 else cause.mark
    return common if common in (RowMark.NEW, RowMark.WORSE, RowMark.BETTER) else cause.mark


def nearest_row(row: FindingRow, rows: Sequence[FindingRow]) -> int | None:
    """Return the place in new rows of what a row was about: its own, else of the row that now stands for it, else of
    the same cause or kind of finding at a place that has nodes in common with it. None where there is none."""
    tests: tuple[Callable[[FindingRow], bool], ...] = (
        lambda other: (other.key, other.parent) == (row.key, row.parent),
        lambda other: other.key == row.key,
        lambda other: other.has(row.key),
        lambda other: other.key[:2] == row.key[:2] and bool({*other.key[3]} & {*row.key[3]}),
        lambda other: row.entry is not None and not other.is_fold and bool(other.keys & row.keys),
        lambda other: row.entry is not None and other.key in row.keys,
    )
    return next((n for test in tests for n, other in enumerate(rows) if test(other)), None)
