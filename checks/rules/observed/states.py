"""States as observations: a value that was read on a node, or that nodes were read at all."""

from __future__ import annotations

from collections.abc import Iterable

from checks.model.condition import ConditionKind
from checks.model.facts import Cluster
from checks.model.observation import Fate, Observation
from checks.model.traffic import Address, Traffic

Value = str | int | float | bool | None


def state(
    what: str,
    node: str,
    network: str = "",
    nic: str = "",
    value: Value = None,
    to: Traffic | None = None,
    *,
    condition: ConditionKind | None = None,
) -> Observation:
    """Return a value that was read on a node; `to` has the packets to the one peer that it is about, and `condition`
    what it shows to be bad there."""
    nodes, legs = (node,) if node else (), (to,) if to else ()
    return Observation(
        fate=Fate.STATE, what=what, legs=legs, nodes=nodes, network=network, nic=nic, value=value, condition=condition
    )


def states(what: str, nodes: Iterable[str], network: str = "") -> tuple[Observation, ...]:
    """Return the same state of several nodes, one observation a node."""
    return tuple(state(what, node, network) for node in dict.fromkeys(nodes))


def read_on(what: str, nodes: Iterable[str], network: str = "", value: Value = None) -> tuple[Observation, ...]:
    """Return one observation for all nodes that were read and found right: the place that a finding without a fault
    covers."""
    return (Observation(fate=Fate.STATE, what=what, nodes=tuple(dict.fromkeys(nodes)), network=network, value=value),)


def read_at(what: str, places: Iterable[tuple[str, str]]) -> tuple[Observation, ...]:
    """Return the same for places that are a node and a network each: one observation for all nodes of a network."""
    by_network: dict[str, list[str]] = {}
    for node, network in places:
        by_network.setdefault(network, []).append(node)
    return tuple(one for network, nodes in by_network.items() for one in read_on(what, filter(None, nodes), network))


def network_at(cluster: Cluster, node: str, nic: str) -> str:
    """Return the private network of a NIC; empty where it has none."""
    return next((n.name for n in cluster.read_networks() if (port := n.port(node)) and port.interface == nic), "")


def to_peer(node: str, peer: str, network: str, ip: str) -> Traffic:
    """Return the packets of a node to one address of a peer."""
    return Traffic(networks=(network,), senders=(node,), receivers=(peer,), addresses=(kind_of_address(ip),))


def kind_of_address(ip: str) -> Address:
    """Return the kind of an address of a private NIC: one in the range of HAIP is that of a HAIP."""
    return "haip" if ip.startswith("169.254.") else "private"
