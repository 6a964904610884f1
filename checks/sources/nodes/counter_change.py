"""Read the kernel's counters of all nodes twice. Only their growth counts, never their totals."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from msgspec.structs import replace

from checks.model.broken_dependency import error_text
from checks.model.facts import CounterChange, CounterChanges, Node, Unknown
from checks.model.journal import Entry, now
from checks.sources.kernel_files import (
    COUNTERS,
    COUNTERS_OF_THIS_NODE,
    MOST_LINES,
    NIC_FILES,
    SOCKETS_FILE,
    SYS_CLASS_NET,
    SYSTEM_FILES,
    SYSTEM_LINES,
)
from checks.sources.nodes import netlink
from checks.sources.nodes.assembly import address_lines, route_text
from checks.sources.nodes.counter_difference import KernelReading, difference, difference_text, parse_reading
from checks.sources.nodes.driver_counters import ask_drivers, driver_growth
from checks.sources.nodes.proc import lock_lines
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import ShellError
from checks.sources.nodes.storage_reading import ask_storage, storage_use
from checks.sources.nodes.tcp_reading import ask_private_tcp, private_tcp
from checks.sources.sh_text import MARK

LOOPBACK = "lo"
"""Read on a node without a private NIC: the program takes at least one."""


async def read_counter_changes(
    session: Session,
    nodes: Sequence[Node],
    interval_s: float,
    nics: Mapping[str, Sequence[str]] = MappingProxyType({}),
    addresses: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> CounterChanges | Unknown:
    """Read the growth of the kernel's counters during an interval, on all nodes at the same time.

    `nics` has the names of the NICs to read on each node: its private ones, with the layers below them. `addresses` has
    the private addresses of each node, whose TCP connections are read.
    A node that does not answer is in `unread` with the reason, and does not affect the other nodes.
    """
    if not nodes:
        return Unknown("No node could be read, so there are no counters to compare.")
    begun_at, started_s = now(), time.monotonic()
    ticker = asyncio.create_task(_report_progress(session, interval_s))
    try:
        found = await asyncio.gather(
            *(
                _change(
                    session, node.name, interval_s, nics.get(node.name) or (LOOPBACK,), addresses.get(node.name, ())
                )
                for node in nodes
            )
        )
    finally:
        ticker.cancel()
        await asyncio.gather(ticker, return_exceptions=True)
    return CounterChanges(
        begun_at=begun_at,
        ended_at=now(),
        seconds=round(time.monotonic() - started_s, 3),
        nodes=tuple(counted.whole for counted in found if isinstance(counted, _Counted)),
        unread={node.name: why for node, why in zip(nodes, found, strict=True) if isinstance(why, Unknown)},
        quiet=tuple(c.quiet for c in found if isinstance(c, _Counted) and isinstance(c.quiet, CounterChange)),
    )


@dataclass(frozen=True)
class _Taken:
    reading: KernelReading
    at: float
    entry: Entry


@dataclass(frozen=True)
class _Counted:
    whole: CounterChange
    quiet: CounterChange | Unknown | None
    """While the run sent nothing."""


async def _change(
    session: Session, node: str, interval_s: float, nics: Sequence[str], addresses: Sequence[str]
) -> _Counted | Unknown:
    try:
        drivers = await ask_drivers(session, node, interval_s, nics)
        storage = await ask_storage(session, node)
        tcp = await ask_private_tcp(session, node, addresses)
        before = await _read(session, node, nics)
        if isinstance(before, Unknown):
            return before
        end_s = before.at + interval_s
        began = await _read(session, node, nics) if await session.quiet_begins(end_s, interval_s) else None
        quiet: CounterChange | Unknown | None = None
        if isinstance(began, _Taken) and (until_s := session.quiet_until_s) is not None and until_s < end_s:
            await asyncio.sleep(max(0.0, until_s - time.monotonic()))
            quiet = _between(node, began, await _read(session, node, nics))
        await asyncio.sleep(max(0.0, end_s - time.monotonic()))
        after = await _read(session, node, nics)
        change = _between(node, before, after)
        if isinstance(change, Unknown):
            return change
        if isinstance(began, _Taken) and quiet is None:
            quiet = _between(node, began, after)
        moved = private_tcp(tcp, tcp if isinstance(tcp, Unknown) else await ask_private_tcp(session, node, addresses))
        again = drivers if isinstance(drivers, Unknown) else await ask_drivers(session, node, interval_s, nics)
        use = storage_use(storage, await ask_storage(session, node))
        machine = replace(change.machine, drivers=driver_growth(drivers, again))
        return _Counted(replace(change, machine=machine, storage=use, private_tcp=moved), quiet)
    except ShellError as error:
        return Unknown(str(error), error.right)
    except Exception as error:  # an error of one node must not stop the reading of the others
        return Unknown(f"Reading the counters of {node} failed: {error_text(error)}")


def _between(node: str, before: _Taken, after: _Taken | Unknown) -> CounterChange | Unknown:
    if isinstance(after, Unknown):
        return after
    change = difference(before.reading, after.reading)
    if isinstance(change, Unknown):
        return change
    seconds = after.at - before.at
    # The journal has the result before the data that it was computed from.
    after.entry.text = f"In {seconds:.1f} s:\n{difference_text(change)}\n\n{after.entry.text}"
    return CounterChange(
        node,
        round(seconds, 3),
        change.counters,
        change.left_out,
        change.fragment_memory_bytes,
        change.machine,
        racwires=tuple(sorted({*before.reading.racwires, *after.reading.racwires})),
        addresses=after.reading.addresses,
        routes=after.reading.routes,
    )


async def read_kernel(session: Session, node: str, nics: Sequence[str]) -> KernelReading | Unknown:
    """Read the counters of a node once, with those of these NICs; Unknown where it does not answer."""
    try:
        taken = await _read(session, node, nics)
    except (ShellError, TimeoutError) as error:
        return Unknown(error_text(error))
    return taken if isinstance(taken, Unknown) else taken.reading


async def _read(session: Session, node: str, nics: Sequence[str]) -> _Taken | Unknown:
    """One reading. Raises ShellError where a peer does not answer."""
    local = node == session.local_node
    timeout_s = session.settings.ssh.read_timeout_s
    # A peer is connected before its entry starts: a failed connection has an entry of its own.
    shell = None if local else await session.shell(node)
    source = COUNTERS_OF_THIS_NODE if local else COUNTERS
    (topic,) = source.topics
    with session.journal.entry(node, topic, source.action(topic)) as entry:
        if shell is None:
            async with asyncio.timeout(timeout_s):
                entry.text = await asyncio.to_thread(_files, nics)
        else:
            entry.text = (await shell.run(COUNTERS, *nics, timeout_s=timeout_s)).text
        at = time.monotonic()
        reading = parse_reading(entry.text)
        if isinstance(reading, Unknown):
            entry.outcome = reading.reason
            return reading
        return _Taken(reading, at, entry)


def _files(nics: Sequence[str]) -> str:
    """The output of the program `counters` on this node, from the files and netlink; what it lacks is left out."""
    texts = [_text(path) for path in COUNTERS_OF_THIS_NODE.files]
    wanted = re.compile(SYSTEM_LINES)
    texts.append(f"{MARK} system\n")
    texts += [f"{path}:{line}\n" for path in SYSTEM_FILES for line in _text(path).splitlines() if wanted.match(line)]
    texts.append(f"{MARK} nics\n")
    texts += [f"{nic}/{file}:{text}" for nic in nics for file, text in _nic_files(nic)]
    texts.append(f"{MARK} racwires\n{lock_lines(_text(SOCKETS_FILE))}\n")
    texts.append(f"{MARK} queues\n")
    texts += [
        f"qdisc any 0: dev {nic} root\n (dropped {drops},)\n" for nic, drops in _queue_drops().items() if nic in nics
    ]
    texts += _addresses_and_routes()
    return "".join(texts)


def _nic_files(nic: str) -> Iterator[tuple[str, str]]:
    *single, directory = (Path(SYS_CLASS_NET, nic, name) for name in NIC_FILES)
    found = sorted(directory.iterdir()) if directory.is_dir() else []
    yield from ((path.relative_to(Path(SYS_CLASS_NET, nic)).as_posix(), _text(path)) for path in (*single, *found))


def _queue_drops() -> dict[str, int]:
    try:
        return netlink.queue_drops()
    except OSError:
        return {}


def _addresses_and_routes() -> Iterator[str]:
    try:
        interfaces, routes = netlink.addresses_and_routes()
    except OSError:
        return
    yield f"{MARK} addresses\n"
    yield from (f"{line}\n" for line in address_lines(interfaces)[:MOST_LINES])
    yield f"{MARK} routes\n"
    yield from (f"{line}\n" for line in route_text(routes).splitlines()[:MOST_LINES])


def _text(path: str | Path) -> str:
    """The content of a file; empty where this kernel does not have it, or refuses it."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


async def _report_progress(session: Session, interval_s: float) -> None:
    """Report the progress each second."""
    total = math.ceil(interval_s)
    for second in range(total):
        session.progress("counters", "watching the kernels' counters", second, total)
        await asyncio.sleep(1)
    session.progress("counters", "watching the kernels' counters", total, total)
