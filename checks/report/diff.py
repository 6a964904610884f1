"""Compares two reports: which findings got better or worse, and which facts can explain that. Pure functions.

The JSON form (`racwire-diff/1`) has the fields of `ReportDiff`: `before` and `after` (the two reports), `cautions`
(reasons not to compare them, one sentence each), `findings` (each with `change`, and with `before` and `after` as in a
report; those that got worse come first) and `facts` (each with `group`, `name`, `before` and `after`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

import msgspec
from msgspec.structs import replace

from checks.model.exit_codes import ExitCode
from checks.model.facts import Clusterware
from checks.model.finding import PROBLEMS, Finding, Status
from checks.model.report import Report, exit_code_for
from checks.model.sanitize import json_escaped, sanitize
from checks.model.situation import status_now
from checks.model.wording import counted, listed
from checks.report.age import moment_text
from checks.report.coverage import Coverage
from checks.report.diff_facts import FactChange, fact_changes
from checks.report.diff_findings import FindingChange, finding_changes
from checks.report.diff_kind import DiffKind
from checks.report.situation_words import incident_line

SCHEMA = "racwire-diff/1"


class DiffSide(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two reports."""

    name: str
    """The operator's name for the report: its file."""
    started_at: str
    cluster_name: str
    """Empty where it is not known."""
    nodes: tuple[str, ...]
    racwire_version: str
    is_redacted: bool
    interrupted: bool
    moment: str = ""
    """The moment of its situation; empty where it has none."""
    incident: str = ""
    """The incident that lasted at that moment, a sentence; empty where none did."""


class ReportDiff(msgspec.Struct, frozen=True, kw_only=True):
    """The differences of two reports, and the findings that are the same in both."""

    schema: str = SCHEMA
    before: DiffSide
    after: DiffSide
    cautions: tuple[str, ...]
    findings: tuple[FindingChange, ...]
    facts: tuple[FactChange, ...]

    @property
    def by_name(self) -> bool:
        """Whether a name means the same in both reports."""
        return self.before.is_redacted is self.after.is_redacted


def diff(before: Report, after: Report, names: tuple[str, str] = ("A", "B")) -> ReportDiff:
    """Compare two reports. `before` is the earlier one; `names` are the operator's names for the two."""
    one, other = _side(before, names[0]), _side(after, names[1])
    by_name = one.is_redacted is other.is_redacted
    return ReportDiff(
        before=one,
        after=other,
        cautions=tuple(_cautions(one, other)),
        findings=_findings(before, after, by_name),
        facts=fact_changes(before, after, by_name=by_name),
    )


def _findings(before: Report, after: Report, by_name: bool) -> tuple[FindingChange, ...]:
    """Compare what held at the moment of each. What one of the runs did not examine is not known there: it is neither
    gone nor new."""
    one, other = (before, after) if by_name else (None, None)
    coverage = Coverage(examined(before), one), Coverage(examined(after), other)
    return finding_changes(held(before), held(after), by_name=by_name, coverage=coverage)


def held(report: Report) -> tuple[Finding, ...]:
    """Return the findings as they stood at the moment of the report: without what was over or planned, and what was not
    known any longer as UNKNOWN."""
    stood = ((f, status_now(f, said)) for f, said in report.stated())
    return tuple(
        f if now is f.status else replace(f, status=now or f.status)
        for f, now in stood
        if now or f.status not in PROBLEMS
    )


def examined(report: Report) -> tuple[Finding, ...]:
    """Return the findings as they stood, with what was over as passed: its place was read."""
    stood = ((f, status_now(f, said) or Status.PASS) for f, said in report.stated())
    return tuple(f if now is f.status else replace(f, status=now) for f, now in stood)


def exit_code(difference: ReportDiff) -> ExitCode:
    """The exit code of the most severe change for the worse: a failure, then an UNKNOWN result, then a warning."""
    return exit_code_for({change.worse for change in difference.findings})


def to_json(difference: ReportDiff) -> bytes:
    """Return the difference as indented JSON with a final newline. Terminal control characters are escaped."""
    encoded = msgspec.json.format(msgspec.json.encode(difference), indent=2)
    return json_escaped(encoded.decode()).encode() + b"\n"


def _side(report: Report, name: str) -> DiffSide:
    cluster, clusterware = report.cluster, report.cluster.clusterware
    known = clusterware.cluster_name if isinstance(clusterware, Clusterware) else ""
    return DiffSide(
        name=sanitize(name),
        started_at=report.started_at,
        cluster_name=known if isinstance(known, str) else "",
        nodes=tuple(node.name for node in cluster.nodes) if isinstance(cluster.nodes, tuple) else (),
        racwire_version=report.racwire_version,
        is_redacted=report.is_redacted,
        interrupted=report.interrupted,
        moment=moment_text(report),
        incident=incident_line(report),
    )


