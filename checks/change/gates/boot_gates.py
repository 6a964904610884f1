"""Gates: will the MTU still be so after the next boot, and has a boot shown it?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from checks.change.change_events import ObservedState, RolledBack, Verified
from checks.change.change_plan import Layer
from checks.change.gates.gate import LOOK_AGAIN, GateContext, as_root, gate, not_known, of_node, setups
from checks.change.gates.mtu_gates import mtu_of
from checks.change.steps.mtu_commands import kept_lines, restored_lines
from checks.model.check import Kind
from checks.model.facts import Cluster, FragileMtu, Keeper, NodeSetup, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import listed

_AFTER_BOOT = (
    "What is set with `ip link` is gone after a boot: the node comes up with another MTU than the others, and "
    "large packets to and from it vanish."
)

KEPT = Kind("CH-KEPT-001", "The files that a node boots from keep the planned MTU")
NOT_KEPT = Kind("CH-KEPT-002", "A node would come up with another MTU after its next boot", _AFTER_BOOT)
KEPT_NOT_KNOWN = Kind("CH-KEPT-003", "What a node's files keep is not known", _AFTER_BOOT)
SCRIPT_UNDOES = Kind("CH-KEPT-004", "A script or rule sets another MTU at boot", _AFTER_BOOT)
SCRIPT_TOO = Kind("CH-KEPT-005", "A script or rule sets the planned MTU at boot, too")
BOOTED = Kind("CH-BOOT-001", "A node was booted since the MTU was set, and came back with it")
ALIKE = Kind("CH-BOOT-002", "A node whose interfaces are kept in the same way was booted since")
NOT_BOOTED = Kind(
    "CH-BOOT-003",
    "No node whose interfaces are kept in this way was booted since the MTU was set",
    "That the files keep the MTU is best shown by a boot, as long as Clusterware is down and nothing is lost by it.",
)
CAME_BACK_WRONG = Kind("CH-BOOT-004", "A node was booted and came back with another MTU", _AFTER_BOOT)
BOOT_NOT_KNOWN = Kind("CH-BOOT-005", "Whether a node was booted since the MTU was set is not known")

DEFAULT_MTU = 1500
"""What an Ethernet interface comes up with where nothing sets it."""
_AS_ROOT = Remedy(
    "Some files are closed to others than root. Look as root, where root's ssh reaches the other nodes; else read them "
    "by hand, and override with what you saw.",
    (f"sudo {LOOK_AGAIN}",),
)


@dataclass(frozen=True)
class _Kept:
    """What an interface would have after the next boot."""

    layer: Layer
    mtu: int | Unknown
    why: str
    """`/etc/…/eth1.nmconnection says 1500`, `no file sets it`."""
    is_set: bool = False
    """Whether a file says so, and not only the kernel's default."""

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
def kept_mtu(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Reads what each node's network service has in its files (NetworkManager, ifcfg, systemd-networkd, netplan,
    wicked) for each layer. A member that sets none takes that of its bond, a VLAN that of what it stands on, a bridge
    that of its ports; else the kernel's default holds, 1500. Scripts and udev rules that set an MTU beside them are
    told: they win or lose by the order of the boot.
    """
    for node, setup in setups(scene, cluster):
        if isinstance(setup, Unknown):
            yield not_known(KEPT_NOT_KNOWN, node, f"What {node} keeps is not known", setup.reason)
            continue
        layers = scene.layers(node)
        scripts = list(_scripts(setup, layers))
        yield from scripts
        if isinstance(setup.kept, Unknown):
            yield not_known(
                KEPT_NOT_KNOWN, node, f"What the files of {node} keep is not known", setup.kept.reason, then=[_AS_ROOT]
            )
            continue
        kept = [_kept(scene, cluster, setup, layer) for layer in layers]
        yield _of_files(scene, node, kept)


def _of_files(scene: GateContext, node: str, kept: list[_Kept]) -> Finding:
    wrong = [own for own in kept if isinstance(own.mtu, int) and not own.is_right]
    untold = [(own.layer.interface, own.mtu.reason) for own in kept if isinstance(own.mtu, Unknown)]
    if wrong:
        alike: dict[int | Unknown, list[_Kept]] = {}
        for own in wrong:
            alike.setdefault(own.mtu, []).append(own)
        told = [
            f"{listed(own.layer.interface for own in some)} of {node} will come up at {mtu} after the next boot: "
            f"{listed(dict.fromkeys(own.why for own in some))}"
            for mtu, some in alike.items()
        ]
        return of_node(
            NOT_KEPT,
            Status.FAIL,
            node,
            f"{listed(map(str, alike))} kept" if any(own.is_set for own in wrong) else "not kept",
            f"{'; '.join(told)}.",
            then=[_keep(scene, node, wrong), Remedy("Then look again.", (LOOK_AGAIN,))],
        )
    if untold:
        interface, reason = untold[0]
        return not_known(
            KEPT_NOT_KNOWN, node, f"Whether {interface} of {node} keeps its MTU is not known", reason, then=[_AS_ROOT]
        )
    values = listed(dict.fromkeys(str(own.layer.mtu_after) for own in kept))
    files = listed(dict.fromkeys(own.why for own in kept))
    return of_node(KEPT, Status.PASS, node, f"{values} kept", f"{node} will come up with MTU {values}: {files}.")


def _keep(scene: GateContext, node: str, wrong: list[_Kept]) -> Remedy:
    """The lines themselves: the step that has them may be behind, or, where nothing was to be changed, nowhere."""
    layers = [own.layer for own in wrong]
    kept = restored_lines(layers) if scene.change.is_way_back else kept_lines(layers)
    if kept.lines:
        return as_root(f"Have its files keep it on {node}.", node, *kept.lines)
    return Remedy(f"Set it where {listed(own.interface for own in layers)} of {node} is configured.", where="root")


def _kept(scene: GateContext, cluster: Cluster, setup: NodeSetup, layer: Layer) -> _Kept:
    own = setup.kept_mtu(layer.interface)
    if scene.change.is_way_back and layer.kept_before is None and (own is None or own.mtu is None):
        return _Kept(layer, layer.mtu_after, f"no file sets that of {layer.interface}, as before the change")
    if own is not None and isinstance(own.mtu, Unknown):
        return _Kept(layer, own.mtu, "")
    if own is not None and own.mtu is not None:
        return _Kept(layer, own.mtu, f"{own.file or own.connection or own.keeper} says {own.mtu}", is_set=True)
    if giver := _given_by(cluster, setup.name, scene.layers(setup.name), layer):
        return _Kept(layer, layer.mtu_after, f"{layer.interface} takes that of {giver}")
    if layer.mtu_after == DEFAULT_MTU:
        return _Kept(layer, DEFAULT_MTU, f"nothing sets another one for {layer.interface}")
    if layer.kind == "infiniband":
        return _Kept(layer, Unknown("No file sets it, and what an IPoIB interface then has its mode decides."), "")
    if own is None and (not setup.keepers or Keeper.UNKNOWN in setup.keepers):
        return _Kept(layer, Unknown(f"Nothing that racwire knows of keeps {layer.interface}."), "")
    return _Kept(layer, DEFAULT_MTU, f"{own.file} sets none" if own and own.file else "no file sets it")


def _given_by(cluster: Cluster, node: str, layers: Iterable[Layer], layer: Layer) -> str:
    """The layer that a layer has its MTU from where its own file sets none; itself among the plan's, so that what that
    one keeps is judged."""
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
    """What scripts and rules set for these interfaces, or for nobody knows which."""
    planned = {layer.interface: layer.mtu_after for layer in layers}
    targets = set(planned.values())
    for fragile in setup.fragile:
        if fragile.mtu is None or (fragile.interface and fragile.interface not in planned):
            continue
        wanted = {planned[fragile.interface]} if fragile.interface else targets
        where = f"{fragile.file} on {setup.name}"
        whose = f"for {fragile.interface}" if fragile.interface else "for interfaces that racwire cannot tell"
        if wanted == {fragile.mtu}:
            yield of_node(
                SCRIPT_TOO,
                Status.INFO,
                setup.name,
                f"{fragile.mtu} by script",
                f"{where} sets MTU {fragile.mtu} {whose}, too: `{fragile.line}`.",
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


def _edit(node: str, fragile: FragileMtu) -> Iterator[Remedy]:
    yield as_root(f"Take that line out of {fragile.file}, or see that it is about other interfaces.", node)


@gate(
    "rebooted",
    question="Has a boot shown that the MTU is kept?",
    needs=("nodes", "setups"),
    kinds=(BOOTED, ALIKE, NOT_BOOTED, CAME_BACK_WRONG, BOOT_NOT_KNOWN),
)
def rebooted(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the kernel's name of each node's boot with that of the time when the MTU had been set: of the nodes
    whose interfaces are kept in one way at least one must have been booted since, and every one that was must have
    come back with the planned MTU.
    """
    then = _look_when_set(scene)
    how = {node: _ways_of_keeping(scene, node) for node in scene.plan.nodes}
    found = dict(setups(scene, cluster))
    booted = {
        node
        for node, setup in found.items()
        if not isinstance(setup, Unknown)
        and isinstance(setup.boot_id, str)
        and then.boot_ids.get(node, setup.boot_id) != setup.boot_id
    }
    for node, setup in found.items():
        read = cluster.node(node)
        reason = _why_boot_unknown(setup, then, node)
        alike = [other for other in booted if how[other] == how[node] and other != node]
        if node in booted and read is not None:
            wrong = [layer for layer in scene.layers(node) if mtu_of(read, layer.interface) != layer.mtu_after]
            yield (
                _wrong(node, wrong, {w.interface: mtu_of(read, w.interface) for w in wrong})
                if wrong
                else of_node(
                    BOOTED, Status.PASS, node, "booted", f"{node} was booted since, and came back with the planned MTU."
                )
            )
        elif node in booted or reason:
            yield not_known(
                BOOT_NOT_KNOWN, node, f"How {node} comes up is not known", reason or f"{node} was not read."
            )
        elif alike:
            yield of_node(
                ALIKE,
                Status.INFO,
                node,
                f"as {sorted(alike)[0]}",
                f"{node} was not booted; {sorted(alike)[0]}, which is kept in the same way, was.",
            )
        else:
            yield of_node(
                NOT_BOOTED,
                Status.FAIL,
                node,
                "not booted",
                f"Neither {node} nor a node like it ({how[node]}) was booted since the MTU was set.",
                then=[
                    as_root(f"Boot {node}, or another node like it, while Clusterware is down.", node, "reboot"),
                    Remedy("When it is back, look again.", (LOOK_AGAIN,)),
                ],
            )


