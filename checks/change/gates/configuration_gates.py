"""Gates: what Clusterware has configured, and what the switches announce."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.change_plan import Layer
from checks.change.gates.gate import GateContext, gate, of_node, setups, whole
from checks.change.mtu_limits import frame_bytes
from checks.model.check import Kind
from checks.model.facts import Cluster, Clusterware, ConfiguredInterface, LldpNeighbour, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import listed

SAME = Kind("CH-CONF-001", "oifcfg names the same networks as before the change")
OTHER = Kind(
    "CH-CONF-002",
    "oifcfg names other networks than before the change",
    "A change of MTU needs no change there: the MTU stands neither in the OCR nor in the GPnP profile.",
    ("MOS 283684.1",),
)
NOT_TOLD = Kind("CH-CONF-003", "What oifcfg names is not known")
CARRIES = Kind("CH-SWITCH-001", "The switch ports of a node announce frames that are large enough")
TOO_SMALL = Kind(
    "CH-SWITCH-002",
    "A switch port announces a smaller maximum frame than the planned MTU needs",
    "It drops what is larger without a word.",
    ("IEEE 802.3, maximum frame size TLV",),
)
NOT_ANNOUNCED = Kind("CH-SWITCH-003", "The switch ports of a node do not announce how large frames may be")


def interconnect_lines(clusterware: Clusterware | Unknown) -> tuple[str, ...] | Unknown:
    """The lines of `oifcfg getif`, sorted, as a plan keeps them."""
    if isinstance(clusterware, Unknown):
        return clusterware
    if isinstance(clusterware.configuration, Unknown):
        return clusterware.configuration
    return tuple(sorted(_line(entry) for entry in clusterware.configuration.interfaces))


def _line(entry: ConfiguredInterface) -> str:
    return f"{entry.name}  {entry.subnet}  {entry.scope}  {','.join(entry.roles)}"


@gate(
    "oifcfg-unchanged",
    question="Does oifcfg name the same networks as before?",
    needs=("clusterware",),
    kinds=(SAME, OTHER, NOT_TOLD),
)
def oifcfg_unchanged(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares `oifcfg getif` with what it printed when the plan was made. A change of MTU changes nothing there."""
    lines = interconnect_lines(cluster.clusterware)
    evidence = [(cluster.local_node, "oifcfg getif")]
    if isinstance(lines, Unknown):
        yield NOT_TOLD.finding(
            Status.UNKNOWN,
            f"What oifcfg names is not known: {whole(lines.reason)}",
            subject="not told",
            evidence=evidence,
        )
        return
    before = {" ".join(line.split()) for line in scene.plan.interconnects}
    now = {" ".join(line.split()) for line in lines}
    if not before:
        yield NOT_TOLD.finding(
            Status.INFO,
            "What oifcfg named when the change was opened is not known, so there is nothing to compare with.",
            subject="not compared",
            evidence=evidence,
        )
        return
    if before == now:
        yield SAME.finding(
            Status.PASS, "oifcfg names the same networks as before.", subject="unchanged", evidence=evidence
        )
        return
    gone, came = sorted(before - now), sorted(now - before)
    told = [*(f"`{line}` is gone" for line in gone), *(f"`{line}` is there now" for line in came)]
    yield OTHER.finding(
        Status.FAIL,
        f"oifcfg names other networks than before: {listed(told)}.",
        subject="changed",
        next=[Remedy("Ask who changed it, and why: this change needs none.", ("oifcfg getif",), "the Grid owner")],
        evidence=evidence,
    )


@gate(
    "switch-frames",
    question="Do the switch ports announce frames that are large enough?",
    needs=("setups",),
    kinds=(CARRIES, TOO_SMALL, NOT_ANNOUNCED),
)
def switch_frames(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the maximum frame size that each node's switch ports announce by LLDP with what the planned MTU needs:
    18 bytes more, 22 under a VLAN. Many switches do not announce it; those the network team has to vouch for.
    """
    for node, setup in setups(scene, cluster):
        found = setup if isinstance(setup, Unknown) else setup.lldp
        if isinstance(found, Unknown):
            yield of_node(
                NOT_ANNOUNCED,
                Status.INFO,
                node,
                "not announced",
                f"What the switch ports of {node} carry is not announced: {whole(found.reason)}",
            )
            continue
        yield _of_ports(scene, node, found)


def _of_ports(scene: GateContext, node: str, neighbours: tuple[LldpNeighbour, ...]) -> Finding:
    layers = scene.layers(node)
    known: list[tuple[LldpNeighbour, Layer, int]] = []
    for neighbour in neighbours:
        layer = next((own for own in layers if own.interface == neighbour.interface), None)
        if layer is not None and isinstance(neighbour.max_frame_bytes, int):
            known.append((neighbour, layer, neighbour.max_frame_bytes))
    small = [(n, layer, size) for n, layer, size in known if size < _needed(layer, layers)]
    if small:
        told = [
            f"{n.port or 'the port'} of {n.switch or 'the switch'} ({n.interface}) announces {size} bytes, "
            f"{_needed(layer, layers)} are needed"
            for n, layer, size in small
        ]
        return of_node(
            TOO_SMALL,
            Status.FAIL,
            node,
            f"{min(size for _, _, size in small)} announced",
            f"The switch carries too little for {node}: {listed(told)}.",
            then=[Remedy("Ask the network team for these ports: the whole way needs the larger frames.")],
        )
    if known:
        least = min(size for _, _, size in known)
        return of_node(
            CARRIES, Status.PASS, node, f"{least} announced", f"The switch ports of {node} announce {least} bytes."
        )
    return of_node(
        NOT_ANNOUNCED,
        Status.INFO,
        node,
        "not announced",
        f"The switch ports of {node} do not announce how large frames may be.",
    )


def _needed(layer: Layer, layers: tuple[Layer, ...]) -> int:
    """With the Ethernet header and checksum, and the tag where the layer carries a VLAN."""
    above = [own for own in layers if own.level >= layer.level and not {*own.networks}.isdisjoint(layer.networks)]
    return frame_bytes(layer.mtu_after, any(own.kind == "vlan" for own in above))
