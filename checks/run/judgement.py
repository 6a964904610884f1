"""What a run says of its facts: the findings of each check, weighed against each other, waived and diagnosed.

Pure: it reads nothing and sends nothing, so that facts of a run, of a file and of several runs are judged alike.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from datetime import date

import msgspec

from checks.diagnosis.diagnose import diagnose
from checks.model.check import Check
from checks.model.exit_codes import Interrupted
from checks.model.facts import Activity, Cluster, CounterChanges, NotAsked, Unknown
from checks.model.finding import FAULTS, Finding, Status, worst_first
from checks.model.journal import Journal
from checks.model.known_instances import active, instance_name, node_of
from checks.model.report import Report
from checks.model.settings_waivers import Waiver
from checks.rules.changed_meanwhile import without_outdated
from checks.rules.fitting_steps import with_fitting_steps
from checks.rules.own_footprint import without_footprint
from checks.rules.udp_against_pings import outweigh
from checks.rules.waivers import NOT_CHECKED, apply
from checks.run.check_discovery import known_codes
from checks.run.engine_findings import KINDS, check_broke, not_asked, not_gathered, without_ipv6


def judged(check: Check, cluster: Cluster, journal: Journal) -> tuple[Finding, ...]:
    """Return the findings of a check; where a fact is missing that it needs, or the check breaks, the one about that.

    `journal` has the entries of the facts, to which a finding about a missing fact refers.
    """
    for need in check.needs:
        fact = getattr(cluster, need)
        if isinstance(fact, NotAsked):
            return (not_asked(check, need, fact),)
        if not is_known(fact):
            return (not_gathered(check, need, fact, cluster, journal),)
    return tuple(_covering(check, cluster, _found(check, cluster)))


def is_known(fact: object) -> bool:
    """Return whether a group of facts could be read."""
    return not isinstance(fact, Unknown | NotAsked)


def _found(check: Check, cluster: Cluster) -> tuple[Finding, ...]:
    try:
        with redirect_stdout(sys.stderr):  # stdout is only for the report
            found = without_ipv6(check, cluster, check.run(cluster))
            # A finding does not validate its fields; a wrong type in one would break the whole report.
            return msgspec.convert(msgspec.to_builtins(found), tuple[Finding, ...])
    except Interrupted:
        raise
    except BaseException as error:  # a check may break in any way, and exit too; the others go on
        return (check_broke(check, error),)


def _covering(check: Check, cluster: Cluster, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings; those with an amount name what the check could read, since amounts over different instances
    or nodes do not compare."""
    left = {node for finding in findings if finding.status is Status.UNKNOWN for node in finding.nodes}
    for finding in findings:
        has_amount = finding.extent or (finding.status in FAULTS and "lost_blocks" in finding.data)
        covers = _covered(check, cluster, left) if has_amount else ()
        yield msgspec.structs.replace(finding, covers=covers) if covers else finding


def _covered(check: Check, cluster: Cluster, left: set[str]) -> tuple[str, ...]:
    """Return the instances of which the check could read counts, or else the nodes that it could read."""
    if "activity" in check.needs and isinstance(cluster.activity, Activity):
        read = [a.instance for a in active(cluster.activity) if node_of(cluster, a.instance) not in left]
        return tuple(sorted(instance_name(cluster, number) for number in read))
    if "counters" in check.needs and isinstance(cluster.counters, CounterChanges):
        return tuple(sorted({change.node for change in cluster.counters.nodes} - left))
    return tuple(sorted({node.name for node in cluster.read_nodes()} - left))


def weighed(cluster: Cluster, findings: Iterable[Finding], *, udp_outweighs_pings: bool = True) -> tuple[Finding, ...]:
    """Return the findings, weighed against what else was sent and counted in the same seconds, and against what changed
    meanwhile. Each finding is weighed by itself, once."""
    against = outweigh(cluster, findings) if udp_outweighs_pings else findings
    return without_footprint(cluster, without_outdated(cluster, against))


def makers_of(checks: Iterable[Check]) -> dict[str, str]:
    """Return the check that can find each code; the engine's own codes have an empty check."""
    own = {kind.code: "" for kind in KINDS}
    return own | {kind.code: check.id for check in checks for kind in check.kinds}


def makers_in(report: Report, checks: Iterable[Check]) -> dict[str, str]:
    """Return the check that could find each code in the run of a report: from its findings, from the known checks that
    ran, and from its waivers."""
    ran = {finding.check for finding in report.findings}
    from_waivers = {s.code: s.check for s in report.waivers if s.check or s.standing != NOT_CHECKED}
    found = {finding.code: finding.check for finding in report.findings}
    return found | makers_of(check for check in checks if check.id in ran) | from_waivers


def concluded(
    report: Report, findings: Sequence[Finding], waivers: Sequence[Waiver], on: date, makers: Mapping[str, str]
) -> Report:
    """Return the report with these findings, weighed and in the order of their checks: waived on that day, diagnosed by
    its cluster, with the next steps that are left."""
    marked, standings = apply(findings, waivers, on, makers, known_codes)
    made = msgspec.structs.replace(
        report,
        findings=tuple(worst_first(list(marked))),
        waivers=standings,
        diagnosis=diagnose(report.cluster, marked),
    )
    return with_fitting_steps(made)
