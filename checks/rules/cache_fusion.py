"""The Cache Fusion formulas of AWR and Statspack on differences between two samples or snapshots.

`statistics` are differences of GV$SYSSTAT by name (or DBA_HIST_SYSSTAT, STATS$SYSSTAT), `messages` are differences of
GV$DLM_MISC. Statistics named `... time` are in centiseconds in every release, whatever unit a report prints, so an
average in milliseconds is 10 * time / blocks (the RAC section of Statspack's sprepins.sql; AWR computes the same).

A formula returns None where one of its figures is missing or the divisor is 0. It never returns 0 in that case, since 0
would look like a measurement. Results are the float nearest to the exact quotient.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

MESSAGE_BYTES = 200
"""The average size of a GCS or GES message that AWR and Statspack assume."""

BLOCKS_LOST = "gc blocks lost"
CR_RECEIVED = "gc cr blocks received"
CURRENT_RECEIVED = "gc current blocks received"
CR_SERVED = "gc cr blocks served"
CURRENT_SERVED = "gc current blocks served"
REMOTE_GRANTS = "gc remote grants"
DB_TIME = "DB time"
"""The time of sessions in database calls, working or waiting, without background processes."""
CLUSTER_WAIT = "cluster wait time"
COMMITS, ROLLBACKS = "user commits", "user rollbacks"
"""The transactions of AWR and Statspack are the sum of both."""
USER_IO_WAIT = "user I/O wait time"
PX_SENT = "PX remote messages sent"
PX_RECEIVED = "PX remote messages recv'd"
SCANNED = "table scan blocks gotten"

USERS = ("cache", "dlm", "ipq")
"""The users of the interconnect with most traffic: blocks, messages, parallel query."""

_MS_PER_CENTISECOND = 10

Statistics = Mapping[str, int]


def lost(statistics: Statistics) -> int | None:
    """Return the number of blocks that were sent to this instance and did not arrive in time."""
    return statistics.get(BLOCKS_LOST)


def received(statistics: Statistics) -> int | None:
    """Return the number of blocks received from other instances, consistent-read and current."""
    return _sum(statistics, CR_RECEIVED, CURRENT_RECEIVED)


def due(statistics: Statistics) -> int | None:
    """Return the number of blocks sent to this instance, received or lost.

    It is the base of the share of lost blocks, so that the share is never over 100 %. AWR and Statspack have no such
    figure; the base is ours.
    """
    return _plus(received(statistics), lost(statistics))


def served(statistics: Statistics) -> int | None:
    """Return the number of blocks sent to other instances, consistent-read and current."""
    return _sum(statistics, CR_SERVED, CURRENT_SERVED)


def messages_received(messages: Statistics) -> int | None:
    """Return the number of GCS and GES messages received."""
    return _sum(messages, "gcs msgs received", "ges msgs received")


def messages_sent(statistics: Statistics) -> int | None:
    """Return the number of GCS and GES messages sent; the database counts only these in SYSSTAT."""
    return _sum(statistics, "gcs messages sent", "ges messages sent")


def user_counter(user: str, column: str) -> str:
    """Return the name in samples of the bytes of a user of the interconnect: `interconnect bytes_sent by cache`."""
    return f"interconnect {column} by {user}"


def per_second(count: int | None, seconds: float) -> float | None:
    """Return the rate per second."""
    return _quotient(count, seconds)


def estimated_traffic_kb_per_s(
    statistics: Statistics, messages: Statistics, block_size_bytes: int | None, seconds: float
) -> float | None:
    """Return AWR's "Estd Interconnect traffic (KB)" per second: blocks both ways, and messages of 200 bytes."""
    blocks = _plus(received(statistics), served(statistics))
    exchanged = _plus(messages_received(messages), messages_sent(statistics))
    if blocks is None or exchanged is None or block_size_bytes is None:
        return None
    return _quotient(blocks * block_size_bytes + exchanged * MESSAGE_BYTES, 1024 * seconds)


def average_cr_receive_ms(statistics: Statistics) -> float | None:
    """Return the average time from the request to the arrival of a consistent-read block."""
    return _average_ms(statistics, "gc cr block receive time", statistics.get(CR_RECEIVED))


def average_current_receive_ms(statistics: Statistics) -> float | None:
    """Return the average time from the request to the arrival of a current block."""
    return _average_ms(statistics, "gc current block receive time", statistics.get(CURRENT_RECEIVED))


def least_average_ms(blocks: int | None) -> float | None:
    """Return the smallest average above 0 over that many blocks: the database counts in hundredths of a second."""
    return _quotient(_MS_PER_CENTISECOND, blocks)


def average_cr_build_ms(statistics: Statistics) -> float | None:
    """Return the average time to build a consistent-read block for another instance."""
    return _average_ms(statistics, "gc cr block build time", statistics.get(CR_SERVED))


def average_cr_send_ms(statistics: Statistics) -> float | None:
    """Return the average time to pass a consistent-read block to the network."""
    return _average_ms(statistics, "gc cr block send time", statistics.get(CR_SERVED))


def average_cr_flush_ms(statistics: Statistics, cr_flushes: int | None) -> float | None:
    """Return the average time of a log flush before a consistent-read block was served.

    `cr_flushes` is the difference of CR_BLOCK_SERVER.FLUSHES.
    """
    return _average_ms(statistics, "gc cr block flush time", cr_flushes)


def cr_log_flush_percent(statistics: Statistics, cr_flushes: int | None) -> float | None:
    """Return the percentage of consistent-read blocks served that waited for a log flush."""
    return _quotient(_times(100, cr_flushes), statistics.get(CR_SERVED))


def average_current_pin_ms(statistics: Statistics) -> float | None:
    """Return the average time that a current block was pinned before it was served."""
    return _average_ms(statistics, "gc current block pin time", statistics.get(CURRENT_SERVED))


def average_current_send_ms(statistics: Statistics) -> float | None:
    """Return the average time to pass a current block to the network."""
    return _average_ms(statistics, "gc current block send time", statistics.get(CURRENT_SERVED))


def average_current_flush_ms(statistics: Statistics, current_flushes: int | None) -> float | None:
    """Return the average time of a log flush before a current block was served.

    `current_flushes` is the difference of the FLUSH columns of CURRENT_BLOCK_SERVER.
    """
    return _average_ms(statistics, "gc current block flush time", current_flushes)


def current_log_flush_percent(statistics: Statistics, current_flushes: int | None) -> float | None:
    """Return the percentage of current blocks served that waited for a log flush."""
    return _quotient(_times(100, current_flushes), statistics.get(CURRENT_SERVED))


def remote_cache_percent(statistics: Statistics) -> float | None:
    """Return the percentage of requested buffers that came from another instance's cache."""
    return _quotient(_times(100, received(statistics)), _gets(statistics))


def disk_percent(statistics: Statistics) -> float | None:
    """Return the percentage of requested buffers that were read from disk."""
    return _quotient(_times(100, statistics.get("physical reads cache")), _gets(statistics))


def local_cache_percent(statistics: Statistics) -> float | None:
    """Return the percentage of requested buffers that were in the instance's own cache."""
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
    """Return the quotient, rounded once; None without a positive divisor, or where it is too large for a float: a
    recording can contain any figures."""
    if dividend is None or divisor is None or not divisor > 0:
        return None
    try:
        return float(Fraction(dividend) / Fraction(divisor))
    except OverflowError:
        return None
