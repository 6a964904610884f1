"""What is true of a generated history: the facts that a reader must find, reckoned from the plan without any SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import cached_property
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
from checks.lab.oracle.history.growth import Counts, Growth, Interval, Reckoning
from checks.lab.oracle.history.plan import HistoryPlan
from checks.lab.oracle.history.recipes import (
    CLIENTS,
    DEVICE,
    EVENTS,
    MESSAGES,
    PINGS,
    STATISTICS,
    TRANSFERS,
    Recipe,
    amount,
)


class Truth:
    """The truth about the last `days` days of a plan, as AWR or as Statspack has it."""

    def __init__(self, plan: HistoryPlan, days: float, source: Literal["AWR", "Statspack"] = "AWR") -> None:
        self._counted = Reckoning(plan, days, source)
        self.snapshots = self._counted.snapshots

    def intervals(self, instance: int) -> list[Interval]:
        """The intervals of an instance that count."""
        return self._counted.intervals(instance)

    def span(self) -> tuple[datetime, datetime]:
        """From the begin of the first interval that counts to the end of the last."""
        return self._counted.span()

    @cached_property
    def _growth(self) -> dict[int, Growth]:
        return {i: self._counted.grown(i, totals) for i, totals in self._counted.totals.items()}

    @cached_property
    def _growth_of_pairs(self) -> dict[tuple[int, int], Growth]:
        return {
            (i, other): self._counted.grown(i, totals) for (i, other), totals in sorted(self._counted.pairs.items())
        }

    def instances(self) -> tuple[InstanceHistory, ...]:
        """Of all instances with a snapshot in the range."""
        every = {k for i in self._counted.plan.numbers for k in self._counted.shown[i]}
        found = []
        for instance, name, host in sorted(self._counted.plan.instances):
            if not self._counted.shown[instance]:
                continue
            intervals = self._counted.intervals(instance)
            growth = self._growth[instance]
            counted = set(self._counted.counts_from[instance])
            restarts = [
                b
                for a, b in pairwise(self._counted.read[instance])
                if b in counted and self._counted.run(instance, a) != self._counted.run(instance, b)
            ]
            found.append(
                InstanceHistory(
                    instance=instance,
                    name=name,
                    host=host,
                    seconds=sum(((i.end - i.begin) for i in intervals), timedelta()).total_seconds(),
                    intervals=len(intervals),
                    restarts=len(restarts),
                    missing_snapshots=len(every) - len(self._counted.shown[instance])
                    if self._counted.source == "AWR"
                    else 0,
                    statistics=dict(sorted(_named(growth, STATISTICS))),
                    messages=dict(sorted(_named(growth, MESSAGES))),
                    events=dict(sorted(self._events(instance))),
                )
            )
        return tuple(found)

    def _events(self, instance: int) -> Iterator[tuple[str, tuple[int, int]]]:
        """An event has a row from its first wait on; it counts from zero where others had rows before it."""
        totals = self._counted.totals[instance]
        cluster = [event for event in EVENTS if event.wait_class == "Cluster"]
        intervals = {interval.after for interval in self._counted.intervals(instance)}
        for event in cluster:
            waits = time_us = 0
            base: tuple[int, int] | None = None
            run = -1
            for k in self._counted.read[instance]:
                if run != self._counted.run(instance, k):
                    run, base = self._counted.run(instance, k), None
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
        begin, end = self._counted.span()
        midnight = datetime.combine(begin.date(), datetime.min.time())
        origin = midnight + (begin - midnight) // part * part
        found = []
        for instance in sorted(self._counted.plan.numbers):
            by_part: dict[int, list[Interval]] = {}
            for interval in self._counted.intervals(instance):
                middle = ((interval.begin - origin) * 2 + (interval.end - interval.begin)) // (2 * part)
                by_part.setdefault(middle, []).append(interval)
            for number, intervals in sorted(by_part.items()):
                sums = dict(
                    _named(self._counted.grown(instance, self._counted.totals[instance], intervals), STATISTICS)
                )
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

    def losses(self) -> tuple[LossHistory, ...]:
        """Of the instances that lost blocks."""
        found = []
        for instance in sorted(self._counted.plan.numbers):
            totals = self._counted.totals[instance]
            lost = [(i, totals[i.after]["lost"] - totals[i.before]["lost"]) for i in self._counted.intervals(instance)]
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
            "cr_time_us": _over_classes("cr_block_time"),
            "current_time_us": _over_classes("current_block_time"),
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
        for (here, there), growth in self._growth_of_pairs.items():
            if _has_row(growth, recipes):
                yield here, there, growth

    def clients(self) -> tuple[ClientTraffic, ...]:
        """Of each instance."""
        found = []
        for instance in sorted(self._counted.plan.numbers):
            growth = self._growth[instance]
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
        for instance in sorted(self._counted.plan.numbers):
            shown = self._counted.shown[instance]
            if not shown:
                continue
            totals = self._counted.node_totals(instance)
            ends, counted = self._counted.ends[instance], set(self._counted.counts_from[instance])
            read = [Interval(a, b, ends[a], ends[b]) for a, b in pairwise(self._counted.read[instance]) if b in counted]
            growth = self._counted.grown(instance, totals, read)
            mtus = list(dict.fromkeys(self._counted.plan.mtu_of(instance, k) for k in reversed(shown)))
            for place, (name, network) in enumerate(self._counted.plan.devices):
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
