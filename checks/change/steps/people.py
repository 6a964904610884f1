"""The steps that only people can do: agree on the outage, keep access by console, raise the switches, sign off."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.change_plan import ChangeKind, Commands, Gate, Step
from checks.change.mtu_limits import frame_bytes, not_yet_jumbo, port_name
from checks.change.steps import backup_commands
from checks.change.steps.draft import SAFE_ORDER, Draft, briefly
from checks.change.vendors import PORT, QUESTIONS, Vendor, commands_of, kind_of_neighbour, showing, vendor


def agree(draft: Draft) -> Step:
    """Return the step that agrees on the outage window."""
    databases = ", ".join(d.name for d in draft.databases)
    what = f"Every database of this cluster{f' ({databases})' if databases else ''} will be down on all nodes at once."
    return Step(
        id="agree",
        title="agree",
        what=f"Agree on a window with a full outage. {what} Inform the DBAs, the owners of the applications, and the "
        "network team. Inform the operators of Data Guard and GoldenGate that redo and trails will stop during the "
        "outage.",
        why="An MTU cannot be changed node by node: while nodes have different MTUs, large packets between them are "
        f"lost, blocks are lost, and nodes are evicted ({SAFE_ORDER}).",
        expected="Every person who can veto the change has agreed to it.",
        attest="The DBAs, the application owners and the network team agreed to the window with its full outage. The "
        "operators of Data Guard and GoldenGate are prepared.",
        if_rolled_back="Nothing has been changed: abandon the change.",
    )


def console_access(draft: Draft) -> Step:
    """Return the step that ensures access to every node without the private network."""
    return Step(
        id="console-access",
        title="console access",
        what="Log in on the console of every node (ILOM, iDRAC, iLO, or the console of the hypervisor) and stay logged "
        "in. Make sure that your own ssh sessions use the public network.",
        why="A NIC may drop its link for some seconds when its MTU is set. After a wrong setting the NIC may stay "
        "unreachable: then only the console gives access.",
        commands=(
            Commands(
                f"As any user on each of {briefly(draft.nodes)}, to list the addresses of open ssh logins:",
                ("ss -Htn state established '( sport = :22 )'",),
            ),
        ),
        expected="No ssh session uses a private address, and no node name resolves to a private address.",
        gates=(Gate("ssh-apart"),),
        attest=f"An operator is logged in on the console of {briefly(draft.nodes)}, and the console works without the "
        "private network.",
        if_rolled_back="Nothing has been changed: abandon the change.",
    )


def switch(draft: Draft) -> Step:
    """Return the step that raises the switch ports before any node; of InfiniBand, the step for the fabric."""
    if any(layer.kind == "infiniband" for layer in draft.layers):
        return _fabric(draft)
    largest = max(frame_bytes(n.mtu_after, False) for n in draft.networks)
    return Step(
        id="switch",
        title="switch",
        what="Ask the network team to raise every switch port on the private networks, and the links between the "
        f"switches, to the largest frame that they carry (at least {largest} bytes, {largest + 4} with a VLAN tag). "
        + (
            "A switch must be reloaded for this, which cuts every port: Clusterware is already down at this step."
            if reloads(draft)
            else "Clusterware still runs over these switches: change one switch of a pair after the other, so that "
            "every node keeps a path. Not so on a vPC or MLAG that compares the MTU of its two switches: while they "
            "differ, a Nexus suspends the ports of the secondary switch, and without the graceful consistency check "
            "those of both. Where a bond ends in such a pair, or a reload would cut the only path of a node, do the "
            "next step first, then this step."
        ),
        why="A port that allows larger packets than the nodes send does no harm. A port that allows only smaller ones "
        "drops large packets silently. So the switches are changed first. racwire cannot read the switches: the step "
        "prove-paths tests them.",
        commands=(*_switch_commands(draft), _questions(draft)),
        expected="Every port, on both switches of a pair and between the switches, shows the larger MTU. The "
        "configuration is saved.",
        gates=(Gate("switch-frames"),) if _announced(draft) else (),
        attest="The network team has raised every port on the private networks and the links between the switches. "
        "Note who confirmed it, and when.",
        if_rolled_back="The switches may stay as they are: a larger MTU on a switch does no harm.",
    )


def reloads(draft: Draft) -> bool:
    """Whether a switch of a known kind needs a reload to carry larger frames."""
    return any((kind := vendor(key)) is not None and kind.reloads for key in _kinds(draft))


def _fabric(draft: Draft) -> Step:
    return Step(
        id="switch",
        title="switch",
        what=f"Ask the operators of the InfiniBand fabric to confirm that its partition carries IPoIB packets "
        f"of {draft.after} bytes: in datagram mode the partition's MTU must be at least 4 bytes larger (opensm's "
        "partitions.conf).",
        why="In datagram mode an IPoIB interface cannot have a larger MTU than its partition allows, whatever the node "
        "sets. Connected mode needs no change on the switches.",
        commands=(Commands("On the node that runs the subnet manager:", ("grep -n mtu /etc/opensm/partitions.conf",)),),
        expected="The partition of the private networks carries the larger packets.",
        attest="The operators of the fabric have confirmed the partition's MTU. Note who confirmed it, and when.",
        if_rolled_back="The fabric may stay as it is.",
    )


def sign_off(draft: Draft) -> Step:
    """Return the step that verifies everything once more and signs the change off."""
    back = draft.kind is ChangeKind.ROLLBACK
    return Step(
        id="sign-off",
        title="sign off",
        what="Run `racwire change verify` once more. Then read the report (`racwire change report`), file it, and sign "
        "off." + ("" if back else " Watch the databases during the next full load all the same."),
        why="Another person may have undone a part of the change since the last verification. The report shows the "
        "next operator each action and its author, the results of the gates, and the overridden gates.",
        commands=(
            Commands("Where racwire runs:", ("racwire change report",)),
            *backup_commands.drop(draft.databases, draft.id),
        ),
        expected=f"Every layer still has MTU {draft.after}, {'as before the change' if back else 'as planned'}, now "
        "and for the next boot. Clusterware is up on every node. The report is filed with the change.",
        gates=(Gate("running-mtu"), Gate("kept-mtu"), Gate("stack-up")),
        attest="The report was read and filed. The applications work."
        if not back
        else "The cluster is as it was before the change. The report was read and filed.",
        if_rolled_back="All nodes are stopped again, get the old MTU back, and are started: another full outage.",
    )


def _announced(draft: Draft) -> bool:
    return any(isinstance(n.max_frame_bytes, int) for _, n in draft.neighbours)


def _switch_commands(draft: Draft) -> Iterator[Commands]:
    for key in _kinds(draft):
        if kind := vendor(key):
            yield from _of_kind(draft, kind)


def _kinds(draft: Draft) -> tuple[str, ...]:
    announced = [key for _, neighbour in draft.neighbours if (key := kind_of_neighbour(neighbour))]
    return tuple(dict.fromkeys((*draft.switches, *announced)))


def _of_kind(draft: Draft, kind: Vendor) -> Iterator[Commands]:
    by_switch: dict[str, list[str]] = {}
    for _, neighbour in draft.neighbours:
        if kind_of_neighbour(neighbour) in (kind.key, ""):
            by_switch.setdefault(neighbour.switch, []).append(neighbour.port or PORT)
    for name, ports in (by_switch or {"": []}).items():
        place = f"On {name}" if name else kind.place
        yield Commands(
            f"{place} ({kind.name}):",
            commands_of(kind, ports),
            note=f"{kind.scope} To verify it afterwards: {'; '.join(showing(kind, ports))}",
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
    # Lines are shell comments: people copy them into a message, and they do nothing when pasted into a shell.
    lines = tuple(f"# {line}" for line in (*QUESTIONS, *ports))
    return Commands("To ask the network team:", lines, note=kinds)
