"""The changes of the private networks: a network is added, or the interconnect moves to another one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import msgspec

from checks.change.kinds.network_obstacles import network_obstacles
from checks.change.kinds.new_network import (
    FoundNetwork,
    NamedNetwork,
    find_network,
    old_network,
)
from checks.change.plan.change_plan import ChangeKind, NetworkPart, Plan, PlannedNetwork, Registrations, Step
from checks.change.plan.layers import layers_as_they_are, networks_of
from checks.change.plan.network_change import NetworkChange, network_change, roles_text, shown, with_network
from checks.change.plan.planning import PlanContext, accept, draft_of, known_lines, plan_of
from checks.change.plan.registered_networks import private_lines, registered_listeners
from checks.change.plan.remarks import finding_remarks
from checks.change.progress.state import ChangeError
from checks.change.steps import network_steps as steps
from checks.change.steps.draft import Draft
from checks.model.facts import Cluster, Clusterware, Database, InterfaceConfiguration, PrivateNetwork, Unknown
from checks.model.finding import Status
from checks.model.report import Report
from checks.model.wording import listed

_DOWN = "old-network-down"
_ROLE = "cluster_interconnect"


@dataclass(frozen=True)
class NetworkRequest:
    """A private network shall be added; with `source` it replaces that private network."""

    interface: NamedNetwork
    source: NamedNetwork | None = None

    def subnets_to_test(self, cluster: Cluster) -> tuple[str, ...]:
        """Return the private networks with the new one, which the checks must also examine; empty if it is not there.

        Raises ChangeError as `plan` does.
        """
        found = find_network(cluster, self.interface)
        if not found.places:
            return ()
        return tuple(dict.fromkeys((*(network.subnet for network in networks_of(cluster)), found.subnet)))

    def plan(self, context: PlanContext) -> Plan:
        """Return the plan.

        Raises PlanError with the obstacles, ChangeError if a name fits no network or several.
        """
        report = context.report
        known = report.cluster.clusterware
        readable = isinstance(known, Clusterware) and isinstance(known.configuration, InterfaceConfiguration)
        if self.source is not None and not readable:
            raise ChangeError("oifcfg getif could not be read: racwire does not know which networks there are.")
        new = find_network(report.cluster, self.interface)
        old = old_network(report.cluster, self.source) if self.source else None
        outweighed = accept(context, network_obstacles(report, context.tested, new, old[0] if old else None))
        together = _with_tested(report.cluster, context.tested)
        extended = replace(context, report=msgspec.structs.replace(report, cluster=together))
        kind = ChangeKind.MOVE_NETWORK if old else ChangeKind.ADD_NETWORK
        layers = layers_as_they_are(together)
        roles = old[1].roles if old else _roles(report.cluster)
        listeners = registered_listeners(together)
        before = Registrations(known_lines(together), None if isinstance(listeners, Unknown) else listeners or None)
        both = with_network(before, new.interface, new.subnet, roles)
        draft = draft_of(extended, kind, layers, outweighed)
        networks = tuple(_with_part(network, new.subnet, old[0].subnet if old else "") for network in draft.networks)
        draft = replace(draft, networks=networks)
        change = network_change(networks, layers, before, both)
        about = tuple(_remarks(report, context.tested, new, change, roles, draft))
        plan = plan_of(extended, draft, _steps(draft, change), outweighed, about, goal=_goal(new, old))
        return msgspec.structs.replace(plan, asm_listeners=before.asm_listeners)


def _goal(new: FoundNetwork, old: tuple[PrivateNetwork, object] | None) -> str:
    if old is None:
        return f"add network {new.interface} {new.subnet}"
    return f"move interconnect {old[0].subnet} → {new.interface} {new.subnet}"


def _with_tested(cluster: Cluster, tested: Report | None) -> Cluster:
    """Return the cluster with the facts of the second run, in which the new network is a private one."""
    if tested is None:
        return cluster
    also = tested.cluster
    return msgspec.structs.replace(
        cluster, nodes=also.nodes, networks=also.networks, setups=also.setups, paths=also.paths
    )


def _with_part(network: PlannedNetwork, new: str, old: str) -> PlannedNetwork:
    """Return a network with its part in the change; `new` and `old` are subnets."""
    if network.subnet == new:
        return msgspec.structs.replace(network, part=NetworkPart.NEW)
    if network.subnet == old:
        return msgspec.structs.replace(network, part=NetworkPart.OLD, until=_DOWN)
    return network


def _roles(cluster: Cluster) -> tuple[str, ...]:
    """Return the roles of the private network with the most: the new one serves ASM too where one of them does."""
    lines = private_lines(cluster)
    return max((line.roles for line in lines), key=len, default=(_ROLE,))


def _steps(draft: Draft, change: NetworkChange) -> Iterator[Step]:
    yield steps.agree(draft, change)
    yield steps.backups(draft)
    yield steps.console_access(draft)
    yield steps.network_ready(draft, change)
    yield steps.register(draft, change)
    yield steps.stack_down(draft)
    if change.old is not None:
        yield steps.old_network_down(draft, change)
    yield steps.first_node(draft, change.both)
    yield steps.other_nodes(draft, change.both, "deregister" if change.old else "end")
    yield from steps.databases(draft)
    yield steps.interconnect(draft, change.both)
    if change.old is not None:
        yield steps.deregister(draft, change)
    yield steps.sign_off(draft, change.after)


def _remarks(
    report: Report,
    tested: Report | None,
    new: FoundNetwork,
    change: NetworkChange,
    roles: tuple[str, ...],
    draft: Draft,
) -> Iterator[str]:
    cluster = report.cluster
    deletes = f", and deletes {shown(change.old_lines)} after the restart" if change.old_lines else ""
    yield f"The plan adds {shown(change.new_lines)} to oifcfg{deletes}."
    if len({line.roles for line in private_lines(cluster)}) > 1:
        yield (
            f"The private networks have different roles in oifcfg; the new one gets {roles_text(roles)}. If it must "
            "not carry the traffic of ASM, change the command of the step register."
        )
    if change.has_asm_role and change.both.asm_listeners is None:
        yield "The network has the role asm, but the listeners of Flex ASM are not known: see the step register."
    number = len(private_lines(cluster)) + (0 if change.old else 1)
    if draft.has_haip:
        addresses = 4 if number > 2 else number
        yield (
            f"With {number} private network{'s' if number > 1 else ''} up at the start of the first node, HAIP has "
            f"{addresses} address{'es' if addresses > 1 else ''} on each node (MOS 1210883.1)."
        )
    else:
        yield (
            "No private interface has a HAIP address, so racwire cannot tell how the instances divide their traffic "
            "between several networks."
        )
    if not isinstance(cluster.database, Database):
        yield "No database is connected: cluster_interconnects and the networks of the instances are not checked."
    yield "racwire does not read cluster_interconnects of the ASM instances: the step agree asks for it."
    if tested is not None:
        for finding in tested.findings:
            if finding.network == new.subnet and finding.status is Status.WARN:
                yield f"On the new network, a warning: {finding.title} ({finding.code})"
    yield from finding_remarks(report)
    yield f"Private networks after the change: {listed(_after(change, draft))}."


def _after(change: NetworkChange, draft: Draft) -> list[str]:
    return [network.name for network in draft.networks if network is not change.old]
