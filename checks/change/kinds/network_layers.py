"""The layers and planned networks of a change that leaves every MTU as it is."""

from __future__ import annotations

import msgspec

from checks.change.plan.change_plan import Layer, NetworkPart, PlannedNetwork
from checks.change.plan.layers import layers_of, networks_of
from checks.change.plan.mtu_limits import STANDARD
from checks.change.plan.planning import planned_network
from checks.model.facts import Cluster


def layers_as_they_are(cluster: Cluster) -> tuple[Layer, ...]:
    """Return the layers of all private networks, with the MTU that each has now as the planned one."""
    found = layers_of(cluster, STANDARD)
    return tuple(msgspec.structs.replace(layer, mtu_after=layer.mtu_before) for layer in found)


def networks_as_they_are(
    cluster: Cluster, layers: tuple[Layer, ...], new: str, old: str, taken_down_by: str
) -> tuple[PlannedNetwork, ...]:
    """Return the private networks with their parts in the change.

    `new` and `old` are names of networks; `taken_down_by` is the step that takes the old one down.
    """
    parts = {new: NetworkPart.NEW, old: NetworkPart.OLD} if old else {new: NetworkPart.NEW}
    planned = []
    for network in networks_of(cluster):
        own = planned_network(network, layers, 0)
        part = parts.get(network.name, NetworkPart.STAYS)
        until = taken_down_by if part is NetworkPart.OLD else ""
        planned.append(msgspec.structs.replace(own, mtu_after=own.mtu_before, part=part, until=until))
    return tuple(planned)
