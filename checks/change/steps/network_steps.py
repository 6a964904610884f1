"""The steps of a change of the private networks, and of its rollback: they register networks and restart on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from checks.change.plan.block_packets import full_size
from checks.change.plan.change_plan import ChangeKind, Gate, Layer, Registrations, Step
from checks.change.plan.command_block import Commands, Who
from checks.change.plan.network_change import NetworkChange, address_of, shown
from checks.change.steps import after, before, network_commands, other_systems, outage, people, starting
from checks.change.steps.backup_commands import BACKUP_FILES, PROFILE, backup_directory
from checks.change.steps.draft import Draft, briefly
from checks.model.own_command import VERIFY
from checks.model.shell_command import for_each, shell

_NOTE = "MOS 283684.1"
_AGAIN = "Clusterware is stopped on all nodes and started on the old networks: another full outage."
_NO_SECOND = "Clusterware is started on the old networks. This needs no second outage: Clusterware is still down."
_REGISTRY = Gate("oifcfg-planned")
_LISTENERS = Gate("asm-listeners")


def _changed(step: Step, **fields: object) -> Step:
    return msgspec.structs.replace(step, **fields)


def registry_gates(registered: Registrations | None, until: str = "") -> tuple[Gate, ...]:
    """Return the gates of the registry: the listeners of ASM only where the plan has them; none for no registry."""
    if registered is None:
        return ()
    gates = (_REGISTRY, _LISTENERS) if registered.asm_listeners else (_REGISTRY,)
    return tuple(msgspec.structs.replace(gate, until=until) for gate in gates)


def agree(draft: Draft, change: NetworkChange) -> Step:
    """Return the step that agrees on the window."""
    return _changed(
        people.agree(replace(draft, uses=())),
        why="Clusterware, HAIP and the instances choose their networks when they start: they use the networks in "
        f"oifcfg fully only after a restart of Clusterware on all nodes ({_NOTE}; MOS 1210883.1).",
    )


def backups(draft: Draft) -> Step:
    """Return the step that saves the registries, profiles and files."""
    return _changed(
        before.backups(draft),
        why="oifcfg changes the OCR and the GPnP profile of every node: their copies let Oracle Support restore a "
        "node that does not start any more. The network files let you restore its addresses by hand.",
        expected=f"An OCR backup of today, and {', '.join(BACKUP_FILES)} and {PROFILE} in "
        f"{backup_directory(draft.id)} on every node.",
    )


def console_access(draft: Draft) -> Step:
    """Return the step that ensures access without the private networks."""
    return _changed(
        people.console_access(draft),
        why="The plan changes which networks the cluster depends on. A session over a private network can end when "
        "its interface is taken down.",
    )


def network_ready(draft: Draft, change: NetworkChange) -> Step:
    """Return the step that proves the new network on every node before anything depends on it."""
    names = briefly(draft.nodes)
    return Step(
        id="network-ready",
        title="network ready",
        what=(
            f"Make sure that {change.new.name} is up on {names}, with the address and the MTU of the plan, now and "
            "after a boot. Then ",
            VERIFY,
            " sends full-size packets on every private network, both ways.",
        ),
        why="A registered network that a node lacks costs that node its membership when it restarts: a wrong cable, "
        f"VLAN, switch port or address must be found before oifcfg has the network ({_NOTE}).",
        commands=(
            *(
                Commands(
                    Who.ANY_USER,
                    for_each(
                        "ip -brief address show dev {nic}", "ip -details link show dev {nic}", nic=[layer.interface]
                    ),
                    node,
                    f"The plan has {address_of(change.new, node)} and MTU {layer.mtu_after}, kept by "
                    f"{layer.network_service or 'a network service that racwire does not know'}"
                    f"{f' in {layer.file}' if layer.file else ''}.",
                )
                for node, layer in change.new_ports.items()
            ),
            *_by_hand(draft, change),
        ),
        expected=f"Every node has its address on {change.new.name}. Every packet of {change.new.mtu_after} bytes "
        "arrives, and the sender's own kernel refuses one byte more.",
        gates=(
            Gate("network-in-place", until="end"),
            Gate("running-mtu", until="end"),
            Gate("kept-mtu", until="end"),
            *(Gate(check) for check in ("df-ping", "one-byte-more", "mtu-consistency")),
        ),
        attest=f"On every node the boot configuration gives {change.new.name} the address that it has now. The "
        "network team confirmed the switch ports and the VLAN of the new network.",
        attest_asks="who confirmed it, and when",
        if_rolled_back="Nothing has been changed: abandon the change.",
    )


def _by_hand(draft: Draft, change: NetworkChange) -> Iterator[Commands]:
    source = change.new.addresses.get(draft.first)
    targets = [change.new.addresses[node] for node in draft.others if node in change.new.addresses]
    if source and targets:
        size = full_size(change.new.mtu_after, source)
        yield Commands(
            Who.ANY_USER,
            tuple(shell(outage.PING, size=size, source=source, target=target) for target in targets),
            draft.first,
            purpose="to test by hand",
            optional=True,
        )


def register(draft: Draft, change: NetworkChange) -> Step:
    """Return the step that registers the new network while Clusterware runs on all nodes."""
    known = change.both.asm_listeners is not None
    ask = (network_commands.ask_for_listeners(draft),) if change.has_asm_role and not known else ()
    return Step(
        id="register",
        title="register",
        what="With Clusterware up on every node, register the new network once for the cluster"
        + (", and add its ASM listener" if change.new_listeners else "")
        + ". Do not delete any line of oifcfg now.",
        why="oifcfg writes the OCR and the GPnP profile of every node, so it needs all of them up. The old line stays "
        f"until Clusterware was restarted: a cluster without a private network cannot start ({_NOTE}).",
        commands=(
            network_commands.set_interconnects(draft, change.new_lines),
            *network_commands.add_listeners(draft, change.new_listeners),
            *ask,
        ),
        expected=f"`oifcfg getif` also prints {shown(change.new_lines)}.",
        gates=(*registry_gates(change.both, until="stack-down"), Gate("stack-up")),
        if_rolled_back="The new line is deleted from oifcfg while Clusterware runs. This needs no outage.",
        registered=change.both,
    )


def stack_down(draft: Draft) -> Step:
    """Return the step that stops everything."""
    back = draft.kind is ChangeKind.ROLLBACK
    return _changed(
        outage.stack_down(draft),
        why="Clusterware reads its networks when it starts, and an instance that is left running keeps its old "
        "addresses: it could not reach those that start later. With the autostart enabled, a node that is booted by "
        f"accident would join too early ({_NOTE}).",
        if_rolled_back="" if back else _NO_SECOND,
    )


def old_network_down(draft: Draft, change: NetworkChange) -> Step:
    """Return the step that takes the old network down on every node, while Clusterware is down."""
    assert change.old is not None
    old = change.old.name
    return Step(
        id="old-network-down",
        title="old network down",
        what=f"Take {old} down on every node, now and for the next boot. Leave the line in oifcfg: it is deleted after "
        "the restart.",
        why="With the old interface up, Clusterware and HAIP would start on both networks, and the old one could not "
        "be deleted without a second restart. With the interface down they start on the others alone, and a "
        "rollback only brings the interface up again.",
        commands=tuple(_downs(draft, change)),
        expected=f"No node has an address on {old}. The other private networks are up.",
        gates=(Gate("network-gone", until="end"), Gate("network-in-place")),
        attest=f"After a boot, no node brings {old} up again: the files of the network service were checked on every "
        "node.",
        if_rolled_back=_NO_SECOND,
    )


def _downs(draft: Draft, change: NetworkChange) -> Iterator[Commands]:
    assert change.old is not None
    for node, layer in change.old_ports.items():
        if change.shares_nic(node):
            yield network_commands.of_address(layer, address_of(change.old, node), up=False)
        else:
            yield Commands(Who.ROOT, network_commands.down(layer, for_good=True), node, _by_hand_at_boot(layer))


def _by_hand_at_boot(layer: Layer) -> str:
    if network_commands.is_kept(layer):
        return ""
    return (
        f"racwire has no command for the next boot: set {layer.interface} not to start in its network service, by hand."
    )


def first_node(draft: Draft, registered: Registrations | None) -> Step:
    """Return the step that starts one node on the planned networks."""
    step = starting.first_node(draft)
    return _changed(
        step,
        why="One node without peers shows whether Clusterware, HAIP and ASM start on the planned networks. Other nodes "
        "cannot disturb this test.",
        gates=(*step.gates, Gate("network-in-place"), *registry_gates(registered)),
        no_return="None: the databases are still down, and the networks can be set back before a second start.",
        if_rolled_back="" if draft.kind is ChangeKind.ROLLBACK else _NO_SECOND,
    )


def other_nodes(draft: Draft, registered: Registrations | None, until: str) -> Step:
    """Return the step that starts the other nodes."""
    step = starting.other_nodes(draft)
    haip = (Gate("haip-planned", until="end"),) if draft.has_haip else ()
    return _changed(
        step,
        gates=(*step.gates, *haip, *registry_gates(registered, until=until)),
        if_rolled_back="" if draft.kind is ChangeKind.ROLLBACK else _AGAIN,
    )


def databases(draft: Draft) -> Iterator[Step]:
    """Yield the step that starts the databases."""
    for step in starting.databases(draft):
        yield _changed(step, if_rolled_back="" if draft.kind is ChangeKind.ROLLBACK else _AGAIN)


_OF_THE_CLUSTER = (
    *("clusterware", "members-unchanged", "reassembly", "udp-receive-buffers", "rp-filter"),
    *("mtu-consistency", "df-ping"),
)
_OF_THE_DATABASE = ("interconnect-in-use", "instance-ping", "gc-blocks-lost")


def interconnect(draft: Draft, registered: Registrations | None) -> Step:
    """Return the step that verifies that HAIP and the instances use the planned networks."""
    uses = ("other-users",) if any(use.stays for use in draft.uses) else ()
    haip = ("haip-path",) if draft.has_haip else ()
    checks = (*_OF_THE_CLUSTER, *uses, *haip, *(_OF_THE_DATABASE if draft.has_database else ()))
    return _changed(
        after.interconnect(draft),
        why="HAIP and the instances choose their interconnect when they start: each planned network must carry "
        "blocks, and no other.",
        commands=tuple(_in_use(draft)),
        expected="Every instance uses the planned private networks and no other. No lost block and no failed "
        "reassembly since Clusterware was started. oifcfg prints the planned lines.",
        gates=(*(Gate(check) for check in checks), *registry_gates(registered)),
        if_rolled_back="" if draft.kind is ChangeKind.ROLLBACK else _AGAIN,
    )


def _in_use(draft: Draft) -> Iterator[Commands]:
    yield from (block for block in after.interconnect(draft).commands if not block.optional)
    yield other_systems.asm("after", draft.kind)


def deregister(draft: Draft, change: NetworkChange) -> Step:
    """Return the step that deletes the old line after the restart on the new network."""
    assert change.old is not None
    return Step(
        id="deregister",
        title="deregister",
        what=f"Delete the line of {change.old.name} from oifcfg"
        + (", and remove its ASM listener" if change.old_listeners else "")
        + ". Clusterware must be up on every node. Nothing is restarted.",
        why="Nothing uses the old network any more: its interface is down, and Clusterware was started without it. If "
        "the line stayed, a node on which that interface comes up would use it after its next start, and the others "
        f"would not ({_NOTE}).",
        commands=(
            *network_commands.remove_listeners(draft, change.old_listeners),
            network_commands.delete_interconnects(draft, change.old_lines),
        ),
        expected="`oifcfg getif` prints the planned lines only, and no line of the old network.",
        gates=(*registry_gates(change.after, until="end"), Gate("stack-up")),
        if_rolled_back=f"The old line is registered again. {_AGAIN}",
        registered=change.after,
    )


def sign_off(draft: Draft, registered: Registrations) -> Step:
    """Return the step that verifies everything once more."""
    back = draft.kind is ChangeKind.ROLLBACK
    haip = (Gate("haip-planned"),) if draft.has_haip else ()
    return _changed(
        people.sign_off(draft),
        expected=f"The private networks are {'as before the change' if back else 'as planned'}: on the nodes, in "
        "oifcfg and in HAIP. Clusterware is up on every node. The report is filed with the change.",
        gates=(
            *(Gate(check) for check in ("network-in-place", "running-mtu", "kept-mtu", "stack-up")),
            *haip,
            *registry_gates(registered),
        ),
        if_rolled_back="" if back else _AGAIN,
    )