def _wrong(node: str, wrong: list[Layer], now: dict[str, int | None]) -> Finding:
    told = listed(f"{name} at {mtu}" if mtu else f"no {name}" for name, mtu in now.items())
    return of_node(
        CAME_BACK_WRONG,
        Status.FAIL,
        node,
        f"came back at {listed(dict.fromkeys(str(mtu) for mtu in now.values()))}",
        f"{node} was booted and came back with {told}: {'its' if len(wrong) == 1 else 'their'} MTU was not kept.",
        then=[Remedy("Set it again, and keep it in the files this time.", (f"racwire change next --node {node}",))],
    )


def _look_when_set(scene: GateContext) -> ObservedState:
    """How the nodes were when the gate of set-mtu was looked at last, and it was left behind."""
    for line in reversed(scene.change.lines):
        if isinstance(line.event, RolledBack):
            break  # what stands before it is of the way there
        if isinstance(line.event, Verified) and line.event.step == "set-mtu":
            return line.event.look
    return scene.change.look


def _why_boot_unknown(setup: NodeSetup | Unknown, then: ObservedState, node: str) -> str:
    if isinstance(setup, Unknown):
        return setup.reason
    if isinstance(setup.boot_id, Unknown):
        return setup.boot_id.reason
    return "" if node in then.boot_ids else f"{node} was not read when the MTU had been set."


def _ways_of_keeping(scene: GateContext, node: str) -> str:
    return listed(sorted({layer.keeper or Keeper.UNKNOWN for layer in scene.layers(node)}))
