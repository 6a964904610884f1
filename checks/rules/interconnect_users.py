"""The users of the interconnect of one instance in an interval: blocks (`cache`), messages of GCS and GES (`dlm`),
parallel query (`ipq`) and others, each with its messages and bytes.

The bytes are those of X$KSXPCLIENT where a DBA has created the view for it, else an estimate as AWR makes it ("Estd
Interconnect traffic"): blocks of the block size, and messages of 200 bytes. The messages of parallel query have any
size up to parallel_execution_message_size, so nothing estimates their bytes. The messages of the three are counted
by V$SYSSTAT and V$DLM_MISC, which every user of `racwire grants` reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from checks.model.interconnect_load import ClientRates
from checks.rules import cache_fusion
from checks.rules.cache_fusion import MESSAGE_BYTES, PX_RECEIVED, PX_SENT, Statistics

CACHE, DLM, IPQ = cache_fusion.USERS
_COUNTER = re.compile(r"interconnect bytes_(sent|received) by (.+)", re.DOTALL)

Bytes = Mapping[str, tuple[int, int]]
"""The bytes that each user sent and received, as the instance counted them."""


def users_of(
    instance: str,
    statistics: Statistics,
    messages: Statistics,
    seconds: float,
    *,
    block_bytes: int | None,
    counted: Bytes | None = None,
) -> tuple[ClientRates, ...]:
    """Return the users of an instance, most bytes first; those of which nothing is known are left out.

    `statistics` and `messages` are differences of GV$SYSSTAT and GV$DLM_MISC over `seconds` seconds, `block_bytes` is
    db_block_size, None where it is not known. `counted` has the bytes that the instance counted itself; None or empty:
    they are estimated.
    """

    def rate(count: int | None) -> float | None:
        return cache_fusion.per_second(count, seconds)

    exchanged: dict[str, tuple[int | None, int | None]] = {
        CACHE: (cache_fusion.served(statistics), cache_fusion.received(statistics)),
        DLM: (cache_fusion.messages_sent(statistics), cache_fusion.messages_received(messages)),
        IPQ: (statistics.get(PX_SENT), statistics.get(PX_RECEIVED)),
    }
    sizes = {CACHE: block_bytes, DLM: MESSAGE_BYTES, IPQ: None}
    found = []
    for user in dict.fromkeys([*exchanged, *(counted or ())]):
        sent, received = exchanged.get(user, (None, None))
        size = sizes.get(user)
        if counted:
            bytes_sent, bytes_received = counted.get(user, (None, None))
        else:
            bytes_sent, bytes_received = (_times(count, size) for count in (sent, received))
        made = ClientRates(
            instance, user, rate(bytes_sent), rate(bytes_received), rate(sent), rate(received), is_estimate=not counted
        )
        if any(value is not None for value in (made.sent, made.received, made.messages_sent, made.messages_received)):
            found.append(made)
    return in_order(found)


def in_order(users: Iterable[ClientRates]) -> tuple[ClientRates, ...]:
    """Return users by instance, most bytes first."""
    return tuple(sorted(users, key=lambda user: (user.instance, -(user.bytes_per_s or 0.0), user.client)))


def counted_bytes(messages: Statistics) -> Bytes:
    """Return the bytes of each user in a sample of an instance; empty where the instance's view was not read."""
    found: dict[str, dict[str, int]] = {}
    for name, value in messages.items():
        if way := _COUNTER.fullmatch(name):
            found.setdefault(way[2], {})[way[1]] = value
    return {user: (ways["sent"], ways["received"]) for user, ways in found.items() if len(ways) == 2}


def shares(users: Iterable[ClientRates]) -> dict[tuple[str, str], float]:
    """Return by instance and user the percentage of the known bytes of that instance; without users whose bytes are not
    known, and without instances that sent and received nothing."""
    known = [(user, user.bytes_per_s) for user in users]
    totals: dict[str, float] = {}
    for user, value in known:
        totals[user.instance] = totals.get(user.instance, 0.0) + (value or 0.0)
    return {
        (user.instance, user.client): 100 * value / totals[user.instance]
        for user, value in known
        if value is not None and 0 < totals[user.instance] < float("inf")
    }


def _times(count: int | None, size: int | None) -> int | None:
    return None if count is None or size is None else count * size
