"""By how much the counts of a generated history grew, over which intervals: reckoned from the plan without any SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise, permutations
from typing import Literal

from checks.lab.oracle.history.plan import UNITS_BEFORE, HistoryPlan
from checks.lab.oracle.history.recipes import PING_EVERY_S, Recipe, amount

COUNTS = ("received", "sent", "lost", "pings", "dropped")

Counts = dict[str, int]


@dataclass
class Growth:
    """By how much counts grew over some intervals: those in which none fell together, the others one by one."""

    whole: Counts = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    others: list[Counts] = field(default_factory=list)
    intervals: int = 0

    def add(self, before: Mapping[str, int], after: Mapping[str, int]) -> None:
        """One interval more."""
        grown = {count: after[count] - before[count] for count in COUNTS}
        self.intervals += 1
        if min(grown.values()) < 0:
            self.others.append(grown)
        else:
            for count, by in grown.items():
                self.whole[count] += by

    def sums(self, recipes: Mapping[str, Recipe]) -> Counts:
        """Values of a row of a view: an interval in which one of them fell does not count."""
        found = {name: amount(recipe, self.whole) for name, recipe in recipes.items()}
        for grown in self.others:
            values = {name: amount(recipe, grown) for name, recipe in recipes.items()}
            if min(values.values()) >= 0:
                found = {name: found[name] + value for name, value in values.items()}
        return found

    def counts_in(self, recipe: Recipe) -> bool:
        """Whether there is an interval that counts for that value."""
        return self.intervals > len(self.others) or any(amount(recipe, grown) >= 0 for grown in self.others)


@dataclass(frozen=True)
class Interval:
    """Between two snapshots of an instance, `before` and `after`."""

    before: int
    after: int
    begin: datetime
    end: datetime


class Reckoning:
    """What counts of the last `days` days of a plan, as AWR or as Statspack has them: intervals, and counts in them."""

    def __init__(self, plan: HistoryPlan, days: float, source: Literal["AWR", "Statspack"]) -> None:
        self.plan = plan
        self.source = source
        self.snapshots: tuple[int, int] | None = None
        """The numbers of the first and the last one; only AWR's follow time."""
        planned = plan.planned_ends()
        hours = [end.hour for end in planned]
        self._moved = {
            (receiver, sender): [plan.units_moved(receiver, sender, k, hour) for k, hour in enumerate(hours)]
            for receiver, sender in permutations(plan.numbers, 2)
        }
        self.ends = {i: [self._kept(plan.end_time(i, k, end)) for k, end in enumerate(planned)] for i in plan.numbers}
        self._up = {i: [plan.is_up(i, k) for k in range(plan.snapshots)] for i in plan.numbers}
        self._taken = {
            i: [k for k, is_up in enumerate(self._up[i]) if is_up and (i, k) not in plan.missing] for i in plan.numbers
        }
        self._intervals: dict[int, list[Interval]] = {}
        self.pairs: dict[tuple[int, int], list[Counts]] = {}
        """Running totals of an instance about each other one, by k."""
        self.totals = {i: self._instance_totals(i) for i in plan.numbers}
        self._set_range(timedelta(days=days))

    def _kept(self, end: datetime) -> datetime:
        return end if self.source == "AWR" else end.replace(microsecond=0)

    def _set_range(self, lasts: timedelta) -> None:
        every = [(self.ends[i][k], k) for i in self.plan.numbers for k in self._taken[i]]
        begin = max(every)[0] - lasts
        before = [(end, k) for end, k in every if end <= begin]
        if self.source == "AWR":
            base = max((k for _, k in before), default=min(k for _, k in every))
            self.counts_from = {i: [k for k in self._taken[i] if k > base] for i in self.plan.numbers}
            self.snapshots = self.plan.first_snap_id + base, self.plan.first_snap_id + max(k for _, k in every)
            first_read = min([base, *(p.before for i in self.plan.numbers for p in self.intervals(i))])
            self.read = {i: [k for k in self._taken[i] if k >= first_read] for i in self.plan.numbers}
            self.shown = {i: [k for k in self._taken[i] if k >= base] for i in self.plan.numbers}
        else:
            time = max(before, default=min(every))[0]
            self.counts_from = {i: [k for k in self._taken[i] if self.ends[i][k] > time] for i in self.plan.numbers}
            read_from = min([time, *(p.begin for i in self.plan.numbers for p in self.intervals(i))])
            self.read = {i: [k for k in self._taken[i] if self.ends[i][k] >= read_from] for i in self.plan.numbers}
            self.shown = self.counts_from

    def run(self, instance: int, k: int) -> int:
        """Where the instance's present run began."""
        return max((r.snapshot for r in self.plan.restarts if r.instance == instance and r.snapshot <= k), default=0)

    def intervals(self, instance: int) -> list[Interval]:
        """The intervals of an instance that count: of the range, and between two snapshots of one start of it."""
        if instance not in self._intervals:
            counts = set(self.counts_from[instance])
            ends = self.ends[instance]
            self._intervals[instance] = [
                Interval(a, b, ends[a], ends[b])
                for a, b in pairwise(self._taken[instance])
                if b in counts and self.run(instance, a) == self.run(instance, b)
            ]
        return self._intervals[instance]

    def span(self) -> tuple[datetime, datetime]:
        """From the begin of the first interval that counts to the end of the last."""
        begins = [i.begin for n in self.plan.numbers for i in self.intervals(n)]
        ends = [self.ends[n][k] for n in self.plan.numbers if self.intervals(n) for k in self.shown[n]]
        return min(begins), max(ends)

    def _instance_totals(self, instance: int) -> list[Counts]:
        """Running totals of the instance, all others together, by k."""
        falls = {k for i, k in self.plan.falls if i == instance}
        others = [j for j in self.plan.numbers if j != instance]
        together: list[Counts] = []
        running = {j: dict.fromkeys(COUNTS, 0) for j in others}
        total = dict.fromkeys(COUNTS, 0)
        starts = {r.snapshot for r in self.plan.restarts if r.instance == instance} | falls
        for j in others:
            self.pairs[instance, j] = []
        for k in range(self.plan.snapshots):
            if k in starts:
                running = {j: dict.fromkeys(COUNTS, 0) for j in others}
                total = dict.fromkeys(COUNTS, 0)
            total["dropped"] += self._dropped(instance, k)
            pings = self.plan.seconds(k) // PING_EVERY_S * (1 if k else UNITS_BEFORE) if self._up[instance][k] else 0
            for j in others:
                more = {
                    "received": self._moved[instance, j][k],
                    "sent": self._moved[j, instance][k],
                    "lost": self.plan.blocks_lost(instance, j, k),
                    "pings": pings if self._up[j][k] else 0,
                }
                for count, by in more.items():
                    running[j][count] += by
                    total[count] += by
                self.pairs[instance, j].append(dict(running[j]))
            together.append(dict(total))
        return together

    def _dropped(self, instance: int, k: int) -> int:
        if not self._up[instance][k]:
            return 0
        return sum(d.each for d in self.plan.drops if d.instance == instance and k >= d.first)

    def grown(self, instance: int, totals: list[Counts], intervals: Iterable[Interval] | None = None) -> Growth:
        """By how much running totals grew over the instance's intervals, or those given."""
        growth = Growth()
        for interval in self.intervals(instance) if intervals is None else intervals:
            growth.add(totals[interval.before], totals[interval.after])
        return growth

    def node_totals(self, instance: int) -> list[Counts]:
        """Running totals since the start of the node: the sums of what moved, whatever the instance did."""
        reboots = {r.snapshot for r in self.plan.restarts if r.instance == instance and r.reboots_node}
        others = [j for j in self.plan.numbers if j != instance]
        running, found = dict.fromkeys(COUNTS, 0), []
        for k in range(self.plan.snapshots):
            if k in reboots:
                running = dict.fromkeys(COUNTS, 0)
            running["received"] += sum(self._moved[instance, j][k] for j in others)
            running["sent"] += sum(self._moved[j, instance][k] for j in others)
            running["dropped"] += self._dropped(instance, k)
            found.append(dict(running))
        return found
