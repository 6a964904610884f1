"""The formulas of Cache Fusion on differences between two samples or snapshots: those of AWR and Statspack.

`statistics` are differences of GV$SYSSTAT by name (or DBA_HIST_SYSSTAT, STATS$SYSSTAT), `messages` those of
GV$DLM_MISC. Statistics named `... time` are in centiseconds in every release, whatever a report prints beside them, so
an average in milliseconds is 10 * time / blocks (the RAC section of Statspack's sprepins.sql; AWR computes the same).

A formula gives None where one of its figures is missing or nothing is there to divide by: never 0, which would say
that it was measured. Results are the float nearest to the exact quotient.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

MESSAGE_BYTES = 200
"""What AWR and Statspack take a GCS or GES message to be on average."""

BLOCKS_LOST = "gc blocks lost"
CR_RECEIVED = "gc cr blocks received"
CURRENT_RECEIVED = "gc current blocks received"
CR_SERVED = "gc cr blocks served"
CURRENT_SERVED = "gc current blocks served"

_MS_PER_CENTISECOND = 10

Statistics = Mapping[str, int]


def lost(statistics: Statistics) -> int | None:
    """Blocks that were sent to this instance and never arrived in time."""
    return statistics.get(BLOCKS_LOST)


def received(statistics: Statistics) -> int | None:
    """Blocks received from other instances, consistent-read and current."""
    return _sum(statistics, CR_RECEIVED, CURRENT_RECEIVED)


def due(statistics: Statistics) -> int | None:
    """Blocks that were sent to this instance: they came, or were lost. What a share of lost blocks is a share of, so
    that it is never over 100 %. AWR and Statspack have no such figure; the base is ours."""
    return _plus(received(statistics), lost(statistics))


def served(statistics: Statistics) -> int | None:
    """Blocks sent to other instances, consistent-read and current."""
    return _sum(statistics, CR_SERVED, CURRENT_SERVED)


def messages_received(messages: Statistics) -> int | None:
    """GCS and GES messages received."""
    return _sum(messages, "gcs msgs received", "ges msgs received")


def messages_sent(statistics: Statistics) -> int | None:
    """GCS and GES messages sent; the database counts them in SYSSTAT, unlike those received."""
    return _sum(statistics, "gcs messages sent", "ges messages sent")


def per_second(count: int | None, seconds: float) -> float | None:
    """So many in each second."""
    return _quotient(count, seconds)


def estimated_traffic_kb_per_s(
    statistics: Statistics, messages: Statistics, block_size_bytes: int | None, seconds: float
) -> float | None:
    """AWR's "Estd Interconnect traffic (KB)": whole blocks both ways and messages of 200 bytes, in each second."""
    blocks = _plus(received(statistics), served(statistics))
    exchanged = _plus(messages_received(messages), messages_sent(statistics))
    if blocks is None or exchanged is None or block_size_bytes is None:
        return None
    return _quotient(blocks * block_size_bytes + exchanged * MESSAGE_BYTES, 1024 * seconds)


def average_cr_receive_ms(statistics: Statistics) -> float | None:
    """How long a consistent-read block took to come, from the request on."""
    return _average_ms(statistics, "gc cr block receive time", statistics.get(CR_RECEIVED))


def average_current_receive_ms(statistics: Statistics) -> float | None:
    """How long a current block took to come, from the request on."""
    return _average_ms(statistics, "gc current block receive time", statistics.get(CURRENT_RECEIVED))


def least_average_ms(blocks: int | None) -> float | None:
    """What an average over so many blocks is at least, where it is counted at all: the database counts in hundredths of
    a second, and a time of 0 is only less than one of them."""
    return _quotient(_MS_PER_CENTISECOND, blocks)


def average_cr_build_ms(statistics: Statistics) -> float | None:
    """How long building a consistent-read block for another instance took."""
    return _average_ms(statistics, "gc cr block build time", statistics.get(CR_SERVED))


def average_cr_send_ms(statistics: Statistics) -> float | None:
    """How long handing a consistent-read block to the network took."""
    return _average_ms(statistics, "gc cr block send time", statistics.get(CR_SERVED))


def average_cr_flush_ms(statistics: Statistics, cr_flushes: int | None) -> float | None:
    """How long a log flush before serving a consistent-read block took; flushes from CR_BLOCK_SERVER.FLUSHES."""
    return _average_ms(statistics, "gc cr block flush time", cr_flushes)


def cr_log_flush_percent(statistics: Statistics, cr_flushes: int | None) -> float | None:
    """Consistent-read blocks served that had to wait for a log flush, of a hundred."""
    return _quotient(_times(100, cr_flushes), statistics.get(CR_SERVED))


def average_current_pin_ms(statistics: Statistics) -> float | None:
    """How long a current block was pinned before it could be served."""
    return _average_ms(statistics, "gc current block pin time", statistics.get(CURRENT_SERVED))


def average_current_send_ms(statistics: Statistics) -> float | None:
    """How long handing a current block to the network took."""
    return _average_ms(statistics, "gc current block send time", statistics.get(CURRENT_SERVED))


def average_current_flush_ms(statistics: Statistics, current_flushes: int | None) -> float | None:
    """How long a log flush before serving a current block took; flushes from CURRENT_BLOCK_SERVER's FLUSH columns."""
    return _average_ms(statistics, "gc current block flush time", current_flushes)


def current_log_flush_percent(statistics: Statistics, current_flushes: int | None) -> float | None:
    """Current blocks served that had to wait for a log flush, of a hundred."""
    return _quotient(_times(100, current_flushes), statistics.get(CURRENT_SERVED))


def remote_cache_percent(statistics: Statistics) -> float | None:
    """Buffers that came from another instance's cache, of a hundred asked for."""
    return _quotient(_times(100, received(statistics)), _gets(statistics))


def disk_percent(statistics: Statistics) -> float | None:
    """Buffers that were read from disk, of a hundred asked for."""
    return _quotient(_times(100, statistics.get("physical reads cache")), _gets(statistics))


def local_cache_percent(statistics: Statistics) -> float | None:
    """Buffers that were in the instance's own cache, of a hundred asked for."""
    gets = _gets(statistics)
    elsewhere = _plus(received(statistics), statistics.get("physical reads cache"))
    return None if gets is None or elsewhere is None else _quotient(100 * (gets - elsewhere), gets)


def _gets(statistics: Statistics) -> int | None:
    return _sum(statistics, "consistent gets from cache", "db block gets from cache")


def _average_ms(statistics: Statistics, time: str, blocks: int | None) -> float | None:
    return _quotient(_times(_MS_PER_CENTISECOND, statistics.get(time)), blocks)


def _sum(counts: Statistics, *names: str) -> int | None:
    return sum(counts[name] for name in names) if all(name in counts for name in names) else None


def _plus(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left + right


def _times(factor: int, count: int | None) -> int | None:
    return None if count is None else factor * count


def _quotient(dividend: int | None, divisor: float | None) -> float | None:
    """Rounded once, at the end; None without a positive divisor, or where it is too large for a number that means
    something: a recording can hold any figures."""
    if dividend is None or divisor is None or not divisor > 0:
        return None
    try:
        return float(Fraction(dividend) / Fraction(divisor))
    except OverflowError:
        return None
