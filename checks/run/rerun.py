"""The rerun of some checks: its report is merged into the report of all checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from checks.diagnosis.diagnose import diagnose
from checks.model.finding import worst_first
from checks.model.report import Report, Rerun
from checks.rules.fitting_steps import with_fitting_steps
from checks.rules.udp_against_pings import outweigh
from checks.rules.waivers import NOT_CHECKED, apply, day_of, waivers_in
from checks.run.check_discovery import known_codes


def merged(whole: Report, part: Report, checks: Sequence[str], groups: Iterable[str]) -> Report:
    """Return the whole report with the findings of these checks from `part`, the later run of these checks only; at
    least one.

    The facts of `groups`, which the later run gathered, replace the earlier ones; all other facts stay. The journal has
    the entries of both runs, and `reruns` lists the checks that are later than the report. The waivers are applied
    again, for the day of the later run.
    """
    kept = [again for again in whole.reruns if not set(again.checks) <= {*checks}]
    entries = [*whole.entries_of("")]
    for former in kept:
        entries += whole.entries_in(former)
    first, *also = checks
    again = Rerun(
        check=first,
        also=tuple(also),
        started_at=part.started_at,
        duration_s=part.duration_s,
        entries=len(part.journal),
    )
    facts = {group: getattr(part.cluster, group) for group in groups}
    findings = [f for f in whole.findings if f.check not in checks]
    findings += [f for f in part.findings if f.check in checks]
    # A waiver may cover findings of any check: its standing depends on all findings.
    makers = {s.code: s.check for s in (*whole.waivers, *part.waivers) if s.check or s.standing != NOT_CHECKED}
    loads = dict.fromkeys((*whole.cluster.recent_load, *part.cluster.recent_load))
    cluster = msgspec.structs.replace(whole.cluster, **facts, recent_load=tuple(loads))
    marked, standings = apply(
        outweigh(cluster, findings), waivers_in(part.settings), day_of(part.started_at), makers, known_codes
    )
    both = msgspec.structs.replace(
        whole,
        cluster=cluster,
        findings=tuple(worst_first(list(marked))),
        diagnosis=diagnose(cluster, marked),
        waivers=standings,
        journal=(*entries, *part.journal),
        reruns=(*kept, again),
        measurements=part.measurements or whole.measurements,
    )
    return with_fitting_steps(both)
