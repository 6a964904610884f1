"""Gates: does the boot configuration set the planned MTU, and has a boot proved it?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks.change.gates.gate import THEN_VERIFY, GateContext, GatePlace, node_gate
from checks.change.gates.mtu_gates import mtu_of
from checks.change.plan.change_plan import Layer
from checks.change.progress.boot_proofs import BootProof, boot_proofs
from checks.change.steps.mtu_commands import kept_lines, restored_lines
from checks.model.check import Kind
from checks.model.facts import NetworkService, NodeSetup, Unknown, part_of
from checks.model.finding import Finding, NextStep
from checks.model.own_command import VERIFY
from checks.model.wording import listed

_AFTER_BOOT = (
    "An MTU set with `ip link` is lost at a boot. The node then comes up with another MTU than the others, and large "
    "packets to and from it are lost."
)

KEPT = Kind("CH-KEPT-001", "The boot configuration of a node sets the planned MTU")
NOT_KEPT = Kind("CH-KEPT-002", "A node would come up with another MTU after its next boot", _AFTER_BOOT)
KEPT_NOT_KNOWN = Kind("CH-KEPT-003", "The MTU in the boot configuration of a node is not known", _AFTER_BOOT)
SCRIPT_UNDOES = Kind("CH-KEPT-004", "A script or rule sets another MTU at boot", _AFTER_BOOT)
SCRIPT_TOO = Kind("CH-KEPT-005", "A script or rule also sets the planned MTU at boot")
BOOTED = Kind("CH-BOOT-001", "A node was booted since the MTU was set, and came back with the planned MTU")
ALIKE = Kind("CH-BOOT-002", "Another node with the same network services was booted since the MTU was set")
NOT_BOOTED = Kind(
    "CH-BOOT-003",
    "No node with these network services was booted since the MTU was set",
    "A boot is the best proof that the files set the MTU. While Clusterware is down, a boot costs nothing.",
)
CAME_BACK_WRONG = Kind("CH-BOOT-004", "A node was booted and came back with another MTU", _AFTER_BOOT)
BOOT_NOT_KNOWN = Kind("CH-BOOT-005", "Whether a node was booted since the MTU was set is not known")

DEFAULT_MTU = 1500
"""The MTU of an Ethernet interface that no configuration sets."""
_AS_ROOT = NextStep(
    "Only root may read some files. If root has ssh access to the other nodes, verify as root. Otherwise read the "
    "files by hand, and override the gate with the MTUs that you found.",
    where="root",
    own=(VERIFY,),
)


@dataclass(frozen=True)
class _AtBoot:
    """The MTU of an interface after the next boot, by its configuration."""

    layer: Layer
    mtu: int | Unknown
    why: str = ""
    """The reason: `/etc/…/eth1.nmconnection sets 1500`, `no file sets it`."""
    is_set: bool = False
    """Whether a file sets the MTU; else it is the kernel's default."""


@node_gate(
    "kept-mtu",
    question="Will every layer have the planned MTU after the next boot?",
    needs=("setups",),
    uses=("nodes",),
    kinds=(KEPT, NOT_KEPT, KEPT_NOT_KNOWN, SCRIPT_UNDOES, SCRIPT_TOO),
    read=GatePlace.setup,
    unread=(KEPT_NOT_KNOWN, "The boot configuration of {} is not known"),
)
def kept_mtu(at: GatePlace, setup: NodeSetup) -> Iterator[Finding]:
    """Reads the MTU of each layer in the files of each node's network service (NetworkManager, ifcfg, systemd-networkd,
    netplan, wicked).

    Without a setting of its own, a bond member takes the MTU of its bond, a VLAN the MTU of its parent, and a bridge
    the MTU of its ports; otherwise the kernel's default of 1500 applies. Scripts and udev rules that also set an MTU
    are reported: the order of the boot decides which setting is effective.
    """
    yield from _scripts(at, setup)
    if isinstance(setup.kept, Unknown):
        what = f"The MTU in the boot configuration of {at.node} is not known"
        yield at.not_known(KEPT_NOT_KNOWN, what, setup.kept, _AS_ROOT)
        return
    at_boot = [_at_boot(at, setup, layer) for layer in at.layers]
    if wrong := [own for own in at_boot if own.mtu != own.layer.mtu_after and isinstance(own.mtu, int)]:
        yield _comes_up_wrong(at, wrong)
        return
    for own in at_boot:
        if isinstance(own.mtu, Unknown):
            what = f"The MTU of {own.layer.interface} of {at.node} at boot is not known"
            yield at.not_known(KEPT_NOT_KNOWN, what, own.mtu, _AS_ROOT)
            return
    values = listed(dict.fromkeys(str(own.layer.mtu_after) for own in at_boot))
    files = listed(dict.fromkeys(own.why for own in at_boot))
    yield at.holds(KEPT, f"{values} at boot", f"{at.node} will come up with MTU {values}: {files}.")


