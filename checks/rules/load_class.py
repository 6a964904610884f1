"""The kind of a load by what it needs from the interconnect. This module has all its limits.

HP's paper on the interconnects of TruCluster (2004) compared an Oracle RAC under transactions, file creation, uploads,
a warehouse and an application that does not care: the kind of the load decides what a faster interconnect brings. No
source has numbers; the limits are ours. An answer to "how full is heavy?" in Kundersma's comments: a link that is 66 %
full is busy two of three times, and there is no golden number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from checks.model.facts import WaitEvent
from checks.model.interconnect_load import LoadClass, LoadKind, WireTime
from checks.rules.cache_fusion import CR_RECEIVED, CURRENT_RECEIVED, SCANNED, USER_IO_WAIT

INDEPENDENT_BELOW_PERCENT = 5.0
"""Cluster waits in percent of DB time below which the interconnect hardly matters."""
BANDWIDTH_FROM_PERCENT = 50.0
"""Use of the busiest private link, one direction, from which packets often wait for others (two in a row at least)."""
MESSAGES_FOR_A_BLOCK = 10.0
"""Messages sent for each block received from which the messages are the work. A block needs 2 to 4."""
MOST_PERCENT = 50.0
"""The share from which a kind of wait, or of buffers, is the larger part."""
WORTH_ONE_NODE_PERCENT = 10.0
"""Cluster waits of a service in percent of its DB time from which one node would save it a noticeable part."""
PX_NOTABLE_PER_S = 10.0
"""Messages of parallel query to other nodes per second from which they are mentioned: those of racwire send a few."""

_MOST = 10**15
"""A recording can contain any figures; no real counter of an interval is larger."""
_MULTIBLOCK = "multi block request"
_GRANT = "grant"


@dataclass(frozen=True)
class BusiestLink:
    """The private link with the highest use in one direction."""

    place: str
    """`eth1 of rac2`."""
    percent: float


def classify(
    wire: WireTime,
    instances: Sequence[Mapping[str, int]],
    events: Iterable[WaitEvent] | None,
    link: BusiestLink | None,
) -> LoadClass:
    """Return the kind of the load with the reasons, the deciding one first.

    `events`: the cluster waits of all instances; None where they were not read. `link`: None where the use of no link
    is known; a reason names that.
    """
    share = f"Cluster waits are {wire.cluster_percent:.2g} % of DB time"
    if link is None:
        used = "How full the private links are is not known."
    else:
        used = f"The busiest private link, {link.place}, is {link.percent:.2g} % full on average."
    if link is not None and link.percent >= BANDWIDTH_FROM_PERCENT:
        return LoadClass(
            LoadKind.BANDWIDTH,
            (f"{used[:-1]}; from {BANDWIDTH_FROM_PERCENT:g} % on packets often wait for others.", f"{share}."),
        )
    if wire.cluster_percent < INDEPENDENT_BELOW_PERCENT:
        return LoadClass(LoadKind.INDEPENDENT, (f"{share}, less than {INDEPENDENT_BELOW_PERCENT:g} %.", used))
    waits = list(events) if events is not None else []
    for kind, signs in (
        (LoadKind.SCANNING, _scans(instances, waits)),
        (LoadKind.MESSAGES, _messages(instances, waits)),
    ):
        if reasons := tuple(signs):
            return LoadClass(kind, (*reasons, f"{share}.", used))
    return LoadClass(
        LoadKind.LATENCY, (f"{share}, and neither scans nor messages without blocks are the larger part.", used)
    )


def _scans(instances: Sequence[Mapping[str, int]], events: Sequence[WaitEvent]) -> Iterator[str]:
    """Yield the signs that most blocks are read in a row."""
    gets = _sum(instances, "consistent gets from cache", "db block gets from cache")
    scanned = _sum(instances, SCANNED)
    if gets and 100 * scanned >= MOST_PERCENT * gets:
        yield f"{min(100 * scanned / gets, 100):.0f} % of the requested buffers belong to full scans."
    if percent := _share_of(events, _MULTIBLOCK):
        yield f"{percent:.0f} % of the cluster wait time is for several blocks at once."
    io, cluster = _sum(instances, USER_IO_WAIT), _sum(instances, "cluster wait time")
    if scanned and gets and 100 * scanned >= MOST_PERCENT * gets and io > cluster:
        yield "Sessions wait longer for disks than for other instances."


def _messages(instances: Sequence[Mapping[str, int]], events: Sequence[WaitEvent]) -> Iterator[str]:
    """Yield the signs that messages without blocks are the larger part."""
    if percent := _share_of(events, _GRANT):
        yield f"{percent:.0f} % of the cluster wait time is for grants: messages without a block."
    sent = _sum(instances, "gcs messages sent", "ges messages sent")
    received = _sum(instances, CR_RECEIVED, CURRENT_RECEIVED)
    if sent > MESSAGES_FOR_A_BLOCK * received:
        each = f"{sent / received:.3g} for each block received" if received else "and no block was received"
        yield f"{sent:,} messages were sent, {each}."


def _share_of(events: Sequence[WaitEvent], term: str) -> float:
    """Return the share of the events with that term in their name in the wait time; 0 where it is the smaller part."""
    total = sum(_waited(event) for event in events)
    own = sum(_waited(event) for event in events if term in event.name)
    return 100 * own / total if total > 0 and 100 * own >= MOST_PERCENT * total else 0.0


def _waited(event: WaitEvent) -> int:
    return min(max(event.time_us, 0), _MOST)


def gains_on_one_node(cluster_percent: float, instances: int) -> bool:
    """Return whether a service would noticeably gain from running on one node."""
    return instances > 1 and cluster_percent >= WORTH_ONE_NODE_PERCENT


def sends_parallel_query(px_sent_per_s: float | None) -> bool:
    """Return whether an instance's parallel query notably crosses nodes."""
    return px_sent_per_s is not None and px_sent_per_s >= PX_NOTABLE_PER_S


def _sum(instances: Sequence[Mapping[str, int]], *names: str) -> int:
    return sum(min(max(counted.get(name, 0), 0), _MOST) for counted in instances for name in names)
