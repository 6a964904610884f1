"""Gates: do the nodes have the planned MTU, and does Clusterware run while an MTU is changed?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from checks.change.gates.gate import THEN_VERIFY, GateContext, as_root, gate, not_known, of_node
from checks.change.plan.change_plan import Layer
from checks.change.progress.wanted import MtuDemand, demand, differ, stops_first
from checks.model.check import Kind
from checks.model.facts import Cluster, Node
from checks.model.finding import Finding, NextStep, Status
from checks.model.own_command import VERIFY
from checks.model.wording import listed

_MOS = ("MOS 563566.1, causes 5 and 12", "MOS 283684.1")
VANISH = (
    "Large packets from a node with the larger MTU to a node with the smaller MTU are lost without an error: blocks "
    "are lost, and nodes are evicted."
)

IS_SET = Kind("CH-MTU-001", "Every layer of a node has the planned MTU")
NOT_SET = Kind("CH-MTU-002", "A layer of a node does not have the planned MTU", VANISH, _MOS)
LIVE = Kind("CH-MTU-003", "DANGER: nodes have different MTUs while Clusterware runs", VANISH, _MOS)
NOT_READ = Kind("CH-MTU-004", "The MTU of a node is not known")
UNTOUCHED = Kind("CH-MTU-005", "No MTU was changed while Clusterware or an instance ran")
CHANGED_EARLY = Kind("CH-MTU-006", "An MTU was changed early, without harm", sources=_MOS)
CHANGED_LIVE = Kind("CH-MTU-007", "DANGER: an MTU was changed while Clusterware runs", VANISH, _MOS)
DANGERS = frozenset({LIVE.code, CHANGED_LIVE.code})
MAYBE_LIVE = Kind("CH-MTU-008", "An MTU was changed, and it is not known whether Clusterware runs", VANISH, _MOS)


@gate(
    "running-mtu",
    question="Does every layer have the planned MTU now?",
    needs=("nodes",),
    uses=("setups",),
    kinds=(IS_SET, NOT_SET, LIVE, NOT_READ),
)
def running_mtu(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the MTU of each private interface, and of the interfaces below it (bond members, VLAN parents, bridge
    ports), with the plan. A difference is dangerous while Clusterware or an instance runs on any node, unless all ports
    of each private network have one MTU.
    """
    running = running_nodes(context, cluster)
    is_mixed = _are_mixed(context, cluster)
    for node in context.plan.nodes:
        read = cluster.node(node)
        if read is None:
            yield not_known(NOT_READ, node, f"The MTU of {node} is not known", _why_unread(cluster, node))
            continue
        wrong = [layer for layer in context.layers(node) if mtu_of(read, layer.interface) != layer.mtu_after]
        if not wrong:
            yield of_node(
                IS_SET,
                Status.PASS,
                node,
                _values(layer.mtu_after for layer in context.layers(node)),
                f"{_each(context.layers(node))} of {node} {_has(context.layers(node))} MTU "
                f"{_values(layer.mtu_after for layer in context.layers(node))}.",
                topic="interfaces",
            )
        elif running and (is_mixed or any(mtu_of(read, layer.interface) is None for layer in wrong)):
            yield _live(context, node, read, wrong, running)
        else:
            yield _not_set(context, cluster, node, read, wrong, running)


def running_nodes(context: GateContext, cluster: Cluster) -> tuple[str, ...]:
    """Return the nodes where a process of Clusterware or an instance is known to run."""
    return tuple(n for n in context.plan.nodes if (setup := cluster.setup(n)) and setup.is_down is False)


def _are_mixed(context: GateContext, cluster: Cluster) -> bool:
    """Whether ports of a private network have different MTUs now, as far as the nodes were read."""
    seen = {node.name: {one.name: one.mtu for one in node.interfaces} for node in cluster.read_nodes()}
    return differ(context.plan, seen)


def mtu_of(node: Node, interface: str) -> int | None:
    """Return the MTU of an interface; None if the node has no such interface."""
    found = node.interface(interface)
    return found.mtu if found else None


