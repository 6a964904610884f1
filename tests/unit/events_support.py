"""Generated hours of a cluster under load, with the noise of healthy ones, and samples with one thing wrong."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from checks.model.cluster_event import ClusterEvent, EventKind
from checks.model.facts import Cluster
from checks.situation.events.watching import EventWatch
from checks.traffic.samples import CpuTime, Event, Gap, InstanceSample, InterfaceCounts, Link, Links, NodeSample
from tests.fixtures.clusters import cluster

BEGIN = 1_789_000_000.0
NICS = ("eth0", "eth1", "eth2")
_FRAGMENTS, _DATAGRAMS, _BLOCKS = 60_000, 12_000, 10_000


def facts(nodes: int = 3) -> Cluster:
    return cluster(nodes)


def node_sample(node: str, at: float, seconds: float = 1.0, **more: Any) -> NodeSample:
    """Traffic without a fault. `more`: counters as `ReasmFails=3`, columns as `eth2={"rx_dropped": 4}`."""
    counters = {
        "Ip.ReasmReqds": _FRAGMENTS, "Ip.ReasmOKs": _FRAGMENTS // 6, "Ip.ReasmFails": 0, "Ip.ReasmTimeout": 0,
        "Udp.InDatagrams": _DATAGRAMS, "Udp.RcvbufErrors": 0, "Udp.InErrors": 0, "Udp.InCsumErrors": 0,
        "Softnet.Dropped": 0,
    }  # fmt: skip
    for name in list(counters):
        counters[name] = round(counters[name] * seconds) + more.pop(name.partition(".")[2], 0)
    packets = round(70_000 * seconds)
    interfaces = {
        nic: InterfaceCounts(rx_bytes=packets * 1400, rx_packets=packets, tx_bytes=packets * 1400, tx_packets=packets)
        for nic in NICS
    }
    for nic, columns in more.items():
        interfaces[nic] = replace(interfaces[nic], **columns)
    return NodeSample(node, at, seconds, interfaces, counters, CpuTime(64, 64 * seconds, 30 * seconds, 2.0), 20.0)


def instance_sample(number: int, at: float, seconds: float = 1.0, lost: int = 0) -> InstanceSample:
    blocks = round(_BLOCKS * seconds)
    statistics = {
        "gc blocks lost": lost,
        "gc cr blocks received": blocks // 2,
        "gc current blocks received": blocks // 2,
    }
    return InstanceSample(f"prod{number}", number, f"rac{number}", at, seconds, statistics)


def links(node: str, at: float, mtu: int = 9000, **changed: dict[str, Any]) -> Links:
    """The interfaces of a node; `changed`: fields of one, as `eth2={"is_up": False}`."""
    networks = {"eth1": "192.168.10.0/24", "eth2": "192.168.11.0/24"}
    known = (Link(nic, "ethernet", mtu, speed_mbps=10_000, network=networks.get(nic, "")) for nic in NICS)
    return Links(node, at, tuple(replace(link, **changed.get(link.name, {})) for link in known))


Change = Callable[[float, Event], "Event | None"]
"""From the second of the run and an item to the item that comes in its place; None where none comes."""


def run(seconds: int, change: Change = lambda _, item: item, nodes: int = 3, every: float = 1.0) -> Iterator[Event]:
    """Yield the items of a run of a healthy cluster, each changed."""

    def changed(at: float, item: Event) -> Iterator[Event]:
        if (new := change(at - BEGIN, item)) is not None:
            yield new

    numbers = range(1, nodes + 1)
    for number in numbers:
        yield from changed(BEGIN, links(f"rac{number}", BEGIN))
    for step in range(1, round(seconds / every) + 1):
        at = BEGIN + step * every
        for number in numbers:
            yield from changed(at, node_sample(f"rac{number}", at + 0.01 * number, every))
        for number in numbers:
            yield from changed(at, instance_sample(number, at + 0.05, every))


def with_counts(item: Event, **more: Any) -> Event:
    """A sample of a node with more counted in it."""
    assert isinstance(item, NodeSample)
    return replace(node_sample(item.node, item.at, item.seconds, **more))


def loses(item: Event, lost: int) -> Event:
    """A sample of an instance that lost blocks."""
    assert isinstance(item, InstanceSample)
    return replace(item, statistics={**item.statistics, "gc blocks lost": lost})


def noisy_hour(seed: int, every: float = 1.0) -> Iterator[Event]:
    """Yield an hour of a healthy cluster: strays, late and missing samples, counters that were reset."""
    at_random = random.Random(seed)
    delay = dict.fromkeys(("rac1", "rac2", "rac3"), 0.0)

    def poisson(mean: float) -> int:
        limit, number, product = math.exp(-mean), 0, at_random.random()
        while product > limit:
            number, product = number + 1, product * at_random.random()
        return number

    def noise(at: float, item: Event) -> Event | None:
        if isinstance(item, InstanceSample):
            item = loses(item, poisson(every / 900))  # a lost block in a quarter of an hour
            return item if at_random.random() > 0.002 else None
        if not isinstance(item, NodeSample):
            return item
        counts = {
            "RcvbufErrors": poisson(every / 1200),
            "ReasmFails": poisson(every / 1200),
            "Dropped": poisson(every / 1200),
            "eth1": {"rx_dropped": poisson(0.4 * every)},  # packets of protocols that the node does not speak
            "eth2": {"rx_dropped": poisson(0.4 * every), "tx_dropped": poisson(every / 600)},
        }
        if item.node != "rac1" and at_random.random() < 0.002:
            return None  # a lost sample
        if item.node != "rac1" and at_random.random() < 0.001:
            return Gap(item.source, item.at, f"{item.node}: The node was restarted between the two readings.")
        late = at_random.expovariate(20) if item.node != "rac1" else 0.0
        late = min(late, 0.6 * every) if at_random.random() > 0.01 else at_random.uniform(0, 0.9) * every
        late = 0.0 if item.node == "rac1" else late
        seconds = every + late - delay[item.node]
        delay[item.node] = late
        return replace(with_counts(item, **counts), at=item.at + late, seconds=seconds)

    return iter(sorted(run(3600, noise, every=every), key=lambda item: item.at))


def seen(items: Iterable[Event], nodes: int = 3) -> list[ClusterEvent]:
    """Return the events of a run, as they are at its end."""
    watch = EventWatch(facts(nodes))
    for item in items:
        watch.see(item)
    return watch.events


def only(events: list[ClusterEvent], kind: EventKind) -> ClusterEvent:
    """The one event of a run, which must be of this kind."""
    assert [event.kind for event in events] == [kind], events
    return events[0]


BAD = range(61, 101)
"""The seconds of a run in which something is wrong: samples that end in them."""


def is_bad(at: float) -> bool:
    return 61 <= at < 101


def without(*sources: str) -> Change:
    """The run in which sources deliver nothing in the bad seconds."""
    return lambda at, item: None if str(item.source) in sources and is_bad(at) else item


def lost_at(*numbers: int, blocks: int = 20) -> Change:
    """The run in which instances lose blocks in the bad seconds."""

    def broken(at: float, item: Event) -> Event:
        wrong = is_bad(at) and isinstance(item, InstanceSample) and item.number in numbers
        return loses(item, blocks) if wrong else item

    return broken
