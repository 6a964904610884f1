"""The interconnects of the instances as observations: which address an instance uses, on which network and node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from checks.model.facts import Cluster, PrivateNetwork
from checks.model.known_instances import node_of
from checks.model.observation import Observation
from checks.rules.observed.states import read_at, state
from checks.rules.places_in_use import UsedPlace


def used_places(cluster: Cluster, code: str, used: Mapping[int, Sequence[UsedPlace]]) -> tuple[Observation, ...]:
    """Return the addresses that some instances use, with the private network of each, where it is on one."""
    return tuple(
        state(
            code,
            node_of(cluster, number),
            place.network.name if place.network else "",
            place.used.name.partition(":")[0],
            place.used.ip,
        )
        for number, found in used.items()
        for place in found
    )


def unused_networks(
    cluster: Cluster, code: str, instances: Iterable[int], unused: Sequence[PrivateNetwork]
) -> tuple[Observation, ...]:
    """Return the private networks that some instances do not use."""
    return tuple(state(code, node_of(cluster, n), network.name) for n in instances for network in unused)


def used_on(cluster: Cluster, code: str, used: Mapping[int, Sequence[UsedPlace]]) -> tuple[Observation, ...]:
    """Return, for each private network, the nodes whose instances use it; for all together where none is known."""
    return read_at(
        code,
        [
            (node_of(cluster, number), place.network.name if place.network else "")
            for number, found in used.items()
            for place in found
        ],
    )
