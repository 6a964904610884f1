"""The place of the steps outside the nodes: before the stop of Clusterware, or after it.

A switch or a hypervisor is changed first, while Clusterware runs, unless that can cut the private network of running
nodes: by a reload, by an interruption, or by a pair of switches that compares the MTU of its ports. Such a pair
suspends member ports while its two switches differ (Cisco Nexus 5000 Interfaces Operations Guide, vPC Consistency
Checks: type 1 parameters), and one switch after the other is that difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from checks.change.plan.change_plan import Layer
from checks.change.plan.layers import interface_of
from checks.change.plan.stated_network import StatedNetwork
from checks.model.facts import Bond, Cluster, HostSetup, Interface, LldpNeighbour
from checks.model.vendors import Hypervisor, SwitchKind
from checks.model.wording import few, listed

_BONDS = ("bond", "team")
_ONE_SIDED = ("active-backup", "transmit load balancing", "adaptive load balancing")
"""Modes of a bond that need no aggregation on the switches, so their ports are no member ports of a pair (Linux:
Documentation/networking/bonding, chapter 5)."""
_SINGLE, _SEVERAL, _UNKNOWN = "single", "several", "unknown"
"""The number of switches at the other end of a bond."""
_SUSPENDS = "Such a pair suspends member ports while its two switches differ."


@dataclass(frozen=True)
class SwitchOrder:
    """Whether a step outside the nodes comes after the stop of Clusterware, and why."""

    after_stop: bool = False
    why: str = ""
    """Full sentences; empty where a step comes first and needs no reason."""
    asks: bool = False
    """Whether the pair of switches is not known, so that the operator can change the order by --switch-pair."""
    may_be_pair: bool = True
    """Whether bonds may end in a pair that compares MTUs: then the switches are to be asked for it."""


def order_of_switches(
    cluster: Cluster,
    layers: Sequence[Layer],
    neighbours: Sequence[tuple[str, LldpNeighbour]],
    stated: StatedNetwork,
    guests: Mapping[str, str],
) -> SwitchOrder:
    """Return the place of the step switch. `neighbours` are the switch ports of the layers, with their nodes.

    A guest does not see the uplinks of its host, which can be such a bond.
    """
    kinds = stated.kinds.switches
    shown = stated.kinds.recognised(neighbour for _, neighbour in neighbours)
    used = tuple(kinds[key] for key in dict.fromkeys((*stated.switches, *shown)) if key in kinds)
    if any(kind.reloads for kind in used):
        why = "The change needs a reload of a switch, or restarts servers, which cuts every port."
        return SwitchOrder(True, why, may_be_pair=stated.pair != "no")
    ends = dict(_ends(cluster, layers, neighbours))
    certain = [bond for bond, end in ends.items() if end == _SEVERAL]
    are_known = bool(used) and all(stated.kinds.of_neighbour(n) or stated.switches for _, n in neighbours)
    if certain and are_known and all(kind.pair_compares == "yes" for kind in used):
        return SwitchOrder(True, _certain(certain, used, stated))
    if stated.pair == "yes":
        return SwitchOrder(True, f"As stated, bonds end in a pair of switches that compares MTUs. {_SUSPENDS}")
    if stated.pair == "no":
        why = "As stated, no bond ends in a pair of switches that compares MTUs."
        return SwitchOrder(False, why, may_be_pair=False)
    doubtful = [bond for bond, end in ends.items() if end != _SINGLE]
    doubtful += [f"the uplinks of the host of {guest}" for guest in guests]
    if not doubtful:
        why = "By LLDP, each bond ends in one switch or stack." if ends else ""
        return SwitchOrder(False, why, may_be_pair=not ends)
    if are_known and all(kind.pair_compares == "no" for kind in used):
        return SwitchOrder(False, f"A pair or stack of {listed(kind.name for kind in used)} does not compare MTUs.")
    verb = "ends" if len(doubtful) == 1 and not guests else "end"
    return SwitchOrder(
        True,
        f"It is not known whether {few(doubtful)} {verb} in a pair of switches (vPC, MLAG) that compares MTUs. "
        f"{_SUSPENDS}",
        asks=True,
    )


def _certain(bonds: Sequence[str], kinds: Sequence[SwitchKind], stated: StatedNetwork) -> str:
    pair = listed(dict.fromkeys(kind.pair for kind in kinds if kind.pair)) or "pair"
    verb = "ends" if len(bonds) == 1 else "end"
    despite = " The facts outweigh the statement --switch-pair no." if stated.pair == "no" else ""
    return f"By LLDP {few(bonds)} {verb} in two switches; as a {pair} they compare MTUs. {_SUSPENDS}{despite}"


def order_of_hypervisors(guests: Mapping[str, str], hypervisors: Mapping[str, Hypervisor]) -> SwitchOrder:
    """Return the place of the step hypervisor for these guests: after the stop, unless it interrupts no guest."""
    kinds = [hypervisors.get(key) for key in dict.fromkeys(guests.values())]
    if any(kind is not None and kind.interrupts == "yes" for kind in kinds):
        return SwitchOrder(True, "The change interrupts the network of running guests, or moves them to another host.")
    if all(kind is not None and kind.interrupts == "no" for kind in kinds):
        return SwitchOrder(False, "")
    return SwitchOrder(True, "It is not known whether the change interrupts the network of running guests.")


def aggregated(cluster: Cluster, layers: Sequence[Layer]) -> frozenset[tuple[str, str]]:
    """Return the NICs whose switch ports are members of a port-channel, each with its node, by the mode of the bond.

    A bond whose mode is not known has none: the commands for its ports are those for ports.
    """
    return frozenset(
        (layer.node, member)
        for layer, interface, bond in _aggregating(cluster, layers)
        if bond is not None and bond.mode
        for member in interface.members
    )


def _aggregating(cluster: Cluster, layers: Sequence[Layer]) -> Iterator[tuple[Layer, Interface, Bond | None]]:
    """Yield each bond whose members the switches must aggregate, or whose mode is not known."""
    for layer in layers:
        interface = interface_of(cluster, layer)
        if layer.kind not in _BONDS or interface is None or len(interface.members) < 2:
            continue
        bond = _bond(cluster, layer)
        if bond is None or not any(mode in bond.mode for mode in _ONE_SIDED):
            yield layer, interface, bond


def _ends(
    cluster: Cluster, layers: Sequence[Layer], neighbours: Sequence[tuple[str, LldpNeighbour]]
) -> Iterator[tuple[str, str]]:
    """Yield each bond whose members the switches must aggregate: `bond0 of rac1`, and the number of its switches."""
    for layer, interface, _ in _aggregating(cluster, layers):
        yield f"{layer.interface} of {layer.node}", _end(layer.node, interface.members, neighbours)


def _end(node: str, members: Iterable[str], neighbours: Sequence[tuple[str, LldpNeighbour]]) -> str:
    at = {m: {n.switch for name, n in neighbours if name == node and n.interface == m and n.switch} for m in members}
    if len(set().union(*at.values())) > 1:
        return _SEVERAL
    return _SINGLE if all(at.values()) else _UNKNOWN


def _bond(cluster: Cluster, layer: Layer) -> Bond | None:
    setup = cluster.setup(layer.node)
    host = setup.host if setup else None
    if not isinstance(host, HostSetup) or not isinstance(host.bonds, tuple):
        return None
    return next((bond for bond in host.bonds if bond.name == layer.interface), None)
