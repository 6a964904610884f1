# ruff: noqa: S608  (numbers and names of our own, put into SQL that only this process runs)
"""The running totals of a generated history, since the start of each instance: tables in DuckDB.

    h_step    one row a snapshot: k, snap_id, hour, seconds, planned
    h_here    one row an instance and snapshot at which it was up: run (number of its start), node_run, times, taken
    h_pair    the same rows for each other instance: received, sent, lost, pings
    h_one     the sums of h_pair over the other instances, and packets dropped
    h_node    the same as h_one since the start of the node

`received` and the other columns are running totals, as in the views: since the start of the instance, and in `h_node`
since the start of its node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from racwire_lab.history.history_plan import LOST_BEFORE, NOISE_STEPS, PRIME, SHAPE, UNITS_BEFORE, HistoryPlan
from racwire_lab.history.recipes import PING_EVERY_S

if TYPE_CHECKING:
    import duckdb

TABLES = ("h_step", "h_here", "h_grown", "h_pair", "h_one", "h_node")

_BEFORE = f"CASE WHEN k = 0 THEN {UNITS_BEFORE} ELSE 1 END"


def make_counts(connection: duckdb.DuckDBPyConnection, plan: HistoryPlan) -> None:
    """Make the tables. `drop_counts` drops them."""
    drop_counts(connection)
    _steps(connection, plan)
    _here(connection, plan)
    _grown(connection, plan)
    connection.execute(f"""
        CREATE TEMP TABLE h_pair AS
        SELECT instance, other, k, {_totals("PARTITION BY instance, other, run ORDER BY k")}
          FROM h_grown JOIN h_here USING (instance, k)""")
    connection.execute(f"""
        CREATE TEMP TABLE h_one AS
        WITH sums AS ({_sum_of_pairs(plan)})
        SELECT instance, k, {_totals("PARTITION BY instance, run ORDER BY k")}
          FROM sums JOIN h_here USING (instance, k)""")
    connection.execute(f"""
        CREATE TEMP TABLE h_node AS
        WITH sums AS ({_sum_of_pairs(plan)})
        SELECT instance, k, {_totals("PARTITION BY instance, node_run ORDER BY k")},
               CAST(SUM(dropped) OVER (PARTITION BY instance, node_run ORDER BY k) AS BIGINT) AS dropped
          FROM sums JOIN h_here USING (instance, k)""")


def drop_counts(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop the tables and release their memory."""
    for table in TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {table}")


def _steps(connection: duckdb.DuckDBPyConnection, plan: HistoryPlan) -> None:
    planned = plan.planned_ends()
    columns = [list(range(plan.snapshots)), [plan.seconds(k) for k in range(plan.snapshots)], planned]
    connection.execute(
        """CREATE TEMP TABLE h_step AS
           SELECT k, k + ? AS snap_id, hour(planned) AS hour, seconds, planned
             FROM (SELECT unnest(?::BIGINT[]) AS k, unnest(?::BIGINT[]) AS seconds,
                          unnest(?::TIMESTAMP[]) AS planned)""",
        [plan.first_snap_id, *columns],
    )


def _here(connection: duckdb.DuckDBPyConnection, plan: HistoryPlan) -> None:
    """Make the instances and the snapshots at which each was up.

    An instance starts again in the middle of the interval.
    """
    begins = [(i, 0, 0, 0, True) for i in plan.numbers]
    begins += [(r.instance, r.snapshot, r.down, 1, r.reboots_node) for r in plan.restarts]
    begins += [(i, k, 0, 2, False) for i, k in plan.falls]
    later_ms = f"CAST({_noise(plan, 'p.instance', 's.k')} % {plan.jitter_ms + 1} AS BIGINT)"
    connection.execute(f"""
        CREATE TEMP TABLE h_here AS
        WITH starts(instance, k, down, what, reboots) AS ({_values(begins, 5)}),
        skipped(instance, k) AS ({_values(plan.missing, 2)}),
        every AS (
            SELECT p.instance, s.k, s.snap_id, s.hour, s.seconds,
                   s.planned + to_milliseconds({later_ms}) AS end_time
              FROM h_step s CROSS JOIN (SELECT instance FROM starts WHERE what = 0) p
        )
        SELECT e.instance, e.k, any_value(e.snap_id) AS snap_id, any_value(e.hour) AS hour,
               any_value(e.seconds) AS seconds, any_value(e.end_time) AS end_time,
               COUNT(b.k) AS run,
               COUNT(b.k) FILTER (b.reboots) AS node_run,
               MAX(b.k) FILTER (b.what < 2) AS started,
               NOT EXISTS (FROM skipped x WHERE x.instance = e.instance AND x.k = e.k) AS taken
          FROM every e
          JOIN starts b ON b.instance = e.instance AND b.k <= e.k
         WHERE NOT EXISTS (FROM starts d WHERE d.instance = e.instance AND e.k >= d.k - d.down AND e.k < d.k)
         GROUP BY e.instance, e.k""")


