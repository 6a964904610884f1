"""Steps that racwire makes by itself: packets within the budget, and counters that it reads around them."""

from __future__ import annotations

from collections.abc import Iterator

from checks.investigate.steps.declaration import Declaration
from checks.investigate.steps.scene import CARRIES, SMALL_BYTES, Scene
from checks.model.investigation import By, Price, Probe, Risk, SessionStep
from checks.model.signs import Sign, SignAt
from checks.model.traffic import Address

PLACE_RARE_LOSS = "place-rare-loss"
PACE = 500
"""Datagrams a second, over all senders."""
FRAGMENT_PACE = 20
"""Datagrams in fragments a second, to one receiver: incomplete ones hold memory that the database needs."""
MOST_FRAGMENTS = 100
PORTS = 32
BUDGET = 20_000
"""The datagrams of a session, at most."""
_SET_UP_S = 1.0


def _sends(
    scene: Scene, declared: str, s: str, r: str, *probes: Probe, size: int | str = "", minutes: int = 0
) -> SessionStep:
    packets = sum(p.sent * p.ports for p in probes)
    cut = sum(p.sent for p in probes if any("fragment" in (leg.forms or ()) for leg in p.legs[:1]))
    octets = sum(p.sent * p.ports * sum(leg.sizes[1] for leg in p.legs) for p in probes)
    return SessionStep(
        key=scene.key(declared, s, r, size).rstrip(),
        declared=declared,
        by=By.ITSELF,
        place=scene.place(s, to=r),
        price=Price(
            risk=Risk.PROBE,
            minutes=minutes,
            seconds=round(_SET_UP_S + (packets - cut) / PACE + cut / FRAGMENT_PACE, 1),
            packets=packets,
            octets=octets,
        ),
        probes=probes,
    )


def _each_direction(scene: Scene) -> Iterator[SessionStep]:
    for s, r in scene.pairs:
        if s < r:
            for n, (there, back) in enumerate(zip(scene.sizes(s, r), scene.sizes(r, s), strict=True)):
                size = "small" if n == 0 else "full"
                yield _sends(scene, "each-direction", s, r, scene.udp(s, r, there), scene.udp(r, s, back), size=size)


def _udp_against_pings(scene: Scene) -> Iterator[SessionStep]:
    for s, r in scene.pairs:
        for size in scene.sizes(s, r):
            probes = scene.udp(s, r, size), scene.ping(s, r, size)
            yield _sends(scene, "udp-against-pings", s, r, *probes, size=size)


def _private_against_haip(scene: Scene) -> Iterator[SessionStep]:
    kinds: tuple[Address, ...] = ("private", "haip")
    for s, r in scene.pairs:
        if has_haip(scene, s) and has_haip(scene, r):
            probes = tuple(scene.udp(s, r, SMALL_BYTES, address=kind) for kind in kinds)
            yield _sends(scene, "private-against-haip", s, r, *probes)


def _small_against_full(scene: Scene) -> Iterator[SessionStep]:
    for s, r in scene.pairs:
        yield _sends(scene, "small-against-full", s, r, *(scene.udp(s, r, size) for size in scene.sizes(s, r)))


def _source_ports(scene: Scene) -> Iterator[SessionStep]:
    for s, r in scene.pairs:
        for size in scene.sizes(s, r):
            probe = scene.udp(s, r, size, ports=PORTS)
            if probe.sent * PORTS <= BUDGET // 2:
                yield _sends(scene, "source-ports", s, r, probe, size=size)


def _fragments_against_whole(scene: Scene) -> Iterator[SessionStep]:
    if scene.sent > MOST_FRAGMENTS:
        return
    for s, r in scene.pairs:
        yield _sends(scene, "fragments-against-whole", s, r, scene.fragments(s, r), scene.udp(s, r, scene.mtu(s, r)))


def _carries(scene: Scene) -> Iterator[SessionStep]:
    """Yield nothing: it is made where hands shall touch a node (`carrying`)."""
    yield from ()


def carrying(scene: Scene, step: SessionStep) -> SessionStep | None:
    """Return the step that proves that another network carries each node that a step by hand touches, to and from each
    peer, small and full-size; None where there is none."""
    for name in scene.others(step.place.nodes):
        known = scene.cluster.network(name)
        peers = [port.node for port in known.ports] if known else []
        over = Scene(
            cluster=scene.cluster, network=name, nodes=tuple(peers), named=step.place.nodes, share=scene.share,
            forms=frozenset(), addresses=frozenset(),
        )  # fmt: skip
        probes = tuple(over.udp(s, r, size) for s, r in over.pairs for size in over.sizes(s, r))
        made = _sends(over, CARRIES, step.place.nodes[0], "", *probes)
        return SessionStep(
            key=over.key(CARRIES, *step.place.nodes), declared=CARRIES, by=By.ITSELF,
            place=over.place(*step.place.nodes), price=made.price, probes=probes,
        )  # fmt: skip
    return None


def _counters_of_nics(scene: Scene) -> Iterator[SessionStep]:
    """Yield the reading of the error counters of a NIC, before and after datagrams to and from its node."""
    for node in scene.named:
        packets = 2 * scene.sent
        yield SessionStep(
            key=scene.key("nic-counters", node),
            declared="nic-counters",
            by=By.ITSELF,
            place=scene.place(node),
            price=Price(risk=Risk.PROBE, seconds=round(10 + packets / PACE, 1), packets=packets),
            reads=(SignAt(sign=Sign.NIC_CRC, network=scene.network, node=node),),
            is_twice=True,
        )


def has_haip(scene: Scene, node: str) -> bool:
    """Return whether the NIC of a node on the network has a HAIP address."""
    port = scene.port(node)
    interface = scene.cluster.interface(port) if port else None
    return bool(interface and any(a.ip.startswith("169.254.") for a in interface.addresses))


SENDING = (
    Declaration(name="each-direction", by=By.ITSELF, made=_each_direction),
    Declaration(name="udp-against-pings", by=By.ITSELF, made=_udp_against_pings),
    Declaration(name="private-against-haip", by=By.ITSELF, made=_private_against_haip),
    Declaration(name="small-against-full", by=By.ITSELF, made=_small_against_full),
    Declaration(name="source-ports", by=By.ITSELF, made=_source_ports),
    Declaration(name="fragments-against-whole", by=By.ITSELF, made=_fragments_against_whole),
    Declaration(name="nic-counters", by=By.ITSELF, made=_counters_of_nics),
    Declaration(name=CARRIES, by=By.ITSELF, made=_carries),
    Declaration(name=PLACE_RARE_LOSS, by=By.ITSELF, made=_carries),
)