def _comes_up_wrong(at: GatePlace, wrong: list[_AtBoot]) -> Finding:
    alike: dict[int | Unknown, list[_AtBoot]] = {}
    for own in wrong:
        alike.setdefault(own.mtu, []).append(own)
    sentences = [
        f"{listed(own.layer.interface for own in some)} of {at.node} will come up at MTU {mtu} after the next boot: "
        f"{listed(dict.fromkeys(own.why for own in some))}"
        for mtu, some in alike.items()
    ]
    text = f"{listed(map(str, alike))} at boot" if any(own.is_set for own in wrong) else "not set at boot"
    # The step with these lines may be done already, or not in the plan.
    layers = [own.layer for own in wrong]
    lines = (restored_lines(layers) if at.change.is_way_back else kept_lines(layers)).lines
    names = listed(own.interface for own in layers)
    by_hand = NextStep(f"Set the MTU in the file or script that configures {names} of {at.node}.", where="root")
    set_it = at.as_root(f"Set the MTU in the boot configuration of {at.node}.", *lines) if lines else by_hand
    return at.fails(NOT_KEPT, text, f"{'; '.join(sentences)}.", set_it, THEN_VERIFY)


def _at_boot(at: GatePlace, setup: NodeSetup, layer: Layer) -> _AtBoot:
    own = setup.kept_mtu(layer.interface)
    if at.change.is_way_back and layer.kept_before is None and (own is None or own.mtu is None):
        return _AtBoot(layer, layer.mtu_after, f"no file sets the MTU of {layer.interface}, as before the change")
    if own is not None and isinstance(own.mtu, Unknown):
        return _AtBoot(layer, own.mtu)
    if own is not None and own.mtu is not None:
        return _AtBoot(
            layer, own.mtu, f"{own.file or own.connection or own.network_service} sets {own.mtu}", is_set=True
        )
    if source := _inherits_from(at, layer):
        return _AtBoot(layer, layer.mtu_after, f"{layer.interface} takes the MTU of {source}")
    if layer.mtu_after == DEFAULT_MTU:
        return _AtBoot(layer, DEFAULT_MTU, f"no file sets another MTU for {layer.interface}")
    if layer.kind == "infiniband":
        return _AtBoot(layer, Unknown("No file sets the MTU, and the mode of an IPoIB interface decides its default."))
    if own is None and (not setup.network_services or NetworkService.UNKNOWN in setup.network_services):
        return _AtBoot(layer, Unknown(f"No network service that racwire knows configures {layer.interface}."))
    return _AtBoot(layer, DEFAULT_MTU, f"{own.file} sets no MTU" if own and own.file else "no file sets the MTU")


def _inherits_from(at: GatePlace, layer: Layer) -> str:
    """The interface that a layer without a setting of its own takes its MTU from; empty for none.

    The result is a layer of the plan, so the gate also judges that layer's own configuration.
    """
    planned = {own.interface: own for own in at.layers}
    node = at.cluster.node(at.node)
    interface = node.interface(layer.interface) if node else None
    if node is None or interface is None:
        above = (own.interface for own in planned.values() if own.role == "bond" or own.level > layer.level)
        return next(above, "") if layer.role == "member" else ""
    master = node.interface(interface.master) if interface.master else None
    if master is not None and master.kind in ("bond", "team") and master.name in planned:
        return master.name
    if interface.kind == "vlan" and interface.parent in planned:
        return interface.parent
    if interface.kind == "bridge":
        return listed(name for name in interface.members if name in planned)
    return ""


def _scripts(at: GatePlace, setup: NodeSetup) -> Iterator[Finding]:
    """Yield findings of scripts and rules that set an MTU for these interfaces, or for interfaces not named."""
    planned = {layer.interface: layer.mtu_after for layer in at.layers}
    for fragile in setup.fragile:
        if fragile.mtu is None or (fragile.interface and fragile.interface not in planned):
            continue
        wanted = {planned[fragile.interface]} if fragile.interface else {*planned.values()}
        text, where = f"{fragile.mtu} by script", f"{fragile.file} on {at.node}"
        whose = f"for {fragile.interface}" if fragile.interface else "for interfaces that racwire cannot identify"
        if wanted == {fragile.mtu}:
            yield at.remarks(SCRIPT_TOO, text, f"{where} also sets MTU {fragile.mtu} {whose}: `{fragile.line}`.")
            continue
        report = at.fails if fragile.interface else at.undecided
        remove = f"Remove that line from {fragile.file}, or verify that it is for other interfaces."
        sentence = f"{where} sets MTU {fragile.mtu} {whose} at boot: `{fragile.line}`."
        yield report(SCRIPT_UNDOES, text, sentence, at.as_root(remove))


