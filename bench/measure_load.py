"""Hold what a measurement sends against its caps, second by second, by the counters of the switch port."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.instruments import NEAR, processes
from bench.instruments import measure as racwire
from bench.pace import Pace
from bench.practice import practice_cluster
from bench.rows import Row
from checks.measure.load_limits import LoadLimits
from checks.model.packet_sizes import WIRE_BYTES
from racwire_lab.cluster.processes import into

_PROGRAM = Path(__file__).parent / "programs" / "port_counts.py"
_RATE_MBPS = 1000
_ETHERNET = 14
"""The bytes of a frame's header that a port counts; what is on the wire besides is added."""
_OTHERS = 0.005
"""The part of the cap that others may send meanwhile: pings of Clusterware and ARP."""


def measure(pace: Pace) -> Iterator[Row]:
    """Yield a row for each kind of measurement, of its fullest second."""
    rounds = str(pace.finds)
    runs = {
        "sizes": ("sizes", "--rounds", rounds, "--far-end", "perl", "--whole", "15m"),
        "rate": ("rate", "--rounds", rounds, "--whole", "15m"),
        "mix": ("mix", "--rounds", rounds, "--whole", "15m"),
        "hashes": ("hashes",),
    }
    limits = LoadLimits()
    with practice_cluster(2, database=False, rate="1g") as lab:
        for kind, words in runs.items():
            samples = _sampled(lab, words)
            bits = fullest(samples, 0) / limits.bits_per_s(_RATE_MBPS)
            packets = fullest(samples, 1) / limits.packets_per_s
            back = fullest(samples, 2) / limits.bits_per_s(_RATE_MBPS)
            # The packets of a rate follow from its bits.
            share = max(bits, back, 0 if kind == "rate" else packets)
            note = f"of its cap: {bits:.1%} of the bits to the peer, {back:.1%} of those from it, " + (
                f"{packets:.1%} of the packets" if kind != "rate" else "by the port's own counters"
            )
            yield Row(
                f"measure {kind}: its fullest second", "% of its cap", share * 100, 100 * (1 + _OTHERS), notes=(note,)
            )


def fullest(samples: Sequence[Sequence[float]], kind: int) -> float:
    """Return the most of any second: bits in (0), packets in (1) or bits out (2), each a second.

    A second is the shortest time of one second or more between two samples.
    """
    most, last = 0.0, 0
    for before in samples:
        # From after the first sample was read until before the last was: what is counted between went in that time.
        while last < len(samples) and samples[last][0] - before[1] < 1.0:
            last += 1
        if last == len(samples):
            break
        bytes_in, packets_in, bytes_out, packets_out = (samples[last][place] - before[place] for place in range(2, 6))
        rest = WIRE_BYTES - _ETHERNET
        found = ((bytes_in + packets_in * rest) * 8, packets_in, (bytes_out + packets_out * rest) * 8)[kind]
        most = max(most, found / (samples[last][1] - before[0]))
    return most


def _sampled(lab: Any, words: Sequence[str]) -> list[list[float]]:
    """Return the samples of the near node's port while a measurement sends."""
    command = [*into(lab.state.init, "net", rootless=lab.state.rootless), sys.executable, str(_PROGRAM), f"{NEAR}-eth1"]
    sending: list[float] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            if not sending and processes(lab, NEAR, b"near_end.sender"):
                sending.append(time.monotonic())

    watching = threading.Thread(target=watch)
    watching.start()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sampler:
        found: list[str] = []
        reading = threading.Thread(target=lambda: found.extend(sampler.stdout or ()))
        reading.start()
        try:
            racwire(lab, *words)
        finally:
            done.set()
            watching.join()
            assert sampler.stdin is not None
            sampler.stdin.close()
            reading.join()
    first = sending[0] if sending else 0.0
    return [sample for sample in map(json.loads, found) if sample[0] >= first]
