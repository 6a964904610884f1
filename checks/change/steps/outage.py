"""While nothing of Oracle runs: down everywhere, the MTU on every layer, over a boot, over every path."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from checks.change.change_plan import ChangeKind, Commands, Gate, Step
from checks.change.packets import full_size
from checks.change.steps import stack_commands
from checks.change.steps.draft import SAFE_ORDER, Draft, briefly
from checks.change.steps.mtu_commands import Kept, kept_lines, restored_lines, run_time_lines
from checks.change.steps.stack_commands import root

DOWN = (
    Gate("stack-down", until="first-node"),
    Gate("autostart-off", until="first-node"),
)
"""What must stay so until Clusterware is started again. That step looks at the autostart once more; after it, with
users let in already, a switched-on autostart stops nobody."""
_NO_NAMES = (
    ", then stop Clusterware on every node, which takes the databases that it manages down with it. Stop what it does "
    "not manage by hand."
)
_ENDS_SESSION = "It ends your session there; the journal goes on where it was."
_ENDS_RACWIRE = (
    "Boot it last: racwire runs here, and ends with it. When the node is up again, log in and go on with `racwire "
    "change`; from another node that goes as well, where the journal lies there too."
)
_KEPT_UNKNOWN = (
    "/etc/sysconfig",
    "/etc/systemd/network",
    "/etc/NetworkManager",
    "/etc/netplan",
    "/etc/network",
)


def stack_down(draft: Draft) -> Step:
    """Nothing of Oracle's cluster runs, and nothing starts by itself."""
    homes = {node: draft.home(node) for node in draft.nodes}
    names = ", ".join(d.name for d in draft.databases)
    back = draft.kind is ChangeKind.ROLLBACK
    return Step(
        id="stack-down",
        title="stack down",
        what="Switch the autostart of Clusterware off on every node"
        + (f", stop the databases ({names}), then stop Clusterware on every node." if names else _NO_NAMES),
        why="While the MTU differs between nodes, large packets vanish: running instances would lose blocks, and CSS "
        "would evict nodes. With autostart on, a node that is booted by accident would join half changed "
        f"({SAFE_ORDER}).",
        commands=(
            *(stack_commands.disable(node, home) for node, home in homes.items()),
            *(
                stack_commands.stop_database(database, draft.first, draft.home(draft.first))
                for database in draft.databases
            ),
            *(stack_commands.stop(node, home) for node, home in homes.items()),
        ),
        expected="No ohasd.bin, ocssd.bin, crsd.bin or evmd.bin, no ASM and no database instance on any node; "
        "`crsctl config crs` says disabled.",
        gates=DOWN if back else (*DOWN, Gate("mtu-untouched")),
        if_rolled_back="Clusterware is started again with the MTU as it was, and its autostart switched on.",
    )


def set_mtu(draft: Draft) -> Step:
    """Every layer of every node, now and for the next boot."""
    back = draft.kind is ChangeKind.ROLLBACK
    word = "back to" if back else "to"
    return Step(
        id="set-mtu",
        title="set the MTU",
        what=f"Set the private interfaces of every node {word} MTU {draft.after}, with all that they stand on, now and "
        "for the next boot. Leave no node out.",
        why="`ip link set` acts at once and is forgotten at the next boot; what keeps it is the file of whatever "
        "brings the interface up. A node that forgets would come back with another MTU than the rest, and could not "
        "join. The public interfaces are not touched.",
        commands=tuple(block for node in draft.nodes for block in _node_blocks(draft, node)),
        expected=f"Every layer of every node has MTU {draft.after}"
        + (", and its files set what they set before." if back else ", and its files say so.")
        + _exceptions(draft),
        gates=(Gate("running-mtu", until="end"), Gate("kept-mtu", until="end")),
        if_rolled_back=f"Every layer gets back the MTU that it had ({draft.before}), from the top to the bottom, and "
        "every file what it set before. Another full outage is not needed: nothing runs yet.",
    )


def survives_boot(draft: Draft) -> Step:
    """Files are believed when a node has come up by them."""
    chosen = one_node_per_keeper(draft)
    return Step(
        id="survives-boot",
        title="survives a boot",
        what=f"Boot {briefly(chosen)}: one node for each way in which the MTU is kept.",
        why="That a file says so is not proof: another file, a script or DHCP may have the last word. Now, while "
        "nothing runs, a boot costs minutes; later it costs an eviction.",
        commands=tuple(
            Commands(
                root(node),
                ("reboot",),
                node,
                "Only with Clusterware down on every node. "
                + (_ENDS_RACWIRE if node == draft.first else _ENDS_SESSION),
            )
            for node in chosen
        ),
        expected=f"It comes back with MTU {draft.after} on every layer, and without Clusterware.",
        gates=(Gate("rebooted"),),
        if_rolled_back="Every layer gets back the MTU that it had, and every file what it set before.",
    )


