"""Changes of kernel settings, one node after the other: what their requests and plans share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from checks.change.plan import codes
from checks.change.plan.change_plan import ChangeKind, Plan, PlannedValue, Step
from checks.change.plan.layers import layers_as_they_are
from checks.change.plan.obstacles import Obstacle, obstacle
from checks.change.plan.planning import PlanContext, accept, draft_of, plan_of
from checks.change.plan.preflight import common_obstacles, in_order
from checks.change.plan.remarks import finding_remarks
from checks.change.steps.draft import Draft
from checks.model.facts import Cluster, SysctlFiles, TunedProfile, Unknown
from checks.model.finding import FAULTS, Finding, NextStep
from checks.model.report import Report
from checks.model.wording import listed
from checks.rules.sysctls_at_boot import (
    RP_FILTER,
    effective_rp_filter,
    interface_of,
    line_that_sets,
    tuned_line_against,
)


class SettingsRequest:
    """A request whose plan needs the sysctl files and the sockets of each node."""


Wanted = Mapping[str, Mapping[str, str]]
"""The planned values, by node and by key."""


def settings_plan(
    context: PlanContext,
    kind: ChangeKind,
    wanted: Wanted,
    *,
    reasons: Iterable[str],
    otherwise: NextStep,
    goal: Callable[[Draft], str],
    steps: Callable[[Draft], Iterable[Step]],
    about: Callable[[Draft], Iterable[str]] = lambda _: (),
) -> Plan:
    """Return the plan of kernel settings, whose MTUs stay as they are. Raises PlanError with the obstacles.

    `reasons` are the codes of findings that the change fixes, `otherwise` is what the operator can do where there is
    nothing to change; `about` makes the first remarks.
    """
    report = context.report
    values = _planned_values(report.cluster, wanted)
    fixed = _with_joined(report, reasons)
    common = common_obstacles(report, lambda finding: finding in fixed)
    outweighed = accept(context, in_order((*common, *_obstacles(report.cluster, wanted, values, otherwise))))
    draft = draft_of(context, kind, layers_as_they_are(report.cluster), outweighed)
    draft = replace(draft, values=values, uses=())
    remarks = dict.fromkeys((*about(draft), *_remarks(report, draft, fixed)))
    return plan_of(context, draft, steps(draft), outweighed, remarks, goal=goal(draft))


def _files_of(cluster: Cluster, node: str) -> SysctlFiles | Unknown:
    """Return the sysctl files of a node, or why they are not known."""
    changing = cluster.changing
    if isinstance(changing, Unknown):
        return changing
    return changing.sysctl_files.get(node) or changing.unasked.get(node) or Unknown(f"{node} was not queried")


def _planned_values(cluster: Cluster, wanted: Wanted) -> tuple[PlannedValue, ...]:
    """Return the values that differ from the running ones or from those of the next boot."""
    return tuple(value for node, values in wanted.items() for value in _of_node(cluster, node, values))


def _of_node(cluster: Cluster, node: str, values: Mapping[str, str]) -> Iterator[PlannedValue]:
    read, files = cluster.node(node), _files_of(cluster, node)
    for key, after in values.items():
        before = read.sysctls.get(key) if read else None
        if not isinstance(before, str):
            continue  # an obstacle
        line = line_that_sets(files.at_boot, key) if isinstance(files, SysctlFiles) else None
        last = line_that_sets(files.last, key) if isinstance(files, SysctlFiles) else None
        if before == after and line is not None and line.value == after and (last is None or last.value == after):
            continue
        yield PlannedValue(
            node=node,
            key=key,
            before=before,
            after=after,
            kept_before=line.value if line else None,
            file_before=line.file if line else "",
            conf_before=last.value if last else "",
        )


def _obstacles(
    cluster: Cluster, wanted: Wanted, values: Sequence[PlannedValue], otherwise: NextStep
) -> Iterator[Obstacle]:
    """Yield the obstacles of kernel settings: unknown values, unread files, a tuned profile, nothing to do.

    `otherwise` is what the operator can do where there is nothing to change.
    """
    unknown = list(_unknown(cluster, wanted))
    if unknown:
        yield obstacle(
            codes.VALUE_NOT_KNOWN,
            f"{listed(unknown)} could not be read.",
            NextStep("Read the setting on that node.", ("sysctl KEY",)),
            NextStep("Compare what racwire reads.", ("racwire plan",)),
            title="A kernel setting is not known",
        )
    for node in wanted:
        yield from _files(cluster, node, wanted[node])
    if not values and not unknown:
        yield obstacle(
            codes.NOTHING_TO_DO,
            "Every node has the values already, now and for the next boot."
            if any(wanted.values())
            else "No node needs other values.",
            otherwise,
        )


def _unknown(cluster: Cluster, wanted: Wanted) -> Iterator[str]:
    for node, values in wanted.items():
        read = cluster.node(node)
        for key in values:
            if read and not isinstance(read.sysctls.get(key), str):
                yield f"{key} of {node}"


def _files(cluster: Cluster, node: str, values: Mapping[str, str]) -> Iterator[Obstacle]:
    files = _files_of(cluster, node)
    unread = (
        [files.reason.rstrip(".")] if isinstance(files, Unknown) else [f"{f} may not be read" for f in files.unread]
    )
    if unread and values:
        yield obstacle(
            codes.SYSCTL_FILES_NOT_READ,
            f"What {node} sets at its next boot is not fully known: {'; '.join(unread)}.",
            "Run racwire as a user who may read these files, such as root.",
            title=f"The sysctl files of {node}",
            acceptable=not isinstance(files, Unknown),
        )
    if isinstance(files, Unknown):
        return
    against = [line for key, value in values.items() if (line := tuned_line_against(files.tuned, key, value))]
    if against and isinstance(files.tuned, TunedProfile):
        yield obstacle(
            codes.TUNED_OVERRIDES,
            f"On {node}, the tuned profile {files.tuned.name} sets "
            f"{listed(f'{line.key} = {line.value}' for line in against)}, and tuned does not apply the files of sysctl "
            "again after it (reapply_sysctl = 0): the profile would win at the next boot.",
            f"Change the values in {listed(dict.fromkeys(line.file for line in against))}, in a profile of "
            "your own, or set reapply_sysctl = 1.",
            title=f"The tuned profile of {node}",
            acceptable=True,
        )


def _remarks(report: Report, draft: Draft, fixed: Sequence[Finding]) -> Iterator[str]:
    """Yield the sentences of a plan: the values before, other files, tuned, and findings."""
    cluster = report.cluster
    for value in draft.values:
        kept = f"{value.file_before} sets it to {value.kept_before}" if value.file_before else "no file sets it"
        yield f"{value.key} of {value.node} is {value.before}{_in_effect(cluster, value)}; at boot, {kept}."
    for node in dict.fromkeys(value.node for value in draft.values):
        files = _files_of(cluster, node)
        if isinstance(files, SysctlFiles) and isinstance(files.tuned, Unknown):
            yield f"Whether a tuned profile of {node} sets these values is not known: {files.tuned.reason}."
        elif isinstance(files, SysctlFiles) and isinstance(files.tuned, TunedProfile) and files.tuned.not_found:
            missing = listed(files.tuned.not_found)
            yield f"The tuned profile {files.tuned.name} of {node} includes {missing}, which racwire did not find."
    if corrected := dict.fromkeys(value.node for value in draft.values if value.conf_before not in ("", value.after)):
        yield (
            f"/etc/sysctl.conf of {listed(corrected)} sets other values. `sysctl -p`, `sysctl --system` and tuned "
            "apply that file last, so the plan changes the values there, too."
        )
    yield from finding_remarks(report, fixed, "the reason for this change")


def _in_effect(cluster: Cluster, value: PlannedValue) -> str:
    """Return the value in effect where it is not the key's own: `all` may have a larger rp_filter."""
    interface = interface_of(value.key) if value.key.endswith(f".{RP_FILTER}") else ""
    now = effective_rp_filter(cluster, value.node, interface) if interface else None
    return "" if now is None or str(now) == value.before else f" ({now} in effect, by `all`)"


def _with_joined(report: Report, codes_: Iterable[str]) -> tuple[Finding, ...]:
    """Return the faults with these codes, and the lost blocks and lost packets that belong to them."""
    known = frozenset(codes_)
    reasons = [finding for finding in report.findings if finding.code in known and finding.status in FAULTS]
    joined = {id(other) for reason in reasons for other in report.joined_with(reason) if other.check in _EFFECTS}
    return tuple(finding for finding in report.findings if finding in reasons or id(finding) in joined)


_EFFECTS = frozenset({"gc-blocks-lost", "haip-path", "instance-ping", "gc-receive-time"})
"""Checks that see the effect of filtered or overflowed packets."""
