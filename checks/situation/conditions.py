"""The conditions that a finding is about, and those that it rests on, from its observations and its check."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from checks.model.condition import Condition, ConditionKind
from checks.model.facts import Cluster, Database, Port
from checks.model.finding import FAULTS, Finding
from checks.model.known_instances import node_of
from checks.model.networks import layers_of
from checks.model.observation import OF_RACWIRE, Fate, Observation
from checks.model.traffic import Traffic
from checks.rules.cache_fusion import BLOCKS_LOST
from checks.rules.observed.blocks import BLOCK

_OF_COUNTERS = {
    BLOCKS_LOST: ConditionKind.LOST_BLOCKS,
    "Ip.ReasmFails": ConditionKind.REASSEMBLY,
    "Ip.ReasmTimeout": ConditionKind.REASSEMBLY,
    "Udp.RcvbufErrors": ConditionKind.RECEIVE_BUFFERS,
    "Udp.InCsumErrors": ConditionKind.CHECKSUMS,
    "softnet dropped": ConditionKind.BACKLOG,
}
"""The condition that a counter of an observation shows to be bad, where samples count it too."""

OF_INTERFACES = (
    ConditionKind.LINK,
    ConditionKind.SPEED,
    ConditionKind.MTU,
    ConditionKind.NIC_DROPS,
    ConditionKind.NIC_ERRORS,
)
"""The kinds whose item is an interface."""


def shown_bad(finding: Finding) -> frozenset[Condition]:
    """Return the conditions that a fault shows to be bad; empty for any other finding.

    Only what an observation states counts: a finding about an address of an interface is not about its link.
    """
    if finding.status not in FAULTS:
        return frozenset()
    return frozenset(condition for seen in finding.observed for condition in _shown_by(seen, finding))


def _shown_by(seen: Observation, finding: Finding) -> Iterator[Condition]:
    nodes = seen.nodes or finding.nodes
    if seen.condition is ConditionKind.DATABASE:
        yield Condition(seen.condition)
    elif seen.condition is not None:
        item = str(seen.value) if seen.condition is ConditionKind.INSTANCE else seen.nic
        yield from (Condition(seen.condition, node, item) for node in nodes)
    elif seen.fate is Fate.COUNTED and (kind := _OF_COUNTERS.get(seen.what)):
        yield from (Condition(kind, node) for node in nodes)
    elif seen.fate is Fate.LOST:
        # A leg with a time is of the past, as a log line or AWR has it.
        now = [leg for leg in seen.legs if leg.times is None]
        if seen.what == BLOCK:
            yield from (Condition(ConditionKind.LOST_BLOCKS, to) for leg in now for to in leg.receivers or ())
        elif seen.what in OF_RACWIRE:
            yield from (path for leg in now for path in paths_of(leg))


def paths_of(leg: Traffic) -> Iterator[Condition]:
    """Yield the paths of a leg that names its ends and its network."""
    for network in leg.networks or ():
        for sender in leg.senders or ():
            yield from (Condition(ConditionKind.PATH, sender, network, to) for to in leg.receivers or ())


def rests_on(finding: Finding, about: Collection[ConditionKind], cluster: Cluster) -> frozenset[Condition]:
    """Return the conditions that a finding rests on, PASS included: of the kinds of its check, at the places of the
    finding, or else of what it observed. One without a place rests on those of every node."""
    observed = dict.fromkeys(node for seen in finding.observed for node in seen.nodes)
    every = tuple(node.name for node in cluster.all_nodes()) or (cluster.local_node,)
    nodes = finding.nodes or tuple(observed) or every
    found = set(shown_bad(finding))
    for kind in about:
        if kind is ConditionKind.PATH:
            paths = {path for seen in finding.observed for leg in seen.legs for path in paths_of(leg)}
            found |= paths or {Condition(kind, node, finding.network) for node in finding.nodes or ("",)}
        elif kind in OF_INTERFACES:
            found |= {
                Condition(kind, port.node, name)
                for network in cluster.read_networks()
                if finding.network in ("", network.name)
                for port in network.ports
                if port.node in nodes
                for name in _layers(cluster, port)
            }
        elif kind is ConditionKind.INSTANCE:
            found |= {c for c in instances_of(cluster) if c.node in nodes}
        elif kind is ConditionKind.DATABASE:
            found.add(Condition(kind))
        else:
            found |= {Condition(kind, node) for node in nodes}
    return frozenset(found)


def _layers(cluster: Cluster, port: Port) -> tuple[str, ...]:
    """Return the interface of a port and those below it: samples watch each of them."""
    node, top = cluster.node(port.node), cluster.interface(port)
    return tuple(layer.name for layer in layers_of(node, top)) if node and top else (port.interface,)


def instances_of(cluster: Cluster) -> frozenset[Condition]:
    """Return the instances that were queried, each as a condition at its node, by the name of the report."""
    known = cluster.database.instances if isinstance(cluster.database, Database) else ()
    return frozenset(Condition(ConditionKind.INSTANCE, node_of(cluster, one.number), one.name) for one in known)
