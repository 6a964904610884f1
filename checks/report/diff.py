"""What got better and what got worse between two reports: findings, and the facts that explain them. Pure.

As JSON (`racwire-diff/1`) it has the fields of `Difference`: `before` and `after` (which reports these are), `cautions`
(what speaks against comparing them, a sentence each), `findings` (each with `change`, and `before` and `after` as a
report has them; those that got worse first) and `facts` (each with `group`, `name`, `before` and `after`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

import msgspec

from checks.model.exit_codes import ExitCode
from checks.model.facts import Clusterware
from checks.model.finding import PROBLEMS, Finding, Status
from checks.model.report import Report
from checks.model.sanitize import json_escaped, shown
from checks.model.wording import counted, listed
from checks.report.diff_facts import FactChange, fact_changes
from checks.report.diff_findings import DiffKind, FindingChange, finding_changes

SCHEMA = "racwire-diff/1"


class DiffSide(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two reports."""

    name: str
    """What the operator calls it: its file."""
    started_at: str
    cluster_name: str
    """Empty where it is not known."""
    nodes: tuple[str, ...]
    racwire_version: str
    is_redacted: bool
    interrupted: bool


class ReportDiff(msgspec.Struct, frozen=True, kw_only=True):
    """All that differs, and which findings do not."""

    schema: str = SCHEMA
    before: DiffSide
    after: DiffSide
    cautions: tuple[str, ...]
    findings: tuple[FindingChange, ...]
    facts: tuple[FactChange, ...]

    @property
    def by_name(self) -> bool:
        """Whether names mean the same in both."""
        return self.before.is_redacted is self.after.is_redacted


def diff(before: Report, after: Report, names: tuple[str, str] = ("A", "B")) -> ReportDiff:
    """Compare two reports, the earlier one first."""
    one, other = _side(before, names[0]), _side(after, names[1])
    by_name = one.is_redacted is other.is_redacted
    return ReportDiff(
        before=one,
        after=other,
        cautions=tuple(_cautions(one, other)),
        findings=finding_changes(before.findings, after.findings, by_name=by_name),
        facts=fact_changes(before, after, by_name=by_name),
    )


def exit_code(difference: ReportDiff) -> ExitCode:
    """The gravest that got worse: a failure before what is not known any more before a warning."""
    worse = {change.worse for change in difference.findings}
    if Status.FAIL in worse:
        return ExitCode.FAILURES
    if Status.UNKNOWN in worse:
        return ExitCode.COULD_NOT_TELL
    return ExitCode.WARNINGS if Status.WARN in worse else ExitCode.PASS


def to_json(difference: ReportDiff) -> bytes:
    """As indented JSON with a final newline; what a terminal would obey in it is escaped."""
    encoded = msgspec.json.format(msgspec.json.encode(difference), indent=2)
    return json_escaped(encoded.decode()).encode() + b"\n"


def _side(report: Report, name: str) -> DiffSide:
    cluster, clusterware = report.cluster, report.cluster.clusterware
    known = clusterware.cluster_name if isinstance(clusterware, Clusterware) else ""
    return DiffSide(
        name=shown(name),
        started_at=report.started_at,
        cluster_name=known if isinstance(known, str) else "",
        nodes=tuple(node.name for node in cluster.nodes) if isinstance(cluster.nodes, tuple) else (),
        racwire_version=report.racwire_version,
        is_redacted=report.is_redacted,
        interrupted=report.interrupted,
    )


def _cautions(one: DiffSide, other: DiffSide) -> Iterator[str]:
    if one.is_redacted is not other.is_redacted:
        redacted, plain = (one, other) if one.is_redacted else (other, one)
        yield (
            f"{redacted.name} has pseudonyms and {plain.name} has not, so names cannot be matched: findings are "
            "matched by their codes alone, and of the facts only versions are compared."
        )
    elif others := _other_cluster(one, other):
        yield f"These are not of the same cluster: {others}."
    elif one.is_redacted:
        yield "Both have pseudonyms: they mean the same only where one and the same mapping made them."
    if _is_later(one.started_at, other.started_at):
        yield f"{other.name} is older than {one.name}: what is called worse got better. Name the earlier one first."
    for side in (one, other):
        if side.interrupted:
            yield f"The run of {side.name} was interrupted: what it did not get to cannot be told."