def _cautions(one: DiffSide, other: DiffSide) -> Iterator[str]:
    if one.is_redacted is not other.is_redacted:
        redacted, plain = (one, other) if one.is_redacted else (other, one)
        yield (
            f"{redacted.name} has pseudonyms and {plain.name} does not, so racwire cannot match names. It matches "
            "findings only by their codes and compares no facts except versions."
        )
    elif others := _other_cluster(one, other):
        yield f"The reports are not of the same cluster: {others}."
    elif one.is_redacted:
        yield "Both reports have pseudonyms: a pseudonym means the same in both only if both used the same mapping."
    if _is_later(one.started_at, other.started_at):
        yield f"{other.name} is older than {one.name}: worse means better here. Name the earlier report first."
    for side in (one, other):
        if side.incident:
            yield f"{side.name}: {side.incident}"
        if side.interrupted:
            yield f"The run of {side.name} was interrupted: the checks that it did not finish cannot be compared."


def _other_cluster(one: DiffSide, other: DiffSide) -> str:
    """Text that shows that the reports are of different clusters; empty where nothing shows it."""
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


_NOUNS = {Status.FAIL: "failure", Status.UNKNOWN: "unknown result", Status.WARN: "warning"}
_GONE = (DiffKind.GONE, DiffKind.LESS_SEVERE, DiffKind.BECAME_KNOWN)
_EASED = (DiffKind.LOWER, DiffKind.FEWER_NODES)
_WORSE = (
    ((DiffKind.NEW,), "is new", "are new"),
    ((DiffKind.BECAME_KNOWN,), "was not known before", "were not known before"),
    ((DiffKind.MORE_SEVERE, DiffKind.HIGHER, DiffKind.MORE_NODES, DiffKind.OTHER_NODES), "got worse", "got worse"),
    ((DiffKind.WAIVER_ENDED,), "is no longer waived", "are no longer waived"),
)


def verdict(changes: Collection[FindingChange]) -> str:
    """Return a sentence such as `Better: 2 failures are gone, 1 warning is left.` Waived findings count neither as
    worse nor as left."""
    worse, better = list(_worse(changes)), list(_better(changes))
    left = [f for f in (c.after for c in changes if c.change is not DiffKind.FIRST_RUN) if f and _counts(f)]
    if worse:
        text = f"Worse: {'; '.join(filter(None, (', '.join(worse), ', '.join(better))))}."
    elif better:
        text = f"Better: {', '.join([*better, _remaining(left, 'left') or 'no problem is left'])}."
    else:
        text = f"Nothing is worse or better{_unchanged_problems(left)}."
    return " ".join([text, *_not_compared(changes)])


def _worse(changes: Iterable[FindingChange]) -> Iterator[str]:
    worse = [(c.change, c.worse) for c in changes if c.worse]
    for kinds, one, several in _WORSE:
        yield from _counted_by_status((status for change, status in worse if change in kinds), one, several)
    if unknown := sum(change is DiffKind.BECAME_UNKNOWN for change, _ in worse):
        yield f"{counted(unknown, 'finding')} {'is' if unknown == 1 else 'are'} no longer known"


def _better(changes: Iterable[FindingChange]) -> Iterator[str]:
    had = [(c, c.before.status) for c in changes if c.before and c.before.status in PROBLEMS and not c.worse]
    gone = (s for c, s in had if c.change in _GONE and (c.after is None or c.after.status is not s))
    yield from _counted_by_status(gone, "is gone", "are gone")
    yield from _counted_by_status((s for c, s in had if c.change in _EASED), "is milder", "are milder")
    yield from _counted_by_status((s for c, s in had if c.change is DiffKind.WAIVED), "is waived now", "are waived now")


def _not_compared(changes: Iterable[FindingChange]) -> Iterator[str]:
    found = Counter(c.change for c in changes if c.is_problem)
    for change, when in ((DiffKind.NOT_RERUN, "again"), (DiffKind.FIRST_RUN, "before")):
        if number := found[change]:
            yield f"{counted(number, 'problem')} {'was' if number == 1 else 'were'} not checked {when}."


def _counts(finding: Finding) -> bool:
    return finding.status in PROBLEMS and not finding.waived


def _counted_by_status(statuses: Iterable[Status], one: str, several: str) -> Iterator[str]:
    """Yield texts such as `2 failures are gone` and `1 warning is gone`, the most severe status first."""
    found = Counter(statuses)
    for status, noun in _NOUNS.items():
        if number := found[status]:
            yield f"{counted(number, noun)} {one if number == 1 else several}"


def _remaining(findings: Collection[Finding], what: str) -> str:
    """Return text such as `1 failure and 2 warnings are left`; empty where there are no findings."""
    found = Counter(f.status for f in findings)
    numbers = listed(counted(found[status], noun) for status, noun in _NOUNS.items() if found[status])
    return f"{numbers} {'is' if len(findings) == 1 else 'are'} {what}" if numbers else ""


def _unchanged_problems(left: Collection[Finding]) -> str:
    text = _remaining(left, "unchanged")
    return f"; {text}" if text else ""
