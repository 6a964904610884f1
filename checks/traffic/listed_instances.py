"""Which instances there are: their names, nodes and start times, and which of them are up."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from checks.model.facts import Database
from checks.sources.database.deltas import no_answer
from checks.sources.database.errors import DatabaseError
from checks.sources.database.instance_views import InstanceViews, is_fatal, why_no_row
from checks.sources.database.sampling import iso_time
from checks.sources.database.statements import statement
from checks.sources.registry import INVENTORY_S
from checks.traffic.samples import GapCause
from checks.traffic.source_id import DATABASE, SourceId

_ACTIVE, _SYSSTAT = "active_instances", "GV$SYSSTAT"


@dataclass
class Named:
    """The name and the node of an instance."""

    name: str
    host: str
    started: str = ""
    """Its STARTUP_TIME in ISO 8601; empty where it was not read."""


class Names:
    """The known instances by number. They stay known when a connection is lost."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.version = database.version
        self.by_number = {i.number: Named(i.name, i.host, i.startup_time) for i in database.instances}
        self._restarted: set[int] = set()
        for unasked in database.unasked:
            self.by_number.setdefault(unasked.number, Named(unasked.name, ""))

    def take(self, rows: Iterable[dict[str, Any]]) -> None:
        """Add rows of GV$INSTANCE."""
        for row in rows:
            number, host = int(str(row["inst_id"])), str(row["host_name"] or "").partition(".")[0]
            named, before = Named(str(row["instance_name"]), host, iso_time(row["startup_time"])), self.of(number)
            if "" not in (before.started, named.started) and before.started != named.started:
                self._restarted.add(number)
            self.by_number[number] = named

    def restart(self, number: int) -> str:
        """Return since when an instance is up that was restarted, once for each restart; empty where it was not."""
        is_known = number in self._restarted
        self._restarted.discard(number)
        return self.of(number).started if is_known else ""

    def of(self, number: int) -> Named:
        """Return the instance with this number. An unknown instance gets the name `instance NUMBER`."""
        return self.by_number.setdefault(number, Named(f"instance {number}", ""))

    def source(self, number: int | None) -> SourceId:
        """Return the source of the samples of an instance; all instances where the number is None."""
        return DATABASE if number is None else SourceId.instance(self.of(number).name)

    def are_complete(self, numbers: Iterable[int]) -> bool:
        """Whether the node of each of these instances is known."""
        return all(number in self.by_number and self.by_number[number].host for number in numbers)


class UpInstances:
    """The instances that V$ACTIVE_INSTANCES lists, read while one has no row in GV$SYSSTAT."""

    def __init__(self) -> None:
        self._listed: set[int] | None = None
        """None where the view could not be read."""
        self._missing: set[int] = set()
        self._read_s = float("-inf")

    async def read(self, views: InstanceViews, missing: set[int]) -> None:
        """Read the view where other instances are missing than before, and from time to time while one is. Raises
        DatabaseError where the connection answers no more queries."""
        is_old = time.monotonic() - self._read_s >= INVENTORY_S
        if missing and (is_old or not missing <= self._missing):
            self._read_s = time.monotonic()
            try:
                self._listed = {int(row["inst_number"]) for row in (await views.rows(statement(_ACTIVE))).dicts()}
            except DatabaseError as error:
                if is_fatal(error):
                    raise
                self._listed = None
        self._missing = missing

    def why_missing(self, number: int, name: str) -> tuple[str, GapCause]:
        """Return why an instance has no row in GV$SYSSTAT."""
        if self._listed is None:
            reason = f"{no_answer(name, _SYSSTAT)[:-1]}: it is down, or had no free parallel query process."
            return reason, GapCause.NOT_KNOWN
        if number in self._listed:
            return f"{name} is up, but {why_no_row(_SYSSTAT)}", GapCause.NOT_KNOWN
        return f"{name} is down: V$ACTIVE_INSTANCES does not list it.", GapCause.INSTANCE_DOWN
