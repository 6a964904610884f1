"""The step that places a rare loss: the paths that it samples, and the pairs that the lost blocks name."""

from __future__ import annotations

from itertools import permutations

from checks.investigate.steps.sending import PLACE_RARE_LOSS
from checks.model.facts import Activity, Cluster, Database, PrivateNetwork, Unknown
from checks.model.hypothesis import Place
from checks.model.investigation import By, Price, Probe, Risk, SessionStep
from checks.model.known_instances import active, node_of
from checks.model.traffic import Traffic
from checks.rules.lost_blocks import loss_of
from checks.rules.places_in_use import places


def placing_step(cluster: Cluster, *, datagrams: int, seconds: float) -> SessionStep | None:
    """Return the step on the networks that the instances use, a probe for each directed path with full-size datagrams;
    None where there is no path. `datagrams` and `seconds` are what is left of the budget."""
    probes = tuple(
        Probe(legs=(udp_leg(network.name, sender, receiver, network.mtu),), sent=datagrams)
        for network in _in_use(cluster)
        if isinstance(network.mtu, int)
        for sender, receiver in permutations(sorted({port.node for port in network.ports}), 2)
    )
    if not probes:
        return None
    networks = tuple(dict.fromkeys(name for probe in probes for name in probe.legs[0].networks or ()))
    octets = datagrams * max(probe.legs[0].sizes[1] for probe in probes)
    return SessionStep(
        key=" ".join((PLACE_RARE_LOSS, *networks)),
        declared=PLACE_RARE_LOSS,
        by=By.ITSELF,
        place=Place(networks=networks),
        price=Price(risk=Risk.PROBE, seconds=seconds, packets=datagrams, octets=octets),
        probes=probes,
    )


def named_pairs(cluster: Cluster) -> frozenset[tuple[str, str]]:
    """Return sender and receiver of the blocks that were lost in the run's interval, as nodes, where they are known."""
    activity = cluster.activity
    if not isinstance(activity, Activity):
        return frozenset()
    losses = [loss for own in active(activity) if (loss := loss_of(activity, own))]
    pairs = ((node_of(cluster, by), node_of(cluster, loss.instance)) for loss in losses for by in loss.senders)
    return frozenset((sender, receiver) for sender, receiver in pairs if sender and receiver)


def udp_leg(network: str, sender: str, receiver: str, size: int) -> Traffic:
    """Return whole datagrams between the private addresses of two nodes, so large with their IP headers."""
    return Traffic(
        networks=(network,),
        senders=(sender,),
        receivers=(receiver,),
        addresses=("private",),
        protocols=("udp",),
        forms=("whole",),
        ends=("kernel",),
        sizes=(size, size),
    )


def _in_use(cluster: Cluster) -> list[PrivateNetwork]:
    """Return the networks that the instances use; all where that is not known."""
    networks = list(cluster.read_networks())
    database = cluster.database
    if not isinstance(database, Database) or isinstance(database.interconnects, Unknown):
        return networks
    used = {place.network.name for place in places(cluster, database.interconnects) if place.network}
    return [network for network in networks if network.name in used] or networks
