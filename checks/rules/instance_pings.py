"""Rules for the instances' own pings of 500 bytes and 8 KB: how long they take, and whether 8 KB get an answer.

Common tools call over 1 ms bad and over 10 ms severe. A real instance pings each other instance about every 12 s, with
both sizes (AWR reports show some 300 pings an hour): two or three of each size in 30 s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from checks.model.facts import InstancePing, Thresholds
from checks.model.finding import Status

_LEAST_GAP_US = 100.0
"""The smallest gap for which a ratio is judged: 8 KB take 66 us on 1 Gbit/s without any fault. Ours."""

_PING_EVERY_S = 12.0
"""Seconds from one ping of a pair to the next of the same size, at the pace of real instances."""

_SURE_TO_PING_S = 30.0
"""Seconds in which every instance has pinged every other one at least once, at that pace."""


@dataclass(frozen=True)
class PingVerdict:
    """The verdict on the pings of one pair."""

    status: Status | None
    """None where too few pings were answered for a verdict."""
    is_missing: bool = False
    """Whether small pings got an answer and no ping of 8 KB did."""
    is_slow: bool = False
    is_larger_slower: bool = False
    """Whether 8 KB take much longer than 500 bytes, while neither is slow."""
    is_doubtful: bool = False
    """Whether the pings are too few for a verdict, and those few were slow or partly without an answer."""


def judge_ping(ping: InstancePing, limits: Thresholds) -> PingVerdict:
    """Judge one pair: 8 KB without an answer are a failure; long times, or much longer times of 8 KB, are a fault.

    A fault needs `few_pings` pings, because one late answer dominates the average of fewer. A late answer cannot make
    an average quick, so two thirds of `few_pings` of each size suffice for quick answers to pass.
    """
    most, fewest = max(ping.count_500b, ping.count_8k), min(ping.count_500b, ping.count_8k)
    missing, slow = ping.count_8k <= 0, worst_ms(ping) > limits.ping_warn_ms
    if most < limits.few_pings:
        enough_quick = math.ceil(limits.few_pings * 2 / 3)
        status = Status.PASS if fewest >= enough_quick and not slow else None
        return PingVerdict(status, is_doubtful=slow or (missing and most >= enough_quick))
    larger = fewest >= limits.few_pings and not slow and _is_larger_slower(ping, limits)
    is_failure = missing or worst_ms(ping) > limits.ping_fail_ms
    status = Status.FAIL if is_failure else Status.WARN if slow or larger else Status.PASS
    return PingVerdict(status, missing, slow, larger)


def is_sure_to_ping(seconds: float) -> bool:
    """Whether the interval is so long that instances without any ping in it have a fault."""
    return seconds >= _SURE_TO_PING_S


def pings_due(seconds: float) -> int:
    """Return the pings of one size that an instance sends another one in an interval, at that pace; at least one."""
    return max(1, int(seconds // _PING_EVERY_S))


def is_slow(average_us: float | None, limits: Thresholds) -> bool:
    """Whether pings of one size take long; those of a size that was not answered do not."""
    return (average_us or 0.0) / 1000 > limits.ping_warn_ms


def judged_from_s(limits: Thresholds) -> int:
    """Return the seconds of an interval, in whole tens, in which real instances send enough pings for every verdict."""
    return 10 * math.ceil(limits.few_pings * _PING_EVERY_S / 10)


def slow_status(ping: InstancePing, limits: Thresholds) -> Status:
    """Return the status of a slow ping."""
    return Status.FAIL if worst_ms(ping) > limits.ping_fail_ms else Status.WARN


def worst_ms(ping: InstancePing) -> float:
    """Return the longer of the two averages in milliseconds; 0 where none was answered."""
    return max(ping.average_500b_us or 0.0, ping.average_8k_us or 0.0) / 1000


def size_ratio(ping: InstancePing) -> float:
    """Return the time of 8 KB divided by the time of 500 bytes; 1 where one of the two was not sent."""
    small, large = ping.average_500b_us, ping.average_8k_us
    return large / small if small and large else 1.0


def _is_larger_slower(ping: InstancePing, limits: Thresholds) -> bool:
    gap_us = (ping.average_8k_us or 0.0) - (ping.average_500b_us or 0.0)
    return size_ratio(ping) > limits.ping_8k_warn_ratio and gap_us > _LEAST_GAP_US


def good_ms_text(limits: Thresholds) -> str:
    """Return the limit of a good ping, `1 ms`."""
    return f"{limits.ping_warn_ms:g} ms"


def good_ratio_text(limits: Thresholds) -> str:
    """Return `At most 3 times as long`."""
    return f"At most {limits.ping_8k_warn_ratio:g} times as long"


def enough_pings(limits: Thresholds) -> int:
    """Return the number of pings of a pair from which every average is judged; quick answers pass with fewer."""
    return limits.few_pings
