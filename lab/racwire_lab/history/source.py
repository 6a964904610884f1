"""AWR and Statspack of the practice database: a generated history, then the state of the running instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racwire_lab.history.counts import drop_counts, make_counts
from racwire_lab.history.history_plan import HistoryPlan
from racwire_lab.history.living import add_living
from racwire_lab.history.snapshot_tables import fill_tables

if TYPE_CHECKING:
    from collections.abc import Collection

    import duckdb

    from racwire_lab.database.live import InstanceState


class GeneratedHistory:
    """Fill the existing tables, with the columns that they have (`live.HistorySource`)."""

    def __init__(self, plan: HistoryPlan) -> None:
        self.plan = plan

    def fill(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Fill the empty tables."""
        make_counts(connection, self.plan)
        fill_tables(connection, self.plan)
        drop_counts(connection)

    def add_living(
        self, connection: duckdb.DuckDBPyConnection, states: tuple[InstanceState, ...], tables: Collection[str]
    ) -> None:
        """Add two snapshots of each running instance after the generated ones: at its start, and now."""
        add_living(connection, self.plan, states, tables)
