"""Generated recordings: two nodes and two instances under a varying load, at a chosen MTU."""

from __future__ import annotations

import random
from collections.abc import Iterator

from checks.model.facts import Cluster, InstancePing, Node
from checks.model.packet_sizes import fragments_of
from checks.traffic.recording import Header
from checks.traffic.samples import (
    CpuTime,
    Event,
    Gap,
    InstanceSample,
    InterfaceCounts,
    LatencySample,
    Link,
    Links,
    NodeSample,
    PairsSample,
)
from checks.traffic.source_id import SourceId

BEGIN = 1_800_000_000.0


class FakeRecording:
    """A replacement for a recording with its methods."""

    def __init__(self, events: list[Event], *, interval_s: float = 1.0, cluster: Cluster | None = None) -> None:
        self._events = events
        self.header = Header(
            racwire_version="0.1.0",
            started_at="2026-11-21T14:00:00+01:00",
            interval_s=interval_s,
            cluster=cluster or Cluster(local_node="rac1", taken_at="2026-11-21T14:00:00+01:00"),
        )

    def events(self) -> Iterator[Event]:
        return iter(self._events)

    def span(self) -> tuple[float, float] | None:
        times = [event.at for event in self._events if not isinstance(event, Links)]
        return (times[0], times[-1]) if times else None


def links(node: str, mtu: int, at: float = BEGIN) -> Links:
    private = Link(name="eth1", kind="ethernet", mtu=mtu, speed_mbps=10_000, network="192.168.10.0/24")
    return Links(node=node, at=at, links=(private, Link(name="eth0", kind="ethernet", mtu=1500)))


def cluster(kernel: str = "5.15.0-1") -> Cluster:
    nodes = tuple(Node(name=name, read_by="ssh", kernel_release=kernel) for name in ("rac1", "rac2"))
    return Cluster(local_node="rac1", taken_at="2026-11-21T14:00:00+01:00", nodes=nodes)


def recording(
    seed: int,
    *,
    seconds: int = 300,
    mtu: int = 1500,
    blocks: float = 1000.0,
    receive_cs_per_block: float = 0.05,
    cpu_per_block: float = 1e-4,
    small_ping_us: float = 200.0,
    lost_per_s: float = 0.0,
    wandering: float = 0.7,
    ramp_s: int = 0,
    with_database: bool = True,
    kernel: str = "5.15.0-1",
) -> FakeRecording:
    """Return a recording whose load each second is near that of the second before (AR(1)); other values follow from the
    load, with noise."""
    chance = random.Random(seed)
    fragments = fragments_of(8192, mtu)
    events: list[Event] = [links("rac1", mtu), links("rac2", mtu)]
    level = 0.0
    for second in range(1, seconds + 1):
        at = BEGIN + second
        level = wandering * level + chance.gauss(0, 0.1)
        now = max(int(blocks * (1 + level) * (0.2 if second <= ramp_s else 1)), 1)
        for number in (1, 2):
            events.append(_node(f"rac{number}", at, now, fragments, cpu_per_block, chance))
            if with_database:
                events.append(_instance(number, at, now, receive_cs_per_block, lost_per_s, chance))
        if with_database and second % 10 == 0:
            events.append(PairsSample(at=at, seconds=10.0, pings=_pings(small_ping_us, fragments, chance)))
        events.append(_latency(at, 56, 100 + chance.gauss(0, 5)))
        events.append(_latency(at, 8192, 150 + 10 * fragments + chance.gauss(0, 10)))
    return FakeRecording(events, cluster=cluster(kernel))


def _node(node: str, at: float, blocks: int, fragments: int, cpu_per_block: float, chance: random.Random) -> NodeSample:
    packets = blocks * fragments + blocks // 2
    reassembled = blocks if fragments > 1 else 0
    counts = InterfaceCounts(rx_bytes=blocks * 8400, rx_packets=packets, tx_bytes=blocks * 8400, tx_packets=packets)
    return NodeSample(
        node=node,
        at=at,
        seconds=1.0,
        interfaces={"eth1": counts, "eth0": InterfaceCounts(rx_bytes=10**9)},
        counters={
            "Ip.ReasmReqds": reassembled * fragments,
            "Ip.ReasmOKs": reassembled,
            "Ip.ReasmFails": 0,
            "Ip.FragCreates": reassembled * fragments,
            "Ip.FragOKs": reassembled,
            "Udp.InDatagrams": blocks + blocks // 2,
        },
        cpu=CpuTime(
            cpus=8,
            total_s=8.0,
            idle_s=8.0 - min(max(1.0 + blocks * cpu_per_block * fragments + chance.gauss(0, 0.1), 0.1), 7.9),
            softirq_s=min(blocks * 1e-4 * fragments, 7.0),
        ),
        load=2 + chance.gauss(0, 0.1),
    )


def _instance(
    number: int, at: float, blocks: int, receive_cs: float, lost_per_s: float, chance: random.Random
) -> InstanceSample:
    return InstanceSample(
        instance=f"prod{number}",
        number=number,
        host=f"rac{number}",
        at=at,
        seconds=1.0,
        statistics={
            "gc cr blocks received": blocks * 4 // 5,
            "gc current blocks received": blocks - blocks * 4 // 5,
            "gc cr blocks served": blocks,
            "gc current blocks served": 0,
            "gc cr block receive time": int(blocks * receive_cs * (1 + chance.gauss(0, 0.05))),
            "gc current block receive time": int(blocks * receive_cs / 4),
            "gc blocks lost": int(chance.random() < lost_per_s),
        },
    )


def _pings(small_us: float, fragments: int, chance: random.Random) -> tuple[InstancePing, ...]:
    return tuple(
        InstancePing(
            instance=one,
            target=other,
            count_500b=8,
            time_500b_us=int(8 * small_us * (1 + chance.gauss(0, 0.03))),
            count_8k=8,
            time_8k_us=int(8 * (small_us + 40 * fragments) * (1 + chance.gauss(0, 0.03))),
        )
        for one, other in ((1, 2), (2, 1))
    )


def _latency(at: float, payload: int, us: float) -> LatencySample:
    return LatencySample(
        network="192.168.10.0/24", to_node="rac2", payload=payload,
        at=at, seconds=1.0, sent=10, received=10, p50_us=us, p99_us=us * 2, max_us=us * 2,
    )  # fmt: skip


def gap(source: SourceId, at: float, reason: str = "ssh ended.") -> Gap:
    return Gap(source=source, at=at, reason=reason)
