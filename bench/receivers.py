"""What the kernels of practice nodes receive, hold and refuse, read every 100 ms without racwire."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from racwire_lab import Lab

FRAG_BYTES = "FRAG: memory"
"""Bytes that incomplete datagrams hold: `memory` of FRAG in /proc/net/sockstat."""
LOST_HERE = ("Ip.ReasmFails", "Udp.RcvbufErrors", "Udp.MemErrors")
"""Counters of what the receiver itself refused or gave up."""
Values = dict[str, int]
_EVERY_S = 0.1


class Receivers:
    """Reads the kernels of all nodes in a thread, from the start of the block to its end.

    `more` returns further values of a node; it is called in the same thread.
    """

    def __init__(self, lab: Lab, more: Callable[[str], Mapping[str, int]] = lambda _: {}) -> None:
        self._holders = {node: lab.state.nodes[node].pid for node in lab.nodes}
        self._more = more
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self.samples: dict[str, list[tuple[float, Values]]] = {node: [] for node in lab.nodes}
        """Each node's values, with their time by the monotonic clock."""

    def __enter__(self) -> Self:
        self._sample()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        if kind is None:
            self._sample()

    def held(self) -> Values:
        """Return the bytes that incomplete datagrams hold now, by node."""
        return {node: kernel_values(holder)[FRAG_BYTES] for node, holder in self._holders.items()}

    def peak(self, name: str) -> int:
        """Return the highest value that any node had."""
        return max(values.get(name, 0) for samples in self.samples.values() for _, values in samples)

    def grown(self, name: str) -> int:
        """Return the growth of a counter, of all nodes together."""
        return sum(samples[-1][1].get(name, 0) - samples[0][1].get(name, 0) for samples in self.samples.values())

    def fullest(self, name: str) -> float:
        """Return the most by which a counter of one node grew in a second."""
        return max(fullest_second((at, values.get(name, 0)) for at, values in of) for of in self.samples.values())

    def _read(self) -> None:
        while not self._ended.wait(_EVERY_S):
            try:
                self._sample()
            except FileNotFoundError:  # the cluster goes down
                return

    def _sample(self) -> None:
        for node, holder in self._holders.items():
            values = {**kernel_values(holder), **self._more(node)}
            self.samples[node].append((time.monotonic(), values))


def fullest_second(samples: Iterable[tuple[float, int]]) -> float:
    """Return the highest growth a second of a counter, over the shortest times of a second or more."""
    found, most, last = list(samples), 0.0, 0
    for at, value in found:
        while last < len(found) and found[last][0] - at < 1.0:
            last += 1
        if last == len(found):
            break
        most = max(most, (found[last][1] - value) / (found[last][0] - at))
    return most


def kernel_values(process: int) -> Values:
    """Return the counters of IP, ICMP and UDP in a process's network, such as `Udp.NoPorts`, and FRAG_BYTES."""
    network = Path(f"/proc/{process}/net")
    words = (network / "sockstat").read_text(encoding="ascii").partition("FRAG: ")[2].split()
    found = {FRAG_BYTES: int(words[words.index("memory") + 1])}
    lines = (network / "snmp").read_text(encoding="ascii").splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        group, *columns = names.split()
        found |= {
            f"{group.rstrip(':')}.{column}": int(v) for column, v in zip(columns, values.split()[1:], strict=True)
        }
    return found
