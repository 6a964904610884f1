"""Draws the truth of a timeline: what is broken at which places of a cluster and when, and what a change does.

Times are seconds of a clock that nothing sets, from 0 to `END`. `Wall` says what the clock of racwire's node shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from random import Random
from typing import NamedTuple

from tests.simulator.faults import Fault

NODES = ("rac1", "rac2", "rac3")
NETWORKS = (1, 2)
END = 600
EVERY = 5
"""Seconds between two samples of a source."""
BEGIN = 1_789_040_000.0
"""The time of second 0 by a clock that nothing sets, in seconds since 1970."""
SUBNETS = {1: "192.168.10.0/24", 2: "192.168.11.0/24"}


class Place(NamedTuple):
    """A thing that is well or bad: `link` of a NIC, `path` at a NIC, `node`, `stack`, `loss`, `mtu`, `setup`."""

    kind: str
    node: str
    network: int = 0
    """0 for what is of the whole node."""
    peer: str = ""
    """The other end of a path."""

    def __str__(self) -> str:
        nic = f"/eth{self.network}" if self.network else ""
        return f"{self.kind} {self.node}{nic}{f'>{self.peer}' if self.peer else ''}"


class Trouble(NamedTuple):
    """What is broken from `begin` until before `end`; a planned one says until when its plan excuses it."""

    place: Place
    begin: float
    end: float
    excused: float = 0.0


class Step(NamedTuple):
    """A step of a change: what it stops on its nodes from its begin until the gate of the step named in `until`."""

    title: str
    nodes: frozenset[str]
    kinds: frozenset[str]
    begin: float | None
    most_s: float
    until: str
    gate: float | None


class Change(NamedTuple):
    """A change, which is open from its begin to its end."""

    steps: tuple[Step, ...]
    begin: float
    end: float | None

    def is_open(self, t: float) -> bool:
        return self.begin <= t and (self.end is None or t < self.end)

    def over(self, step: Step, t: float) -> float | None:
        """When what a step stops was over, as known at a time."""
        gate = next(one.gate for one in self.steps if one.title == step.until)
        ends = [at for at in (gate, self.end) if at is not None and at <= t]
        return min(ends, default=None)


class Wall(NamedTuple):
    """The clock of racwire's node, which somebody may set."""

    at: float
    """When it is set; infinite where it never is."""
    by_s: float

    def set_by(self, t: float) -> float:
        return self.by_s if t >= self.at else 0.0

    def time(self, t: float) -> float:
        """The time that the clock shows, in seconds since 1970."""
        return BEGIN + t + self.set_by(t)

    def steady(self, time: float, t: float) -> float:
        """The second of a time by the clock as it is at second `t`."""
        return time - BEGIN - self.set_by(t)


_STEPS = (("stack down", {"stack"}), ("set MTU", {"link"}), ("stack up", set[str]()))
_UNTIL = ("stack up", "set MTU", "stack up")
_OF_NIC = ("link", "link", "path", "mtu")
_NEVER = float("inf")


