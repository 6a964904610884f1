"""Generated samples of a busy cluster, for tests of recordings."""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from checks.model.facts import BlockTransfer, Cluster, InstancePing
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Header, Recording
from checks.traffic.samples import (
    KERNEL_COUNTERS,
    CpuTime,
    Event,
    InstanceSample,
    InterfaceCounts,
    Link,
    Links,
    NodeSample,
    PairsSample,
)

BEGIN = 1_789_000_000.0
INTERFACES = ("eth0", "eth1", "eth2", "bond0")
COUNTERS = tuple(f"{group}.{name}" for group, names in KERNEL_COUNTERS.items() for name in names)
STATISTICS = (
    "gc blocks lost", "gc claim blocks lost", "gc blocks corrupt", "gc cr blocks received",
    "gc cr block receive time", "gc current blocks received", "gc current block receive time",
    "gc cr blocks served", "gc cr block build time", "gc cr block flush time", "gc cr block send time",
    "gc current blocks served", "gc current block pin time", "gc current block flush time",
    "gc current block send time", "gc local grants", "gc remote grants", "gcs messages sent", "ges messages sent",
    "consistent gets from cache", "db block gets from cache", "physical reads cache", "DBWR fusion writes",
)  # fmt: skip
MESSAGES = (
    "gcs msgs received", "ges msgs received", "gcs msgs process time(ms)", "ges msgs process time(ms)",
    "msgs sent queued", "msgs sent queue time (ms)", "msgs sent queued on ksxp", "msgs sent queue time on ksxp (ms)",
    "msgs received queued", "msgs received queue time (ms)", "msgs received kernel queue time (ns)",
    "messages sent directly", "messages sent indirectly", "messages flow controlled",
)  # fmt: skip


def header(label: str = "") -> Header:
    cluster = Cluster(local_node="rac1", taken_at="2026-09-10T02:26:40.000+02:00")
    return Header(
        racwire_version="0.1.0", started_at=cluster.taken_at, label=label, interval_s=1.0, cluster=cluster,
        settings={"traffic": {"interval_s": 1.0}},
    )  # fmt: skip


def links(node: str, at: float, mtu: int = 9000) -> Links:
    return Links(node, at, tuple(Link(name, "ethernet", mtu, speed_mbps=25_000) for name in INTERFACES))


def busy(seconds: int, begin: float = BEGIN, seed: int = 1) -> Iterator[list[Event]]:
    """Yield the events of each second of two nodes and two instances under a heavy load: 10 to 25 Gbit/s, 150,000
    fragments and 20,000 blocks a second; nearly every counter grows."""
    at_random = random.Random(seed)
    yield [links("rac1", begin), links("rac2", begin)]
    for second in range(1, seconds + 1):
        events: list[Event] = [_node(n, begin + second, at_random) for n in ("rac1", "rac2")]
        events += [_instance(n, begin + second, at_random) for n in (1, 2)]
        if second % 10 == 0:
            events.append(_pairs(begin + second, at_random))
        yield events


def _jitter(at_random: random.Random) -> float:
    return at_random.gauss(0, 0.002)


def _about(at_random: random.Random, mean: float) -> int:
    return max(0, round(at_random.gauss(mean, mean / 5)))


def _node(name: str, at: float, at_random: random.Random) -> NodeSample:
    def interface(bytes_: float) -> InterfaceCounts:
        return InterfaceCounts(
            rx_bytes=_about(at_random, bytes_), rx_packets=_about(at_random, bytes_ / 1400),
            rx_dropped=_about(at_random, 0.4), rx_multicast=_about(at_random, 3),
            tx_bytes=_about(at_random, bytes_), tx_packets=_about(at_random, bytes_ / 1400),
        )  # fmt: skip

    quiet = {"Ip.InDiscards", "Ip.OutDiscards", "Ip.FragFails", "Udp.SndbufErrors", "Udp.InCsumErrors"}
    return NodeSample(
        node=name, at=at + 0.01 + _jitter(at_random), seconds=1 + _jitter(at_random),
        interfaces={i: interface(b) for i, b in zip(INTERFACES, (3e6, 1.2e9, 1.2e9, 2.4e9), strict=True)},
        counters={c: 0 if c in quiet else _about(at_random, 150_000) for c in COUNTERS},
        cpu=CpuTime(
            64, 64 + round(at_random.gauss(0, 0.1), 2), round(at_random.uniform(20, 50), 2),
            round(at_random.uniform(1, 4), 2), at_random.uniform(5, 60),
        ),
        load=round(at_random.uniform(10, 40), 2),
    )  # fmt: skip


def _instance(number: int, at: float, at_random: random.Random) -> InstanceSample:
    rare = {"gc blocks lost", "gc claim blocks lost", "gc blocks corrupt", "messages flow controlled"}
    return InstanceSample(
        instance=f"prod{number}", number=number, host=f"rac{number}",
        at=at + 0.02 + _jitter(at_random), seconds=1 + _jitter(at_random),
        statistics={s: _about(at_random, 0.3 if s in rare else 2e6 if "gets" in s else 10_000) for s in STATISTICS},
        messages={m: _about(at_random, 0 if m in rare else 1e7 if "(ns)" in m else 20_000) for m in MESSAGES},
    )  # fmt: skip


def _pairs(at: float, at_random: random.Random) -> PairsSample:
    def some(mean: float) -> int:
        return _about(at_random, mean)

    pairs = ((1, 2), (2, 1))
    return PairsSample(
        at=at + 0.03 + _jitter(at_random), seconds=10 + _jitter(at_random),
        transfers=tuple(BlockTransfer(*p, some(1e5), some(1e5), some(1), some(5e7), some(5e7), 0) for p in pairs),
        pings=tuple(InstancePing(*p, 2, some(400), 2, some(900)) for p in pairs),
    )  # fmt: skip


def names_another_journal(path: Path, other: Path) -> None:
    """Give the file a journal that only contains the name of another journal, which SQLite deletes at the end."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), os.fsencode(other)
    header = (magic + struct.pack(">IIIII", 0, 0, 9, 512, 8192)).ljust(512, b"\0")
    end = struct.pack(">I", 131073) + name + struct.pack(">II", len(name), sum(name)) + magic
    Path(f"{path}-journal").write_bytes(header + end)


def recorded(path: Path, *writes: Iterable[Event], **keep: Any) -> Path:
    """Write a recording, one write after the other, and return its path."""
    recorder = Recorder.create(path, header(), **keep)
    for events in writes:
        recorder.write(list(events))
    recorder.close()
    return path


def read_events(path: Path) -> list[Event]:
    """Return the events of a recording."""
    recording = Recording.open(path)
    try:
        return list(recording.events())
    finally:
        recording.close()
