"""Samples of a made-up cluster under a normal load: always the same ones."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

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
)
from checks.traffic.source_id import PAIRS, SourceId
from tui.screens.traffic.lines import Surroundings
from tui.screens.traffic.node_page import Layouts
from tui.screens.traffic.time_axis import TimeAxis, gap_marks
from tui.screens.traffic.time_cursor import TrackView

BEGIN = 1_764_338_551.0
"""2025-11-28 14:02:31 UTC."""
PRIVATE = ("eth1", "eth2")

HOSTILE = "x\x1b]0;own\x07\x9b31m\u202eb\nc"
"""A name with all characters that control a terminal, and one that reverses the direction of text."""


def links(node: str, at: float, private: Sequence[str] = PRIVATE, **changes: object) -> Links:
    """Return two private interfaces of 10 Gbit/s and a public one."""
    found = [
        Link(name, "ethernet", 9000, speed_mbps=10_000, network=f"192.168.{10 + number}.0/24", **changes)  # type: ignore[arg-type]
        for number, name in enumerate(private)
    ]
    return Links(node, at, (*found, Link("eth0", "ethernet", 1500, speed_mbps=1000)))


def node_sample(
    node: str, at: float, noise: random.Random, private: Sequence[str] = PRIVATE, **counters: int
) -> NodeSample:
    """Return one second of a node; `counters` are named as `Ip_ReasmFails`."""

    def counts(bytes_a_second: float) -> InterfaceCounts:
        rx, tx = (int(bytes_a_second * noise.uniform(0.7, 1.3)) for _ in range(2))
        return InterfaceCounts(rx_bytes=rx, rx_packets=rx // 8000 + 1, tx_bytes=tx, tx_packets=tx // 8000 + 1)

    every = {
        "Ip.ReasmReqds": noise.randrange(50_000, 70_000),
        "Ip.ReasmOKs": noise.randrange(9_000, 12_000),
        "Ip.ReasmFails": 0,
        "Ip.ReasmTimeout": 0,
        "Ip.FragCreates": noise.randrange(50_000, 70_000),
        "Ip.FragFails": 0,
        "Udp.InDatagrams": noise.randrange(19_000, 22_000),
        "Udp.OutDatagrams": noise.randrange(19_000, 22_000),
        "Udp.RcvbufErrors": 0,
        "Udp.SndbufErrors": 0,
        "Udp.InErrors": 0,
        "Udp.NoPorts": 0,
        "Softnet.Dropped": 0,
        "Softnet.TimeSqueezed": noise.randrange(3),
        **{name.replace("_", "."): count for name, count in counters.items()},
    }
    softirq = noise.uniform(1.6, 2.4)
    return NodeSample(
        node,
        at,
        1.0,
        interfaces={**{name: counts(1e8) for name in private}, "eth0": counts(3e5), "lo": counts(1e4)},
        counters=every,
        cpu=CpuTime(16, 16.0, 11.0 + noise.uniform(-1, 1), softirq, noise.uniform(30, 50)),
        load=noise.uniform(13, 15),
    )


def instance_sample(number: int, host: str, at: float, noise: random.Random, lost: int = 0) -> InstanceSample:
    """Return one second of an instance."""
    cr, current = noise.randrange(4000, 6000), noise.randrange(4000, 6000)
    return InstanceSample(
        f"prod{number}",
        number,
        host,
        at,
        1.0,
        statistics={
            "gc cr blocks received": cr,
            "gc current blocks received": current,
            "gc cr blocks served": cr - 100,
            "gc current blocks served": current - 100,
            "gc cr block receive time": cr // 24,
            "gc current block receive time": current // 19,
            "gc blocks lost": lost,
        },
        messages={"gcs msgs received": 20_000, "ges msgs received": 1_000},
    )


def cluster_events(seconds: int, nodes: int = 2, seed: int = 1) -> Iterator[Event]:
    """Yield so many seconds of so many nodes and instances, in the order of time."""
    noise = random.Random(seed)
    for node in range(1, nodes + 1):
        yield links(f"rac{node}", BEGIN)
    for second in range(1, seconds + 1):
        for node in range(1, nodes + 1):
            at = BEGIN + second + noise.uniform(-0.03, 0.03)
            yield node_sample(f"rac{node}", at, noise)
            yield instance_sample(node, f"rac{node}", at, noise)


def hostile_events() -> Iterator[Event]:
    """Yield events with hostile names of nodes, interfaces and instances, and hostile reasons."""
    noise = random.Random(1)
    for node in ("rac1", HOSTILE):
        yield Links(node, BEGIN, (Link(HOSTILE, HOSTILE, 9000, master=HOSTILE, network=HOSTILE),))
        for second in range(1, 4):
            yield node_sample(node, BEGIN + second, noise, (HOSTILE,))
            sample = instance_sample(1, node, BEGIN + second, noise)
            yield msgspec.structs.replace(sample, instance=f"{node} {HOSTILE}")
    yield LatencySample(HOSTILE, HOSTILE, 8328, BEGIN + 3, 1.0, 10, 10, 100.0, 200.0, 300.0)
    yield Gap(SourceId.node(f"rac3{HOSTILE}"), BEGIN + 3, f"It said: {HOSTILE}")
    yield Gap(SourceId.instance(f"prod3{HOSTILE}"), BEGIN + 3, f"It said: {HOSTILE}")
    yield Gap(PAIRS, BEGIN + 3, f"It said: {HOSTILE}")


def surroundings(view: TrackView | None, height: int, **further: Any) -> Surroundings:
    """Return what a page of that height draws in addition to the samples."""
    window = view.window if view else None
    axis = TimeAxis(window.stretch, sorted(gap_marks(window), key=lambda mark: mark.at)) if window else None
    return Surroundings(height, Layouts(), axis, **further)
