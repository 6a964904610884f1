"""The interconnects of the instances as observations: which address an instance uses, on which network and node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from checks.model.check import Kind
from checks.model.facts import Cluster, PrivateNetwork
from checks.model.known_instances import node_of
from checks.model.observation import Observation
from checks.rules.observed.states import read_on, state
from checks.rules.places_in_use import Place


def used_places(cluster: Cluster, kind: Kind, used: Mapping[int, Sequence[Place]]) -> tuple[Observation, ...]:
    """Return the addresses that some instances use, with the private network of each, where it is on one."""
    return tuple(
        state(
            kind.code,
            node_of(cluster, number),
            place.network.name if place.network else "",
            place.used.name.partition(":")[0],
            place.used.ip,
        )
        for number, found in used.items()
        for place in found
    )


def unused_networks(
    cluster: Cluster, kind: Kind, instances: Iterable[int], unused: Sequence[PrivateNetwork]
) -> tuple[Observation, ...]:
    """Return the private networks that some instances do not use."""
    return tuple(state(kind.code, node_of(cluster, n), network.name) for n in instances for network in unused)


def used_on(cluster: Cluster, kind: Kind, used: Mapping[int, Sequence[Place]]) -> tuple[Observation, ...]:
    """Return, for each private network, the nodes whose instances use it; for all together where none is known."""
    by_network: dict[str, list[str]] = {}
    for number, found in used.items():
        for place in found:
            by_network.setdefault(place.network.name if place.network else "", []).append(node_of(cluster, number))
    return tuple(
        one for network, nodes in by_network.items() for one in read_on(kind.code, filter(None, nodes), network)
    )
