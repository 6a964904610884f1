"""What the instances do: their counters read twice, an interval apart."""

from __future__ import annotations

import asyncio
import math
import time

from checks.model.facts import Activity, Database, Unknown
from checks.sources.database.connections import Connections
from checks.sources.database.deltas import activity_between
from checks.sources.database.errors import DatabaseError
from checks.sources.database.instance_views import InstanceViews
from checks.sources.database.sampling import take_sample
from checks.sources.progress import Progress


async def read_activity(
    databases: Connections, database: Database, interval_s: float, progress: Progress
) -> Activity | Unknown:
    """The difference of two samples of the V$ views. No licence is needed for any of them.

    All instances are asked with each statement (GV$); where GV$ does not answer, here or when the database was
    identified, only the connected one, and the others are gaps with the reason. The interval is measured with this
    node's monotonic clock, which no time synchronisation sets, from one answer of GV$SYSSTAT to the other.
    """
    seconds = math.ceil(interval_s)
    progress("activity", "sampling the instances", 0, seconds)
    try:
        views = InstanceViews(await databases.get(), database.why_alone)
        before = await take_sample(views, database.version)
        await _wait_until(before.clock_s + interval_s, seconds, progress)
        after = await take_sample(views, database.version)
    except DatabaseError as error:
        return Unknown(str(error))
    return activity_between(before, after, database)


async def _wait_until(end_s: float, seconds: int, progress: Progress) -> None:
    """Wait, and tell each second that has gone by."""
    while (left_s := end_s - time.monotonic()) > 0:
        progress("activity", "sampling the instances", max(0, seconds - math.ceil(left_s)), seconds)
        await asyncio.sleep(left_s % 1 or 1)
    progress("activity", "sampling the instances", seconds, seconds)
