"""A timeline: its truth, and all that racwire saw of it, each with the time at which racwire knew it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from random import Random

from checks.model.condition import Condition, ConditionKind
from checks.model.explained_stop import ExplainedStop, Look
from checks.model.run_record import RunRecord
from checks.situation.at_moment import Inputs
from checks.situation.events.known_events import event_readings
from checks.situation.events.watching import EventWatch
from checks.situation.run_history import RunHistory
from tests.agreement.readings import CHECKS, Reader
from tests.agreement.samples import Feed
from tests.agreement.truth import NODES, Change, Step, Truth

_KINDS = {
    "stack": {ConditionKind.STACK, ConditionKind.INSTANCE},
    "link": {ConditionKind.LINK},
}
_PARTS = (
    "interfaces",
    "df-ping",
    "gc-blocks-lost",
    "clusterware",
    "mtu-consistency",
    "udp-path",
    "rp-filter",
    "neighbours",
)


class Timeline:
    """What racwire saw of a truth."""

    def __init__(self, seed: int) -> None:
        self.truth = truth = Truth(seed)
        self._rng = Random(seed + 3)
        feed = Feed(truth)
        self.feed = list(feed.items())
        self.sampled = feed.sampled
        """When each node and instance answered, and when it did before."""
        self.readers: list[tuple[float, Reader, tuple[str, ...]]] = []
        """The readers of runs and gates, each with the time at which it ended, and the groups that it read."""
        self.records: list[tuple[float, RunRecord]] = []
        """The runs and gates, in the order in which they ended, with that time."""
        for begin, length, checks in sorted(self._runs()):
            self._read(begin, length, checks)
        for step in truth.change.steps if truth.change else ():
            if step.gate is not None:
                self._read(step.gate - 8, 8, None)
        self.records.sort(key=lambda one: one[0])
        self.looks = list(self._begun(truth.change)) if truth.change else []

    def _runs(self) -> Iterator[tuple[float, float, tuple[str, ...]]]:
        rng = self._rng
        yield rng.randint(0, 20), 40, ()
        for _ in range(rng.randint(0, 4)):
            checks = () if rng.random() < 0.4 else tuple(rng.sample(_PARTS, rng.randint(1, 3)))
            yield rng.randint(60, 500), rng.choice([20, 40, 60]), checks

    def _read(self, begin: float, length: float, checks: tuple[str, ...] | None) -> None:
        """Add a run of all checks, or of some; with None, gates."""
        wall, end = self.truth.wall, begin + length
        if begin <= wall.at + 10 and wall.at <= end:
            return  # nobody sets the clock while a run reads
        if any(begin <= other and reader.begin <= end for other, reader, _ in self.readers if checks is not None):
            return  # one run at a time
        reader = Reader(self.truth, begin, length, self._rng.randrange(1 << 30))
        clock_s = wall.set_by(end)
        if checks is None:
            record = reader.gate(clock_s)
        else:
            chosen = [CHECKS[name] for name in checks or CHECKS]
            record = reader.record(chosen, clock_s, is_part=bool(checks))
        self.readers.append((end, reader, record.report.cluster.gathered_groups()))
        self.records.append((end, record))

    def _begun(self, change: Change) -> Iterator[tuple[float, tuple[tuple[Condition, bool], ...]]]:
        """Yield what was read when a step was started, with its time."""
        for step in change.steps:
            if step.begin is not None and step.kinds and self._rng.random() < 0.7:
                yield step.begin, tuple(self._look(step.begin))

    def _look(self, t: float) -> Iterator[tuple[Condition, bool]]:
        for node in NODES:
            if not self.truth.is_down(node, t):
                yield Condition(ConditionKind.NODE, node), False
                yield Condition(ConditionKind.STACK, node), not self.truth.has_stack(node, t)
                if self.truth.has_stack(node, t):
                    yield Condition(ConditionKind.INSTANCE, node, f"prod{node[3:]}"), False

    # --- as racwire knew it -------------------------------------------------------------------------------------------

    def live(self, moments: Iterable[float]) -> Iterator[tuple[float, Inputs]]:
        """Yield each moment, in order, with what a console knew that had seen all until then; only moments after the
        first run."""
        watch, history = EventWatch(), RunHistory()
        items, records = deque(self.feed), deque(self.records)
        for t in moments:
            while items and items[0][0] <= t:
                watch.see(items.popleft()[1])
            while records and records[0][0] <= t:
                history = history.after(records.popleft()[1], CHECKS)
            is_set_back = watch.clock_s != self.truth.wall.set_by(t)  # and no sample has shown it yet
            if history.report is not None and not is_set_back:
                yield t, self.inputs(t, watch, history)

    def watched(self) -> EventWatch:
        """Return a watch that has seen all items, as that of a recording."""
        watch = EventWatch()
        for _, item in self.feed:
            watch.see(item)
        return watch

    def inputs(self, t: float, watch: EventWatch, history: RunHistory) -> Inputs:
        """Return what was known at a time, of a watch that has seen the items until then, or later ones too."""
        now, change = self.truth.wall.time(t), self.truth.change
        clock_s = watch.clock_at(now)
        is_open = change is not None and change.is_open(t)
        return Inputs(
            now=now,
            checks=CHECKS,
            history=history,
            events=watch.known(now),
            sampled=(*watch.readings(now), *event_readings(watch.events, now, clock_s)),
            looks=self._looks(t) if is_open else (),
            stops=tuple(self._stops(change, t)) if change and is_open else (),
            change=place_in(change, t) if change and is_open else "",
            clock_s=clock_s,
        )

    def _looks(self, t: float) -> tuple[Look, ...]:
        by_s = self.truth.wall.set_by
        return tuple(Look(self.truth.wall.time(at) - by_s(at) + by_s(t), read) for at, read in self.looks if at <= t)

    def _stops(self, change: Change, t: float) -> Iterator[ExplainedStop]:
        for step in change.steps:
            if any(at == step.begin and at <= t for at, _ in self.looks):
                yield self._stop(change, step, t)

    def _stop(self, change: Change, step: Step, t: float) -> ExplainedStop:
        wall, by_s = self.truth.wall, self.truth.wall.set_by(t)
        begin, over = step.begin or 0.0, change.over(step, t)
        number = change.steps.index(step)
        upto = next(n for n, one in enumerate(change.steps) if one.title == step.until) + 1
        read = next((read for at, read in self.looks if at == begin), ())
        return ExplainedStop(
            step=step.title,
            nodes=step.nodes,
            kinds=frozenset(kind for name in step.kinds for kind in _KINDS[name]),
            begin=wall.time(begin) - wall.set_by(begin) + by_s,
            most_s=sum(one.most_s for one in change.steps[number:upto]),
            over=None if over is None else wall.time(over) - wall.set_by(over) + by_s,
            was_well=frozenset(condition for condition, is_bad in read if not is_bad),
        )


def place_in(change: Change, t: float) -> str:
    """Return the place in the change at a time: `change 2/3`."""
    done = sum(step.gate is not None and step.gate <= t for step in change.steps)
    return f"change {min(done + 1, len(change.steps))}/{len(change.steps)}"
