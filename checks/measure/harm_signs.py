"""The signs at which a measurement stops: what the live samples of nodes and instances show.

Counters that grew already before the measurement are no signs, unless they grow faster: the plan then says so, and the
operator sends although the cluster loses something (`--although-loaded`). Received packets that a NIC drops are a sign
where they are more than strays: Linux counts each BPDU and LLDP frame of a switch as dropped.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from checks.model.wording import counted
from checks.rules.cache_fusion import BLOCKS_LOST
from checks.rules.load_harm import RECENT_S, is_busy_too_long, is_harm
from checks.traffic.samples import Gap, InstanceSample, NodeSample
from checks.traffic.source_id import DATABASE, SourceId, SourceKind

_COUNTERS = {
    "Ip.ReasmFails": "failed reassembly",
    "Udp.RcvbufErrors": "datagram without room in a receive buffer",
    "Udp.MemErrors": "datagram without room in the memory for UDP",
    "Softnet.Dropped": "packet dropped before the network stack",
}
_INTERFACE = {
    "rx_errors": "receive error",
    "rx_dropped": "dropped packet",
    "tx_errors": "send error",
    "tx_dropped": "packet dropped before sending",
}
_PLURALS = {
    "failed reassembly": "failed reassemblies",
    "datagram without room in a receive buffer": "datagrams without room in a receive buffer",
    "datagram without room in the memory for UDP": "datagrams without room in the memory for UDP",
    "packet dropped before sending": "packets dropped before sending",
}
EVERY_S = 0.2
"""Seconds between two pings of a path, which show that it still carries something."""


@dataclass(frozen=True, slots=True)
class _Loss:
    key: str
    count: int
    text: str
    has_strays: bool = False
    """Whether some of these are packets that no program misses."""


class HarmSigns:
    """Watches samples. `baseline` samples come first; then `sign` has the first sign of harm."""

    def __init__(
        self, interfaces: Collection[tuple[str, str]], most_cpu_percent: float, *, is_drill: bool = False
    ) -> None:
        """`interfaces`: node and name of each interface that carries the measurement.

        `is_drill`: losses and nodes that are gone are what a drill looks at, and a reconfiguration keeps CPUs busy for
        some seconds: only CPUs that stay busy are a sign then.
        """
        self._interfaces = set(interfaces)
        self._most_cpu = most_cpu_percent / 100
        self._is_drill = is_drill
        self._busy_s: dict[str, float] = defaultdict(float)
        self._before: dict[str, float] = defaultdict(float)
        self._before_s: dict[SourceId, float] = defaultdict(float)
        self._strays: set[str] = set()
        self._recent: dict[str, deque[tuple[float, int]]] = defaultdict(deque)
        """The end and the count of each sample of the last seconds, by counter."""
        self.sign = ""
        """The first sign, as a sentence; empty so far."""
        self.blocks_lost = 0
        self.has_instances = False

    def baseline(self, event: object) -> None:
        """Add a sample from before the measurement."""
        self.has_instances |= isinstance(event, InstanceSample)
        if isinstance(event, NodeSample | InstanceSample):
            self._before_s[event.source] += event.seconds
            for loss in self._losses(event):
                self._before[loss.key] += loss.count
                if loss.has_strays:
                    self._strays.add(loss.key)

    def see(self, event: object) -> str:
        """Add a sample, and return the first sign of harm so far."""
        if isinstance(event, InstanceSample):
            self.has_instances = True
            self.blocks_lost += event.statistics.get(BLOCKS_LOST, 0)
        if isinstance(event, NodeSample | InstanceSample):
            for loss in self._losses(event):
                if self._is_sign(loss, event) and not self.sign and not self._is_drill:
                    self.sign = f"{loss.text} in {event.seconds:.1f} s."
        if isinstance(event, NodeSample) and event.cpu is not None and event.cpu.total_s and not self.sign:
            busy = 1 - event.cpu.idle_s / event.cpu.total_s
            self._busy_s[event.node] = self._busy_s[event.node] + event.seconds if busy > self._most_cpu else 0.0
            if is_busy_too_long(self._busy_s[event.node], is_drill=self._is_drill):
                self.sign = f"{event.node}: its CPUs were {busy:.0%} busy, over the limit of {self._most_cpu:.0%}."
        if isinstance(event, Gap) and event.source.kind is SourceKind.NODE and not (self.sign or self._is_drill):
            self.sign = f"{event.source.name} can no longer be watched: {event.reason}"
        if (
            isinstance(event, Gap)
            and event.source == DATABASE
            and self.has_instances
            and not (self.sign or self._is_drill)
        ):
            self.sign = f"The instances can no longer be watched for lost blocks: {event.reason}"
        return self.sign

    def losses_before(self) -> list[str]:
        """Return the counters that grew before the measurement, by name."""
        return [name for name, count in self._before.items() if is_harm(int(count), has_strays=name in self._strays)]

    def _is_sign(self, loss: _Loss, event: NodeSample | InstanceSample) -> bool:
        recent = self._recent[loss.key]
        recent.append((event.at, loss.count))
        while recent[0][0] <= event.at - RECENT_S:
            recent.popleft()
        total = sum(count for _, count in recent)
        usual = self._before[loss.key] / self._before_s[event.source] if self._before[loss.key] else 0.0
        return is_harm(total, usual, has_strays=loss.has_strays)

    def _losses(self, event: NodeSample | InstanceSample) -> Iterator[_Loss]:
        """Yield each counter of losses that grew."""
        if isinstance(event, InstanceSample):
            if lost := event.statistics.get(BLOCKS_LOST, 0):
                text = f"{event.instance} lost {counted(lost, 'block')}"
                yield _Loss(f"{event.instance} {BLOCKS_LOST}", lost, text)
            return
        for counter, noun in _COUNTERS.items():
            if count := event.counters.get(counter, 0):
                yield _Loss(f"{event.node} {counter}", count, f"{event.node}: {_counted(count, noun)}")
        for name, counts in event.interfaces.items():
            if (event.node, name) not in self._interfaces:
                continue
            for field, noun in _INTERFACE.items():
                if count := getattr(counts, field):
                    text = f"{event.node}: {_counted(count, noun)} of {name}"
                    yield _Loss(f"{event.node} {name} {field}", count, text, field == "rx_dropped")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {_PLURALS[noun]}" if count != 1 and noun in _PLURALS else counted(count, noun)


class QuietPath:
    """How long one path has been silent. No I/O; times are in seconds."""

    def __init__(self, most_s: float) -> None:
        self._most_s = most_s
        self._heard_s: float | None = None
        self._looked_s: float | None = None

    def answered(self, now: float) -> None:
        """Note an answer."""
        self._heard_s = now

    def too_long_s(self, now: float) -> float | None:
        """Return the length of a silence that is too long; None where there is none. Call it five times a second.

        What passed while racwire itself did not look is not counted: it sent nothing then.
        """
        late_s = now - self._looked_s - 2 * EVERY_S if self._looked_s is not None else 0.0
        self._looked_s = now
        if self._heard_s is None:
            return None
        self._heard_s += max(0.0, late_s)
        silent_s = now - self._heard_s
        return silent_s if silent_s > self._most_s else None
