"""Run the live feed on a practice node for some time, and count its statements: `instances_cost WARM_UP_S SECONDS`.

Print `begin` when the counted time begins, and at its end a line of JSON: `seconds`, the `statements`, those of them on
GV$ views (`global`), and the last `pace`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from checks.run.settings_file import load_settings
from checks.sources.database.connection import Connection
from checks.sources.database.secret import read_password_file
from checks.traffic.discovery import find_cluster
from checks.traffic.feed import Feed


class Counted:
    """The statements that all connections have sent."""

    def __init__(self) -> None:
        self.all = self.of_all_instances = 0

    def wrap(self, rows: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """Return the method that counts each call."""

        async def counting(connection: Connection, statement: Any, *args: Any, **options: Any) -> Any:
            self.all += 1
            self.of_all_instances += "gv$" in statement.text.lower()
            return await rows(connection, statement, *args, **options)

        return counting


async def main() -> None:
    """Run the feed, and print the counts."""
    warm_up_s, seconds = map(float, sys.argv[1:3])
    settings = load_settings(None)
    password = read_password_file(settings.database.password_file)
    counted = Counted()
    Connection.rows = counted.wrap(Connection.rows)  # type: ignore[method-assign, assignment]
    cluster = await find_cluster(settings, password=password)
    pace = ""
    async with Feed(settings, password=password) as feed:
        feed.follow(cluster)

        async def read() -> None:
            nonlocal pace
            async for event in feed.events():
                if event.kind == "pace":  # other sources may not have the class
                    pace = getattr(event, "text", "")

        reading = asyncio.create_task(read())
        await asyncio.sleep(warm_up_s)
        counted.all = counted.of_all_instances = 0
        print("begin", flush=True)
        started_s = time.monotonic()
        await asyncio.sleep(seconds)
        found = {
            "seconds": time.monotonic() - started_s,
            "statements": counted.all,
            "global": counted.of_all_instances,
            "pace": pace,
        }
        print(json.dumps(found), flush=True)
        await feed.close()
        await reading


if __name__ == "__main__":
    asyncio.run(main())