def _not_set(
    context: GateContext, cluster: Cluster, node: str, read: Node, wrong: list[Layer], running: tuple[str, ...]
) -> Finding:
    setup = cluster.setup(node)
    kept = [setup.kept_mtu(layer.interface) if setup else None for layer in wrong]
    ready = [own for own, layer in zip(kept, wrong, strict=True) if own and own.mtu == layer.mtu_after]
    if len(ready) == len(wrong):
        what = "its file sets" if len(ready) == 1 else "their files set"
        tail = f"; {what} {_values(layer.mtu_after for layer in wrong)}, which is not active yet."
    else:
        tail = f"; the plan is MTU {_values(layer.mtu_after for layer in wrong)}."
    if running:
        tail += f" Clusterware runs on {listed(running)}: an MTU may be set only while it is down on every node."
    return of_node(
        NOT_SET,
        Status.FAIL,
        node,
        _seen(context, node, read, wrong),
        f"{_now(node, read, wrong)}{tail}",
        then=[
            *_stops(context, running, "first", "crsctl stop crs"),
            as_root(
                f"Set the MTU on {node}.", node, *set_commands(wrong, {w.interface: w.mtu_after for w in wrong}, read)
            ),
            THEN_VERIFY,
        ],
        topic="interfaces",
    )


def _live(context: GateContext, node: str, read: Node, wrong: list[Layer], running: tuple[str, ...]) -> Finding:
    """Return the finding for a wrong MTU while Clusterware runs: stop Clusterware, or set the planned MTU."""
    back = as_root(
        f"Set the MTU to {_values(layer.mtu_after for layer in wrong)} at once.",
        node,
        *set_commands(wrong, {w.interface: w.mtu_after for w in wrong}, read),
    )
    stop = _stops(context, running, "at once", "crsctl stop crs -f")
    return of_node(
        LIVE,
        Status.FAIL,
        node,
        f"DANGER: {_seen(context, node, read, wrong)}",
        f"DANGER: {_now(node, read, wrong)} while Clusterware runs on {listed(running)}. {VANISH}",
        then=list(stop) if stops_first(context.change) else [back],
        topic="interfaces",
    )


def _stops(context: GateContext, running: Iterable[str], when: str, command: str) -> Iterator[NextStep]:
    for node in running:
        yield as_root(f"Stop Clusterware on {node} {when}.", node, context.tool(node, command))


