"""Gates: which MTU do the nodes have now, and is anything running while it is changed?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from checks.change.change_plan import ChangeKind as PlanKind
from checks.change.change_plan import Layer
from checks.change.gates.gate import LOOK_AGAIN, GateContext, as_root, gate, not_known, of_node
from checks.model.check import Kind
from checks.model.facts import Cluster, Node
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import listed

_MOS = ("MOS 563566.1, causes 5 and 12", "MOS 283684.1")
VANISH = (
    "Large packets between a node with the larger MTU and one with the smaller vanish without an error: blocks are "
    "lost, and nodes are evicted."
)

IS_SET = Kind("CH-MTU-001", "Every layer of a node has the MTU that was planned")
NOT_SET = Kind("CH-MTU-002", "A layer of a node does not have the MTU that was planned", VANISH, _MOS)
LIVE = Kind("CH-MTU-003", "DANGER: the MTU is not the same everywhere, and Clusterware runs", VANISH, _MOS)
NOT_READ = Kind("CH-MTU-004", "The MTU of a node is not known")
UNTOUCHED = Kind("CH-MTU-005", "No MTU was changed while Clusterware or an instance ran")
CHANGED_EARLY = Kind("CH-MTU-006", "An MTU was changed already, and it does no harm", sources=_MOS)
CHANGED_LIVE = Kind("CH-MTU-007", "DANGER: an MTU was changed while Clusterware runs", VANISH, _MOS)
MAYBE_LIVE = Kind("CH-MTU-008", "An MTU was changed, and whether Clusterware runs is not known", VANISH, _MOS)


@gate(
    "running-mtu",
    question="Does every layer have the planned MTU now?",
    needs=("nodes",),
    uses=("setups",),
    kinds=(IS_SET, NOT_SET, LIVE, NOT_READ),
)
def running_mtu(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the MTU of each private interface, and of what it stands on (bond members, VLAN parents, bridge ports),
    with the plan. Where one differs while Clusterware or an instance runs on any node, that is dangerous.
    """
    running = running_nodes(scene, cluster)
    for node in scene.plan.nodes:
        read = cluster.node(node)
        if read is None:
            yield not_known(NOT_READ, node, f"The MTU of {node} is not known", _why_unread(cluster, node))
            continue
        wrong = [layer for layer in scene.layers(node) if mtu_of(read, layer.interface) != layer.mtu_after]
        if not wrong:
            yield of_node(
                IS_SET,
                Status.PASS,
                node,
                _values(layer.mtu_after for layer in scene.layers(node)),
                f"{_each(scene.layers(node))} of {node} {_has(scene.layers(node))} MTU "
                f"{_values(layer.mtu_after for layer in scene.layers(node))}.",
                topic="interfaces",
            )
        elif running:
            yield _live(scene, node, read, wrong, running)
        else:
            yield _not_set(cluster, node, read, wrong)


def running_nodes(scene: GateContext, cluster: Cluster) -> tuple[str, ...]:
    """The nodes on which something of Clusterware, or an instance, is known to run."""
    return tuple(n for n in scene.plan.nodes if (setup := cluster.setup(n)) and setup.is_down is False)


def mtu_of(node: Node, interface: str) -> int | None:
    """The MTU that an interface has; None where it is not there."""
    found = node.interface(interface)
    return found.mtu if found else None


def _not_set(cluster: Cluster, node: str, read: Node, wrong: list[Layer]) -> Finding:
    setup = cluster.setup(node)
    kept = [setup.kept_mtu(layer.interface) if setup else None for layer in wrong]
    ready = [own for own, layer in zip(kept, wrong, strict=True) if own and own.mtu == layer.mtu_after]
    if len(ready) == len(wrong):
        what = "its file says" if len(ready) == 1 else "their files say"
        tail = f"; {what} {_values(layer.mtu_after for layer in wrong)}: not yet activated."
    else:
        tail = f", and {_values(layer.mtu_after for layer in wrong)} was planned."
    return of_node(
        NOT_SET,
        Status.FAIL,
        node,
        _seen(read, wrong),
        f"{_now(node, read, wrong)}{tail}",
        then=[
            as_root(f"Set it on {node}.", node, *set_commands(wrong, {w.interface: w.mtu_after for w in wrong}, read)),
            Remedy("Then look again.", (LOOK_AGAIN,)),
        ],
        topic="interfaces",
    )


def _live(scene: GateContext, node: str, read: Node, wrong: list[Layer], running: tuple[str, ...]) -> Finding:
    """While MTUs are being set, what runs has to stop; once the cluster is up again, and where no MTU was to be changed
    at all, the MTU has to be set back to what the other nodes run with."""
    steps = {step.id for step in scene.plan.steps}
    is_up = "set-mtu" not in steps or scene.plan.position(scene.step.id) >= scene.plan.position("first-node")
    stop = [
        as_root(f"Stop Clusterware on {other} at once.", other, scene.tool(other, "crsctl stop crs -f"))
        for other in running
    ]
    back = as_root(
        f"Set it to {_values(layer.mtu_after for layer in wrong)} at once, as on the other nodes.",
        node,
        *set_commands(wrong, {w.interface: w.mtu_after for w in wrong}, read),
    )
    return of_node(
        LIVE,
        Status.FAIL,
        node,
        f"DANGER: {_seen(read, wrong)}",
        f"DANGER: {_now(node, read, wrong)} while Clusterware runs on {listed(running)}. {VANISH}",
        then=[back] if is_up else stop,
        topic="interfaces",
    )


