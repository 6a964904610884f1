"""Samples what is counted at a slower interval: lost blocks by receiver and sender, instances' pings, services."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from checks.model.facts import BlockTransfer, InstancePing, ServiceActivity
from checks.sources.database.deltas import Counters, Key, Pair, difference, pairs_of, services_of, shortage
from checks.sources.database.errors import DatabaseError
from checks.sources.database.instance_views import InstanceViews, is_fatal
from checks.sources.database.sampling import counters_in
from checks.sources.database.statements import statement
from checks.traffic.samples import Event, Gap, PairsSample
from checks.traffic.source_id import PAIRS

_TRANSFERS, _PINGS = PAIR_STATEMENTS = ("cache_transfer", "instance_ping")
"""The statements about pairs of instances."""
_SERVICES = "service_stats"

Up = Mapping[int, tuple[str, Mapping[Key, int]]]
"""The name and the statistics of each instance that answers, by number."""


class PairsSampler:
    """Samples of pairs of instances, at a slower interval: these queries are bigger, and their results change less."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._before: tuple[float, dict[str, Counters]] | None = None
        self._were_up: Up = {}
        self._queried_s = float("-inf")

    def is_due(self, interval_s: float, tick_s: float) -> bool:
        """Whether the pairs are queried at this tick, the nearest one to their own interval."""
        return time.monotonic() - self._queried_s >= interval_s - tick_s / 2

    async def take(self, views: InstanceViews, up: Up) -> None:
        """Query once, and emit the counts since the last query. Raises DatabaseError where no more queries work."""
        self._queried_s = time.monotonic()
        counts: dict[str, Counters] = {}
        unread: dict[str, str] = {}
        for name in (*PAIR_STATEMENTS, _SERVICES):
            query = statement(name)
            try:
                counts[name] = counters_in(await views.rows(query), name)
            except DatabaseError as error:
                if is_fatal(error):
                    raise
                unread[query.reads[0]] = str(error)
        clock_s, at = views.answered_s, time.time()
        before, self._before = self._before, (clock_s, counts)
        were_up, self._were_up = self._were_up, up
        if not counts:
            self._emit(Gap(PAIRS, at, " ".join(dict.fromkeys(unread.values()))))
        elif before is not None:
            then_s, earlier = before
            unread |= _shortages(earlier, counts, {number: up[number] for number in sorted(were_up.keys() & up.keys())})
            self._emit(
                PairsSample(
                    at=at,
                    seconds=clock_s - then_s,
                    transfers=pairs_between(earlier, counts, _TRANSFERS, BlockTransfer),
                    pings=pairs_between(earlier, counts, _PINGS, InstancePing),
                    unread=unread,
                    services=_services_between(earlier, counts),
                )
            )


def pairs_between(
    before: Mapping[str, Counters], after: Mapping[str, Counters], name: str, kind: type[Pair]
) -> tuple[Pair, ...]:
    """Return the counts of each pair between two answers to the statement `name`. A pair that is only in the second
    answer started at 0 if its counting instance is in both: the view lists only pairs with counts."""
    earlier, counts = before.get(name, {}), after.get(name, {})
    return tuple(
        pair
        for number in sorted(earlier.keys() & counts.keys())
        for pair in pairs_of(kind, number, difference(earlier[number], counts[number], absent_is_zero=True).grown)
    )


def _services_between(before: Mapping[str, Counters], after: Mapping[str, Counters]) -> tuple[ServiceActivity, ...]:
    """Return the work between two answers of the services that have worked since the start of their instance."""
    earlier, counts = before.get(_SERVICES, {}), after.get(_SERVICES, {})
    return tuple(
        service
        for number in sorted(earlier.keys() & counts.keys())
        for service in services_of(number, difference(earlier[number], counts[number], absent_is_zero=True).grown)
        if counts[number].get((service.service, "DB time"))
    )


def _shortages(before: Mapping[str, Counters], after: Mapping[str, Counters], up: Up) -> dict[str, str]:
    """Return by view which instances did not answer its query in both samples although they answered others."""
    found: dict[str, list[str]] = {}
    for name in (before.keys() & after.keys()).intersection(PAIR_STATEMENTS):
        view = statement(name).reads[0]
        for number, (instance, statistics) in up.items():
            if why := shortage(instance, view, number, before[name], after[name], statistics):
                found.setdefault(view, []).append(why)
    return {view: " ".join(reasons) for view, reasons in sorted(found.items())}
