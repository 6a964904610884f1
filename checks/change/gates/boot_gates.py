"""Gates: does the boot configuration set the planned MTU, and has a boot proved it?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from checks.change.gates.gate import THEN_VERIFY, GateContext, as_root, gate, not_known, of_node, setups
from checks.change.gates.mtu_gates import mtu_of
from checks.change.plan.change_plan import Layer
from checks.change.progress.boot_proofs import BootProof, boot_proofs
from checks.change.steps.mtu_commands import kept_lines, restored_lines
from checks.model.check import Kind
from checks.model.facts import Cluster, FragileMtu, NetworkService, NodeSetup, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.own_command import VERIFY, OwnCommand
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
class _Kept:
    """The MTU of an interface after the next boot, by its configuration."""

    layer: Layer
    mtu: int | Unknown
    why: str
    """The reason: `/etc/…/eth1.nmconnection sets 1500`, `no file sets it`."""
    is_set: bool = False
    """Whether a file sets the MTU; else it is the kernel's default."""

    @property
    def is_right(self) -> bool:
        return self.mtu == self.layer.mtu_after


@gate(
    "kept-mtu",
    question="Will every layer have the planned MTU after the next boot?",
    needs=("setups",),
    uses=("nodes",),
    kinds=(KEPT, NOT_KEPT, KEPT_NOT_KNOWN, SCRIPT_UNDOES, SCRIPT_TOO),
)
def kept_mtu(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Reads the MTU of each layer in the files of each node's network service (NetworkManager, ifcfg, systemd-networkd,
    netplan, wicked).

    Without a setting of its own, a bond member takes the MTU of its bond, a VLAN the MTU of its parent, and a bridge
    the MTU of its ports; otherwise the kernel's default of 1500 applies. Scripts and udev rules that also set an MTU
    are reported: the order of the boot decides which setting is effective.
    """
    for node, setup in setups(context, cluster):
        if isinstance(setup, Unknown):
            yield not_known(KEPT_NOT_KNOWN, node, f"The boot configuration of {node} is not known", setup.reason)
            continue
        layers = context.layers(node)
        scripts = list(_scripts(setup, layers))
        yield from scripts
        if isinstance(setup.kept, Unknown):
            what = f"The MTU in the boot configuration of {node} is not known"
            yield not_known(KEPT_NOT_KNOWN, node, what, setup.kept.reason, then=[_AS_ROOT])
            continue
        kept = [_kept(context, cluster, setup, layer) for layer in layers]
        yield _of_files(context, node, kept)


def _of_files(context: GateContext, node: str, kept: list[_Kept]) -> Finding:
    wrong = [own for own in kept if isinstance(own.mtu, int) and not own.is_right]
    unknown = [(own.layer.interface, own.mtu.reason) for own in kept if isinstance(own.mtu, Unknown)]
    if wrong:
        alike: dict[int | Unknown, list[_Kept]] = {}
        for own in wrong:
            alike.setdefault(own.mtu, []).append(own)
        sentences = [
            f"{listed(own.layer.interface for own in some)} of {node} will come up at MTU {mtu} after the next boot: "
            f"{listed(dict.fromkeys(own.why for own in some))}"
            for mtu, some in alike.items()
        ]
        return of_node(
            NOT_KEPT,
            Status.FAIL,
            node,
            f"{listed(map(str, alike))} at boot" if any(own.is_set for own in wrong) else "not set at boot",
            f"{'; '.join(sentences)}.",
            then=[_keep(context, node, wrong), THEN_VERIFY],
        )
    if unknown:
        interface, reason = unknown[0]
        return not_known(
            KEPT_NOT_KNOWN, node, f"The MTU of {interface} of {node} at boot is not known", reason, then=[_AS_ROOT]
        )
    values = listed(dict.fromkeys(str(own.layer.mtu_after) for own in kept))
    files = listed(dict.fromkeys(own.why for own in kept))
    return of_node(KEPT, Status.PASS, node, f"{values} at boot", f"{node} will come up with MTU {values}: {files}.")


def _keep(context: GateContext, node: str, wrong: list[_Kept]) -> NextStep:
    """Return the remedy with the lines to run: the step with these lines may be done already, or not in the plan."""
    layers = [own.layer for own in wrong]
    kept = restored_lines(layers) if context.change.is_way_back else kept_lines(layers)
    if kept.lines:
        return as_root(f"Set the MTU in the boot configuration of {node}.", node, *kept.lines)
    names = listed(own.interface for own in layers)
    return NextStep(f"Set the MTU in the file or script that configures {names} of {node}.", where="root")


def _kept(context: GateContext, cluster: Cluster, setup: NodeSetup, layer: Layer) -> _Kept:
    own = setup.kept_mtu(layer.interface)
    if context.change.is_way_back and layer.kept_before is None and (own is None or own.mtu is None):
        return _Kept(layer, layer.mtu_after, f"no file sets the MTU of {layer.interface}, as before the change")
    if own is not None and isinstance(own.mtu, Unknown):
        return _Kept(layer, own.mtu, "")
    if own is not None and own.mtu is not None:
        return _Kept(layer, own.mtu, f"{own.file or own.connection or own.keeper} sets {own.mtu}", is_set=True)
    if source := _inherits_from(cluster, setup.name, context.layers(setup.name), layer):
        return _Kept(layer, layer.mtu_after, f"{layer.interface} takes the MTU of {source}")
    if layer.mtu_after == DEFAULT_MTU:
        return _Kept(layer, DEFAULT_MTU, f"no file sets another MTU for {layer.interface}")
    if layer.kind == "infiniband":
        return _Kept(
            layer, Unknown("No file sets the MTU, and the mode of an IPoIB interface decides its default."), ""
        )
    if own is None and (not setup.keepers or NetworkService.UNKNOWN in setup.keepers):
        return _Kept(layer, Unknown(f"No network service that racwire knows configures {layer.interface}."), "")
    return _Kept(layer, DEFAULT_MTU, f"{own.file} sets no MTU" if own and own.file else "no file sets the MTU")


def _inherits_from(cluster: Cluster, node: str, layers: Iterable[Layer], layer: Layer) -> str:
    """The interface that a layer without a setting of its own takes its MTU from; empty for none.

    The result is a layer of the plan, so the gate also judges that layer's own configuration.
    """
    planned = {own.interface: own for own in layers}
    read = cluster.node(node)
    interface = read.interface(layer.interface) if read else None
    if interface is None:
        above = (own.interface for own in planned.values() if own.role == "bond" or own.level > layer.level)
        return next(above, "") if layer.role == "member" else ""
    master = read.interface(interface.master) if read and interface.master else None
    if master is not None and master.kind in ("bond", "team") and master.name in planned:
        return master.name
    if interface.kind == "vlan" and interface.parent in planned:
        return interface.parent
    if interface.kind == "bridge":
        return listed(name for name in interface.members if name in planned)
    return ""


def _scripts(setup: NodeSetup, layers: tuple[Layer, ...]) -> Iterator[Finding]:
    """Yield findings of scripts and rules that set an MTU for these interfaces, or for interfaces not named."""
    planned = {layer.interface: layer.mtu_after for layer in layers}
    targets = set(planned.values())
    for fragile in setup.fragile:
        if fragile.mtu is None or (fragile.interface and fragile.interface not in planned):
            continue
        wanted = {planned[fragile.interface]} if fragile.interface else targets
        where = f"{fragile.file} on {setup.name}"
        whose = f"for {fragile.interface}" if fragile.interface else "for interfaces that racwire cannot identify"
        if wanted == {fragile.mtu}:
            yield of_node(
                SCRIPT_TOO,
                Status.INFO,
                setup.name,
                f"{fragile.mtu} by script",
                f"{where} also sets MTU {fragile.mtu} {whose}: `{fragile.line}`.",
            )
        else:
            yield of_node(
                SCRIPT_UNDOES,
                Status.FAIL if fragile.interface else Status.UNKNOWN,
                setup.name,
                f"{fragile.mtu} by script",
                f"{where} sets MTU {fragile.mtu} {whose} at boot: `{fragile.line}`.",
                then=_edit(setup.name, fragile),
            )


def _edit(node: str, fragile: FragileMtu) -> Iterator[NextStep]:
    yield as_root(f"Remove that line from {fragile.file}, or verify that it is for other interfaces.", node)


@gate(
    "rebooted",
    question="Did a boot prove that the boot configuration sets the MTU?",
    needs=("nodes", "setups"),
    kinds=(BOOTED, ALIKE, NOT_BOOTED, CAME_BACK_WRONG, BOOT_NOT_KNOWN),
)
def rebooted(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the boot id of each node with its boot id when its files were verified to set the MTU.

    Of the nodes with the same network services, at least one must have been booted since. Every booted node must have
    come back with the planned MTU. A proved boot need not be repeated when the MTU must be set again, unless the files
    of the node failed, or a later boot came back with another MTU.
    """
    proofs = boot_proofs(context.change)
    how = {node: ways_of_keeping(context, node) for node in context.plan.nodes}
    found = dict(setups(context, cluster))
    since = {
        node: proofs[node].since if node in proofs else context.change.look.boot_ids.get(node, "") for node in found
    }
    booted = {node for node, setup in found.items() if since[node] and _boot_of(setup) not in ("", since[node])}
    for node, setup in found.items():
        read = cluster.node(node)
        proof = proofs.get(node, BootProof(""))
        reason = _why_boot_unknown(setup, since[node], node)
        alike = [other for other in booted if how[other] == how[node] and other != node]
        if node in booted and read is not None:
            wrong = [layer for layer in context.layers(node) if mtu_of(read, layer.interface) != layer.mtu_after]
            yield (
                _wrong(node, wrong, {w.interface: mtu_of(read, w.interface) for w in wrong})
                if wrong and proof.proved_by != _boot_of(setup)
                else of_node(
                    BOOTED,
                    Status.PASS,
                    node,
                    "booted",
                    f"{node} was booted since the MTU was set, and came back with the planned MTU.",
                )
            )
        elif node in booted or reason:
            yield not_known(
                BOOT_NOT_KNOWN, node, f"Whether {node} was booted is not known", reason or f"{node} was not read."
            )
        elif alike and not proof.lost_the_mtu:
            yield of_node(
                ALIKE,
                Status.INFO,
                node,
                f"as {sorted(alike)[0]}",
                f"{node} was not booted, but {sorted(alike)[0]} with the same network services was.",
            )
        else:
            yield _not_booted(node, how[node], lost_the_mtu=proof.lost_the_mtu)


