"""What only people can see to: that the outage is agreed, that nobody is locked out, the switches, and signing off."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.change_plan import ChangeKind, Commands, Gate, Step
from checks.change.mtu_limits import frame_bytes, not_yet_jumbo, port_name
from checks.change.steps import backup_commands
from checks.change.steps.draft import SAFE_ORDER, Draft, briefly
from checks.change.vendors import PORT, QUESTIONS, Vendor, commands_of, kind_of_neighbour, showing, vendor


def agree(draft: Draft) -> Step:
    """The window is agreed on."""
    databases = ", ".join(d.name for d in draft.databases)
    what = f"Every database of this cluster{f' ({databases})' if databases else ''} will be down on all nodes at once."
    return Step(
        id="agree",
        title="agree",
        what=f"Agree on a window with a full outage. {what} Tell the DBAs, the owners of the applications, and the "
        "network team; tell those of Data Guard and GoldenGate that redo and trails will stand still.",
        why="An MTU is not changed node by node: between the first node and the last, large packets from the one side "
        f"vanish at the other, blocks are lost, and nodes are evicted ({SAFE_ORDER}).",
        expected="Everybody who can stop the change has agreed to it.",
        attest="The window with its full outage is agreed on with the DBAs, the application owners and the network "
        "team; Data Guard and GoldenGate are seen to.",
        if_rolled_back="Nothing has been changed: give the change up.",
    )


def console_access(draft: Draft) -> Step:
    """Nobody sits on the branch that is sawn."""
    return Step(
        id="console-access",
        title="console access",
        what="Log in on the console of every node (ILOM, iDRAC, iLO, or the hypervisor's) and stay logged in. See that "
        "your own ssh sessions run over the public network.",
        why="A NIC that is set to a new MTU may drop its link for some seconds, and one that is set wrongly stays "
        "silent: then only the console leads back.",
        commands=(
            Commands(
                f"As anybody on each of {briefly(draft.nodes)}: which addresses ssh logins are on now",
                ("ss -Htn state established '( sport = :22 )'",),
            ),
        ),
        expected="No ssh session is on a private address, and no name of a node resolves to one.",
        gates=(Gate("ssh-apart"),),
        attest=f"The console of {briefly(draft.nodes)} has been logged in to, and works without the private network.",
        if_rolled_back="Nothing has been changed: give the change up.",
    )


def switch(draft: Draft) -> Step:
    """The switches are raised before any node is."""
    if any(layer.kind == "infiniband" for layer in draft.layers):
        return _fabric(draft)
    largest = max(frame_bytes(n.mtu_after, False) for n in draft.networks)
    return Step(
        id="switch",
        title="switch",
        what="Have the network team raise every switch port on the private networks, and the links between the "
        f"switches, to the largest frame that they carry (at least {largest} bytes, {largest + 4} with a VLAN tag). "
        + (
            "A switch is reloaded for it, which cuts every port: so Clusterware is down by now."
            if reloads(draft)
            else "Clusterware still runs on them: one switch of a pair after the other, so that every node keeps a "
            "path. Where a reload would cut the only one, do the next step first, then this."
        ),
        why="A port that allows more than the nodes send harms nobody; one that allows less drops large packets "
        "without a word. So the switches come first. racwire cannot see them: prove-paths will tell.",
        commands=(*_switch_commands(draft), _questions(draft)),
        expected="Every port, on both switches of a pair and between them, shows the larger MTU, and it is saved.",
        gates=(Gate("switch-frames"),) if _announced(draft) else (),
        attest="The network team has raised every port on the private networks and the links between the switches: "
        "their name, and when.",
        if_rolled_back="The switches may stay as they are: a larger MTU there harms nobody.",
    )


def reloads(draft: Draft) -> bool:
    """Whether a switch of a known kind takes the larger frames only after a reload."""
    return any((kind := vendor(key)) is not None and kind.reloads for key in _kinds(draft))


def _fabric(draft: Draft) -> Step:
    return Step(
        id="switch",
        title="switch",
        what=f"Have those who run the InfiniBand fabric confirm that its partition carries IPoIB packets "
        f"of {draft.after} bytes: in datagram mode the partition's MTU must be at least 4 bytes larger (opensm's "
        "partitions.conf).",
        why="In datagram mode an IPoIB interface cannot have more than its partition, whatever the node sets; "
        "connected mode asks nothing of the switches.",
        commands=(Commands("On the node that runs the subnet manager:", ("grep -n mtu /etc/opensm/partitions.conf",)),),
        expected="The partition of the private networks carries the larger packets.",
        attest="Those who run the fabric have confirmed the partition's MTU: their name, and when.",
        if_rolled_back="The fabric may stay as it is.",
    )


def sign_off(draft: Draft) -> Step:
    """Somebody says that it is good."""
    back = draft.kind is ChangeKind.ROLLBACK
    return Step(
        id="sign-off",
        title="sign off",
        what="Have racwire look once more. Then read the report (`racwire change report`), hand it on, and sign off."
        + ("" if back else " Watch the databases over the next full load all the same."),
        why="Between the last proof and the signature somebody may have undone something. And who comes next finds in "
        "the report what was done, by whom, what was seen, and what was gone past.",
        commands=(
            Commands("Where racwire runs:", ("racwire change report",)),
            *backup_commands.drop(draft.databases, draft.id),
        ),
        expected=f"Every layer still runs and is kept {'as before the change' if back else 'as planned'} (MTU "
        f"{draft.after}), and Clusterware is up on every node. The report is filed with the change.",
        gates=(Gate("running-mtu"), Gate("kept-mtu"), Gate("stack-up")),
        attest="The report was read and filed; the applications work."
        if not back
        else "All is as it was before the change; the report was read and filed.",
        if_rolled_back="The MTU would be set back on all nodes, with another full outage.",
    )


def _announced(draft: Draft) -> bool:
    return any(isinstance(n.max_frame_bytes, int) for _, n in draft.neighbours)


def _switch_commands(draft: Draft) -> Iterator[Commands]:
    for key in _kinds(draft):
        if kind := vendor(key):
            yield from _of_kind(draft, kind)


def _kinds(draft: Draft) -> tuple[str, ...]:
    told = [key for _, neighbour in draft.neighbours if (key := kind_of_neighbour(neighbour))]
    return tuple(dict.fromkeys((*draft.switches, *told)))


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
            note=f"{kind.scope} To see it afterwards: {'; '.join(showing(kind, ports))}",
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
        else "Which kind of switch it is, nothing told. `racwire explain switches` lists those that racwire knows, and "
        "`racwire explain KIND` prints the commands of one."
    )
    # As comments of the shell: to be copied into a message, and harmless wherever they are pasted.
    lines = tuple(f"# {line}" for line in (*QUESTIONS, *ports))
    return Commands("To ask the network team:", lines, note=kinds)
