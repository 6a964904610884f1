"""The rows of the V$ views about the interconnect: transfers, pings, blocks served, and the interfaces in use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from racwire_lab.database.live import KIND_OF_BLOCK, InstanceState, Transfer
from racwire_lab.oracle_sql.identity import DatabaseIdentity

Row = dict[str, Any]
"""The columns of a row by name; missing columns are NULL."""


def transfers(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    """The blocks received from each instance, by kind."""
    for sender, transfer in state.transfers.items():
        for kind in KIND_OF_BLOCK:
            of_kind = transfer if kind == KIND_OF_BLOCK[0] else Transfer()
            yield {
                "INSTANCE": int(sender),
                "CLASS": kind,
                "LOST": of_kind.lost,
                "LOST_TIME": of_kind.lost_time,
                "CR_BLOCK": of_kind.cr_block,
                "CR_BLOCK_TIME": of_kind.cr_block_time,
                "CURRENT_BLOCK": of_kind.current_block,
                "CURRENT_BLOCK_TIME": of_kind.current_block_time,
                "CR_2HOP": of_kind.cr_block,
                "CR_2HOP_TIME": of_kind.cr_block_time,
                "CURRENT_2HOP": of_kind.current_block,
                "CURRENT_2HOP_TIME": of_kind.current_block_time,
            }


def pings(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    """The pings to each instance."""
    for target, ping in sorted(state.pings.items(), key=lambda item: int(item[0])):
        yield {
            "INSTANCE": int(target),
            "CURRENT_500B": ping.current_500b,
            "AVERAGE_500B": ping.wait_time_500b // ping.count_500b if ping.count_500b else 0,
            "MAX_500B": ping.max_500b,
            "COUNT_500B": ping.count_500b,
            "WAIT_TIME_500B": ping.wait_time_500b,
            "WAIT_TIME_SQUARED_500B": _squared(ping.wait_time_500b, ping.count_500b),
            "CURRENT_8K": ping.current_8k,
            "AVERAGE_8K": ping.wait_time_8k // ping.count_8k if ping.count_8k else 0,
            "MAX_8K": ping.max_8k,
            "COUNT_8K": ping.count_8k,
            "WAIT_TIME_8K": ping.wait_time_8k,
            "WAIT_TIME_SQUARED_8K": _squared(ping.wait_time_8k, ping.count_8k),
        }
    for number in (state.instance, *state.peers):  # the view lists all instances, also before their first ping
        if str(number) not in state.pings:
            yield {"INSTANCE": number}


def _squared(total_us: int, count: int) -> int:
    """The sum of squares, in µs²/1000, of waits that all had the average length."""
    return total_us * total_us // count // 1000 if count else 0


def cr_server(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    """The consistent read blocks served."""
    served = state.statistics.get("gc cr blocks served", 0)
    yield {
        "CR_REQUESTS": served,
        "DATA_REQUESTS": served,
        "PRIVATE_RESULTS": served,
        "FLUSHES": state.cr_flushes,
    }


def current_server(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    """The current blocks served."""
    served = state.statistics.get("gc current blocks served", 0)
    yield {"PIN1": served, "FLUSH1": state.current_flushes}


def interconnects(state: InstanceState, database: DatabaseIdentity) -> Iterator[Row]:
    """The interfaces in use."""
    for used in state.interconnects:
        yield {
            "NAME": used.name,
            "IP_ADDRESS": used.ip_address,
            "IS_PUBLIC": used.is_public,
            "SOURCE": used.source,
            "PNAME": used.name.partition(":")[0],
            "TRANSPORT": "UDP",
        }