def _not_booted(node: str, how: str, *, lost_the_mtu: bool) -> Finding:
    if lost_the_mtu:
        sentence = f"{node} came back from its last boot with another MTU, and was not booted since."
        which = node
    else:
        sentence = f"Neither {node} nor another node with {how} was booted since the MTU was set."
        which = f"{node}, or another node with {how},"
    return of_node(
        NOT_BOOTED,
        Status.FAIL,
        node,
        "not booted",
        sentence,
        then=[
            as_root(f"Reboot {which} while Clusterware is down.", node, "reboot"),
            NextStep("When the node is up again, verify again.", own=(VERIFY,)),
        ],
    )


def _wrong(node: str, wrong: list[Layer], now: dict[str, int | None]) -> Finding:
    found = listed(f"{name} at MTU {mtu}" if mtu else f"no {name}" for name, mtu in now.items())
    return of_node(
        CAME_BACK_WRONG,
        Status.FAIL,
        node,
        f"came back at {listed(dict.fromkeys(str(mtu) for mtu in now.values()))}",
        f"{node} was booted and came back with {found}: the boot configuration does not set the planned MTU.",
        then=[
            NextStep(
                "Set the MTU again, at run time and in the boot configuration.",
                own=(OwnCommand("next", f"--node {node}"),),
            )
        ],
    )


def _boot_of(setup: NodeSetup | Unknown) -> str:
    return setup.boot_id if isinstance(setup, NodeSetup) and isinstance(setup.boot_id, str) else ""


def _why_boot_unknown(setup: NodeSetup | Unknown, since: str, node: str) -> str:
    if isinstance(setup, Unknown):
        return setup.reason
    if isinstance(setup.boot_id, Unknown):
        return setup.boot_id.reason
    return "" if since else f"{node} was not read when the MTU was set."


def ways_of_keeping(context: GateContext, node: str) -> str:
    """Return the network services of a node: the boot of a node proves the files of those with the same ones."""
    return listed(sorted({layer.keeper or NetworkService.UNKNOWN for layer in context.layers(node)}))
