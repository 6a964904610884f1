"""What got better and what got worse between two reports: findings, and the facts that explain them. Pure.

As JSON (`racwire-diff/1`) it has the fields of `Difference`: `before` and `after` (which reports these are), `cautions`
(what speaks against comparing them, a sentence each), `findings` (each with `change`, and `before` and `after` as a
report has them; those that got worse first) and `facts` (each with `group`, `name`, `before` and `after`).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec

from checks.model.facts import Clusterware
from checks.model.finding import Status
from checks.model.report import ExitCode, Report
from checks.model.sanitize import json_escaped, shown
from checks.model.wording import listed
from checks.report.diff_facts import FactChange, fact_changes
from checks.report.diff_findings import FindingChange, finding_changes

SCHEMA = "racwire-diff/1"


class Side(msgspec.Struct, frozen=True, kw_only=True):
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


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """All that differs, and which findings do not."""

    schema: str = SCHEMA
    before: Side
    after: Side
    cautions: tuple[str, ...]
    findings: tuple[FindingChange, ...]
    facts: tuple[FactChange, ...]

    @property
    def by_name(self) -> bool:
        """Whether names mean the same in both."""
        return self.before.is_redacted is self.after.is_redacted


def diff(before: Report, after: Report, names: tuple[str, str] = ("A", "B")) -> Difference:
    """Compare two reports, the earlier one first."""
    one, other = _side(before, names[0]), _side(after, names[1])
    by_name = one.is_redacted is other.is_redacted
    return Difference(
        before=one,
        after=other,
        cautions=tuple(_cautions(one, other)),
        findings=finding_changes(before.findings, after.findings, by_name=by_name),
        facts=fact_changes(before, after, by_name=by_name),
    )


def exit_code(difference: Difference) -> ExitCode:
    """The gravest that got worse: a failure before what is not known any more before a warning."""
    worse = {change.worse for change in difference.findings}
    if Status.FAIL in worse:
        return ExitCode.FAILURES
    if Status.UNKNOWN in worse:
        return ExitCode.COULD_NOT_TELL
    return ExitCode.WARNINGS if Status.WARN in worse else ExitCode.PASS


def to_json(difference: Difference) -> bytes:
    """As indented JSON with a final newline; what a terminal would obey in it is escaped."""
    encoded = msgspec.json.format(msgspec.json.encode(difference), indent=2)
    return json_escaped(encoded.decode()).encode() + b"\n"


def _side(report: Report, name: str) -> Side:
    cluster, clusterware = report.cluster, report.cluster.clusterware
    known = clusterware.cluster_name if isinstance(clusterware, Clusterware) else ""
    return Side(
        name=shown(name),
        started_at=report.started_at,
        cluster_name=known if isinstance(known, str) else "",
        nodes=tuple(node.name for node in cluster.nodes) if isinstance(cluster.nodes, tuple) else (),
        racwire_version=report.racwire_version,
        is_redacted=report.is_redacted,
        interrupted=report.interrupted,
    )


def _cautions(one: Side, other: Side) -> Iterator[str]:
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


def _other_cluster(one: Side, other: Side) -> str:
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
