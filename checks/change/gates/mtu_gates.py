"""Gates: do the nodes have the planned MTU, and does Clusterware run while an MTU is changed?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from checks.change.gates.gate import THEN_VERIFY, GatePlace, node_gate
from checks.change.plan.change_plan import Layer
from checks.change.progress.wanted import MtuDemand, at_risk, demand, differ, stops_first
from checks.change.steps.mtu_commands import set_mtu
from checks.model.check import Kind
from checks.model.facts import Node
from checks.model.finding import Finding, NextStep
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
MAYBE_LIVE = Kind("CH-MTU-008", "An MTU was changed, and it is not known whether Clusterware runs", VANISH, _MOS)
DANGERS = frozenset({LIVE.code, CHANGED_LIVE.code})
_UNREAD = (NOT_READ, "The MTU of {} is not known")


@node_gate(
    "running-mtu",
    question="Does every layer have the planned MTU now?",
    needs=("nodes",),
    uses=("setups",),
    topic="interfaces",
    kinds=(IS_SET, NOT_SET, LIVE, NOT_READ),
    read=GatePlace.read,
    unread=_UNREAD,
)
def running_mtu(at: GatePlace, node: Node) -> Finding:
    """Compares the MTU of each private interface, and of the interfaces below it (bond members, VLAN parents, bridge
    ports), with the plan. A difference is dangerous while Clusterware or an instance runs on any node, unless all ports
    of each private network have one MTU.
    """
    return _as_planned(at, node)


@node_gate(
    "mtu-untouched",
    question="Are all MTUs unchanged while Clusterware runs?",
    needs=("nodes", "setups"),
    topic="interfaces",
    kinds=(UNTOUCHED, CHANGED_EARLY, CHANGED_LIVE, MAYBE_LIVE, IS_SET, NOT_SET, LIVE, NOT_READ),
    read=GatePlace.read,
    unread=_UNREAD,
)
def mtu_untouched(at: GatePlace, node: Node) -> Finding:
    """Compares the MTU of each layer with its MTU when the plan was made, until Clusterware is stopped on every node;
    once the change has come to the step set-mtu, with what the plan wants since then.

    An MTU that changes on a running cluster is the most dangerous event of the procedure, so every step until then
    verifies this gate. A raised parent or member below an unchanged private interface is only reported.
    """
    if at.plan.node and at.node != at.plan.node:
        return _as_planned(at, node)
    match demand(at.change):
        case MtuDemand.BEFORE:
            return _as_before(at, node)
        case MtuDemand.EITHER:
            return _either(at, node)
        case MtuDemand.AFTER:
            return _as_planned(at, node)


def _as_planned(at: GatePlace, node: Node) -> Finding:
    """Return the finding where the node must have the planned MTU."""
    running, values = _running(at), _values(layer.mtu_after for layer in at.layers)
    wrong = [layer for layer in at.layers if mtu_of(node, layer.interface) != layer.mtu_after]
    if not wrong:
        has = "has" if len(at.layers) == 1 else "have"
        return at.holds(IS_SET, values, f"{_each(at.layers)} of {at.node} {has} MTU {values}.")
    if running and (_are_mixed(at) or any(mtu_of(node, layer.interface) is None for layer in wrong)):
        return _live(at, node, wrong)
    wanted = _values(layer.mtu_after for layer in wrong)
    setup = at.cluster.setup(at.node)
    in_files = [setup.kept_mtu(layer.interface) if setup else None for layer in wrong]
    if all(own and own.mtu == layer.mtu_after for own, layer in zip(in_files, wrong, strict=True)):
        tail = f"{'its file sets' if len(wrong) == 1 else 'their files set'} {wanted}, which is not active yet."
    else:
        tail = f"the plan is MTU {wanted}."
    if running:
        where = "there" if at.plan.node else "on every node"
        tail += f" Clusterware runs on {listed(running)}: an MTU may be set only while it is down {where}."
    return at.fails(
        NOT_SET,
        _seen(at, node, wrong),
        f"{_now(node, wrong)}; {tail}",
        *_stops(at, "first", "crsctl stop crs"),
        at.as_root(f"Set the MTU on {at.node}.", *_set_commands(wrong, _mtus_after(wrong), node)),
        THEN_VERIFY,
    )


def _either(at: GatePlace, node: Node) -> Finding:
    """Return the finding while set-mtu is open for the first time: a node may have the one MTU or the other."""
    wrong = [layer for layer in at.layers if mtu_of(node, layer.interface) != layer.mtu_after]
    if wrong and _running(at) and _are_mixed(at):
        return _live(at, node, wrong)
    sentence = f"{_now(node, at.layers)}; the step set-mtu is still open."
    return at.holds(UNTOUCHED, _seen(at, node, at.layers), sentence)


def _as_before(at: GatePlace, node: Node) -> Finding:
    """Return the finding before the step set-mtu."""
    moved = [layer for layer in at.layers if mtu_of(node, layer.interface) != layer.mtu_before]
    if not moved:
        values = _values(layer.mtu_before for layer in at.layers)
        return at.holds(UNTOUCHED, values, f"{at.node} has MTU {values}, as before.")
    text, already = _seen(at, node, moved), f"{_now(node, moved)} already"
    if running := _running(at):
        if at.plan.node and not _are_mixed(at):
            return at.remarks(
                CHANGED_EARLY, text, f"{already}; no port of the private networks differs from the others."
            )
        if is_harmless(moved, {layer.interface: mtu_of(node, layer.interface) for layer in moved}):
            sentence = f"{already}; the private interfaces above still have their old MTU."
            return at.remarks(CHANGED_EARLY, text, sentence)
        before = _values(layer.mtu_before for layer in moved)
        mtus = {layer.interface: layer.mtu_before for layer in moved}
        return at.fails(
            CHANGED_LIVE,
            f"DANGER: {text}",
            f"DANGER: {_now(node, moved)} while Clusterware runs on {listed(running)}; the MTU was {before}. {VANISH}",
            at.as_root(f"Set the MTU back to {before} at once.", *_set_commands(moved, mtus, node), ends_danger=True),
            NextStep("Do nothing else until every node has the same MTU again. Then verify again.", own=(VERIFY,)),
        )
    setups = {name: at.cluster.setup(name) for name in ((at.node,) if at.plan.node else at.plan.nodes)}
    if silent := [name for name, setup in setups.items() if setup is None or setup.is_down is None]:
        return at.undecided(
            MAYBE_LIVE,
            text,
            f"{already}, and it is not known whether Clusterware runs on {listed(silent)}.",
            NextStep(f"Find out whether Clusterware runs on {listed(silent)}. If it runs, stop it."),
        )
    return at.remarks(CHANGED_EARLY, text, f"{already}; Clusterware and the instances are down.")


def _live(at: GatePlace, node: Node, wrong: list[Layer]) -> Finding:
    """Return the finding for a wrong MTU while Clusterware runs: stop Clusterware, or set the planned MTU."""
    values = _values(layer.mtu_after for layer in wrong)
    lines = _set_commands(wrong, _mtus_after(wrong), node)
    back = at.as_root(f"Set the MTU to {values} at once.", *lines, ends_danger=True)
    return at.fails(
        LIVE,
        f"DANGER: {_seen(at, node, wrong)}",
        f"DANGER: {_now(node, wrong)} while Clusterware runs on {listed(_running(at))}. {VANISH}",
        *(_stops(at, "at once", "crsctl stop crs -f") if stops_first(at.change, at.node) else [back]),
    )


def _running(at: GatePlace) -> tuple[str, ...]:
    """Return the nodes that are at risk, since a process of Clusterware or an instance is known to run there."""
    return at_risk(at.plan, at.node, _runs(at))


def _runs(at: GatePlace) -> dict[str, bool]:
    setups = {name: at.cluster.setup(name) for name in at.plan.nodes}
    return {name: not setup.is_down for name, setup in setups.items() if setup and setup.is_down is not None}


def _are_mixed(at: GatePlace) -> bool:
    """Whether ports of a private network have different MTUs now, as far as the nodes were read."""
    seen = {node.name: {one.name: one.mtu for one in node.interfaces} for node in at.cluster.read_nodes()}
    return differ(at.plan, seen, _runs(at))


def mtu_of(node: Node, interface: str) -> int | None:
    """Return the MTU of an interface; None if the node has no such interface."""
    found = node.interface(interface)
    return found.mtu if found else None


def _stops(at: GatePlace, when: str, command: str) -> Iterator[NextStep]:
    for other in map(at.on, _running(at)):
        yield other.as_root(f"Stop Clusterware on {other.node} {when}.", other.tool(command))


def is_harmless(moved: Iterable[Layer], now: Mapping[str, int | None]) -> bool:
    """Whether packets on the wire keep their size: only interfaces below the private interfaces were raised."""
    return all(layer.role != "port" and (now[layer.interface] or 0) > layer.mtu_before for layer in moved)


def _mtus_after(layers: Iterable[Layer]) -> dict[str, int]:
    return {layer.interface: layer.mtu_after for layer in layers}


def _set_commands(layers: Iterable[Layer], mtus: Mapping[str, int], now: Node) -> tuple[str, ...]:
    """Return the commands that set these MTUs: from the bottom up, or from the top down if an MTU gets smaller.

    The order matters because no layer can have a larger MTU than the layer below it.
    """
    chosen = list(layers)
    lowers = any((mtu_of(now, layer.interface) or 0) > mtus[layer.interface] for layer in chosen)
    ordered = sorted(chosen, key=lambda layer: -layer.level if lowers else layer.level)
    return tuple(set_mtu(layer.interface, mtus[layer.interface]) for layer in ordered)


def _now(node: Node, layers: Sequence[Layer]) -> str:
    """Return the interfaces with their MTU: `eth1 and eth2 of rac3 are at MTU 1500`."""
    by_mtu: dict[int | None, list[str]] = {}
    for layer in layers:
        by_mtu.setdefault(mtu_of(node, layer.interface), []).append(layer.interface)
    return listed(
        f"{listed(names)} of {node.name} {'is' if len(names) == 1 else 'are'} {f'at MTU {mtu}' if mtu else 'missing'}"
        for mtu, names in by_mtu.items()
    )


def _seen(at: GatePlace, node: Node, layers: Sequence[Layer]) -> str:
    """Return the MTUs of some layers of a node for a list, with their names where the node has other layers too."""
    mtus = [mtu_of(node, layer.interface) for layer in layers]
    missing = [layer.interface for layer, mtu in zip(layers, mtus, strict=True) if mtu is None]
    if missing:
        return f"{missing[0]} missing"
    values = _values(mtu for mtu in mtus if mtu)
    return values if len(layers) == len(at.layers) else f"{_each(layers)} {values}"


def _each(layers: Iterable[Layer]) -> str:
    return listed(layer.interface for layer in layers)


def _values(mtus: Iterable[int]) -> str:
    """Return the different MTUs: `9000`, or `1500 and 9000`."""
    return listed(str(mtu) for mtu in dict.fromkeys(mtus))
