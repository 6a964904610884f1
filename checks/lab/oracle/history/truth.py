"""What is true of a generated history: the facts that a reader must find, reckoned from the plan without any SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Literal

from checks.facts import (
    BlockTransfer,
    ClientTraffic,
    DeviceHistory,
    HistoryPeriod,
    InstanceHistory,
    InstancePing,
    LossHistory,
)
from checks.lab.oracle.history.plan import UNITS_BEFORE, HistoryPlan
from checks.lab.oracle.history.recipes import (
    CLIENTS,
    DEVICE,
    EVENTS,
    MESSAGES,
    PING_EVERY_S,
    PINGS,
    STATISTICS,
    TRANSFERS,
    Recipe,
    amount,
)

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


class Truth:
    """The truth about the last `days` days of a plan, as AWR or as Statspack has it."""

    def __init__(self, plan: HistoryPlan, days: float, source: Literal["AWR", "Statspack"] = "AWR") -> None:
        self.plan = plan
        self.source = source
        planned = plan.planned_ends()
        self._hours = [end.hour for end in planned]
        self._ends = {i: [self._kept(plan.end_time(i, k, end)) for k, end in enumerate(planned)] for i in plan.numbers}
        self._taken = {
            i: [k for k in range(plan.snapshots) if plan.is_up(i, k) and (i, k) not in plan.missing]
            for i in plan.numbers
        }
        self._intervals: dict[int, list[Interval]] = {}
        self._pairs: dict[tuple[int, int], list[Counts]] = {}
        self._totals = {i: self._instance_totals(i) for i in plan.numbers}
        self._set_range(timedelta(days=days))

    def _kept(self, end: datetime) -> datetime:
        return end if self.source == "AWR" else end.replace(microsecond=0)

    def _set_range(self, lasts: timedelta) -> None:
        every = [(self._ends[i][k], k) for i in self.plan.numbers for k in self._taken[i]]
        begin = max(every)[0] - lasts
        before = [(end, k) for end, k in every if end <= begin]
        if self.source == "AWR":
            base = max((k for _, k in before), default=min(k for _, k in every))
            self._counts_from = {i: [k for k in self._taken[i] if k > base] for i in self.plan.numbers}
            self.first_snapshot, last = self.plan.first_snap_id + base, max(k for _, k in every)
            self.last_snapshot = self.plan.first_snap_id + last
            first_read = min([base, *(p.before for i in self.plan.numbers for p in self.intervals(i))])
            self._read = {i: [k for k in self._taken[i] if k >= first_read] for i in self.plan.numbers}
            self._shown = {i: [k for k in self._taken[i] if k >= base] for i in self.plan.numbers}
        else:
            time = max(before, default=min(every))[0]
            self._counts_from = {i: [k for k in self._taken[i] if self._ends[i][k] > time] for i in self.plan.numbers}
            read_from = min([time, *(p.begin for i in self.plan.numbers for p in self.intervals(i))])
            self._read = {i: [k for k in self._taken[i] if self._ends[i][k] >= read_from] for i in self.plan.numbers}
            self._shown = self._counts_from

    def _run(self, instance: int, k: int) -> int:
        """Where the instance's present run began."""
        return max((r.snapshot for r in self.plan.restarts if r.instance == instance and r.snapshot <= k), default=0)

    def intervals(self, instance: int) -> list[Interval]:
        """The intervals of an instance that count: of the range, and between two snapshots of one start of it."""
        if instance not in self._intervals:
            counts = set(self._counts_from[instance])
            ends = self._ends[instance]
            self._intervals[instance] = [
                Interval(a, b, ends[a], ends[b])
                for a, b in pairwise(self._taken[instance])
                if b in counts and self._run(instance, a) == self._run(instance, b)
            ]
        return self._intervals[instance]

    # What was counted

    def _instance_totals(self, instance: int) -> list[Counts]:
        """Running totals of the instance, all others together, by k."""
        falls = {k for i, k in self.plan.falls if i == instance}
        others = [j for j in self.plan.numbers if j != instance]
        together: list[Counts] = []
        running = {j: dict.fromkeys(COUNTS, 0) for j in others}
        dropped = 0
        starts = {r.snapshot for r in self.plan.restarts if r.instance == instance} | falls
        for j in others:
            self._pairs[instance, j] = []
        for k in range(self.plan.snapshots):
            if k in starts:
                running = {j: dict.fromkeys(COUNTS, 0) for j in others}
                dropped = 0
            dropped += self._dropped(instance, k)
            for j in others:
                moved = running[j]
                hour = self._hours[k]
                moved["received"] += self.plan.units_moved(instance, j, k, hour)
                moved["sent"] += self.plan.units_moved(j, instance, k, hour)
                moved["lost"] += self.plan.blocks_lost(instance, j, k)
                if self.plan.is_up(instance, k) and self.plan.is_up(j, k):
                    moved["pings"] += self.plan.seconds(k) // PING_EVERY_S * (1 if k else UNITS_BEFORE)
                self._pairs[instance, j].append(dict(moved))
            total = {count: sum(running[j][count] for j in others) for count in COUNTS}
            together.append(total | {"dropped": dropped})
        return together

    def _dropped(self, instance: int, k: int) -> int:
        if not self.plan.is_up(instance, k):
            return 0
        return sum(d.each for d in self.plan.drops if d.instance == instance and k >= d.first)

    def _grown(self, instance: int, totals: list[Counts], intervals: Iterable[Interval] | None = None) -> Growth:
        growth = Growth()
        for interval in self.intervals(instance) if intervals is None else intervals:
            growth.add(totals[interval.before], totals[interval.after])
        return growth

    # What a reader must find

    def instances(self) -> tuple[InstanceHistory, ...]:
        """Of all instances with a snapshot in the range."""
        every = {k for i in self.plan.numbers for k in self._shown[i]}
        found = []
        for instance, name, host in sorted(self.plan.instances):
            if not self._shown[instance]:
                continue
            intervals = self.intervals(instance)
            growth = self._grown(instance, self._totals[instance])
            counted = set(self._counts_from[instance])
            restarts = [
                b
                for a, b in pairwise(self._read[instance])
                if b in counted and self._run(instance, a) != self._run(instance, b)
            ]
            found.append(
                InstanceHistory(
                    instance=instance,
                    name=name,
                    host=host,
                    seconds=sum(((i.end - i.begin) for i in intervals), timedelta()).total_seconds(),
                    intervals=len(intervals),
                    restarts=len(restarts),
                    missing_snapshots=len(every) - len(self._shown[instance]) if self.source == "AWR" else 0,
                    statistics=dict(sorted(_named(growth, STATISTICS))),
                    messages=dict(sorted(_named(growth, MESSAGES))),
                    events=dict(sorted(self._events(instance))),
                )
            )
        return tuple(found)

    def _events(self, instance: int) -> Iterator[tuple[str, tuple[int, int]]]:
        """An event has a row from its first wait on; it counts from zero where others had rows before it."""
        totals = self._totals[instance]
        cluster = [event for event in EVENTS if event.wait_class == "Cluster"]
        intervals = {interval.after for interval in self.intervals(instance)}
        for event in cluster:
            waits = time_us = 0
            base: tuple[int, int] | None = None
            run = -1
            for k in self._read[instance]:
                if run != self._run(instance, k):
                    run, base = self._run(instance, k), None
                now = amount(event.waits, totals[k]), amount(event.time_us, totals[k])
                if k in intervals and now[0] > 0 and base is not None:
                    by, by_us = now[0] - base[0], now[1] - base[1]
                    if by >= 0 and by_us >= 0:
                        waits, time_us = waits + by, time_us + by_us
                if now[0] > 0:
                    base = now
                elif base is None and any(amount(other.waits, totals[k]) > 0 for other in cluster):
                    base = 0, 0
            if waits:
                yield event.name, (waits, time_us)

    def periods(self, part_s: int) -> tuple[HistoryPeriod, ...]:
        """The trend in parts of that length, which begin at multiples of it since midnight."""
        part = timedelta(seconds=part_s)
        begin, end = self.span()
        midnight = datetime.combine(begin.date(), datetime.min.time())
        origin = midnight + (begin - midnight) // part * part
        found = []
        for instance in sorted(self.plan.numbers):
            by_part: dict[int, list[Interval]] = {}
            for interval in self.intervals(instance):
                middle = ((interval.begin - origin) * 2 + (interval.end - interval.begin)) // (2 * part)
                by_part.setdefault(middle, []).append(interval)
            for number, intervals in sorted(by_part.items()):
                sums = dict(_named(self._grown(instance, self._totals[instance], intervals), STATISTICS))
                found.append(
                    HistoryPeriod(
                        instance=instance,
                        begin=_iso(max(begin, origin + number * part)),
                        end=_iso(min(end, origin + (number + 1) * part)),
                        seconds=sum(((i.end - i.begin) for i in intervals), timedelta()).total_seconds(),
                        lost=sums.get("gc blocks lost", 0),
                        cr_received=sums.get("gc cr blocks received", 0),
                        current_received=sums.get("gc current blocks received", 0),
                        cr_receive_time_cs=sums.get("gc cr block receive time", 0),
                        current_receive_time_cs=sums.get("gc current block receive time", 0),
                    )
                )
        return tuple(found)

    def span(self) -> tuple[datetime, datetime]:
        """From the begin of the first interval that counts to the end of the last."""
        begins = [i.begin for n in self.plan.numbers for i in self.intervals(n)]
        ends = [self._ends[n][k] for n in self.plan.numbers if self.intervals(n) for k in self._shown[n]]
        return min(begins), max(ends)

    def losses(self) -> tuple[LossHistory, ...]:
        """Of the instances that lost blocks."""
        found = []
        for instance in sorted(self.plan.numbers):
            totals = self._totals[instance]
            lost = [(i, totals[i.after]["lost"] - totals[i.before]["lost"]) for i in self.intervals(instance)]
            lost = [(i, by) for i, by in lost if by > 0]
            if not lost:
                continue
            since = lost[0][0]
            for (before, _), (after, _) in pairwise(lost):
                if after.begin - before.end >= timedelta(days=1):
                    since = after
            worst, most = max(lost, key=lambda entry: entry[1])
            found.append(
                LossHistory(
                    instance=instance,
                    lost=sum(by for _, by in lost),
                    intervals_with_loss=len(lost),
                    first_begin=_iso(lost[0][0].begin),
                    first_end=_iso(lost[0][0].end),
                    last_end=_iso(lost[-1][0].end),
                    since_begin=_iso(since.begin),
                    worst_begin=_iso(worst.begin),
                    worst_end=_iso(worst.end),
                    worst_lost=most,
                )
            )
        return tuple(found)

    def transfers(self) -> tuple[BlockTransfer, ...]:
        """Of each two instances."""
        recipes = {
            "cr_blocks": _over_classes("cr_block", "cr_busy", "cr_congested"),
            "current_blocks": _over_classes("current_block", "current_busy", "current_congested"),
            "lost": _over_classes("lost"),
            "cr_time_us": _over_classes("cr_block_time", "cr_busy_time", "cr_congested_time"),
            "current_time_us": _over_classes("current_block_time", "current_busy_time", "current_congested_time"),
            "lost_time_us": _over_classes("lost_time"),
        }
        return tuple(
            BlockTransfer(receiver=receiver, sender=sender, **growth.sums(recipes))
            for receiver, sender, growth in self._pair_growth(recipes)
        )

    def pings(self) -> tuple[InstancePing, ...]:
        """Of each two instances."""
        names = {"count_500b": "cnt_500b", "time_500b_us": "wait_500b", "count_8k": "cnt_8k", "time_8k_us": "wait_8k"}
        recipes = {field_: PINGS[column] for field_, column in names.items()}
        return tuple(
            InstancePing(instance=instance, target=target, **growth.sums(recipes))
            for instance, target, growth in self._pair_growth(recipes)
        )

    def _pair_growth(self, recipes: Mapping[str, Recipe]) -> Iterator[tuple[int, int, Growth]]:
        for (here, there), totals in sorted(self._pairs.items()):
            growth = self._grown(here, totals)
            if _has_row(growth, recipes):
                yield here, there, growth

    def clients(self) -> tuple[ClientTraffic, ...]:
        """Of each instance."""
        found = []
        for instance in sorted(self.plan.numbers):
            growth = self._grown(instance, self._totals[instance])
            found += [
                ClientTraffic(instance=instance, client=client, **growth.sums(recipes))
                for client, recipes in sorted(CLIENTS.items())
                if _has_row(growth, recipes)
            ]
        return tuple(found)

    def devices(self) -> tuple[DeviceHistory, ...]:
        """Of each NIC. They count since the start of the node."""
        found = []
        names = {"receive_overruns": "receive_buf_or", "receive_frame_errors": "receive_frame_err"}
        names |= {"send_overruns": "send_buf_or"}
        same = ("receive_errors", "receive_dropped", "send_errors", "sends_dropped", "send_carrier_lost")
        names |= {name: name for name in (*same, "packets_received", "packets_sent")}
        for instance in sorted(self.plan.numbers):
            shown = self._shown[instance]
            if not shown:
                continue
            totals = self._node_totals(instance)
            ends, counted = self._ends[instance], set(self._counts_from[instance])
            read = [Interval(a, b, ends[a], ends[b]) for a, b in pairwise(self._read[instance]) if b in counted]
            growth = self._grown(instance, totals, read)
            mtus = list(dict.fromkeys(self.plan.mtu_of(instance, k) for k in reversed(shown)))
            for place, (name, network) in enumerate(self.plan.devices):
                recipes = {field_: DEVICE[column] for field_, column in names.items()}
                if place == 0:
                    recipes["receive_dropped"] = {"dropped": 1}
                found.append(
                    DeviceHistory(
                        instance=instance,
                        name=name,
                        ip=f"{network}{instance}",
                        mtu=mtus[0],
                        last_seen=_iso(ends[shown[-1]]),
                        earlier_mtus=tuple(mtus[1:]),
                        **growth.sums(recipes),
                    )
                )
        return tuple(found)

    def _node_totals(self, instance: int) -> list[Counts]:
        """Running totals since the start of the node: the sums of what moved, whatever the instance did."""
        reboots = {r.snapshot for r in self.plan.restarts if r.instance == instance and r.reboots_node}
        others = [j for j in self.plan.numbers if j != instance]
        running, found = dict.fromkeys(COUNTS, 0), []
        for k, hour in enumerate(self._hours):
            if k in reboots:
                running = dict.fromkeys(COUNTS, 0)
            running["received"] += sum(self.plan.units_moved(instance, j, k, hour) for j in others)
            running["sent"] += sum(self.plan.units_moved(j, instance, k, hour) for j in others)
            running["dropped"] += self._dropped(instance, k)
            found.append(dict(running))
        return found


def _named(growth: Growth, recipes: Mapping[str, Recipe]) -> Iterator[tuple[str, int]]:
    for name, recipe in recipes.items():
        if growth.counts_in(recipe):
            yield name, growth.sums({name: recipe})[name]


def _has_row(growth: Growth, recipes: Mapping[str, Recipe]) -> bool:
    if growth.intervals > len(growth.others):
        return True
    return any(all(amount(recipe, grown) >= 0 for recipe in recipes.values()) for grown in growth.others)


def _over_classes(*columns: str) -> Recipe:
    together: Counts = {}
    for recipes in TRANSFERS.values():
        for column in columns:
            for count, factor in recipes[column].items():
                together[count] = together.get(count, 0) + factor
    return together


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