def _grown(connection: duckdb.DuckDBPyConnection, plan: HistoryPlan) -> None:
    """Make the traffic of each pair of instances in each interval: `HistoryPlan.units_moved` and `blocks_lost`."""
    shape = f"CAST([{', '.join(str(percent) for percent in SHAPE)}] AS BIGINT[])[hour + 1]"
    load = f"seconds * {plan.rate_per_hour} * {shape} // 360000"
    noise = _noise(plan, "instance * 64 + other", "k")
    losses = [
        f"CASE WHEN instance = {loss.receiver} AND other = {loss.sender} AND k >= {loss.first}"
        f"{'' if loss.last is None else f' AND k <= {loss.last}'}"
        f" THEN {loss.each} + {_noise(plan, 'instance * 64 + other + 4096', 'k')} % {loss.spread + 1} ELSE 0 END"
        for loss in plan.losses
    ]
    connection.execute(f"""
        CREATE TEMP TABLE h_grown AS
        WITH pair AS (
            SELECT i.instance, j.instance AS other, i.k, i.hour, i.seconds
              FROM h_here i JOIN h_here j ON j.k = i.k AND j.instance <> i.instance
        ),
        moved AS (
            SELECT instance, other, k, seconds, ({load} + {noise} % {plan.spread + 1}) * {_BEFORE} AS received,
                   CASE WHEN k = 0 THEN {LOST_BEFORE} ELSE {" + ".join(losses) or "0"} END AS lost
              FROM pair
        )
        SELECT instance, h.other, h.k, COALESCE(m.received, 0) AS received, COALESCE(back.received, 0) AS sent,
               COALESCE(m.lost, CASE WHEN k = 0 THEN {LOST_BEFORE} ELSE 0 END) AS lost,
               COALESCE(m.seconds // {PING_EVERY_S} * {_BEFORE}, 0) AS pings
          FROM (SELECT a.instance, b.other, a.k FROM h_here a
                  JOIN (SELECT DISTINCT instance AS other FROM h_here) b ON b.other <> a.instance) h
          LEFT JOIN moved m USING (instance, other, k)
          LEFT JOIN (SELECT other AS instance, instance AS other, k, received FROM moved) back
              USING (instance, other, k)""")


def _sum_of_pairs(plan: HistoryPlan) -> str:
    """Traffic of each instance with all other instances."""
    drops = [f"CASE WHEN instance = {d.instance} AND k >= {d.first} THEN {d.each} ELSE 0 END" for d in plan.drops]
    return f"""SELECT instance, k, SUM(received) AS received, SUM(sent) AS sent, SUM(lost) AS lost,
                      SUM(pings) AS pings, {" + ".join(drops) or "0"} AS dropped
                 FROM h_grown GROUP BY instance, k"""


def _totals(window: str) -> str:
    return ", ".join(
        f"CAST(SUM({count}) OVER ({window}) AS BIGINT) AS {count}" for count in ("received", "sent", "lost", "pings")
    )


def _noise(plan: HistoryPlan, stream: str, k: str) -> str:
    """Return `HistoryPlan.noise` in SQL."""
    by_k, by_stream, by_seed, last = NOISE_STEPS
    mixed = f"CAST({k} * {by_k} + ({stream}) * {by_stream} + {plan.seed * by_seed} AS BIGINT)"
    return f"({mixed} % {PRIME} * {last} % {PRIME})"


def _values(rows: object, columns: int) -> str:
    """A query of rows of numbers and booleans; without rows, a query that returns none."""
    texts = [f"({', '.join(str(value) for value in row)})" for row in rows]  # type: ignore[attr-defined]
    return f"VALUES {', '.join(texts)}" if texts else f"SELECT {', '.join(['0'] * columns)} WHERE FALSE"
