"""The change of one node's MTU to that of all others, which keep running: the request, the obstacles, and the plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import msgspec

from checks.change.kinds.mtu_obstacles import public_below
from checks.change.plan import codes
from checks.change.plan.change_plan import ChangeKind, Layer, Plan, PlannedNetwork, Step
from checks.change.plan.layers import inheriting, layers_as_they_are, layers_of
from checks.change.plan.mtu_limits import limits
from checks.change.plan.next_boot_limits import fragile_of, keeping
from checks.change.plan.obstacles import Obstacle, obstacle, plan_again
from checks.change.plan.planning import PlanContext, accept, databases_of, draft_of, plan_of
from checks.change.plan.preflight import common_obstacles, in_order, obstacle_of
from checks.change.plan.remarks import remarks
from checks.change.progress.state import ChangeError
from checks.change.steps import after, node_steps
from checks.change.steps.draft import Draft, Fragile
from checks.model.facts import Cluster
from checks.model.finding import FAULTS, Finding, NextStep, Status, keyed
from checks.model.hypothesis import Hypothesis
from checks.model.observation import Fate
from checks.model.report import Report
from checks.model.shell_command import shell
from checks.model.wording import listed
from checks.rules.node_apart import NodeApart, apart, nodes_apart

_CAUSE = "CAUSE-05"
_OF_INTERFACES = frozenset({"IC-MTU-002", "IC-MTU-003", "IC-MTU-004"})
"""The findings that show another MTU of an interface, or of one below it."""
_OF_PATHS = ("df-ping", "mtu-consistency")
"""Checks that must have looked: what they do not know cannot be accepted."""


@dataclass(frozen=True)
class NodeMtuRequest:
    """One node shall have the MTU of all others: the one that differs, where `node` names none."""

    node: str = ""

    def plan(self, context: PlanContext) -> Plan:
        """Return the plan.

        Raises PlanError with the obstacles, ChangeError where the node is not known or not the only one.
        """
        report = context.report
        node = self._node(report.cluster)
        outweighed = accept(context, in_order(_obstacles(report, node)))
        one = apart(report.cluster, node)
        assert one is not None  # else an obstacle that cannot be accepted
        layers = _layers(report.cluster, one)
        draft = draft_of(context, ChangeKind.NODE_MTU, layers, outweighed)
        draft = replace(
            draft,
            node=node,
            networks=tuple(_before(network, node, layers) for network in draft.networks),
            uses=tuple(use for use in draft.uses if use.node == node),
            inheriting=inheriting(report.cluster, layers),
            fragile=tuple(Fragile(node, *line) for line in fragile_of(report.cluster, node, layers)),
        )
        about = (
            f"{node} gets MTU {one.mtu}, which {listed(one.others)} {'has' if len(one.others) == 1 else 'have'}. Only "
            f"{node} is stopped.",
            *remarks(report, one.mtu, draft.networks, draft.layers, draft.databases),
        )
        return plan_of(context, draft, _steps(draft), outweighed, about, goal=f"MTU {one.mtu} on {node}")

    def _node(self, cluster: Cluster) -> str:
        names = [node.name for node in cluster.all_nodes()]
        if self.node:
            if found := [name for name in names if name.casefold() == self.node.casefold()]:
                return found[0]
            raise ChangeError(f"--node {self.node}: the cluster has no such node; its nodes are {listed(names)}.")
        candidates = nodes_apart(cluster)
        if len(candidates) == 1:
            return candidates[0].node
        if unread := listed(node.name for node in cluster.unread_nodes()):
            raise ChangeError(f"Which node differs is not known: {unread} could not be read. `racwire check` says why.")
        if candidates:
            ways = listed((f"--node {one.node} gives it MTU {one.mtu}" for one in candidates), "or")
            raise ChangeError(f"Either node can be the one that is changed: {ways}. Name the one with the wrong MTU.")
        raise ChangeError(
            "No node can be changed alone: none differs while all others have one MTU on all private networks. Name "
            "a node with --node to see what prevents it."
        )


def _layers(cluster: Cluster, one: NodeApart) -> tuple[Layer, ...]:
    """Return the layers of all nodes: those of the one node get the MTU of the others, which keep theirs."""
    changed = [layer for layer in layers_of(cluster, one.mtu) if layer.node == one.node]
    kept = [layer for layer in layers_as_they_are(cluster) if layer.node != one.node]
    return (*changed, *kept)


def _before(network: PlannedNetwork, node: str, layers: tuple[Layer, ...]) -> PlannedNetwork:
    """Return the network with the MTU that the node has on it before the plan."""
    own = (one for one in layers if one.node == node and one.role == "port" and network.name in one.networks)
    return msgspec.structs.replace(network, mtu_before=next(own).mtu_before)


def _steps(draft: Draft) -> Iterator[Step]:
    yield node_steps.agree(draft)
    yield node_steps.baseline(draft)
    yield node_steps.backups(draft)
    yield node_steps.console_access(draft)
    yield from node_steps.services_elsewhere(draft)
    yield node_steps.stack_down(draft)
    yield node_steps.set_mtu(draft)
    yield node_steps.survives_boot(draft)
    yield node_steps.prove_paths(draft)
    yield node_steps.node_up(draft)
    yield from node_steps.instances(draft)
    yield node_steps.again_in_use(after.interconnect(draft), draft)
    yield node_steps.again_in_use(after.compare(draft), draft)
    yield node_steps.sign_off(draft)


# --- obstacles --------------------------------------------------------------------------------------------------------


def _obstacles(report: Report, node: str) -> Iterator[Obstacle]:
    """Yield all obstacles: the difference must be the only fault of the private networks that packets show."""
    cluster = report.cluster
    explained = _explained(report, node)
    strange = _of_other_causes(report, explained)

    def hint(finding: Finding) -> str:
        return f"The MTU of {node} does not explain this." if _is_of_packets(finding) or finding in strange else ""

    found = common_obstacles(report, lambda finding: finding in explained, hint)
    found += [obstacle_of(finding, hint(finding)) for finding in strange if finding.status is Status.WARN]
    strict = {finding.code for finding in report.findings if _cannot_be_accepted(finding, explained, strange)}
    yield from (msgspec.structs.replace(one, acceptable=one.acceptable and one.code not in strict) for one in found)
    if node == cluster.local_node:
        yield obstacle(
            codes.RUNS_HERE,
            f"racwire runs on {node}, which the plan stops.",
            NextStep("Plan it on another node.", own=plan_again(shell("node-mtu --node {node}", node=node))),
        )
    for database in databases_of(cluster):
        if {*database.instances} == {node}:
            yield obstacle(
                codes.ONLY_INSTANCE,
                f"{database.name} runs on {node} only: it is down while {node} is stopped.",
                "RAC One Node: move it with srvctl relocate database. Otherwise its owners must agree to the outage.",
                title=f"{database.name}: only on {node}",
                acceptable=True,
            )
    if cluster.unread_nodes() or not cluster.read_networks():
        return  # obstacles of their own
    one = apart(cluster, node)
    if one is None:
        yield _others_differ(cluster, node)
        return
    layers = tuple(layer for layer in _layers(cluster, one) if layer.node == node)
    yield from limits(cluster, one.mtu, layers)
    yield from public_below(cluster, layers)
    yield from keeping(cluster, layers)
    if all(layer.mtu_before == layer.mtu_after for layer in layers):
        yield obstacle(
            codes.NOTHING_TO_DO,
            f"{node} has MTU {one.mtu} on every private network, as the others.",
            NextStep("Test whether this MTU passes on every path.", ("racwire check mtu-consistency df-ping",)),
        )


def _others_differ(cluster: Cluster, node: str) -> Obstacle:
    seen = listed(
        f"{interface.mtu} on {port.interface} of {port.node}"
        for port in (port for network in cluster.read_networks() for port in network.ports)
        if port.node != node and (interface := cluster.interface(port))
    )
    return obstacle(
        codes.OTHERS_DIFFER,
        f"The nodes other than {node} do not have one MTU on all private networks: {seen or 'none has a port'}.",
        NextStep("Give all nodes one MTU, with a change of all nodes.", own=plan_again("--to MTU")),
    )


def _explained(report: Report, node: str) -> list[Finding]:
    """Return the findings that end when the interfaces of the node have the MTU of the others, by the diagnosis."""
    own = [one for one in report.diagnosis.hypotheses if one.cause == _CAUSE and _is_of(one, node)]
    found = report.findings_of(key for one in own for key in (*one.shown_by, *one.explains))
    return [finding for finding in found if finding.code != "IC-MTU-005" and finding.data.get("by_route") is not True]


def _is_of(one: Hypothesis, node: str) -> bool:
    """Whether interfaces of the node show this cause; a route of the node is no interface."""
    return bool(one.entry) and node in one.nodes and any(key[1] in _OF_INTERFACES for key in one.shown_by)


def _of_other_causes(report: Report, explained: list[Finding]) -> list[Finding]:
    """Return the problems of packets with another cause than the node's MTU, or with none that is known."""
    diagnosis = report.diagnosis
    found = [one for one in diagnosis.hypotheses if one.entry and one.footprint and not one.costs_nothing]
    keys = {key for one in found for key in (*one.shown_by, *one.explains, *one.in_part)}
    keys |= {one.finding for cause in found for one in cause.together} | {*diagnosis.unexplained}
    strange = [finding for key, finding in keyed(report.findings) if key in keys and finding.status in FAULTS]
    return [finding for finding in strange if finding not in explained]


def _cannot_be_accepted(finding: Finding, explained: list[Finding], strange: list[Finding]) -> bool:
    if finding.status is Status.UNKNOWN:
        return finding.check in _OF_PATHS
    return finding not in explained and (_is_of_packets(finding) or finding in strange)


def _is_of_packets(finding: Finding) -> bool:
    """Whether a failure is of packets that are lost now. An eviction in a log is none: the MTU can have caused it."""
    lost = any(one.is_loss or one.fate is Fate.REFUSED for one in finding.observed)
    return finding.status is Status.FAIL and (lost or finding.check in _OF_PATHS)
