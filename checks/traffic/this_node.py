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
"""How often at most, while one of them flaps."""
_DUMP_LIMIT_S = 20.0


class KernelFiles:
    """The files, kept open: reading them again costs no more than their making."""

    def __init__(self, paths: Iterable[str] = SAMPLE_OF_THIS_NODE.files) -> None:
        self._open: dict[str, int | None] = dict.fromkeys(paths)

    def read(self) -> NodeReading | Unknown:
        """Their figures now."""
        return parse_files(*map(self._text, self._open))

    def close(self) -> None:
        """Can be called twice."""
        for path, file in self._open.items():
            if file is not None:
                os.close(file)
                self._open[path] = None

    def _text(self, path: str) -> str:
        """What is in a file; empty where it cannot be read."""
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


async def sample_this_node(name: Callable[[], str], pace: Pace, tell: Callable[[Event], None]) -> None:
    """Tell a sample at each tick, until cancelled. The name is asked each time: Clusterware may tell another one."""
    files, counter = KernelFiles(), NodeCounter()

    def take() -> None:
        sample = counter.sample(name(), files.read(), time.monotonic(), time.time())
        if sample is not None:
            tell(sample)

    try:
        take()
        async for _ in pace.ticks():
            take()
    finally:
        files.close()


async def watch_links(name: Callable[[], str], book: LinkBook) -> None:
    """Keep the book up to date about this node, until cancelled: read its interfaces when the kernel tells that one of
    them changed, and once a minute in case that was missed."""
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
    """An event that is set whenever the kernel tells of a change of an interface, also of one that came or went."""
    changed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def drain() -> None:
        changed.set()
        # What changed is read anew in any case; where so much did that messages were lost (ENOBUFS), too.
        with suppress(OSError):
            while told.recv(_CHUNK):
                pass

    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE) as told:
        with suppress(OSError):  # not allowed here: once a minute must do
            told.bind((0, _RTMGRP_LINK))
        loop.add_reader(told, drain)
        try:
            yield changed
        finally:
            loop.remove_reader(told)


async def _in_a_thread(read: Callable[[], tuple[Interface, ...]]) -> tuple[Interface, ...]:
    """In a daemon thread, which nobody waits for when racwire is left."""
    worker = Worker("racwire interfaces")
    try:
        return await worker.call(read, _DUMP_LIMIT_S)
    finally:
        worker.end()


def _interfaces() -> tuple[Interface, ...]:
    """Every interface of this node. Blocks. Raises OSError."""
    found = netlink.interfaces_of(netlink.dump())
    values: dict[str, str] = {}
    for path in (f"{interface.name}/{file}" for interface in found for file in SPEED_FILES):
        # A driver that tells none, or has no link, refuses to be read.
        with suppress(OSError), open(f"{SYS_CLASS_NET}/{path}", encoding="utf-8", errors="replace") as file:
            values[path] = file.read().strip()
    return with_speeds(found, values)
