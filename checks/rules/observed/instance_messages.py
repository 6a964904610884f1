"""The pings of the instances as observations: messages of 500 bytes and of 8 KB, there and back.

GV$INSTANCE_PING counts a ping when its answer arrives, and does not say how large the answer is.
"""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.facts import Cluster, InstancePing, Thresholds
from checks.model.observation import Fate, Observation
from checks.model.traffic import Traffic
from checks.rules.instance_pings import is_slow, pings_due
from checks.rules.observed.database_ways import DatabaseWays, that_passed

MESSAGE = "message"
_SMALL_BYTES, _LARGE_BYTES = 500, 8192


def messages_late(cluster: Cluster, pings: Sequence[InstancePing], limits: Thresholds) -> tuple[Observation, ...]:
    """Return pings of which a size took long, or 8 KB much longer than 500 bytes; those of the other size passed."""
    ways = DatabaseWays(cluster)
    found = []
    for ping in pings:
        is_small_late = is_slow(ping.average_500b_us, limits)
        is_large_late = is_slow(ping.average_8k_us, limits) or not is_small_late
        for size, number, is_late in (
            (_LARGE_BYTES, ping.count_8k, is_large_late),
            (_SMALL_BYTES, ping.count_500b, is_small_late),
        ):
            if is_late and number > 0:
                found.append(_message(ways, ping, Fate.DELAYED, size, number, number))
            elif passed := _passed(ways, ping, size, number):
                found.append(passed)
    return tuple(found)


def large_messages_lost(cluster: Cluster, pings: Sequence[InstancePing]) -> tuple[Observation, ...]:
    """Return pings of which no answer came to 8 KB: as many as were answered of 500 bytes, which passed."""
    ways = DatabaseWays(cluster)
    found = []
    for ping in pings:
        number = ping.count_500b
        found.append(_message(ways, ping, Fate.LOST, _LARGE_BYTES, number, number))
        if passed := _passed(ways, ping, _SMALL_BYTES, number):
            found.append(passed)
    return tuple(found)


def messages_lost(cluster: Cluster, pings: Sequence[InstancePing], seconds: float) -> tuple[Observation, ...]:
    """Return the pings of pairs that exchanged none: as many as were due in each direction, of both sizes."""
    ways, due = DatabaseWays(cluster), pings_due(seconds)
    return tuple(
        _message(ways, one, Fate.LOST, size, due, due)
        for ping in pings
        for one in (ping, _reverse(ping))
        for size in (_SMALL_BYTES, _LARGE_BYTES)
    )


def messages_passed(cluster: Cluster, pings: Sequence[InstancePing]) -> tuple[Observation, ...]:
    """Return pings that were answered, of both sizes."""
    ways = DatabaseWays(cluster)
    return tuple(
        passed
        for ping in pings
        for size, number in ((_SMALL_BYTES, ping.count_500b), (_LARGE_BYTES, ping.count_8k))
        if (passed := _passed(ways, ping, size, number))
    )


def _passed(ways: DatabaseWays, ping: InstancePing, size: int, number: int) -> Observation | None:
    there, back = _there(ways, ping, size), _back(ways, ping, size)
    legs = (*that_passed(there), *that_passed(back))
    if number <= 0 or not legs:
        return None
    return Observation(fate=Fate.PASSED, what=MESSAGE, legs=legs, number=number, of=number)


def _message(ways: DatabaseWays, ping: InstancePing, fate: Fate, size: int, number: int, of: int) -> Observation:
    legs = (*_there(ways, ping, size), *_back(ways, ping, size))
    return Observation(fate=fate, what=MESSAGE, legs=legs, number=number, of=of)


def _there(ways: DatabaseWays, ping: InstancePing, size: int) -> tuple[Traffic, ...]:
    sender, receiver = ways.node(ping.instance), ways.node(ping.target)
    return ways.packets(sender, receiver, size)


def _back(ways: DatabaseWays, ping: InstancePing, size: int) -> tuple[Traffic, ...]:
    sender, receiver = ways.node(ping.instance), ways.node(ping.target)
    return ways.packets(receiver, sender, size) if size == _SMALL_BYTES else ways.any_size(receiver, sender)


def _reverse(ping: InstancePing) -> InstancePing:
    return InstancePing(ping.target, ping.instance, 0, 0, 0, 0)