class Truth:
    """What is so at each second of a timeline."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = Random(seed)
        self.troubles: list[Trouble] = []
        self.change = self._draw_change() if self.rng.random() < 0.5 else None
        for _ in range(self.rng.randint(0, 4)):
            self._draw_trouble()
        self.pause = self._draw_pause()
        # A clock is set while no run reads, and not while the samples pause: see `Seen`.
        self.wall = Wall(self.rng.randint(100, 500), -3600.0) if self.rng.random() < 0.15 else Wall(_NEVER, 0.0)

    def _draw_trouble(self) -> None:
        rng = self.rng
        kind = rng.choice(("node", "stack", "loss", "setup", *_OF_NIC))
        node = rng.choice(NODES[1:] if kind in ("node", "stack") else NODES)
        place = Place(kind, node, rng.choice(NETWORKS) if kind in _OF_NIC else 0)
        begin = rng.randint(-20, 520)
        for _ in range(rng.choice([1, 1, 1, 4])):  # some flap
            end = begin + rng.choice([rng.randint(6, 40), rng.randint(40, 250), END])
            # Of three MTUs, two of them small, nobody knows which is wrong.
            same = [t for t in self.troubles if t.place == place or (kind == "mtu" and t.place[0::2] == place[0::2])]
            if not any(begin <= t.end + 2 * EVERY and t.begin <= end + 2 * EVERY for t in same):
                self.troubles.append(Trouble(place, begin, end))
            begin = end + rng.randint(11, 25)

    def _draw_pause(self) -> tuple[float, float]:
        """A time without samples."""
        begin = self.rng.randint(0, 3 * END)
        if self.change and self.rng.random() < 0.2:
            begin = int(self.change.steps[0].begin or 0) - 30  # nobody looks while the step begins
        return begin, begin + 70

    def _draw_change(self) -> Change:
        rng, begin = self.rng, self.rng.randint(20, 200)
        nodes = frozenset(rng.sample(NODES[1:], rng.randint(1, 2)))
        t, steps, late = float(begin + rng.randint(2, 30)), list[Step](), rng.random() < 0.3
        for (title, kinds), until in zip(_STEPS, _UNTIL, strict=True):
            took = rng.randint(30, 90)
            gate = None if (late and title == "stack up") or t + took > END else t + took
            most = took + rng.randint(5, 40)
            steps.append(Step(title, nodes, frozenset(kinds), t if t < END else None, most, until, gate))
            t = t + took + (rng.randint(1, 20) if rng.random() < 0.5 else 1) if gate else END
        end = steps[2].gate and steps[2].gate + rng.randint(5, 60)
        if late and rng.random() < 0.5:
            end = max(s.gate or s.begin or 0 for s in steps) + rng.randint(20, 60)  # given up, with what is still down
        change = Change(tuple(steps), begin, end if end and end < END else None)
        overridden = rng.random() < 0.2
        for node in sorted(nodes):
            self._stop_stack(change, node, overridden)
            self._stop_link(change, node)
        return change

    def _stop_stack(self, change: Change, node: str, overridden: bool) -> None:
        rng, down, up = self.rng, change.steps[0], change.steps[2]
        if down.begin is None:
            return
        a = down.begin + rng.randint(1, 15)
        b = (up.gate or END * 2) + (rng.randint(30, 200) if overridden else -rng.randint(1, 12))
        most = down.begin + sum(s.most_s for s in change.steps)
        if rng.random() < 0.15:  # it fell before the step, by itself
            self.troubles.append(Trouble(Place("stack", node), down.begin - 2 * EVERY - rng.randint(1, 9), b))
        elif b - a > 6:
            self.troubles.append(Trouble(Place("stack", node), a, b, min(most, up.gate or most, change.end or most)))

    def _stop_link(self, change: Change, node: str) -> None:
        rng, step = self.rng, change.steps[1]
        if step.begin is None:
            return
        a = step.begin + rng.randint(1, 15)
        b = min((step.gate or END * 2) - rng.randint(1, 12), a + rng.randint(8, 20))
        most = step.begin + step.most_s
        excused = min(most, step.gate or most, change.end or most)
        place = Place("link", node, rng.choice(NETWORKS))
        if b - a > 6:
            self.troubles.append(Trouble(place, a, b, excused))
            if b + 20 < excused and rng.random() < 0.4:  # it fails again, which no step wants
                self.troubles.append(Trouble(place, b + 16, b + 90))

    # --- what is so ---------------------------------------------------------------------------------------------------

    def faults(self, t: float) -> frozenset[Fault]:
        """The faults of the simulator at a time."""
        return frozenset(self._simulated(t))

    def _simulated(self, t: float) -> Iterator[Fault]:
        kinds = {"node": "node-down", "link": "link-down", "path": "port-dead", "mtu": "node-mtu"}
        kinds |= {"setup": "strict-rp-filter"}
        for one in self.troubles:
            if one.place.kind in kinds and one.begin <= t < one.end:
                yield Fault(kinds[one.place.kind], one.place.network, one.place.node)

    def has(self, place: Place, t: float) -> bool:
        """Whether there is such a trouble at a time, of itself."""
        return any(one.place == place and one.begin <= t < one.end for one in self.troubles)

    def is_down(self, node: str, t: float) -> bool:
        """Whether a node answers nothing."""
        return self.has(Place("node", node), t)

    def has_stack(self, node: str, t: float) -> bool:
        """Whether Clusterware and the instance of a node run."""
        return not self.is_down(node, t) and not self.has(Place("stack", node), t)

    def is_bad(self, place: Place, t: float) -> bool:
        """Whether something is bad at a time."""
        node, network = place.node, place.network
        match place.kind:
            case "node":
                return self.is_down(node, t)
            case "stack" | "instance":
                return not self.has_stack(node, t)
            case "path":
                return any(self._is_port_bad(n, network, t) for n in (node, place.peer))
            case "loss":
                return any(t < sign <= t + EVERY for sign in self.signs[node])
        return self.has(place, t)

    def _is_port_bad(self, node: str, network: int, t: float) -> bool:
        return self.is_down(node, t) or any(self.has(Place(k, node, network), t) for k in ("link", "path", "mtu"))

    @cached_property
    def signs(self) -> dict[str, list[float]]:
        """The times at which each node loses blocks."""
        rng = Random(self.seed + 1)
        found: dict[str, list[float]] = {}
        for node in NODES:
            ticks = [t + rng.random() for t in range(0, END, rng.randint(3, 12))]
            found[node] = [t for t in ticks if self.has(Place("loss", node), t) and self.has_stack(node, t)]
        return found

    def lost(self, node: str, since: float, until: float) -> int:
        """The blocks that a node lost in a time."""
        return 6 * sum(since < sign <= until for sign in self.signs[node])
