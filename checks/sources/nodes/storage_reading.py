"""Read the connections of a node to storage and its NFS mounts, twice: sizes as they are, counts as growth."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from checks.model.facts import StorageConnection, StorageMount, StorageUse, Unknown
from checks.model.journal import Journal
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.nodes.socket_text import Socket
from checks.sources.nodes.storage_text import NfsMount, StorageReading, parse_storage
from checks.sources.storage_connections import STORAGE, STORAGE_PORTS

STALLED_FROM = 3
"""Doublings of the retransmission timeout (`backoff`) from which a connection counts as stalled: 1.4 s without an
answer where the timeout starts with 0.2 s."""


async def ask_storage(session: Session, node: str) -> StorageReading | Unknown:
    """Read the storage of a node through its shell; Unknown where the node fails: the counters do not depend on it."""
    limit_s = max(session.settings.ssh.read_timeout_s, STORAGE.limit_s or 0)
    try:
        return await read_storage(await session.shell(node), session.journal, limit_s)
    except ShellError as error:
        return Unknown(str(error), error.right)


async def read_storage(shell: Shell, journal: Journal, timeout_s: float) -> StorageReading:
    """Run the program once. Raises ShellError where the node does not answer."""
    (topic,) = STORAGE.topics
    with journal.entry(shell.node, topic, STORAGE.action(topic)) as entry:
        entry.text = (await shell.run(STORAGE, timeout_s=timeout_s)).text
        reading = replace(parse_storage(entry.text), at_s=time.monotonic())
        if unread := next((part for part in (reading.sockets, reading.mounts) if isinstance(part, Unknown)), None):
            entry.outcome = unread.reason
        return reading


def storage_use(before: StorageReading | Unknown, after: StorageReading | Unknown) -> StorageUse | Unknown:
    """Return the state at the second reading, with the growth of the counts that the first reading has too."""
    if isinstance(after, Unknown):
        return after
    earlier = StorageReading((), ()) if isinstance(before, Unknown) else before
    seconds = 0.0 if isinstance(before, Unknown) else round(after.at_s - before.at_s, 3)
    sockets = () if isinstance(earlier.sockets, Unknown) else earlier.sockets
    mounts = () if isinstance(earlier.mounts, Unknown) else earlier.mounts
    return StorageUse(
        after.sockets if isinstance(after.sockets, Unknown) else tuple(_connections(sockets, after.sockets, seconds)),
        after.mounts if isinstance(after.mounts, Unknown) else tuple(_mounts(mounts, after.mounts, seconds)),
    )


def _connections(before: Iterable[Socket], after: Iterable[Socket], seconds: float) -> Iterator[StorageConnection]:
    """One fact for the connections with the same ends and sizes: of dNFS there can be thousands."""
    old = {(socket.local, socket.remote): socket.values for socket in before}
    groups: dict[tuple[object, ...], list[Socket]] = {}
    for socket in after:
        sizes = (socket.values.get(name) for name in ("mss", "pmtu", "advmss"))
        groups.setdefault((socket.local[0], socket.remote, *sizes), []).append(socket)
    for alike in groups.values():
        first = alike[0]
        both = [(old[ends], socket.values) for socket in alike if (ends := (socket.local, socket.remote)) in old]
        # A new connection may use the port of an old one: then its segments are fewer.
        both = [(then, now) for then, now in both if now.get("segs_out", 0) >= then.get("segs_out", 0)]
        yield StorageConnection(
            STORAGE_PORTS[first.remote[1]],
            first.local[0],
            *first.remote,
            connections=len(alike),
            mss=first.values.get("mss"),
            path_mtu=first.values.get("pmtu"),
            advertised_mss=first.values.get("advmss"),
            stalled=sum(socket.values.get("backoff", 0) >= STALLED_FROM for socket in alike),
            seconds=seconds,
            compared=len(both),
            silent=_silent(both),
            segments=_growth(both, "segs_out"),
            retransmits=sum(max(0, now.get("retrans", 0) - then.get("retrans", 0)) for then, now in both)
            if both
            else None,
        )


def _silent(both: Sequence[tuple[Mapping[str, int], Mapping[str, int]]]) -> int | None:
    """The connections that received nothing; a connection without the value never received a byte."""
    if not any("bytes_received" in now for _, now in both):
        return None
    return sum(now.get("bytes_received", 0) <= then.get("bytes_received", 0) for then, now in both)


def _growth(both: Sequence[tuple[Mapping[str, int], Mapping[str, int]]], name: str) -> int | None:
    """The growth of a value that every connection has at both readings; None where one lacks it."""
    if not both or any(name not in then or name not in now for then, now in both):
        return None
    return sum(max(0, now[name] - then[name]) for then, now in both)


def _mounts(before: Iterable[NfsMount], after: Iterable[NfsMount], seconds: float) -> Iterator[StorageMount]:
    old = {(mount.mount, mount.device): mount for mount in before}
    for mount in after:
        then = old.get((mount.mount, mount.device))
        operations = transmissions = round_trips_ms = None
        if then:
            operations, transmissions, round_trips_ms = (_both(then, mount, column) for column in (0, 1, _ROUND_TRIPS))
        again = transmissions - operations if operations is not None and transmissions is not None else None
        yield StorageMount(
            mount.mount,
            mount.options.get("addr", ""),
            (mount.transport or mount.options.get("proto", "")).removesuffix("6"),
            mount.options.get("vers", ""),
            seconds,
            operations,
            None if again is None else max(0, again),
            round(round_trips_ms / operations, 3) if operations and round_trips_ms is not None else None,
            _grown(then.sizes, mount.sizes, _READ) if then else None,
            _grown(then.sizes, mount.sizes, _WRITTEN) if then else None,
            mount.device.partition(":/")[0].strip("[]"),
        )


_ROUND_TRIPS, _READ, _WRITTEN = 6, 4, 5
"""Columns of READ and WRITE, and of `bytes` (fs/nfs/iostat.h, net/sunrpc/stats.c of the kernel)."""


def _both(then: NfsMount, now: NfsMount, column: int) -> int | None:
    """The growth of a column of reads and writes together."""
    parts = [_grown(then.reads, now.reads, column), _grown(then.writes, now.writes, column)]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _grown(then: Sequence[int], now: Sequence[int], column: int) -> int | None:
    """The growth of one column; None where a reading lacks it, or where it fell because of a new mount."""
    if column >= min(len(then), len(now)) or now[column] < then[column]:
        return None
    return now[column] - then[column]
