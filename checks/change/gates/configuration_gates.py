"""Gates: the networks in oifcfg, and the frame sizes that the switches announce."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.gates.gate import GatePlace, gate, node_gate
from checks.change.plan.change_plan import Layer
from checks.change.plan.mtu_limits import frame_bytes
from checks.change.plan.registered_networks import interconnect_lines
from checks.model.check import Kind
from checks.model.facts import LldpNeighbour, Unknown, part_of
from checks.model.finding import Finding, NextStep
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


@gate(
    "oifcfg-unchanged",
    question="Does oifcfg name the same networks as before the change?",
    needs=("clusterware",),
    topic="oifcfg getif",
    kinds=(SAME, OTHER, OIFCFG_NOT_KNOWN),
)
def oifcfg_unchanged(at: GatePlace) -> Iterator[Finding]:
    """Compares the output of `oifcfg getif` with its output when the plan was made.

    A change of MTU does not change this output.
    """
    lines = interconnect_lines(at.cluster)
    if isinstance(lines, Unknown):
        yield at.not_known(OIFCFG_NOT_KNOWN, "The networks in oifcfg are not known", lines)
        return
    before = {" ".join(line.split()) for line in at.plan.interconnects}
    now = {" ".join(line.split()) for line in lines}
    if not before:
        sentence = "The plan has no output of oifcfg, so racwire cannot compare it with the present output."
        yield at.remarks(OIFCFG_NOT_KNOWN, "not compared", sentence)
    elif before == now:
        yield at.holds(SAME, "unchanged", "oifcfg names the same networks as before the change.")
    else:
        differences = [f"`{line}` was removed" for line in sorted(before - now)]
        differences += [f"`{line}` was added" for line in sorted(now - before)]
        yield at.fails(
            OTHER,
            "changed",
            f"oifcfg names other networks than before the change: {listed(differences)}.",
            NextStep(
                "Find out who changed the networks in oifcfg, and why: a change of MTU does not need it.",
                ("oifcfg getif",),
                "the Grid owner",
            ),
        )


@node_gate(
    "switch-frames",
    question="Do the switch ports announce frames that are large enough?",
    needs=("setups",),
    kinds=(CARRIES, TOO_SMALL, NOT_ANNOUNCED),
    read=lambda at: part_of(at.setup(), lambda setup: setup.lldp),
    unread=(NOT_ANNOUNCED, "The maximum frame size of the switch ports of {} is not known"),
    must_be_known=False,
)
def switch_frames(at: GatePlace, neighbours: tuple[LldpNeighbour, ...]) -> Finding:
    """Compares the maximum frame size that each node's switch ports announce by LLDP with the frame size of the planned
    MTU: 18 bytes more than the MTU, 22 bytes more under a VLAN.

    Many switches do not announce a maximum frame size. For these, the network team must confirm it.
    """
    announced = [
        (neighbour, _needed(layer, at.layers), neighbour.max_frame_bytes)
        for neighbour in neighbours
        for layer in at.layers
        if layer.interface == neighbour.interface and isinstance(neighbour.max_frame_bytes, int)
    ]
    if not announced:
        sentence = f"The switch ports of {at.node} do not announce a maximum frame size."
        return at.remarks(NOT_ANNOUNCED, "not announced", sentence)
    small = [(port, needed, size) for port, needed, size in announced if size < needed]
    least = min(size for _, _, size in small or announced)
    text = f"{least} announced"
    if not small:
        return at.holds(CARRIES, text, f"The switch ports of {at.node} announce frames of up to {least} bytes.")
    ports = [
        f"{port.port or 'the port'} of {port.switch or 'the switch'} ({port.interface}) announces {size} bytes, "
        f"{needed} bytes are needed"
        for port, needed, size in small
    ]
    return at.fails(
        TOO_SMALL,
        text,
        f"The switch carries too small frames for {at.node}: {listed(ports)}.",
        NextStep("Ask the network team to raise these ports: every switch on the path must carry the larger frames."),
    )


def _needed(layer: Layer, layers: tuple[Layer, ...]) -> int:
    """Return the frame size, in bytes: MTU, Ethernet header and checksum, and the tag if the layer carries a VLAN."""
    above = [own for own in layers if own.level >= layer.level and not {*own.networks}.isdisjoint(layer.networks)]
    return frame_bytes(layer.mtu_after, any(own.kind == "vlan" for own in above))
