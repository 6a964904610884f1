"""The steps of the outage: stop everything, set the MTU on every layer, verify it after a boot and on every path."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from checks.change.plan.block_packets import full_size
from checks.change.plan.change_plan import ChangeKind, Gate, Step
from checks.change.plan.command_block import Commands, Who
from checks.change.steps import stack_commands
from checks.change.steps.draft import SAFE_ORDER, Draft, briefly
from checks.change.steps.mtu_commands import Kept, kept_lines, restored_lines, run_time_lines
from checks.model.own_command import VERIFY, OwnCommand, Text, joined
from checks.model.shell_command import for_each, shell

DOWN = (
    Gate("stack-down", until="first-node"),
    Gate("autostart-off", until="first-node"),
)
"""The gates that must hold until Clusterware is started again. The step first-node verifies the autostart once more;
after that step an enabled autostart does no harm, since users may connect already."""
_NO_NAMES = (
    ". Then stop Clusterware on every node: this also stops the databases that Clusterware manages. Stop all other "
    "databases by hand."
)
_ENDS_SESSION = "The reboot ends your session on this node; the change continues from its journal."
_ENDS_RACWIRE = (
    "Boot this node last: racwire runs on it and ends with the reboot. When the node is up again, log in and continue "
    "with ",
    OwnCommand(),
    ". You can also continue on another node that has the journal.",
)
MAYBE_STOPPED = "PRCC-1016 (was already stopped) is no failure: it may not have been started again yet."
_KEPT_UNKNOWN = (
    "/etc/sysconfig",
    "/etc/systemd/network",
    "/etc/NetworkManager",
    "/etc/netplan",
    "/etc/network",
)


def stack_down(draft: Draft) -> Step:
    """Return the step that stops the databases and Clusterware on every node and disables the autostart."""
    homes = {node: draft.home(node) for node in draft.nodes}
    names = ", ".join(d.name for d in draft.databases)
    back = draft.kind is ChangeKind.ROLLBACK
    return Step(
        id="stack-down",
        title="stack down",
        what="Disable the autostart of Clusterware on every node"
        + (f". Stop the databases ({names}). Then stop Clusterware on every node." if names else _NO_NAMES)
        + _already(draft),
        why="While the MTU differs between nodes, large packets are lost: running instances would lose blocks, and CSS "
        "would evict nodes. With the autostart enabled, a node that is booted by accident would join the cluster while "
        f"nodes have different MTUs ({SAFE_ORDER}).",
        commands=(
            *(stack_commands.disable(node, home) for node, home in homes.items()),
            *_stops(draft),
        ),
        expected="No ohasd.bin, ocssd.bin, crsd.bin or evmd.bin, no ASM and no database instance on any node; "
        "`crsctl config crs` prints disabled on every node.",
        gates=DOWN if back else (*DOWN, Gate("mtu-untouched"), Gate("other-users")),
        if_rolled_back="Clusterware is started again with the old MTU, and its autostart is enabled.",
    )


def _stops(draft: Draft) -> Iterator[Commands]:
    """Yield the commands that stop the databases and then Clusterware, where the last verification found them up.

    On a node that is down they would fail: srvctl needs Clusterware, and crsctl prints CRS-4639.
    """
    up = [node for node in draft.nodes if node not in draft.down]
    if not up:
        return
    where = draft.first if draft.first in up else up[0]
    for database in draft.databases:
        if not database.instances or not draft.down.issuperset(database.instances):
            stop = stack_commands.stop_database(database, where, draft.home(where))
            # The last verification saw whether anything runs on a node, not which databases.
            maybe = MAYBE_STOPPED if draft.kind is ChangeKind.ROLLBACK else ""
            yield msgspec.structs.replace(stop, note=joined(stop.note, maybe))
    for node in up:
        yield stack_commands.stop(node, draft.home(node), draft.databases)


def _already(draft: Draft) -> str:
    down = [node for node in draft.nodes if node in draft.down]
    if not down:
        return ""
    return (
        f" The last verification found {briefly(down)} down, so no stop command is printed for "
        f"{'it' if len(down) == 1 else 'them'}. If anything was started there since, the gate names the command."
    )


def set_mtu(draft: Draft) -> Step:
    """Return the step that sets the MTU of every layer on every node, at run time and for the next boot."""
    back = draft.kind is ChangeKind.ROLLBACK
    word = "back to" if back else "to"
    return Step(
        id="set-mtu",
        title="set the MTU",
        what=f"Set the private interfaces of every node {word} MTU {draft.after}, with all interfaces below them "
        "(bond, VLAN parent, members), now and for the next boot. Do this on every node.",
        why="`ip link set` acts at once, but its effect is lost at the next boot. After a boot, the files of the "
        "network service set the MTU. A node whose files have the wrong MTU would boot with another MTU than the "
        "rest, and could not join the cluster. The public interfaces are not changed.",
        commands=tuple(block for node in draft.nodes for block in _node_blocks(draft, node)),
        expected=f"Every layer of every node has MTU {draft.after}"
        + (", and its files set what they set before." if back else ", and its files set this MTU, too.")
        + _exceptions(draft),
        gates=(Gate("running-mtu", until="end"), Gate("kept-mtu", until="end")),
        if_rolled_back=f"Every layer gets its old MTU back ({draft.before}), from the top to the bottom, and every "
        "file its old setting. This needs no second outage: Clusterware is still down.",
    )


def survives_boot(draft: Draft) -> Step:
    """Return the step that reboots one node of each kind, to verify that the files set the MTU at boot."""
    chosen = one_node_per_network_service(draft)
    return Step(
        id="survives-boot",
        title="survives a boot",
        what=f"Reboot {briefly(chosen)}: one node for each combination of network services that set the MTU at boot.",
        why="The right MTU in a file is not proof: another file, a script or DHCP may override it. While Clusterware "
        "is down, a boot costs minutes; later, a wrong MTU after a boot costs an eviction.",
        commands=tuple(
            Commands(
                Who.ROOT,
                ("reboot",),
                node,
                joined("Reboot only with Clusterware down on every node.", _ends(node, draft)),
            )
            for node in chosen
        ),
        expected=f"Each rebooted node comes back with MTU {draft.after} on every layer, and without Clusterware.",
        gates=(Gate("rebooted"),),
        if_rolled_back="Every layer gets its old MTU back, and every file its old setting.",
    )


def _ends(node: str, draft: Draft) -> Text:
    return _ENDS_RACWIRE if node == draft.first else _ENDS_SESSION


def prove_paths(draft: Draft) -> Step:
    """Return the step that sends full-size packets between all nodes, in both directions, on every private network."""
    return Step(
        id="prove-paths",
        title="prove the paths",
        what=(
            "Run ",
            VERIFY,
            f": it sends packets of the full {draft.after} bytes in both directions between all nodes, on every "
            "private network. If there are bonds, verify again with each bond member down in turn.",
        ),
        why="A forgotten switch port drops large packets in one direction, for one node, without an error. Small "
        "packets and heartbeats still pass. Such a port must be found before Clusterware starts (MOS 563566.1, cause "
        "5; MOS 341788.1).",
        commands=(*_by_hand(draft), *_bonds(draft)),
        expected=f"Every packet of {draft.after} bytes arrives. The sender's own kernel refuses one byte more. "
        "Meanwhile no node counts a failed reassembly, a full receive buffer or a drop of the CPU backlog. racwire "
        "does not read the drops of the NICs: `ip -s -s link show` shows them.",
        gates=(Gate("df-ping"), Gate("one-byte-more"), Gate("quiet-counters"), Gate("mtu-consistency")),
        if_rolled_back="Every layer gets its old MTU back, and every file its old setting; then Clusterware is "
        "started. This needs no second outage: Clusterware is still down.",
    )


def one_node_per_network_service(draft: Draft) -> tuple[str, ...]:
    """Return one node for each combination of network services that set the MTU at boot.

    The local node is chosen only if no other node has its combination, and comes last: booting it ends racwire.
    """
    ways: dict[frozenset[str], str] = {}
    for node in (*draft.others, draft.first):
        ways.setdefault(frozenset(layer.network_service for layer in draft.layers_of(node)), node)
    return tuple(ways.values())


def _node_blocks(draft: Draft, node: str) -> Iterator[Commands]:
    layers = draft.layers_of(node)
    kept: Kept = restored_lines(layers) if draft.kind is ChangeKind.ROLLBACK else kept_lines(layers)
    yield Commands(Who.ROOT, (*run_time_lines(layers), *kept.lines), node, f"{kept.note}." if kept.note else "")
    if kept.unknown:
        names = " ".join(shell("-e {nic}", nic=name) for name in kept.unknown)
        line = " ".join(("grep -rns", names, *_KEPT_UNKNOWN))
        yield Commands(
            Who.ROOT,
            (line,),
            node,
            f"racwire found no network service that configures {', '.join(kept.unknown)} at boot. Find the file or "
            f"script that does, and set MTU {draft.after} there.",
            purpose="for the next boot",
            by_hand=True,
        )
    for above in draft.inheriting:
        if above.node == node:
            yield Commands(
                Who.ROOT,
                kept_lines([above]).lines or (shell("ip -details link show {nic}", nic=above.interface),),
                node,
                f"{above.interface} is not private, but its parent is raised. Its file sets no MTU, so it would take "
                "the larger MTU at the next boot.",
                purpose=f"so that {above.interface} stays at MTU {above.mtu_after}",
            )
    for one in draft.fragile:
        if one.node == node:
            yield Commands(
                Who.ROOT,
                (shell("grep -n -i mtu {file}", file=one.line.file),),
                node,
                f"The line `{one.line.line.strip()}` sets an MTU in addition to the network service. Remove the line, "
                f"or change its MTU to {one.wanted}.",
                purpose="for a script or rule that also sets an MTU",
                by_hand=True,
            )


def _exceptions(draft: Draft) -> str:
    others = [one for one in draft.layers if one.mtu_after != draft.after]
    named = ", ".join(f"{one.interface} of {one.node} {one.mtu_after}" for one in others[:4])
    return f" Interfaces below a VLAN or bridge may have a larger MTU: {named}." if named else ""


PING = "ping -M do -s {size} -c 3 -I {source} {target}"


def _by_hand(draft: Draft) -> Iterator[Commands]:
    lines = []
    for network in draft.networks:
        source = network.addresses.get(draft.first)
        target = next((network.addresses[node] for node in draft.others if node in network.addresses), None)
        if source and target:
            size = full_size(network.mtu_after, source)
            lines.append(shell(PING, size=size, source=source, target=target))
    if lines:
        yield Commands(
            Who.ANY_USER,
            tuple(lines),
            draft.first,
            "-M do forbids fragmentation. Without it a ping of any size passes and proves nothing.",
            purpose="to test by hand",
            optional=True,
        )


def _bonds(draft: Draft) -> Iterator[Commands]:
    for node in draft.nodes:
        members = [layer for layer in draft.layers_of(node) if layer.role == "member"]
        bonds = [layer for layer in draft.layers_of(node) if layer.kind in ("bond", "team")]
        if members and bonds:
            first = members[0].interface
            yield Commands(
                Who.ROOT,
                for_each("cat /proc/net/bonding/{bond}", bond=[bond.interface for bond in bonds]),
                node,
                (
                    shell("Take each member down in turn (`ip link set dev {member} down`, ", member=first),
                    VERIFY,
                    shell(", `ip link set dev {member} up`)", member=first)
                    + ": a bond may use only one member at a time, and each member has its own switch port.",
                ),
                purpose="for its bonds",
            )
