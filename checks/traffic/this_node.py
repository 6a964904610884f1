"""This node: its counters from /proc, its interfaces by netlink.

The files of /proc are read in the event loop itself: the kernel makes them up in memory, in a fraction of a
millisecond, and never waits for a device; a thread would cost more than the reading. What can take longer, the
netlink dump and the drivers' word on link speeds, has a thread of its own.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from checks.model.facts import Interface, Unknown
from checks.sources.database.worker import Worker
from checks.sources.kernel_files import INTERFACES_OF_THIS_NODE, SAMPLE_OF_THIS_NODE, SPEED_FILES, SYS_CLASS_NET
from checks.sources.nodes import netlink
from checks.sources.nodes.proc import with_speeds
from checks.traffic.links import LinkBook
from checks.traffic.node_counter import NodeCounter
from checks.traffic.node_text import NodeReading, parse_files
from checks.traffic.pace import Pace
from checks.traffic.samples import Event

_CHUNK = 65_536
_RTMGRP_LINK = 1
_LEAST_S = 1.0
"""The shortest time between two reads while an interface flaps, in seconds."""
_DUMP_LIMIT_S = 20.0


class KernelFiles:
    """The kernel's files, held open to make repeated reads cheap."""

    def __init__(self, paths: Iterable[str] = SAMPLE_OF_THIS_NODE.files) -> None:
        self._open: dict[str, int | None] = dict.fromkeys(paths)

    def read(self) -> NodeReading | Unknown:
        """Return the present figures of the files."""
        return parse_files(*map(self._text, self._open))

    def close(self) -> None:
        """Close the files. Can be called twice."""
        for path, file in self._open.items():
            if file is not None:
                os.close(file)
                self._open[path] = None

    def _text(self, path: str) -> str:
        """The contents of a file; empty where it cannot be read."""
        try:
            file = self._open[path]
            if file is None:
                file = self._open[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            parts = [os.pread(file, _CHUNK, 0)]
            while parts[-1]:  # the kernel gives no more than a few pages at once
                parts.append(os.pread(file, _CHUNK, sum(map(len, parts))))
        except OSError:
            return ""
        return b"".join(parts).decode("utf-8", errors="replace")


async def sample_this_node(name: Callable[[], str], pace: Pace, emit: Callable[[Event], None]) -> None:
    """Emit a sample at each tick, until cancelled. `name` is called each time: Clusterware may report another name."""
    files, counter = KernelFiles(), NodeCounter()

    def take() -> None:
        sample = counter.sample(name(), files.read(), time.monotonic(), time.time())
        if sample is not None:
            emit(sample)

    try:
        take()
        async for _ in pace.ticks():
            take()
    finally:
        files.close()


async def watch_links(name: Callable[[], str], book: LinkBook) -> None:
    """Update the interfaces of this node in the book, until cancelled: after each change that the kernel reports, and
    once a minute in case a report was lost."""
    with _changes() as changed:
        while True:
            changed.clear()
            with suppress(OSError, TimeoutError):  # the counters go on without them, and it is tried again
                found = await _in_a_thread(_interfaces)
                book.know(name(), found)
            await asyncio.sleep(_LEAST_S)
            with suppress(TimeoutError):
                async with asyncio.timeout((INTERFACES_OF_THIS_NODE.every_s or 0) - _LEAST_S):
                    await changed.wait()


@contextmanager
def _changes() -> Iterator[asyncio.Event]:
    """An event that is set when the kernel reports that an interface changed, appeared or disappeared."""
    changed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def drain() -> None:
        changed.set()
        # The interfaces are read again in any case, also after so many changes that messages were lost (ENOBUFS).
        with suppress(OSError):
            while notices.recv(_CHUNK):
                pass

    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE) as notices:
        with suppress(OSError):  # not allowed here: reading once a minute is enough
            notices.bind((0, _RTMGRP_LINK))
        loop.add_reader(notices, drain)
        try:
            yield changed
        finally:
            loop.remove_reader(notices)


async def _in_a_thread(read: Callable[[], tuple[Interface, ...]]) -> tuple[Interface, ...]:
    """Call `read` in a daemon thread, so that racwire can exit without waiting for the thread."""
    worker = Worker("racwire interfaces")
    try:
        return await worker.call(read, _DUMP_LIMIT_S)
    finally:
        worker.end()


def _interfaces() -> tuple[Interface, ...]:
    """Return every interface of this node. Blocks. Raises OSError where netlink fails."""
    found = netlink.interfaces_of(netlink.dump())
    values: dict[str, str] = {}
    for path in (f"{interface.name}/{file}" for interface in found for file in SPEED_FILES):
        # The file cannot be read if the driver knows no speed or the interface has no link.
        with suppress(OSError), open(f"{SYS_CLASS_NET}/{path}", encoding="utf-8", errors="replace") as file:
            values[path] = file.read().strip()
    return with_speeds(found, values)
