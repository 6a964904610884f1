"""Judges a report again on what a later run read: a run of some checks, or the gates of a change. Pure.

The newest facts of each group count, and every check that uses one of them is judged on them; the journal keeps what a
finding refers to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from checks.model.check import Check
from checks.model.facts import Cluster, NotGathered, Unknown
from checks.model.finding import Finding
from checks.model.journal import Entry, Journal
from checks.model.networks import private_networks
from checks.model.report import Report, Rerun
from checks.model.run_record import RunRecord
from checks.rules.change_under_way import proposes_a_change, step_in_use, with_step
from checks.rules.waivers import day_of, waivers_in
from checks.run.gathering import PROBING
from checks.run.judgement import concluded, judged, makers_in, weighed

OF_ONE_TIME = frozenset(("counters", "activity", *PROBING))
"""The groups that racwire counts or sends: what one run sent and what it counted meanwhile are compared."""


def judged_again(whole: Report, record: RunRecord, checks: Mapping[str, Check]) -> Report:
    """Return the report with the facts that a later run gathered in place of the earlier ones, and each check of the
    report judged again that uses one of them (`judged_by`). `checks` are the known checks by id, in their order.

    Of a run of some checks, their own findings count. Of gates only the facts do: their verdicts belong to the change.
    The waivers are applied for the day of the later run. Where findings of either run name an open change, those that
    are judged again name it too.
    """
    part = record.report
    own = () if record.is_gate else record.checks
    read = part.cluster.gathered_groups()
    again = judged_by(whole, record, checks)
    kept = [f for f in whole.findings if f.check not in own and f.check not in again]
    kept += [f for f in part.findings if f.check in own]
    rerun = Rerun(
        check=own[0] if own else "",
        also=own[1:],
        started_at=part.started_at,
        duration_s=part.duration_s,
        entries=len(part.journal),
        groups=read,
        judged=tuple(again),
    )
    both = replace(
        whole,
        cluster=_with_facts(whole.cluster, record),
        journal=(*whole.journal, *part.journal),
        reruns=(*whole.reruns, rerun),
        measurements=part.measurements or whole.measurements,
        sessions=part.sessions or whole.sessions,
    )
    journal, read_by = Journal(both.journal), both.read_by()
    fresh: list[Finding] = []
    for check in (checks[name] for name in again):
        facts = comparable(check, both.cluster, read_by)
        fresh += weighed(facts, judged(check, both.cluster, journal))
    findings = _in_order((*kept, *_advised(fresh, part, whole)), checks)
    both = replace(both, findings=findings)
    made = concluded(
        both, findings, waivers_in(part.settings), day_of(part.started_at), makers_in(both, checks.values())
    )
    return _without_unused(made)


def judged_by(whole: Report, record: RunRecord, checks: Mapping[str, Check]) -> tuple[str, ...]:
    """Return the checks of a report that are judged again after a later run: those that use a group which it read, but
    for those that also use what was sent or counted before and was not now: such facts belong to their own time. The
    exception are blocks counted before, where a check only weighs its severity by them (`Check.uses`)."""
    read = {*record.report.cluster.gathered_groups()}
    own = set() if record.is_gate else {*record.checks}
    ran = {finding.check for finding in whole.findings} - own
    known = {*whole.cluster.gathered_groups()}
    found = []
    for name, check in checks.items():
        groups = {*check.needs, *check.uses}
        measured = OF_ONE_TIME & groups & known - ({"activity"} - {*check.needs})
        if name in ran and groups & read and measured <= read:
            found.append(name)
    return tuple(found)


def comparable(check: Check, cluster: Cluster, read_by: Mapping[str, int]) -> Cluster:
    """Return the facts against which the findings of a check are weighed: without what was sent or counted at another
    time than what the check uses. `read_by` is the number of the newest run that read each group (0: the first)."""

    def run_of(group: str) -> int:
        return read_by.get(group, 0)

    at = max((run_of(g) for g in OF_ONE_TIME & {*check.needs, *check.uses} if cluster.is_gathered(g)), default=None)
    left = {g for g in OF_ONE_TIME if at is not None and run_of(g) != at}
    if run_of("counters") != run_of("nodes"):  # they show what changed since the nodes were read
        left.add("counters")
    return replace(cluster, **dict.fromkeys(left, NotGathered())) if left else cluster


def _with_facts(before: Cluster, record: RunRecord) -> Cluster:
    part = record.report.cluster
    facts = {group: getattr(part, group) for group in part.gathered_groups()}
    loads = tuple(dict.fromkeys((*before.recent_load, *part.recent_load)))
    after = replace(before, **facts, recent_load=loads)
    if not record.is_gate:
        return after
    # A gate looks for the networks of its plan; the report has those of Clusterware, or of the settings.
    networks = private_networks(after.clusterware, after.named_networks, after.read_nodes())
    return after if isinstance(networks, Unknown) else replace(after, networks=networks)


def _advised(fresh: Sequence[Finding], part: Report, whole: Report) -> Sequence[Finding]:
    """Return the findings, continuing the change that was open at the later run; at the earlier one, where no finding
    of the later one proposes any."""
    instead = step_in_use(part.findings)
    if instead is None and not proposes_a_change(part.findings):
        instead = step_in_use(whole.findings)
    return with_step(fresh, instead) if instead else fresh


def _in_order(findings: Iterable[Finding], checks: Collection[str]) -> tuple[Finding, ...]:
    """Return the findings in the order of the checks: the same facts give the same report."""
    order = {name: number for number, name in enumerate(checks)}
    return tuple(sorted(findings, key=lambda f: order.get(f.check, len(order))))


def _without_unused(report: Report) -> Report:
    """Return the report without the entries of reruns to which no finding refers, and without the reruns of which
    nothing is left: no entry, no newest group, no check that was judged on its facts last."""
    used = {id(entry) for finding in report.findings for entry in report.evidence(finding)}
    read_by, ran = report.read_by(), {finding.check for finding in report.findings}
    reruns: list[Rerun] = []
    journal: list[Entry] = [*report.entries_in(None)]
    for number, again in enumerate(report.reruns, 1):
        entries = [entry for entry in report.entries_in(again) if id(entry) in used]
        is_newest = number in read_by.values() or any(report.latest_of(check) == number for check in ran)
        if entries or is_newest:
            journal += entries
            reruns.append(replace(again, entries=len(entries)))
    return replace(report, journal=tuple(journal), reruns=tuple(reruns))
