"""The step that raises the switches of the private networks, or the InfiniBand fabric."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.plan.change_plan import Gate, Step
from checks.change.plan.command_block import Commands, Who, as_comments
from checks.change.plan.mtu_limits import frame_bytes, not_yet_jumbo, port_name
from checks.change.steps.draft import CONFIRMED, Draft
from checks.model.shell_command import Language
from checks.model.vendors import PORT, QUESTIONS, SwitchKind, commands_of, showing

_RUNNING = (
    "Clusterware still runs over these switches: change one switch of a pair after the other, so that every node keeps "
    "a path. If a reload would cut the only path of a node, do the next step first, then this step."
)
_CHANNELS = "The ports of bonds are members of port-channels: type the lines of the port-channel for each NUMBER."
_STOPPED = "So Clusterware is already down at this step."


def switch(draft: Draft) -> Step:
    """Return the step that raises the switch ports before any node; of InfiniBand, the step for the fabric."""
    if any(layer.kind == "infiniband" for layer in draft.layers):
        return _fabric(draft)
    largest = max(frame_bytes(n.mtu_after, False) for n in draft.networks)
    order = draft.switch_order
    place = (order.why, _STOPPED) if order.after_stop else (_RUNNING, order.why)
    return Step(
        id="switch",
        title="switch",
        what=" ".join(
            filter(
                None,
                (
                    "Ask the network team to raise every switch port on the private networks, and the links between "
                    f"the switches, to the largest frame that they carry (at least {largest} bytes, {largest + 4} with "
                    "a VLAN tag).",
                    *place,
                ),
            )
        ),
        why="A port that allows larger packets than the nodes send does no harm. A port that allows only smaller ones "
        "drops large packets silently. So the switches are changed first. racwire cannot read the switches: the step "
        "prove-paths tests them.",
        commands=(*_switch_commands(draft), _questions(draft)),
        expected="Every port, on both switches of a pair and between the switches, shows the larger MTU. The "
        "configuration is saved.",
        gates=(Gate("switch-frames"),) if _announced(draft) else (),
        attest="The network team has raised every port on the private networks and the links between the switches.",
        attest_asks=CONFIRMED,
        if_rolled_back="The switches may stay as they are: a larger MTU on a switch does no harm.",
    )


def _fabric(draft: Draft) -> Step:
    return Step(
        id="switch",
        title="switch",
        what=f"Ask the operators of the InfiniBand fabric to confirm that its partition carries IPoIB packets "
        f"of {draft.after} bytes: in datagram mode the partition's MTU must be at least 4 bytes larger (opensm's "
        "partitions.conf).",
        why="In datagram mode an IPoIB interface cannot have a larger MTU than its partition allows, whatever the node "
        "sets. Connected mode needs no change on the switches.",
        commands=(
            Commands(
                Who.OPERATOR,
                ("grep -n mtu /etc/opensm/partitions.conf",),
                place="On the node that runs the subnet manager",
            ),
        ),
        expected="The partition of the private networks carries the larger packets.",
        attest="The operators of the fabric have confirmed the partition's MTU.",
        attest_asks=CONFIRMED,
        if_rolled_back="The fabric may stay as it is.",
    )


def _announced(draft: Draft) -> bool:
    return any(isinstance(n.max_frame_bytes, int) for _, n in draft.neighbours)


def _switch_commands(draft: Draft) -> Iterator[Commands]:
    for key in draft.switches:
        if kind := draft.kinds.switches.get(key):
            yield from _of_pair(kind) if draft.switch_order.may_be_pair else ()
            yield from _of_kind(draft, key, kind)


def _of_pair(kind: SwitchKind) -> Iterator[Commands]:
    if kind.pair_look:
        yield Commands(
            Who.OPERATOR,
            kind.filled(kind.pair_look),
            note="They show whether the two switches compare MTUs, and whether they agree now.",
            name=kind.name,
            place=f"On both switches of a pair ({kind.pair or 'MLAG'}), before the change",
            language=Language.SWITCH,
            optional=True,
        )


def _of_kind(draft: Draft, key: str, kind: SwitchKind) -> Iterator[Commands]:
    ports: dict[str, list[str]] = {}
    members: dict[str, list[str]] = {}
    for node, neighbour in draft.neighbours:
        if draft.kinds.of_neighbour(neighbour) in (key, ""):
            own = members if kind.each_channel and (node, neighbour.interface) in draft.aggregated else ports
            own.setdefault(neighbour.switch, []).append(neighbour.port or PORT)
    if not ports and not members:
        cables = {(layer.node, layer.interface) for layer in draft.layers if layer.level == 0}
        has_channels = bool(kind.each_channel and draft.aggregated)
        ports = {"": [PORT]} if not has_channels or cables - draft.aggregated else {}
        members = {"": [PORT]} if has_channels else {}
    for name in dict.fromkeys((*members, *ports)):
        in_channels, alone = members.get(name, []), ports.get(name, [])
        every = (*in_channels, *alone)
        notes = (
            _CHANNELS if in_channels else "",
            kind.scope,
            kind.counting,
            kind.falls_short(draft.largest),
            *kind.hints,
            f"To look at it first: {'; '.join(showing(kind, every, before=True))}.",
            f"To verify it afterwards: {'; '.join(showing(kind, every))}",
        )
        yield Commands(
            Who.OPERATOR,
            commands_of(kind, alone, in_channels=bool(in_channels)),
            note=" ".join(filter(None, notes)),
            name=kind.name,
            place=f"On {name}" if name else kind.place,
            language=Language.SWITCH,
        )


def _questions(draft: Draft) -> Commands:
    ports = [
        f"{node} {n.interface}: {port_name(n)}"
        + (f", announces {n.max_frame_bytes} bytes" if isinstance(n.max_frame_bytes, int) else "")
        + (" (not jumbo yet)" if not_yet_jumbo(n, draft.after) else "")
        for node, n in draft.neighbours
    ]
    kinds = (
        ""
        if draft.switches
        else "The kind of switch is not known. `racwire explain switches` lists the kinds that racwire knows, and "
        "`racwire explain KIND` prints the commands of one kind."
    )
    lines = as_comments(*QUESTIONS, *ports)
    return Commands(Who.ASKED, lines, note=kinds, name="the network team")
