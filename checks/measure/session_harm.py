"""The signs of harm of guided troubleshooting, and the cluster watched for them while its steps are made.

A session looks for a loss, so what is being lost already does not stop it: only more than that does. What the cluster
lost in the last ten minutes, while racwire sent nothing, is the mean that counts.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from checks.measure.silent_paths import watch_for_silence
from checks.model.facts import Activity, Cluster
from checks.model.investigation import SessionRecord
from checks.model.known_instances import active
from checks.model.measurement import MeasuredPath
from checks.model.settings import Settings
from checks.model.wording import counted
from checks.rules.cache_fusion import BLOCKS_LOST
from checks.rules.load_harm import is_beyond, most_silence_s
from checks.rules.lost_blocks import loss_of
from checks.run.investigating import Investigator
from checks.run.step_packets import SessionBudget
from checks.sources.database.secret import Secret
from checks.traffic.feed import Feed
from checks.traffic.samples import FeedEvent, Gap, InstanceSample, NodeSample
from checks.traffic.source_id import SourceKind

BEFORE_S = 600.0
"""Seconds whose mean counts."""
RECENT_S = 10.0
"""Seconds over which losses are summed up."""
FIRST_S = 3.0
"""Seconds of samples before the first step."""
_BUSY_S = 2.0
"""Seconds for which CPUs must be over the limit."""
_BLOCKS = "blocks"
_COUNTERS = {
    "Udp.RcvbufErrors": "datagram without room in a receive buffer",
    "Udp.MemErrors": "datagram without room in the memory for UDP",
    "Softnet.Dropped": "packet dropped before the network stack",
}
_PLURALS = {
    "datagram without room in a receive buffer": "datagrams without room in a receive buffer",
    "datagram without room in the memory for UDP": "datagrams without room in the memory for UDP",
    "packet dropped before the network stack": "packets dropped before the network stack",
}


class SessionHarm:
    """Reads samples, and has the first sign of harm of a step. No I/O."""

    def __init__(self, most_cpu_percent: float) -> None:
        self._most_cpu = most_cpu_percent / 100
        self._before: dict[tuple[str, str], deque[tuple[float, float, int]]] = defaultdict(deque)
        """By source and counter: the end, the seconds and the losses of each sample while nothing was sent."""
        self._recent: dict[tuple[str, str], deque[tuple[float, float, int]]] = defaultdict(deque)
        self._busy_s: dict[str, float] = defaultdict(float)
        self._was_busy: dict[str, bool] = {}
        self._watched: set[str] = set()

    def usual(self, instance: int, lost: int, seconds: float, at: float) -> None:
        """Add blocks that an instance lost in an interval before."""
        self._before[str(instance), _BLOCKS].append((at, seconds, lost))

    def quiet(self, event: object) -> None:
        """Add a sample of a time in which racwire sent nothing."""
        self._recent.clear()
        self._busy_s.clear()
        for key, at, seconds, lost in _losses(event):
            _add(self._before[key], at, seconds, lost, BEFORE_S)
        if isinstance(event, NodeSample):
            self._watched.add(event.node)
            if (busy := _busy(event)) is not None:
                self._was_busy[event.node] = busy > self._most_cpu

    def see(self, event: object) -> str:
        """Add a sample of a time in which racwire sent; return the sign of harm that it shows, or nothing."""
        for key, at, seconds, lost in _losses(event):
            recent = self._recent[key]
            _add(recent, at, seconds, lost, RECENT_S)
            total, total_s = sum(n for _, _, n in recent), sum(s for _, s, _ in recent)
            before = self._before[key]
            if is_beyond(total, total_s, sum(n for _, _, n in before), sum(s for _, s, _ in before)):
                return f"{_text(event, key[1], total)} in {total_s:.0f} s, more than three times the mean before."
        if isinstance(event, NodeSample) and (busy := _busy(event)) is not None:
            is_over = busy > self._most_cpu and not self._was_busy.get(event.node, False)
            self._busy_s[event.node] = self._busy_s[event.node] + event.seconds if is_over else 0.0
            if self._busy_s[event.node] >= _BUSY_S:
                return f"{event.node}: its CPUs are {busy:.0%} busy, over the limit of {self._most_cpu:.0%}."
        if isinstance(event, Gap) and event.source.kind is SourceKind.NODE and event.source.name in self._watched:
            return f"{event.source.name} can no longer be watched: {event.reason}"
        return ""


def _add(known: deque[tuple[float, float, int]], at: float, seconds: float, lost: int, most_s: float) -> None:
    known.append((at, seconds, lost))
    while known and known[0][0] <= at - most_s:
        known.popleft()


def _losses(event: object) -> Iterator[tuple[tuple[str, str], float, float, int]]:
    """Yield each counter of losses that a sample has: its source and name, the end and the seconds, and the losses."""
    if isinstance(event, InstanceSample) and BLOCKS_LOST in event.statistics:
        yield (str(event.number), _BLOCKS), event.at, event.seconds, event.statistics[BLOCKS_LOST]
    if isinstance(event, NodeSample):
        for name in _COUNTERS:
            if name in event.counters:
                yield (event.node, name), event.at, event.seconds, event.counters[name]


def _text(event: object, name: str, total: int) -> str:
    if isinstance(event, InstanceSample):
        return f"{event.instance} lost {counted(total, 'block')}"
    node = event.node if isinstance(event, NodeSample) else ""
    noun = _COUNTERS[name]
    return f"{node}: {total:,} {_PLURALS[noun]}" if total != 1 else f"{node}: {counted(total, noun)}"


def _busy(event: NodeSample) -> float | None:
    return 1 - event.cpu.idle_s / event.cpu.total_s if event.cpu is not None and event.cpu.total_s else None


@asynccontextmanager
async def open_investigator(
    cluster: Cluster, settings: Settings, record: SessionRecord | None = None, password: Secret | None = None
) -> AsyncIterator[Investigator]:
    """Yield what makes the automatic steps of a session, watched for harm.

    `record` is that of a session which goes on: its budget is what its answers left.
    """
    investigator = Investigator(cluster, settings, SessionBudget.left(settings, record))
    harm = SessionHarm(settings.measure.most_cpu_percent)
    _add_run(harm, cluster)
    async with Feed(settings, password=password, share=lambda process: None) as feed:
        feed.follow(cluster)
        seen = asyncio.Event()

        async def watch() -> None:
            wanted = {node.name for node in cluster.read_nodes()}
            async for event in feed.events():
                if isinstance(event, NodeSample):
                    wanted.discard(event.node)
                if not wanted:
                    seen.set()
                _judge(event)

        def _judge(event: FeedEvent) -> None:
            if not investigator.is_sending:
                harm.quiet(event)
            elif sign := harm.see(event):
                investigator.halt(sign)

        tasks = [asyncio.create_task(one) for one in (watch(), _silence(cluster, investigator))]
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(seen.wait(), FIRST_S)
            yield investigator
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await investigator.close()


def _add_run(harm: SessionHarm, cluster: Cluster) -> None:
    """Add what the run counted, with which the session starts."""
    if isinstance(cluster.activity, Activity):
        for own in active(cluster.activity):
            if loss := loss_of(cluster.activity, own):
                harm.usual(own.instance, loss.lost, own.seconds, time.time())


def _silence(cluster: Cluster, investigator: Investigator) -> Coroutine[Any, Any, None]:
    """Watch the private paths from this node."""
    here = cluster.local_node
    paths = [
        MeasuredPath(network.name, here, own.ip, port.node, port.ip, own.interface, network.mtu)
        for network in cluster.read_networks()
        if (own := network.port(here)) is not None and isinstance(network.mtu, int) and ":" not in own.ip
        for port in network.ports
        if port.node != here
    ]

    async def watch() -> None:
        while True:
            await watch_for_silence(paths, most_silence_s(cluster), investigator.halt)
            await asyncio.sleep(1)

    return watch()
