"""Results of measurements, made up: every kind, with figures that a test can choose."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from typing import Any

import pytest

from checks.measure.flow_figures import figures_of, summaries_of
from checks.measure.near_end.control import Orders
from checks.model.facts import Unknown
from checks.model.measured_rate import MeasuredRate, PublicMtu, RateStep, SocketBuffers
from checks.model.measurement import (
    DrillEvent,
    DrillOf,
    FlowRound,
    HashDirection,
    HashPort,
    MeasuredHashes,
    MeasuredMix,
    MeasuredPath,
    MeasuredSizes,
    MeasuredStorage,
    Measurement,
    PathSilence,
    Result,
    SizeRound,
    SizeSummary,
    StorageRound,
)
from checks.model.packet_sizes import fragments_of
from checks.rules.flow_verdicts import FlowVerdict, members_of

USUAL = (64, 200, 1472, 2048, 8192, 32_768)
AT = 1_780_000_000.0


PATH = MeasuredPath("192.168.10.0/24", "rac1", "192.168.10.1", "rac2", "192.168.10.2", "eth1", 1500, 10_000)


class Clock:
    """Time that passes only where the code under test waits, and by `tick`. It starts at 1,000 s."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 1_000_000_000_000
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "monotonic_ns", lambda: self.now_ns)
        monkeypatch.setattr(time, "process_time", lambda: 0.0)
        monkeypatch.setattr(time, "sleep", self.tick)

    @property
    def now(self) -> float:
        """The time in seconds."""
        return self.now_ns / 1e9

    def tick(self, seconds: float) -> None:
        self.now_ns += math.ceil(seconds * 1e9)  # some time passes in any case