@gate(
    "mtu-untouched",
    question="Has no MTU been changed while something runs?",
    needs=("nodes", "setups"),
    kinds=(UNTOUCHED, CHANGED_EARLY, CHANGED_LIVE, MAYBE_LIVE, NOT_READ),
)
def mtu_untouched(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the MTU of each layer with what it was when the plan was made, as long as Clusterware has not been
    stopped everywhere. A change on a running cluster is the most dangerous thing that can happen on the way, so it is
    looked for at every step until then. A parent or member that was raised, with the private interface above it as it
    was, is told only.
    """
    if scene.plan.kind is PlanKind.ROLLBACK:
        yield UNTOUCHED.finding(Status.PASS, "On the way back each MTU may still be the one or the other.", subject="-")
        return
    running = running_nodes(scene, cluster)
    silent = [n for n in scene.plan.nodes if (setup := cluster.setup(n)) is None or setup.is_down is None]
    for node in scene.plan.nodes:
        read = cluster.node(node)
        if read is None:
            yield not_known(NOT_READ, node, f"The MTU of {node} is not known", _why_unread(cluster, node))
            continue
        moved = [layer for layer in scene.layers(node) if mtu_of(read, layer.interface) != layer.mtu_before]
        if not moved:
            values = _values(layer.mtu_before for layer in scene.layers(node))
            yield of_node(
                UNTOUCHED, Status.PASS, node, values, f"{node} has MTU {values}, as before.", topic="interfaces"
            )
        elif running and not is_harmless(moved, {layer.interface: mtu_of(read, layer.interface) for layer in moved}):
            yield _changed_live(node, read, moved, running)
        elif running:
            yield of_node(
                CHANGED_EARLY,
                Status.INFO,
                node,
                _seen(read, moved),
                f"{_now(node, read, moved)} already; the private interfaces above have the MTU that they had.",
                topic="interfaces",
            )
        elif silent:
            yield of_node(
                MAYBE_LIVE,
                Status.UNKNOWN,
                node,
                _seen(read, moved),
                f"{_now(node, read, moved)} already, and whether Clusterware runs on {listed(silent)} is not known.",
                then=[Remedy(f"See whether it runs there, and stop it if it does: {listed(silent)}.")],
                topic="interfaces",
            )
        else:
            yield of_node(
                CHANGED_EARLY,
                Status.INFO,
                node,
                _seen(read, moved),
                f"{_now(node, read, moved)} already; nothing runs.",
                topic="interfaces",
            )


def _changed_live(node: str, read: Node, moved: list[Layer], running: tuple[str, ...]) -> Finding:
    before = _values(layer.mtu_before for layer in moved)
    return of_node(
        CHANGED_LIVE,
        Status.FAIL,
        node,
        f"DANGER: {_seen(read, moved)}",
        f"DANGER: {_now(node, read, moved)} while Clusterware runs on {listed(running)}; it was {before}. {VANISH}",
        then=[
            as_root(
                f"Set it back to {before} at once.",
                node,
                *set_commands(moved, {layer.interface: layer.mtu_before for layer in moved}, read),
            ),
            Remedy("Do nothing else until every node has one MTU again; then look again.", (LOOK_AGAIN,)),
        ],
        topic="interfaces",
    )


def is_harmless(moved: Iterable[Layer], now: Mapping[str, int | None]) -> bool:
    """Whether what is on the wire is as large as before: only what the private interfaces stand on was raised."""
    return all(layer.role != "port" and (now[layer.interface] or 0) > layer.mtu_before for layer in moved)


def set_commands(layers: Iterable[Layer], mtus: dict[str, int], now: Node | None = None) -> tuple[str, ...]:
    """The commands that give these layers these MTUs: from the bottom up, or, where it gets smaller, from the top
    down, since nothing can carry more than what it stands on."""
    chosen = list(layers)
    lowers = now is not None and any((mtu_of(now, layer.interface) or 0) > mtus[layer.interface] for layer in chosen)
    ordered = sorted(chosen, key=lambda layer: -layer.level if lowers else layer.level)
    return tuple(f"ip link set dev {layer.interface} mtu {mtus[layer.interface]}" for layer in ordered)


def _why_unread(cluster: Cluster, node: str) -> str:
    return next((n.reason for n in cluster.unread_nodes() if n.name == node), f"{node} was not read.")


def _now(node: str, read: Node, layers: list[Layer]) -> str:
    """`eth1 and eth2 of rac3 are at 1500`."""
    by_mtu: dict[int | None, list[str]] = {}
    for layer in layers:
        by_mtu.setdefault(mtu_of(read, layer.interface), []).append(layer.interface)
    told = [
        f"{listed(names)} of {node} {'is' if len(names) == 1 else 'are'} {f'at {mtu}' if mtu else 'not there'}"
        for mtu, names in by_mtu.items()
    ]
    return listed(told)


def _seen(read: Node, layers: list[Layer]) -> str:
    mtus = [mtu_of(read, layer.interface) for layer in layers]
    missing = [layer.interface for layer, mtu in zip(layers, mtus, strict=True) if mtu is None]
    return f"{missing[0]} not there" if missing else _values(mtu for mtu in mtus if mtu)


def _each(layers: Iterable[Layer]) -> str:
    return listed(layer.interface for layer in layers)


def _has(layers: tuple[Layer, ...]) -> str:
    return "has" if len(layers) == 1 else "have"


def _values(mtus: Iterable[int]) -> str:
    """`9000`, or `1500 and 9000`."""
    return listed(str(mtu) for mtu in dict.fromkeys(mtus))