@node_gate(
    "rebooted",
    question="Did a boot prove that the boot configuration sets the MTU?",
    needs=("nodes", "setups"),
    kinds=(BOOTED, ALIKE, NOT_BOOTED, CAME_BACK_WRONG, BOOT_NOT_KNOWN),
    read=lambda at: at,
    unread=(BOOT_NOT_KNOWN, "Whether {} was booted is not known"),
)
def rebooted(at: GatePlace, _: GatePlace) -> Finding | Unknown:
    """Compares the boot id of each node with its boot id when its files were verified to set the MTU.

    Of the nodes with the same network services, at least one must have been booted since. Every booted node must have
    come back with the planned MTU. A proved boot need not be repeated when the MTU must be set again, unless the files
    of the node failed, or a later boot came back with another MTU.
    """
    proof = boot_proofs(at.change).get(at.node, BootProof(""))
    if _was_booted(at):
        node = at.read()
        if isinstance(node, Unknown):
            return node
        wrong = [layer for layer in at.layers if mtu_of(node, layer.interface) != layer.mtu_after]
        if wrong and proof.proved_by != _boot_of(at):
            return _wrong(at, {layer.interface: mtu_of(node, layer.interface) for layer in wrong})
        sentence = f"{at.node} was booted since the MTU was set, and came back with the planned MTU."
        return at.holds(BOOTED, "booted", sentence)
    boot = part_of(at.setup(), lambda setup: setup.boot_id)
    if isinstance(boot, Unknown):
        return boot
    if not _boot_before(at):
        return Unknown(f"{at.node} was not read when the MTU was set.")
    services = ways_of_keeping(at.context, at.node)
    others = [at.on(node) for node in at.plan.nodes if node != at.node and not at.plan.node]
    alike = [one.node for one in others if _was_booted(one) and ways_of_keeping(at.context, one.node) == services]
    if alike and not proof.lost_the_mtu:
        sentence = f"{at.node} was not booted, but {min(alike)} with the same network services was."
        return at.remarks(ALIKE, f"as {min(alike)}", sentence)
    if proof.lost_the_mtu:
        sentence = f"{at.node} came back from its last boot with another MTU, and was not booted since."
        which = at.node
    else:
        sentence = f"Neither {at.node} nor another node with {services} was booted since the MTU was set."
        which = f"{at.node}, or another node with {services},"
    return at.fails(
        NOT_BOOTED,
        "not booted",
        sentence,
        at.as_root(f"Reboot {which} while Clusterware is down.", "reboot"),
        NextStep("When the node is up again, verify again.", own=(VERIFY,)),
    )


def _wrong(at: GatePlace, now: dict[str, int | None]) -> Finding:
    found = listed(f"{name} at MTU {mtu}" if mtu else f"no {name}" for name, mtu in now.items())
    return at.fails(
        CAME_BACK_WRONG,
        f"came back at {listed(dict.fromkeys(map(str, now.values())))}",
        f"{at.node} was booted and came back with {found}: the boot configuration does not set the planned MTU.",
        NextStep("Set the MTU again, at run time and in the boot configuration.", own=(at.next_command,)),
    )


def _boot_of(at: GatePlace) -> str:
    """The present boot id of a node; empty where it is not known."""
    boot = part_of(at.setup(), lambda setup: setup.boot_id)
    return "" if isinstance(boot, Unknown) else boot


def _boot_before(at: GatePlace) -> str:
    """The boot id when the files of a node were verified to set the MTU; empty where it is not known."""
    proof = boot_proofs(at.change).get(at.node)
    return proof.since if proof else at.change.look.boot_ids.get(at.node, "")


def _was_booted(at: GatePlace) -> bool:
    before = _boot_before(at)
    return bool(before) and _boot_of(at) not in ("", before)


def ways_of_keeping(context: GateContext, node: str) -> str:
    """Return the network services of a node: the boot of a node proves the files of those with the same ones."""
    return listed(sorted({layer.network_service or NetworkService.UNKNOWN for layer in context.layers(node)}))