class QuietOrders(Orders):
    """A parent that says nothing; time passes where the sender waits."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(0)
        self._clock = clock

    def _read(self, patience_s: float) -> None:
        self._clock.tick(patience_s)


def path(mtu: int = 1500, target: int = 2) -> MeasuredPath:
    return MeasuredPath(
        network="192.168.10.0/24",
        source_node="rac1",
        source="192.168.10.1",
        target_node=f"rac{target}",
        target=f"192.168.10.{target}",
        interface="eth1",
        mtu=mtu,
        speed_mbps=10_000,
        far_end="perl",
        program="/u01/app/19.0.0/grid/perl/bin/perl",
    )


def measurement(result: Result, *, mtu: int = 1500, paths: int = 1, **more: Any) -> Measurement:
    fields: dict[str, Any] = {
        "cluster": "practice",
        "node": "rac1",
        "started_at": "2026-11-24T05:03:11+01:00",
        "seconds": 90.0,
        "racwire_version": "0.2.0",
        "paths": tuple(path(mtu, number + 2) for number in range(paths)),
        "plan": ("sizes: 6 message sizes.", "On 192.168.10.0/24 from rac1 (192.168.10.1) to rac2 (192.168.10.2)."),
        "sha256": {"perl": "ab" * 32},
        "seed": 7,
    }
    return Measurement(result=result, **{**fields, **more})


def sizes(
    mtu: int = 1500,
    *,
    sizes: Sequence[int] = USUAL,
    rounds: int = 8,
    frame_us: float = 12.0,
    frame_cpu_us: float = 3.0,
    base_us: float = 40.0,
    noise_us: float = 1.0,
    seed: int = 1,
    **more: Any,
) -> Measurement:
    """Round trips of `base_us`, and `frame_us` for each frame; the CPU time likewise, with `frame_cpu_us` a packet."""
    chance = random.Random(seed)
    found, summaries = [], []
    for rate in (0.0, 100.0):
        for size in sizes:
            frames = fragments_of(size, mtu)
            own = [
                SizeRound(
                    path=0,
                    size=size,
                    train=1,
                    rate=rate,
                    round=number,
                    at=AT + number,
                    seconds=0.5,
                    sent=400,
                    lost=0,
                    refused=0,
                    withheld=0,
                    p50_us=base_us + frame_us * frames + chance.uniform(0, noise_us),
                    p99_us=None,
                    mean_us=base_us + frame_us * frames,
                    max_us=None,
                    lateness_p99_us=None,
                    cpu_here_us=10.0,
                    cpu_there_us=None,
                    cpu_node_us=20.0 + 2 * frames * frame_cpu_us + chance.uniform(0, noise_us),
                )
                for number in range(rounds)
            ]
            found += own
            summaries.append(
                SizeSummary(
                    path=0,
                    size=size,
                    train=1,
                    rate=rate,
                    frames=frames,
                    answers=400 * rounds,
                    sent=400 * rounds,
                    lost=0,
                    p50_us=sorted(one.p50_us or 0.0 for one in own)[rounds // 2],
                    p99_us=Unknown("too few: 80 answers of 100"),
                    p999_us=Unknown("too few: 800 answers of 1,000"),
                    messages_per_s=800.0,
                    megabytes_per_s=size * 800 / 1e6,
                    cpu_here_us=10.0,
                    cpu_there_us=None,
                    cpu_node_us=20.0 + 2 * frames * frame_cpu_us,
                )
            )
    return measurement(MeasuredSizes(tuple(found), tuple(summaries)), mtu=mtu, **more)


def rate(mbps: float = 940.0, **more: Any) -> Measurement:
    return measurement(
        MeasuredRate(
            tuple(
                RateStep(
                    paths=(0,),
                    protocol=protocol,
                    is_towards_here=is_here,
                    cap_bps=1e9,
                    round=number,
                    at=AT + number,
                    seconds=3.0,
                    sent_bytes=int(mbps * 1e6 / 8 * 3),
                    received_bytes=int((mbps + number) * 1e6 / 8 * 3),
                    sent=40_000 if protocol == "udp" else 0,
                    received=39_990 if protocol == "udp" else 0,
                    refused=0,
                    dropped=0,
                    lost=10 if protocol == "udp" else 0,
                    cpu_here_s=0.5,
                )
                for protocol in ("tcp", "udp")
                for is_here in (False, True)
                for number in range(6)
            ),
            tuple(SocketBuffers(node, 4 << 20, 4 << 20, 212_992, 4 << 20) for node in ("rac1", "rac2")),
            tuple(PublicMtu(node, 1500) for node in ("rac1", "rac2")),
        ),
        **more,
    )


def mix(small_ms: float = 45.0, flows: int = 50, **more: Any) -> Measurement:
    rounds = tuple(
        FlowRound(
            path=0,
            flow_class=flow_class,
            size=size,
            company=company,
            concurrency=concurrency,
            round=number,
            at=AT + number,
            seconds=5.0,
            broken=0,
            **figures_of([mean * (1 + (flow + number / 5) / 100) for flow in range(-(flows // 2), flows - flows // 2)]),
        )
        for flow_class, size, together in (("small", 65_536, small_ms), ("large", 32_000_000, 900.0))
        for company, mean, concurrency in (("alone", together / 10, 1), ("together", together, 2))
        for number in range(6)
    )
    return measurement(MeasuredMix(rounds, tuple(summaries_of(rounds))), **more)


def hashes(dead: int = 31, **more: Any) -> Measurement:
    ports = tuple(HashPort(0, 40_000 + number, 3, 0 if number % 2 and number < 2 * dead else 3) for number in range(64))
    verdict = FlowVerdict.DEAD_MEMBER if dead else FlowVerdict.PASSES
    links = members_of(dead, 64) if dead else (None, None, None)
    there = HashDirection(0, False, verdict, dead, 64, 192, 192 - 3 * dead, *links)
    return measurement(MeasuredHashes(8972, ports, (there,)), **more)


def storage(mb_per_s: float = 200.0, **more: Any) -> Measurement:
    return measurement(
        MeasuredStorage(
            directory="/u02/fra",
            file_system="nfs4",
            server="filer1:/export/fra",
            method="O_DIRECT",
            request_bytes=1_048_576,
            rounds=tuple(
                StorageRound(number, is_write, AT, 1.0, int(mb_per_s * 1e6) + number, 900.0, 2000.0)
                for is_write in (True, False)
                for number in range(6)
            ),
        ),
        **more,
    )


def drill(seconds: float = 1.02, **more: Any) -> Measurement:
    return measurement(
        DrillOf(
            subject="link eth1 of rac2",
            misscount_s=30.0,
            silences=(PathSilence(0, "icmp", AT + 10, seconds, True, 0.01, 9000, 8898),),
            events=(DrillEvent(AT + 10, "rac2", "eth1 lost its link"),),
            cause="ARP asks again only after 1 s.",
        ),
        **more,
    )


EVERY = (sizes(), rate(), mix(), hashes(), storage(), drill())