def _other_cluster(one: DiffSide, other: DiffSide) -> str:
    """What shows that the two are of different clusters; empty where nothing does."""
    if one.cluster_name and other.cluster_name:
        same = one.cluster_name == other.cluster_name
        return "" if same else f"{one.name} is of {one.cluster_name}, {other.name} of {other.cluster_name}"
    if not one.nodes or not other.nodes or set(one.nodes) & set(other.nodes):
        return ""
    return f"{one.name} is of {listed(one.nodes)}, {other.name} of {listed(other.nodes)}"


def _is_later(one: str, other: str) -> bool:
    try:
        return datetime.fromisoformat(one).astimezone() > datetime.fromisoformat(other).astimezone()
    except (ValueError, OverflowError):
        return False


_NOUNS = {Status.FAIL: "failure", Status.UNKNOWN: "open question", Status.WARN: "warning"}
_GONE = (DiffKind.GONE, DiffKind.MILDER, DiffKind.TOLD)
_EASED = (DiffKind.LESS, DiffKind.NARROWER)
_NEW = (DiffKind.NEW, DiffKind.TOLD)


def verdict(changes: Collection[FindingChange]) -> str:
    """`Better: 2 failures are gone, 1 warning is left.` What is waived counts neither as worse nor as left."""
    worse, better = list(_worse(changes)), list(_better(changes))
    left = [f for f in (c.after for c in changes if c.change is not DiffKind.FIRST_LOOK) if f and _counts(f)]
    if worse:
        told = f"Worse: {'; '.join(filter(None, (', '.join(worse), ', '.join(better))))}."
    elif better:
        told = f"Better: {', '.join([*better, _all(left, 'left') or 'no problem is left'])}."
    else:
        told = f"Nothing is worse or better{_as_before(left)}."
    return " ".join([told, *_not_compared(changes)])


def _worse(changes: Iterable[FindingChange]) -> Iterator[str]:
    worse = [(c, c.worse) for c in changes if c.worse]
    yield from _each(((s for c, s in worse if c.change in _NEW)), "is new", "are new")
    rest = [(c, s) for c, s in worse if c.change not in (*_NEW, DiffKind.LIFTED, DiffKind.UNTOLD)]
    yield from _each((s for _, s in rest), "got worse", "got worse")
    yield from _each(
        (s for c, s in worse if c.change is DiffKind.LIFTED), "is no longer waived", "are no longer waived"
    )
    if untold := sum(c.change is DiffKind.UNTOLD for c, _ in worse):
        yield f"{counted(untold, 'finding')} cannot be told any more"


def _better(changes: Iterable[FindingChange]) -> Iterator[str]:
    had = [(c, c.before.status) for c in changes if c.before and c.before.status in PROBLEMS and not c.worse]
    gone = (s for c, s in had if c.change in _GONE and (c.after is None or c.after.status is not s))
    yield from _each(gone, "is gone", "are gone")
    yield from _each((s for c, s in had if c.change in _EASED), "is milder", "are milder")
    yield from _each((s for c, s in had if c.change is DiffKind.WAIVED), "is waived now", "are waived now")


def _not_compared(changes: Iterable[FindingChange]) -> Iterator[str]:
    found = Counter(c.change for c in changes if c.is_problem)
    for change, when in ((DiffKind.LEFT_OUT, "again"), (DiffKind.FIRST_LOOK, "before")):
        if number := found[change]:
            yield f"{counted(number, 'problem')} {'was' if number == 1 else 'were'} not looked at {when}."


def _counts(finding: Finding) -> bool:
    return finding.status in PROBLEMS and not finding.waived


def _each(statuses: Iterable[Status], one: str, several: str) -> Iterator[str]:
    """`2 failures are gone`, `1 warning is gone`: the gravest first."""
    found = Counter(statuses)
    for status, noun in _NOUNS.items():
        if number := found[status]:
            yield f"{counted(number, noun)} {one if number == 1 else several}"


def _all(findings: Collection[Finding], what: str) -> str:
    """`1 failure and 2 warnings are left`; empty where there is none."""
    found = Counter(f.status for f in findings)
    told = listed(counted(found[status], noun) for status, noun in _NOUNS.items() if found[status])
    return f"{told} {'is' if len(findings) == 1 else 'are'} {what}" if told else ""


def _as_before(left: Collection[Finding]) -> str:
    told = _all(left, "as it was" if len(left) == 1 else "as they were")
    return f"; {told}" if told else ""
