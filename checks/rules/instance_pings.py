"""Rules for the instances' own pings of 500 bytes and 8 KB: how long they take, and whether 8 KB get an answer.

Common tools call over 1 ms bad and over 10 ms severe.
"""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.facts import InstancePing, Thresholds
from checks.model.finding import Status

_LEAST_GAP_US = 100.0
"""The smallest gap for which a ratio is judged: 8 KB take 66 us on 1 Gbit/s without any fault. Ours."""


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


def judge_ping(ping: InstancePing, limits: Thresholds) -> PingVerdict:
    """Judge one pair: 8 KB without an answer are a failure; long times, or much longer times of 8 KB, are a fault."""
    if max(ping.count_500b, ping.count_8k) < limits.few_pings:
        return PingVerdict(None)
    missing, slow = ping.count_8k <= 0, worst_ms(ping) > limits.ping_warn_ms
    both = min(ping.count_500b, ping.count_8k) >= limits.few_pings
    larger = both and not slow and _is_larger_slower(ping, limits)
    if missing or worst_ms(ping) > limits.ping_fail_ms:
        status = Status.FAIL
    else:
        status = Status.WARN if slow or larger else Status.PASS
    return PingVerdict(status, missing, slow, larger)


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
    """Return the number of pings of a pair from which their average is judged."""
    return limits.few_pings
