"""Run a feed on a practice node: each event is a line of JSON on stdout.

The feed ends with its stdin, and then reports how long that took and which tasks, threads and processes remain.
Arguments: the traffic settings as JSON; `alone`, to sample this node only; `here`, to connect to the instance of this
node; `probe`, to ping.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from pathlib import Path

import msgspec

from checks.model.settings import TrafficSettings
from checks.run.settings_file import load_settings
from checks.sources.database.secret import read_password_file
from checks.traffic.discovery import find_cluster
from checks.traffic.feed import Feed


def print_event(kind: str, **fields: object) -> None:
    print(json.dumps({"kind": kind, **fields}), flush=True)


def children() -> list[str]:
    """Return the command lines of the running child processes."""
    own = Path(f"/proc/self/task/{os.getpid()}/children")
    lines = [Path(f"/proc/{child}/cmdline").read_bytes() for child in own.read_text().split()]
    return [line.replace(b"\0", b" ").decode() for line in lines if line]


async def main() -> None:
    loaded = load_settings(None)
    traffic = msgspec.convert(json.loads(sys.argv[1]), TrafficSettings)
    database = loaded.database
    if "here" in sys.argv:
        database = msgspec.structs.replace(
            database, connect=f"{os.uname().nodename}:{database.connect.partition(':')[2]}"
        )
    settings = msgspec.structs.replace(loaded, traffic=traffic, database=database)
    password = read_password_file(loaded.database.password_file) if loaded.database.password_file else None
    cluster = None
    if "alone" not in sys.argv:
        cluster = await find_cluster(settings, password=password)
        nodes = [node.name for node in cluster.read_nodes()]
        print_event("cluster", nodes=nodes, database=type(cluster.database).__name__)
    async with Feed(settings, password=password) as feed:
        if cluster is not None:
            feed.follow(cluster)
            if "probe" in sys.argv:
                feed.probe(cluster)
        printing = asyncio.create_task(print_events(feed))
        await until_stdin_ends()
        await feed.close()
        await printing
    await asyncio.sleep(0)
    tasks = [task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    others = [t for t in threading.enumerate() if not t.daemon and t is not threading.main_thread()]
    threads = [t.name for t in others if not t.name.startswith("asyncio_")]  # the loop's own pool, idle
    print_event("closed", tasks=tasks, threads=threads, children=children())


async def print_events(feed: Feed) -> None:
    async for event in feed.events():
        print_event(event.kind, event=msgspec.to_builtins(event, enc_hook=str))


async def until_stdin_ends() -> None:
    """Wait for the end of stdin."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()

    def on_input() -> None:
        if not os.read(0, 4096):
            loop.remove_reader(0)
            over.set()

    loop.add_reader(0, on_input)
    await over.wait()


if __name__ == "__main__":
    asyncio.run(main())
