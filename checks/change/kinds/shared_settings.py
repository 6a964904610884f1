"""Changes of kernel settings, one node after the other: what their requests and plans share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from checks.change.plan import codes
from checks.change.plan.change_plan import Accepted, ChangeKind, PlannedValue
from checks.change.plan.layers import layers_of, networks_of
from checks.change.plan.obstacles import Obstacle
from checks.change.plan.planning import PlanContext, draft_of, planned_network
from checks.change.steps.draft import Draft
from checks.model.facts import Cluster, SysctlFiles, TunedProfile, Unknown
from checks.model.finding import FAULTS, Finding, Status
from checks.model.report import Report
from checks.model.wording import listed
from checks.rules.sysctls_at_boot import (
    RP_FILTER,
    effective_rp_filter,
    interface_of,
    line_that_sets,
    tuned_line_against,
)

_MOST = 12


class SettingsRequest:
    """A request whose plan needs the sysctl files and the sockets of each node."""


Wanted = Mapping[str, Mapping[str, str]]
"""The planned values, by node and by key."""


def files_of(cluster: Cluster, node: str) -> SysctlFiles | Unknown:
    """Return the sysctl files of a node, or why they are not known."""
    changing = cluster.changing
    if isinstance(changing, Unknown):
        return changing
    return changing.sysctl_files.get(node) or changing.unasked.get(node) or Unknown(f"{node} was not queried")


def planned_values(cluster: Cluster, wanted: Wanted) -> tuple[PlannedValue, ...]:
    """Return the values that differ from the running ones or from those of the next boot."""
    return tuple(value for node, values in wanted.items() for value in _of_node(cluster, node, values))


def _of_node(cluster: Cluster, node: str, values: Mapping[str, str]) -> Iterator[PlannedValue]:
    read, files = cluster.node(node), files_of(cluster, node)
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


def settings_obstacles(
    cluster: Cluster, wanted: Wanted, values: Sequence[PlannedValue], otherwise: str
) -> Iterator[Obstacle]:
    """Yield the obstacles of kernel settings: unknown values, unread files, a tuned profile, nothing to do.

    `otherwise` is what the operator can do where there is nothing to change.
    """
    unknown = list(_unknown(cluster, wanted))
    if unknown:
        yield Obstacle(
            code=codes.VALUE_NOT_KNOWN.code,
            title="A kernel setting is not known",
            sentence=f"{listed(unknown)} could not be read.",
            next=("Read the setting on that node: sysctl KEY", "Compare what racwire reads: racwire plan"),
        )
    for node in wanted:
        yield from _files(cluster, node, wanted[node])
    if not values and not unknown:
        yield Obstacle(
            code=codes.NOTHING_TO_DO.code,
            title="There is nothing to change",
            sentence="Every node has the values already, now and for the next boot."
            if any(wanted.values())
            else "No node needs other values.",
            next=(otherwise,),
        )


def _unknown(cluster: Cluster, wanted: Wanted) -> Iterator[str]:
    for node, values in wanted.items():
        read = cluster.node(node)
        for key in values:
            if read and not isinstance(read.sysctls.get(key), str):
                yield f"{key} of {node}"


def _files(cluster: Cluster, node: str, values: Mapping[str, str]) -> Iterator[Obstacle]:
    files = files_of(cluster, node)
    unread = (
        [files.reason.rstrip(".")] if isinstance(files, Unknown) else [f"{f} may not be read" for f in files.unread]
    )
    if unread and values:
        yield Obstacle(
            code=codes.SYSCTL_FILES_NOT_READ.code,
            title=f"The sysctl files of {node}",
            sentence=f"What {node} sets at its next boot is not fully known: {'; '.join(unread)}.",
            next=("Run racwire as a user who may read these files, such as root.",),
            acceptable=not isinstance(files, Unknown),
        )
    if isinstance(files, Unknown):
        return
    against = [line for key, value in values.items() if (line := tuned_line_against(files.tuned, key, value))]
    if against and isinstance(files.tuned, TunedProfile):
        yield Obstacle(
            code=codes.TUNED_OVERRIDES.code,
            title=f"The tuned profile of {node}",
            sentence=f"On {node}, the tuned profile {files.tuned.name} sets "
            f"{listed(f'{line.key} = {line.value}' for line in against)}, and tuned does not apply the files of sysctl "
            "again after it (reapply_sysctl = 0): the profile would win at the next boot.",
            next=(
                f"Change the values in {listed(dict.fromkeys(line.file for line in against))}, in a profile of your "
                "own, or set reapply_sysctl = 1.",
            ),
            acceptable=True,
        )


def settings_remarks(report: Report, draft: Draft, cured: Sequence[Finding]) -> Iterator[str]:
    """Yield the sentences of a plan: the values before, other files, tuned, and findings."""
    cluster = report.cluster
    for value in draft.values:
        kept = f"{value.file_before} sets it to {value.kept_before}" if value.file_before else "no file sets it"
        yield f"{value.key} of {value.node} is {value.before}{_in_effect(cluster, value)}; at boot, {kept}."
    for node in dict.fromkeys(value.node for value in draft.values):
        files = files_of(cluster, node)
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
    yield from (f"Found at the start, and the reason for this change: {finding.title}" for finding in cured)
    others = [f for f in report.findings if f.status in (Status.WARN, Status.UNKNOWN) and f not in cured]
    for finding in others[:_MOST]:
        status = "unknown" if finding.status is Status.UNKNOWN else "a warning"
        yield f"At the start {status}: {finding.title} ({finding.code})"


def _in_effect(cluster: Cluster, value: PlannedValue) -> str:
    """Return the value in effect where it is not the key's own: `all` may have a larger rp_filter."""
    interface = interface_of(value.key) if value.key.endswith(f".{RP_FILTER}") else ""
    now = effective_rp_filter(cluster, value.node, interface) if interface else None
    return "" if now is None or str(now) == value.before else f" ({now} in effect, by `all`)"


def with_joined(report: Report, codes_: Iterable[str]) -> tuple[Finding, ...]:
    """Return the faults with these codes, and the lost blocks and lost packets that belong to them."""
    known = frozenset(codes_)
    reasons = [finding for finding in report.findings if finding.code in known and finding.status in FAULTS]
    joined = {id(other) for reason in reasons for other in report.joined_with(reason) if other.check in _EFFECTS}
    return tuple(finding for finding in report.findings if finding in reasons or id(finding) in joined)


_EFFECTS = frozenset({"gc-blocks-lost", "haip-path", "instance-ping", "gc-receive-time"})
"""Checks that see the effect of filtered or overflowed packets."""


def settings_draft(
    context: PlanContext, kind: ChangeKind, values: tuple[PlannedValue, ...], outweighed: Iterable[Accepted]
) -> Draft:
    """Return the draft of a plan whose MTUs stay as they are."""
    cluster = context.report.cluster
    layers = tuple(msgspec.structs.replace(one, mtu_after=one.mtu_before) for one in layers_of(cluster, 0))
    networks = tuple(
        planned_network(network, layers, network.mtu if isinstance(network.mtu, int) else 0)
        for network in networks_of(cluster)
    )
    return replace(draft_of(context, kind, layers, networks, outweighed), values=values, uses=())
