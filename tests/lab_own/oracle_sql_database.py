"""A practice database in memory for tests of SQL: two instances, no daemon, no network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pytest

from racwire_lab.database.backend import Caller, Cancellation, OracleError, Result
from racwire_lab.database.live import HistorySource, InstanceState, Interconnect, LiveDevice, Ping, Transfer, Waits
from racwire_lab.oracle_sql.engine import SqlEngine
from racwire_lab.oracle_sql.identity import Access, DatabaseIdentity

STARTED = 1_768_000_000.0
"""Start time of the instances, in seconds since the epoch."""


def instance_state(number: int, others: tuple[int, ...] = (1, 2), **changes: Any) -> InstanceState:
    """Return an instance that has exchanged some blocks with the others."""
    rest = [other for other in others if other != number]
    values: dict[str, Any] = {
        "instance": number,
        "name": f"lab{number}",
        "host": f"rac{number}",
        "startup_time": STARTED,
        "taken_at": STARTED + 3600,
        "statistics": {
            "gc blocks lost": 0,
            "gc cr blocks received": 1000 * number,
            "gc cr block receive time": 77 * number,
            "gc current blocks received": 500 * number,
            "gc cr blocks served": 900 * number,
            "gc current blocks served": 400 * number,
        },
        "events": {
            "gc cr block 2-way": Waits(1000, 400_000, histogram={"256": 600, "512": 390, "4096": 10}),
            "gc cr block lost": Waits(),
            "db file sequential read": Waits(5, 5000, "User I/O"),
        },
        "peers": list(rest),
        "messages": {"gcs msgs received": 4000, "ges msgs received": 300},
        "transfers": {str(other): Transfer(cr_block=1000, cr_block_time=400_000) for other in rest},
        "pings": {
            str(other): Ping(count_500b=10, wait_time_500b=1500, count_8k=10, wait_time_8k=2500) for other in rest
        },
        "interconnects": [Interconnect("eth1:1", f"169.254.1.{number}"), Interconnect("eth2", f"10.0.2.{number}")],
        "devices": [LiveDevice("eth1", f"10.0.1.{number}", "255.255.255.0", 9000)],
        "clients": {"cache": (100, 200), "dlm": (10, 20), "ipq": (0, 0)},
        "parameters": {
            "cluster_database": "TRUE",
            "cluster_interconnects": "",
            "control_management_pack_access": "DIAGNOSTIC+TUNING",
            "db_block_size": "8192",
        },
        "cr_flushes": 7,
        "current_flushes": 9,
    }
    return InstanceState(**(values | changes))


class Instances:
    """A live source that returns the specified states."""

    def __init__(self, *states: InstanceState, here: int = 1) -> None:
        self.all = states or (instance_state(1), instance_state(2))
        self.here = here

    def states(self, scope: Literal["here", "everywhere"], cancellation: Cancellation) -> tuple[InstanceState, ...]:
        """Return the states as the daemons would."""
        return tuple(state for state in self.all if scope == "everywhere" or state.instance == self.here)


def engine(
    version: str = "19.22.0.0.0",
    *,
    source: Instances | None = None,
    access: Access | None = None,
    history: HistorySource | None = None,
    **identity: Any,
) -> SqlEngine:
    """Return the engine of instance 1; the user RACWIRE may read everything unless `access` restricts it."""
    about = {"has_statspack": True} | identity
    database = DatabaseIdentity("LAB", "lab", 4_242_424_242, version, **about)
    return SqlEngine(
        source or Instances(), identity=database, instance=1, access=access or Access.all("RACWIRE"), history=history
    )


def ask(
    database: SqlEngine, sql: str, binds: Mapping[str, Any] | None = None, *, caller: Caller | None = None
) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    return [tuple(row) for row in result(database, sql, binds, caller=caller).rows]


def result(
    database: SqlEngine, sql: str, binds: Mapping[str, Any] | None = None, *, caller: Caller | None = None
) -> Result:
    """Return the result of a query."""
    result = database.execute(caller or Caller("RACWIRE", 1, 1), sql, binds or {}, Cancellation())
    assert result is not None, sql
    return result


def refused(database: SqlEngine, sql: str, binds: Mapping[str, Any] | None = None, **caller: Any) -> OracleError:
    """Return the error of a query."""
    with pytest.raises(OracleError) as error:
        ask(database, sql, binds, caller=Caller("RACWIRE", 1, 1, **caller))
    return error.value


def run(database: SqlEngine, caller: Caller, sql: str) -> None:
    """Run a statement that is not a query."""
    assert database.execute(caller, sql, {}, Cancellation()) is None
