"""What is so in the model of a cluster, and what a verification must therefore say: written apart from the gates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from checks.change.plan.change_plan import Gate, Plan
from checks.change.progress.change_events import AnyEvent, Booted, GateResult, Surprise, Surprised, Verified
from checks.change.progress.standing_alarms import standing_alarms
from checks.change.progress.state import Change
from checks.change.progress.wanted import mtus
from checks.model.finding import Status
from tests.unit.change_world import NODES, World, ports_of

_OF_PATHS = ("df-ping", "one-byte-more")
_NODE = re.compile(r"\brac\d\b")


@dataclass
class Seen:
    """What the last written verification has of each node; what could not be read stays as before."""

    boots: dict[str, int]
    mtus: dict[str, tuple[int, ...]]
    runs: dict[str, bool]

    @classmethod
    def of(cls, world: World, before: Seen | None = None) -> Seen:
        """Return what a verification of this world has seen, after `before`."""
        old = before or cls({}, {}, {})
        return cls(
            {**old.boots, **{n: world.boots[n] for n in NODES if world.reads_setup(n)}},
            {**old.mtus, **{n: world.mtus_of(n) for n in NODES if world.reads_mtus(n)}},
            {**old.runs, **{n: world.runs[n] for n in NODES if world.reads_runs(n)}},
        )


def holds(gate: Gate, world: World, plan: Plan, boots: dict[str, int]) -> bool:
    """Whether what a gate stands for is so, and can be read; `boots` counts the boots of the nodes before the plan."""
    if gate.check in _OF_PATHS:
        return world.carries(plan.mtu_after) and all(world.reads_mtus(node) for node in NODES)
    if gate.check == "rebooted" and not gate.nodes:
        return any(world.boots[node] > boots[node] for node in NODES)
    return all(is_so(gate.check, node, world, plan) for node in gate.nodes or NODES)


def is_so(check: str, node: str, world: World, plan: Plan) -> bool:
    """Whether what a gate stands for is so on a node, and can be read there."""
    layers = [layer for layer in plan.layers if layer.node == node]
    match check:
        case "stack-down":
            return world.reads_runs(node) and not world.runs[node]
        case "stack-up":
            return world.reads_runs(node) and world.runs[node]
        case "instances-up":
            is_planned = any(node in database.instances for database in plan.databases)
            return world.reads_runs(node) and (world.runs[node] or not is_planned)
        case "autostart-off":
            return world.reads_setup(node) and not world.starts[node]
        case "autostart-on":
            return world.reads_setup(node) and world.starts[node]
        case "running-mtu":
            return world.reads_mtus(node) and all(world.mtu[node, own.interface] == own.mtu_after for own in layers)
        case "kept-mtu":
            return world.reads_setup(node) and all(
                world.after_boot(node, own.interface) == own.mtu_after for own in layers
            )
        case "rebooted":
            return world.boots[node] > 0
        case "mtu-untouched":
            return world.reads_mtus(node)
    raise ValueError(check)


def is_dangerous(world: World, of: Change) -> bool:
    """Whether Clusterware runs on a node while an MTU is not what the plan allows, or differs between nodes."""
    if of.plan.node:
        return _is_dangerous_to_others(world, of)
    is_wrong = any(world.mtu[own.node, own.interface] not in mtus(of, own) for own in ports_of(of.plan))
    return any(world.runs.values()) and (is_wrong or world.is_mixed())


def _is_dangerous_to_others(world: World, of: Change) -> bool:
    """Whether nodes that run have different MTUs, and not as the plan of one node found them or leaves them."""
    running = [node for node in NODES if world.runs[node]]
    ports = [own for own in ports_of(of.plan) if own.node in running]
    is_wrong = any(world.mtu[own.node, own.interface] != mtus(of, own)[-1] for own in ports)
    return world.is_mixed(running) and is_wrong


def assert_true(events: Iterable[AnyEvent], world: World, of: Change, boots: dict[str, int]) -> None:
    """Assert that what a verification calls passed is so."""
    assert of.current is not None
    verified = verified_of(events)
    for result in verified.results:
        if result.status is Status.PASS and result.check not in (*_OF_PATHS, "only-journal"):
            assert is_so(result.check, result.node, world, of.plan), result
    if verified.passed:
        for gate in (*of.current.gates, *(gate for _, gate in of.held(of.current))):
            assert holds(gate, world, of.plan, boots), gate


def assert_nothing_lost(events: Iterable[AnyEvent], world: World, seen: Seen, of: Change) -> None:
    """Assert that a verification reports each unexpected change since the last one, and each once."""
    assert of.current is not None
    events = tuple(events)
    surprised = [event for event in events if isinstance(event, Surprised)]
    assert len(set(surprised)) == len(surprised), surprised
    told = Counter((event.node, event.what) for event in surprised)
    now = Seen.of(world, seen)
    gates = (*of.current.gates, *(gate for _, gate in of.held(of.current)))
    must_be_down = {n for gate in gates if gate.check == "stack-down" for n in gate.nodes or NODES}
    for node in NODES:
        is_booted = now.boots[node] != seen.boots[node]
        asked_for = sum(isinstance(event, Booted) and event.node == node for event in events)
        assert told[node, Surprise.REBOOTED] + asked_for == is_booted, (node, surprised)
        at_risk = now.runs.get(node, False) if of.plan.node else any(now.runs.values())
        live = now.mtus[node] != seen.mtus[node] and at_risk and not is_booted
        of_mtu = told[node, Surprise.LIVE_CHANGE] + told[node, Surprise.MTU_LOST]
        assert of_mtu <= 1, (node, surprised)
        assert not live or of_mtu or told[node, Surprise.OTHER], (node, surprised)
        started = now.runs[node] and not seen.runs[node] and node in must_be_down
        assert told[node, Surprise.STACK_STARTED] == started, (node, surprised)
    reopened = {event.step for event in events if event.__class__.__name__ == "Reopened"}
    for step, gate in of.held(of.current):
        wrong = [n for n in gate.nodes or NODES if gate.check not in _OF_PATHS and _is_seen_wrong(gate, n, world, of)]
        for node in wrong:
            assert step.id in reopened, (step.id, gate, node)
            assert any(event.node == node for event in (*surprised, *standing_alarms(of))), (gate, node, surprised)


def _is_seen_wrong(gate: Gate, node: str, world: World, of: Change) -> bool:
    """Whether a verification sees that what a gate stands for is not so."""
    reads = {"stack-down": world.reads_runs, "stack-up": world.reads_runs, "running-mtu": world.reads_mtus}
    return reads.get(gate.check, world.reads_setup)(node) and not is_so(gate.check, node, world, of.plan)


# --- DANGERs ----------------------------------------------------------------------------------------------------------


def verified_of(events: Iterable[AnyEvent]) -> Verified:
    """Return the results among the events of a verification."""
    return next(event for event in events if isinstance(event, Verified))


def _dangerous(events: Iterable[AnyEvent]) -> list[GateResult]:
    return [result for result in verified_of(events).results if result.is_danger]


def asked_for(events: Iterable[AnyEvent], node: str = "") -> set[str]:
    """Return what the DANGERs of a verification ask for, of one node or of all: to stop Clusterware, to set an MTU."""
    surprised = [event for event in events if isinstance(event, Surprised) and node in ("", event.node)]
    sentences = [event.sentence for event in surprised if event.dangerous]
    texts = [
        *sentences,
        *(
            text
            for result in _dangerous(events)
            if node in ("", result.node)
            for step in result.next
            for text in (step.text, *step.commands)
        ),
    ]
    asks = {"stop": ("Stop Clusterware", "crsctl stop"), "set": ("Set the MTU", "Set MTU", "ip link set")}
    return {what for what, words in asks.items() if any(word in text for text in texts for word in words)}


def obeyed(events: Iterable[AnyEvent], standing: Iterable[Surprised], world: World) -> World:
    """Return the nodes after everything that the DANGERs of a verification ask for, and nothing else."""
    after = world.copy()
    for alarm in standing:
        if stop := re.search(r"Stop Clusterware( on [^.]*)? at once", alarm.sentence):
            for node in _NODE.findall(stop[0]) or [alarm.node]:
                after.runs[node] = False
        if back := re.search(r"Set the MTU back to (\d+) at once", alarm.sentence):
            _set_all(after, alarm.node, int(back[1]))
        if same := re.search(r"Set MTU (\d+) on every node at once", alarm.sentence):
            for node in NODES:
                _set_all(after, node, int(same[1]))
    for result in _dangerous(events):
        for text in (text for step in result.next for text in (step.text, *step.commands)):
            if stop := re.search(r"^Stop Clusterware on (rac\d) at once", text):
                after.runs[stop[1]] = False
            if set_ := re.search(r"^ip link set dev (\S+) mtu (\d+)$", text):
                after.set(result.node, set_[1], int(set_[2]))
    return after


def _set_all(world: World, node: str, mtu: int) -> None:
    for nic in world.shape.nics:
        world.set(node, nic, mtu)
    for nic in reversed(world.shape.nics):
        world.set(node, nic, mtu)