def prove_paths(draft: Draft) -> Step:
    """Both ways between all nodes, on every network, to the byte."""
    return Step(
        id="prove-paths",
        title="prove the paths",
        what=f"Have racwire send packets of the full {draft.after} bytes both ways between all nodes, on every private "
        "network; nothing needs to be typed. Where there are bonds, look again with each member down in turn.",
        why="A switch port that was forgotten drops large packets in one direction, for one node, without an error, "
        "while small ones and heartbeats pass. It has to be found before Clusterware starts (MOS 563566.1, cause 5; "
        "MOS 341788.1).",
        commands=(*_by_hand(draft), *_bonds(draft)),
        expected=f"Every packet of {draft.after} bytes arrives, one byte more is refused by the sender's own kernel, "
        "and no node counts a failed reassembly, a full receive buffer or a drop of the CPUs' backlog meanwhile. What "
        "the NICs themselves drop is not read: `ip -s -s link show` tells it.",
        gates=(Gate("df-ping"), Gate("one-byte-more"), Gate("quiet-counters"), Gate("mtu-consistency")),
        if_rolled_back="Every layer gets back the MTU that it had, and every file what it set before; then "
        "Clusterware is started. Nothing runs yet, so nobody notices but the clock.",
    )


def one_node_per_keeper(draft: Draft) -> tuple[str, ...]:
    """One node for each way in which nodes keep their MTU; this one only where no other is like it, and last, since
    booting it ends racwire."""
    ways: dict[frozenset[str], str] = {}
    for node in (*draft.others, draft.first):
        ways.setdefault(frozenset(layer.keeper for layer in draft.layers_of(node)), node)
    return tuple(ways.values())


def _node_blocks(draft: Draft, node: str) -> Iterator[Commands]:
    layers = draft.layers_of(node)
    kept: Kept = restored_lines(layers) if draft.kind is ChangeKind.ROLLBACK else kept_lines(layers)
    yield Commands(root(node), (*run_time_lines(layers), *kept.lines), node, f"{kept.note}." if kept.note else "")
    if kept.unknown:
        names = [word for name in kept.unknown for word in ("-e", name)]
        line = shlex.join(("grep", "-rns", *names, *_KEPT_UNKNOWN))
        yield Commands(
            f"By hand, as root on {node}: for the next boot",
            (line,),
            node,
            f"racwire found nothing that brings up {', '.join(kept.unknown)} at boot: see what does, and set MTU "
            f"{draft.after} there.",
        )
    for above in draft.inheriting:
        if above.node == node:
            yield Commands(
                f"As root on {node}, so that {above.interface} stays at {above.mtu_after}:",
                kept_lines([above]).lines or (shlex.join(("ip", "-details", "link", "show", above.interface)),),
                node,
                "It is not private and stands on what is raised; its file sets no MTU, so it would take the larger one "
                "at the next boot.",
            )
    for one in draft.fragile:
        if one.node == node:
            yield Commands(
                f"By hand, as root on {node}: a line that has its own idea",
                (shlex.join(("grep", "-n", "-i", "mtu", one.line.file)),),
                node,
                f"`{one.line.line.strip()}` sets an MTU beside the keeper: take it out, or have it say {one.wanted}.",
            )


def _exceptions(draft: Draft) -> str:
    others = [one for one in draft.layers if one.mtu_after != draft.after]
    named = ", ".join(f"{one.interface} of {one.node} {one.mtu_after}" for one in others[:4])
    return f" Below a VLAN or bridge more is allowed: {named}." if named else ""


def _by_hand(draft: Draft) -> Iterator[Commands]:
    lines = []
    for network in draft.networks:
        source = network.addresses.get(draft.first)
        target = next((network.addresses[node] for node in draft.others if node in network.addresses), None)
        if source and target:
            size = full_size(network.mtu_after, source)
            lines.append(shlex.join(("ping", "-M", "do", "-s", str(size), "-c", "3", "-I", source, target)))
    if lines:
        yield Commands(
            f"On {draft.first}, if you want to see it with your own eyes:",
            tuple(lines),
            draft.first,
            "-M do forbids cutting the packet up; without it a ping of any size passes and proves nothing.",
        )


def _bonds(draft: Draft) -> Iterator[Commands]:
    for node in draft.nodes:
        members = [layer for layer in draft.layers_of(node) if layer.role == "member"]
        bonds = [layer for layer in draft.layers_of(node) if layer.kind in ("bond", "team")]
        if members and bonds:
            first = members[0].interface
            yield Commands(
                f"As root on {node}, for its bonds:",
                tuple(shlex.join(("cat", f"/proc/net/bonding/{bond.interface}")) for bond in bonds),
                node,
                f"Take each member down in turn (`ip link set dev {first} down`, `racwire change verify`, `... up`): a "
                "bond uses one at a time, and the others have switch ports of their own.",
            )
