"""Gates: the networks in oifcfg, and the frame sizes that the switches announce."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.gates.gate import GateContext, gate, of_node, setups, whole
from checks.change.plan.change_plan import Layer
from checks.change.plan.mtu_limits import frame_bytes
from checks.model.check import Kind
from checks.model.facts import Cluster, Clusterware, ConfiguredInterface, LldpNeighbour, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.wording import listed

SAME = Kind("CH-CONF-001", "oifcfg names the same networks as before the change")
OTHER = Kind(
    "CH-CONF-002",
    "oifcfg names other networks than before the change",
    "A change of MTU needs no change in oifcfg: neither the OCR nor the GPnP profile contains the MTU.",
    ("MOS 283684.1",),
)
OIFCFG_NOT_KNOWN = Kind("CH-CONF-003", "The networks in oifcfg are not known")
CARRIES = Kind("CH-SWITCH-001", "The switch ports of a node announce frames that are large enough")
TOO_SMALL = Kind(
    "CH-SWITCH-002",
    "A switch port announces a smaller maximum frame than the planned MTU needs",
    "The port drops larger frames silently.",
    ("IEEE 802.3, maximum frame size TLV",),
)
NOT_ANNOUNCED = Kind("CH-SWITCH-003", "The switch ports of a node do not announce a maximum frame size")


def interconnect_lines(clusterware: Clusterware | Unknown) -> tuple[str, ...] | Unknown:
    """Return the sorted lines of `oifcfg getif` in the format of a plan, or the reason why they are unknown."""
    if isinstance(clusterware, Unknown):
        return clusterware
    if isinstance(clusterware.configuration, Unknown):
        return clusterware.configuration
    return tuple(sorted(_line(entry) for entry in clusterware.configuration.interfaces))


def _line(entry: ConfiguredInterface) -> str:
    return f"{entry.name}  {entry.subnet}  {entry.scope}  {','.join(entry.roles)}"


@gate(
    "oifcfg-unchanged",
    question="Does oifcfg name the same networks as before the change?",
    needs=("clusterware",),
    kinds=(SAME, OTHER, OIFCFG_NOT_KNOWN),
)
def oifcfg_unchanged(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the output of `oifcfg getif` with its output when the plan was made.

    A change of MTU does not change this output.
    """
    lines = interconnect_lines(cluster.clusterware)
    evidence = [(cluster.local_node, "oifcfg getif")]
    if isinstance(lines, Unknown):
        yield OIFCFG_NOT_KNOWN.finding(
            f"The networks in oifcfg are not known: {whole(lines.reason)}",
            status=Status.UNKNOWN,
            subject="not known",
            evidence=evidence,
        )
        return
    before = {" ".join(line.split()) for line in context.plan.interconnects}
    now = {" ".join(line.split()) for line in lines}
    if not before:
        yield OIFCFG_NOT_KNOWN.finding(
            "The plan has no output of oifcfg, so racwire cannot compare it with the present output.",
            status=Status.INFO,
            subject="not compared",
            evidence=evidence,
        )
        return
    if before == now:
        yield SAME.finding(
            "oifcfg names the same networks as before the change.",
            status=Status.PASS,
            subject="unchanged",
            evidence=evidence,
        )
        return
    gone, came = sorted(before - now), sorted(now - before)
    differences = [*(f"`{line}` was removed" for line in gone), *(f"`{line}` was added" for line in came)]
    yield OTHER.finding(
        f"oifcfg names other networks than before the change: {listed(differences)}.",
        status=Status.FAIL,
        subject="changed",
        next=[
            NextStep(
                "Find out who changed the networks in oifcfg, and why: a change of MTU does not need it.",
                ("oifcfg getif",),
                "the Grid owner",
            )
        ],
        evidence=evidence,
    )


@gate(
    "switch-frames",
    question="Do the switch ports announce frames that are large enough?",
    needs=("setups",),
    kinds=(CARRIES, TOO_SMALL, NOT_ANNOUNCED),
)
def switch_frames(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the maximum frame size that each node's switch ports announce by LLDP with the frame size of the planned
    MTU: 18 bytes more than the MTU, 22 bytes more under a VLAN.

    Many switches do not announce a maximum frame size. For these, the network team must confirm it.
    """
    for node, setup in setups(context, cluster):
        found = setup if isinstance(setup, Unknown) else setup.lldp
        if isinstance(found, Unknown):
            yield of_node(
                NOT_ANNOUNCED,
                Status.INFO,
                node,
                "not announced",
                f"The maximum frame size of the switch ports of {node} is not known: {whole(found.reason)}",
            )
            continue
        yield _of_ports(context, node, found)


def _of_ports(context: GateContext, node: str, neighbours: tuple[LldpNeighbour, ...]) -> Finding:
    layers = context.layers(node)
    known: list[tuple[LldpNeighbour, Layer, int]] = []
    for neighbour in neighbours:
        layer = next((own for own in layers if own.interface == neighbour.interface), None)
        if layer is not None and isinstance(neighbour.max_frame_bytes, int):
            known.append((neighbour, layer, neighbour.max_frame_bytes))
    small = [(n, layer, size) for n, layer, size in known if size < _needed(layer, layers)]
    if small:
        ports = [
            f"{n.port or 'the port'} of {n.switch or 'the switch'} ({n.interface}) announces {size} bytes, "
            f"{_needed(layer, layers)} bytes are needed"
            for n, layer, size in small
        ]
        return of_node(
            TOO_SMALL,
            Status.FAIL,
            node,
            f"{min(size for _, _, size in small)} announced",
            f"The switch carries too small frames for {node}: {listed(ports)}.",
            then=[
                NextStep(
                    "Ask the network team to raise these ports: every switch on the path must carry the larger frames."
                )
            ],
        )
    if known:
        least = min(size for _, _, size in known)
        return of_node(
            CARRIES,
            Status.PASS,
            node,
            f"{least} announced",
            f"The switch ports of {node} announce frames of up to {least} bytes.",
        )
    return of_node(
        NOT_ANNOUNCED,
        Status.INFO,
        node,
        "not announced",
        f"The switch ports of {node} do not announce a maximum frame size.",
    )


def _needed(layer: Layer, layers: tuple[Layer, ...]) -> int:
    """Return the frame size, in bytes: MTU, Ethernet header and checksum, and the tag if the layer carries a VLAN."""
    above = [own for own in layers if own.level >= layer.level and not {*own.networks}.isdisjoint(layer.networks)]
    return frame_bytes(layer.mtu_after, any(own.kind == "vlan" for own in above))
