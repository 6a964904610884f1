"""Random walks of people's and nodes' actions over a change: no gate passes falsely, and every DANGER can be obeyed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from checks.change import decisions
from checks.change.change_events import AnyEvent, Attested, RolledBack, Surprised, Verified
from checks.change.change_plan import ChangeKind
from checks.change.planning import look_of
from checks.change.state import Change
from checks.change.wanted import differ, mtus, stops_first
from checks.model.facts import Cluster
from tests.unit.change_support import (
    AGREED,
    NODES,
    STEPS,
    after,
    change,
    cluster,
    layer,
    passed,
    plan,
    setup,
    verification_events,
)
from tests.unit.change_wanted_support import alone, dangers

BACK = plan(
    kind=ChangeKind.ROLLBACK,
    layers=tuple(layer(node, mtu_before=9000, mtu_after=1500) for node in NODES),
    steps=(*STEPS[2:8], STEPS[-1]),
)
_LOOKS = 40
"""The verifications of a walk."""


@dataclass
class World:
    """The nodes as they are."""

    mtu: dict[str, int] = field(default_factory=lambda: dict.fromkeys(NODES, 1500))
    kept: dict[str, int] = field(default_factory=lambda: dict.fromkeys(NODES, 1500))
    runs: dict[str, bool] = field(default_factory=lambda: dict.fromkeys(NODES, True))
    starts: dict[str, bool] = field(default_factory=lambda: dict.fromkeys(NODES, True))
    boots: dict[str, int] = field(default_factory=lambda: dict.fromkeys(NODES, 0))

    def facts(self) -> Cluster:
        setups = {
            f"{node}_setup": setup(
                node, runs=self.runs[node], mtu=self.kept[node], boot=str(self.boots[node]), autostart=self.starts[node]
            )
            for node in NODES
        }
        return alone(cluster(9000, **self.mtu, **setups))

    def is_dangerous(self, of: Change) -> bool:
        """Whether Clusterware runs on a node while an MTU is not what the plan allows, or differs between nodes."""
        is_wrong = any(self.mtu[own.node] not in mtus(of, own) for own in of.plan.layers)
        is_mixed = differ(of.plan, {node: {"eth1": self.mtu[node]} for node in NODES})
        return any(self.runs.values()) and (is_wrong or is_mixed)

    def boot(self, node: str) -> None:
        self.boots[node] += 1
        self.mtu[node] = self.kept[node]

    def disturb(self, chance: random.Random) -> None:
        """Do to a node what no step asks for."""
        node = chance.choice(NODES)
        match chance.choice(("mtu", "mtu", "stack", "boot", "file", "autostart")):
            case "mtu":
                self.mtu[node] = chance.choice((1500, 9000))
            case "stack":
                self.runs[node] = not self.runs[node]
            case "boot":
                self.boot(node)
            case "file":
                self.kept[node] = chance.choice((1500, 9000))
            case "autostart":
                self.starts[node] = not self.starts[node]

    def follow(self, of: Change) -> None:
        """Do what the current step asks for, on every node."""
        planned = of.plan.layers[0].mtu_after
        for node in NODES:
            match of.current.id if of.current else "":
                case "stack-down":
                    self.runs[node] = self.starts[node] = False
                case "set-mtu":
                    self.mtu[node] = self.kept[node] = planned
                case "survives-boot":
                    self.boot(node)
                case "first-node":
                    self.runs[node] = node == "rac1"
                case "other-nodes":
                    self.runs[node] = self.starts[node] = True

    def obey(self, of: Change) -> World:
        """Return the nodes after what a DANGER asks for."""
        if stops_first(of):
            return World(self.mtu, self.kept, dict.fromkeys(NODES, False), self.starts, self.boots)
        return World(
            {own.node: mtus(of, own)[0] for own in of.plan.layers}, self.kept, self.runs, self.starts, self.boots
        )


def decided(of: Change, world: World, chance: random.Random) -> tuple[AnyEvent, ...]:
    """Return the decisions of people at the current step."""
    step = of.current
    assert step is not None
    if not of.is_way_back and chance.random() < 0.03:
        return (RolledBack(BACK, "A. Lee", "a good reason"),)
    if step.attest and chance.random() < 0.5:
        return (Attested(step.id, "A. Lee"),)
    if step.id == "baseline" and chance.random() < 0.7:
        return (passed(step.id, world.facts()),)
    mark = of.mark(step)
    if step.gates and mark.verified and not mark.passed and chance.random() < 0.1:
        return (decisions.override(of, step.id, "A. Lee", "a good reason"),)
    return ()


def asked_for(events: tuple[AnyEvent, ...], verified: Verified) -> set[str]:
    """Return what the DANGERs of a verification ask for: to stop Clusterware, to set an MTU."""
    sentences = [event.sentence for event in events if isinstance(event, Surprised) and event.dangerous]
    results = [result for result in verified.results if result.sentence.startswith("DANGER")]
    texts = [*sentences, *(text for result in results for text in result.next)]
    asks = {"stop": ("Stop Clusterware", "crsctl stop"), "set": ("Set the MTU", "Set MTU", "ip link set")}
    return {what for what, words in asks.items() if any(word in text for text in texts for word in words)}


def assert_passed_truly(of: Change, world: World) -> None:
    """Assert that the gate of the current step passed for what is so."""
    planned = of.plan.layers[0].mtu_after
    match of.current.id if of.current else "":
        case "stack-down":
            assert not any(world.runs.values())
        case "set-mtu":
            assert {*world.mtu.values(), *world.kept.values()} == {planned}
        case "survives-boot":
            assert of.mark(of.plan.step("set-mtu")).overridden or {*world.mtu.values()} == {planned}
        case "other-nodes":
            assert all(world.runs.values())


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(8), id="some"),
        pytest.param(range(8, 800), id="many", marks=pytest.mark.beyond_sample),
    ],
)
def test_on_any_way_gates_pass_truly_and_obeying_a_danger_ends_it(seeds):
    for seed in seeds:
        walk(random.Random(seed))


def walk(chance: random.Random) -> None:
    world = World()
    of = change(AGREED, look=look_of(world.facts(), plan()))
    for _ in range(_LOOKS):
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            world.disturb(chance) if chance.random() < 0.65 else world.follow(of)
        of = after(of, *decided(of, world, chance))
        if of.current is None:
            return
        before = of
        events = verification_events(of, world.facts())
        of = after(of, *events)
        verified = next(event for event in events if isinstance(event, Verified))
        if verified.passed:
            assert_passed_truly(before, world)
        assert len(asked_for(events, verified)) < 2
        if standing := dangers(of):
            assert world.is_dangerous(of), standing
            obeyed = after(of, *verification_events(of, world.obey(of).facts()))
            assert dangers(obeyed) == []
            last = next(line.event for line in reversed(obeyed.lines) if isinstance(line.event, Verified))
            assert not any(result.sentence.startswith("DANGER") for result in last.results)