@gate(
    "mtu-untouched",
    question="Are all MTUs unchanged while Clusterware runs?",
    needs=("nodes", "setups"),
    kinds=(UNTOUCHED, CHANGED_EARLY, CHANGED_LIVE, MAYBE_LIVE, IS_SET, NOT_SET, LIVE, NOT_READ),
)
def mtu_untouched(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the MTU of each layer with its MTU when the plan was made, until Clusterware is stopped on every node;
    once the change has come to the step set-mtu, with what the plan wants since then.

    An MTU that changes on a running cluster is the most dangerous event of the procedure, so every step until then
    verifies this gate. A raised parent or member below an unchanged private interface is only reported.
    """
    match demand(context.change):
        case MtuDemand.BEFORE:
            yield from _untouched(context, cluster)
        case MtuDemand.EITHER:
            yield from _being_set(context, cluster)
        case MtuDemand.AFTER:
            yield from running_mtu.judge(context, cluster)


def _being_set(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Yield the findings while set-mtu is open for the first time: a node may have the one MTU or the other."""
    running = running_nodes(context, cluster)
    is_mixed = _are_mixed(context, cluster)
    for node in context.plan.nodes:
        read = cluster.node(node)
        if read is None:
            yield not_known(NOT_READ, node, f"The MTU of {node} is not known", _why_unread(cluster, node))
            continue
        layers = context.layers(node)
        wrong = [layer for layer in layers if mtu_of(read, layer.interface) != layer.mtu_after]
        if wrong and running and is_mixed:
            yield _live(context, node, read, wrong, running)
        else:
            values = _seen(context, node, read, layers)
            yield of_node(
                UNTOUCHED, Status.PASS, node, values, f"{_now(node, read, layers)}; the step set-mtu is still open.",
                topic="interfaces",
            )  # fmt: skip


def _untouched(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Yield the findings before the step set-mtu."""
    running = running_nodes(context, cluster)
    silent = [n for n in context.plan.nodes if (setup := cluster.setup(n)) is None or setup.is_down is None]
    for node in context.plan.nodes:
        read = cluster.node(node)
        if read is None:
            yield not_known(NOT_READ, node, f"The MTU of {node} is not known", _why_unread(cluster, node))
            continue
        moved = [layer for layer in context.layers(node) if mtu_of(read, layer.interface) != layer.mtu_before]
        if not moved:
            values = _values(layer.mtu_before for layer in context.layers(node))
            yield of_node(
                UNTOUCHED, Status.PASS, node, values, f"{node} has MTU {values}, as before.", topic="interfaces"
            )
        elif running and not is_harmless(moved, {layer.interface: mtu_of(read, layer.interface) for layer in moved}):
            yield _changed_live(context, node, read, moved, running)
        elif running:
            yield of_node(
                CHANGED_EARLY,
                Status.INFO,
                node,
                _seen(context, node, read, moved),
                f"{_now(node, read, moved)} already; the private interfaces above still have their old MTU.",
                topic="interfaces",
            )
        elif silent:
            yield of_node(
                MAYBE_LIVE,
                Status.UNKNOWN,
                node,
                _seen(context, node, read, moved),
                f"{_now(node, read, moved)} already, and it is not known whether Clusterware runs on {listed(silent)}.",
                then=[NextStep(f"Find out whether Clusterware runs on {listed(silent)}. If it runs, stop it.")],
                topic="interfaces",
            )
        else:
            yield of_node(
                CHANGED_EARLY,
                Status.INFO,
                node,
                _seen(context, node, read, moved),
                f"{_now(node, read, moved)} already; Clusterware and the instances are down.",
                topic="interfaces",
            )


def _changed_live(context: GateContext, node: str, read: Node, moved: list[Layer], running: tuple[str, ...]) -> Finding:
    before = _values(layer.mtu_before for layer in moved)
    return of_node(
        CHANGED_LIVE,
        Status.FAIL,
        node,
        f"DANGER: {_seen(context, node, read, moved)}",
        f"DANGER: {_now(node, read, moved)} while Clusterware runs on {listed(running)}; the MTU was {before}. "
        f"{VANISH}",
        then=[
            as_root(
                f"Set the MTU back to {before} at once.",
                node,
                *set_commands(moved, {layer.interface: layer.mtu_before for layer in moved}, read),
            ),
            NextStep("Do nothing else until every node has the same MTU again. Then verify again.", own=(VERIFY,)),
        ],
        topic="interfaces",
    )


def is_harmless(moved: Iterable[Layer], now: Mapping[str, int | None]) -> bool:
    """Whether packets on the wire keep their size: only interfaces below the private interfaces were raised."""
    return all(layer.role != "port" and (now[layer.interface] or 0) > layer.mtu_before for layer in moved)


def set_commands(layers: Iterable[Layer], mtus: dict[str, int], now: Node | None = None) -> tuple[str, ...]:
    """Return the commands that set these MTUs: from the bottom up, or from the top down if an MTU gets smaller.

    The order matters because no layer can have a larger MTU than the layer below it.
    """
    chosen = list(layers)
    lowers = now is not None and any((mtu_of(now, layer.interface) or 0) > mtus[layer.interface] for layer in chosen)
    ordered = sorted(chosen, key=lambda layer: -layer.level if lowers else layer.level)
    return tuple(f"ip link set dev {layer.interface} mtu {mtus[layer.interface]}" for layer in ordered)


def _why_unread(cluster: Cluster, node: str) -> str:
    return next((n.reason for n in cluster.unread_nodes() if n.name == node), f"{node} was not read.")


def _now(node: str, read: Node, layers: Sequence[Layer]) -> str:
    """Return the interfaces with their MTU: `eth1 and eth2 of rac3 are at MTU 1500`."""
    by_mtu: dict[int | None, list[str]] = {}
    for layer in layers:
        by_mtu.setdefault(mtu_of(read, layer.interface), []).append(layer.interface)
    return listed(
        f"{listed(names)} of {node} {'is' if len(names) == 1 else 'are'} {f'at MTU {mtu}' if mtu else 'missing'}"
        for mtu, names in by_mtu.items()
    )


def _seen(context: GateContext, node: str, read: Node, layers: Sequence[Layer]) -> str:
    """Return the MTUs of some layers of a node for a list, with their names where the node has other layers too."""
    mtus = [mtu_of(read, layer.interface) for layer in layers]
    missing = [layer.interface for layer, mtu in zip(layers, mtus, strict=True) if mtu is None]
    if missing:
        return f"{missing[0]} missing"
    values = _values(mtu for mtu in mtus if mtu)
    return values if len(layers) == len(context.layers(node)) else f"{_each(layers)} {values}"


def _each(layers: Iterable[Layer]) -> str:
    return listed(layer.interface for layer in layers)


def _has(layers: tuple[Layer, ...]) -> str:
    return "has" if len(layers) == 1 else "have"


def _values(mtus: Iterable[int]) -> str:
    """Return the different MTUs: `9000`, or `1500 and 9000`."""
    return listed(str(mtu) for mtu in dict.fromkeys(mtus))
