"""Open-loop latency: the selected paths, their description, the due time of each ping, and failed pings."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checks.model.facts import Cluster, Port, PrivateNetwork
from checks.model.settings import ProbeSettings
from checks.sources.probes.icmp_socket import Echo, EchoSocket, QueuedError
from checks.sources.probes.pinger import CannotPingError, NoPrivilegeError
from checks.traffic import latency_pinger
from checks.traffic.latency import LATE_S, LatencyPath, Schedule, latency_paths, planned_latency, run_latency
from checks.traffic.latency_pinger import percentiles
from checks.traffic.samples import Event, Gap, LatencySample
from checks.traffic.source_id import ALL_PINGS, SourceId
from tests.fixtures.clusters import cluster as healthy_cluster


def network(number: int, nodes: int = 3, mtu: int = 9000) -> PrivateNetwork:
    subnet = f"192.168.{9 + number}"
    ports = tuple(Port(f"rac{n}", f"eth{number}", f"{subnet}.{n}") for n in range(1, nodes + 1))
    return PrivateNetwork(f"{subnet}.0/24", f"eth{number}", f"{subnet}.0/24", "oifcfg", ports, mtu)


def cluster(*networks: PrivateNetwork) -> Cluster:
    return Cluster(local_node="rac1", taken_at="", networks=networks)


# Which paths, and in which words


def test_paths_lead_from_this_node_to_every_other_on_every_private_network() -> None:
    paths = latency_paths(cluster(network(1), network(2)))
    assert [(p.path.source.node, p.path.destination.node, p.path.network.name) for p in paths] == [
        ("rac1", "rac2", "192.168.10.0/24"),
        ("rac1", "rac3", "192.168.10.0/24"),
        ("rac1", "rac2", "192.168.11.0/24"),
        ("rac1", "rac3", "192.168.11.0/24"),
    ]


def test_the_large_ping_is_as_large_as_the_datagram_of_a_block() -> None:
    (path,) = latency_paths(cluster(network(1, nodes=2)))
    assert path.payloads == (56, 8328)


def test_without_known_networks_there_is_no_path() -> None:
    assert latency_paths(Cluster(local_node="rac1", taken_at="")) == ()


def test_a_network_that_overlaps_a_public_one_is_refused_and_the_dry_run_says_so() -> None:
    healthy = healthy_cluster()
    assert isinstance(healthy.networks, tuple)
    public = next(a.network for i in healthy.read_nodes()[0].interfaces if i.name == "eth0" for a in i.addresses)
    exposed = replace(healthy.networks[0], subnet=str(public), name=str(public))
    paths = latency_paths(replace(healthy, networks=(exposed,)))
    assert paths
    assert all("overlaps the public network" in p.refusal for p in paths)
    assert planned_latency(paths, 10).startswith("racwire sends no pings here:")


def test_the_dry_run_describes_the_pings() -> None:
    assert planned_latency(latency_paths(cluster(network(1), network(2))), 10) == (
        "10 pings a second of 56 and of 8,328 bytes to rac2 and rac3 on 192.168.10.0/24 and to rac2 and rac3 on "
        "192.168.11.0/24; 2.7 Mb/s in all, and as much in answers."
    )


def test_the_dry_run_has_the_rate_after_the_limit() -> None:
    words = planned_latency(latency_paths(cluster(network(1))), 100, ProbeSettings(max_packets_per_second=100))
    assert words.startswith("25 pings a second of")


def test_a_dry_run_without_paths_has_the_reason() -> None:
    assert planned_latency((), 10) == "There is no other node on a private network to ping."


# When a ping is due


def times_of(schedule: Schedule, until: float, stalls: Callable[[float], float]) -> list[tuple[float, int]]:
    """Return the send times of the streams, with a clock that stops as `stalls` specifies."""
    now, sent = 0.0, []
    while now < until:
        if (stream := schedule.take(now)) is not None:
            sent.append((now, stream))
        now = stalls(max(now, schedule.due))
    return sent


def test_every_stream_gets_its_rate_evenly_spaced() -> None:
    sent = times_of(Schedule(4, 10, 5000, 0.0), 1.0, lambda now: now)
    assert [stream for _, stream in sent] == [0, 1, 2, 3] * 10
    assert all(later - earlier == pytest.approx(0.025) for (earlier, _), (later, _) in pairwise(sent))


def test_pings_missed_during_a_stall_are_skipped_and_not_sent_in_a_burst() -> None:
    schedule = Schedule(1, 100, 5000, 0.0)
    assert schedule.take(0.0) == 0
    sent = [schedule.take(1.003) for _ in range(50)]
    assert sent.count(0) == 1
    assert schedule.due == pytest.approx(1.01)


@given(
    streams=st.integers(1, 60),
    per_second=st.integers(1, 100),
    most=st.integers(100, 5000),
    stall=st.floats(0, 0.3),
)
def test_no_rate_and_no_stall_exceeds_the_limit(streams: int, per_second: int, most: int, stall: float) -> None:
    stalls = iter([stall] * 3)
    sent = times_of(Schedule(streams, per_second, most, 0.0), 1.0, lambda now: now + next(stalls, 0.0))
    assert len(sent) <= min(streams * per_second, most) + 1
    for start, _ in sent:
        burst = sum(1 for at, _ in sent if start <= at < start + 0.001)
        assert burst <= (LATE_S + 0.001) * min(streams * per_second, most) + 2


def test_percentiles_are_of_the_answered_pings() -> None:
    assert percentiles([]) == {}
    assert percentiles([3.0, 1.0, 2.0]) == {"p50_us": 2.0, "max_us": 3.0}
    assert percentiles([float(n) for n in range(1, 201)]) == {"p50_us": 100.5, "p99_us": 198.0, "max_us": 200.0}


# What becomes of pings


class Wire(EchoSocket):
    """A socket whose other end is this test. The test sets what happens to each packet."""

    opened: ClassVar[list[Wire]] = []
    closed: ClassVar[int] = 0
    late_ns: ClassVar[int] = 50_000
    answers_to: ClassVar[Callable[[int], bool]] = staticmethod(lambda payload: True)
    send_fails: ClassVar[OSError | None] = None
    open_fails: ClassVar[CannotPingError | None] = None

    def __init__(self, source: str, destination: str, device: str, *, dont_fragment: bool = True) -> None:
        assert not dont_fragment
        if self.open_fails is not None:
            raise self.open_fails
        self.identifier = 7
        self._ends = socket.socketpair()
        self._came: list[Echo] = []
        self.opened.append(self)

    def fileno(self) -> int:
        return self._ends[0].fileno()

    def close(self) -> None:
        type(self).closed += 1
        for end in self._ends:
            end.close()

    def send(self, sequence: int, payload: bytes) -> int:
        now = time.monotonic_ns()
        if self.send_fails is not None:
            raise self.send_fails
        if type(self).answers_to(len(payload)):
            self._came.append(Echo(7, sequence, payload, 64, now + self.late_ns))
            self._came.append(Echo(7, sequence, payload, 64, now + self.late_ns))
            self._came.append(Echo(8, sequence, payload, 64, now + self.late_ns))
            self._ends[1].send(b".")
        return now

    def answers(self) -> list[Echo]:
        came, self._came = self._came, []
        if came:
            self._ends[0].recv(4096)
        return came

    def errors(self) -> list[QueuedError]:
        return []


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Wire]]:
    class Fresh(Wire):
        opened: ClassVar[list[Wire]] = []

    monkeypatch.setattr(latency_pinger, "EchoSocket", Fresh)
    yield Fresh
    assert Fresh.closed == len(Fresh.opened)


PATHS = latency_paths(cluster(network(1, nodes=2)))


async def events_of(enough: Callable[[list[Event]], bool], paths: tuple[LatencyPath, ...] = PATHS) -> list[Event]:
    """Return the events until there are enough; then cancel."""
    events: list[Event] = []
    done = asyncio.Event()

    def emit(event: Event) -> None:
        events.append(event)
        if enough(events):
            done.set()

    running = asyncio.create_task(run_latency(paths, 100, lambda: 0.1, emit, probe=ProbeSettings(timeout_ms=50)))
    await asyncio.wait_for(done.wait(), 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    return events


def samples(events: list[Event], payload: int) -> list[LatencySample]:
    return [e for e in events if isinstance(e, LatencySample) and e.payload == payload]


async def test_each_size_of_a_path_has_a_sample_for_every_interval(wire: type[Wire]) -> None:
    events = await events_of(lambda events: len(events) >= 4)
    for payload in (56, 8328):
        for sample in samples(events, payload):
            assert (sample.network, sample.to_node) == ("192.168.10.0/24", "rac2")
            assert sample.received == sample.sent > 0
            assert sample.p50_us == sample.max_us == 50.0
    assert events[0].source == SourceId.parse("latency 192.168.10.0/24 rac2 56")


async def test_losses_of_one_size_count_only_for_that_size(wire: type[Wire]) -> None:
    wire.answers_to = staticmethod(lambda payload: payload < 1500)
    events = await events_of(lambda events: len(events) >= 4)
    assert all(s.received == s.sent for s in samples(events, 56))
    assert all(s.received == 0 and s.sent > 0 and s.p50_us is None for s in samples(events, 8328))


async def test_an_answer_after_the_timeout_is_a_loss(wire: type[Wire]) -> None:
    wire.late_ns = 60_000_000
    events = await events_of(lambda events: len(events) >= 2)
    assert all(isinstance(s, LatencySample) and s.received == 0 for s in events)


async def test_a_clock_that_was_set_back_makes_no_negative_latency(wire: type[Wire]) -> None:
    wire.late_ns = -3_600_000_000_000
    events = await events_of(lambda events: len(events) >= 2)
    assert all(isinstance(s, LatencySample) and s.p50_us is not None and s.p50_us >= 0 for s in events)


async def test_a_full_queue_of_the_local_node_is_a_loss(wire: type[Wire]) -> None:
    wire.send_fails = OSError(errno.ENOBUFS, os.strerror(errno.ENOBUFS))
    events = await events_of(lambda events: len(events) >= 2)
    assert all(isinstance(s, LatencySample) and s.sent > 0 and s.received == 0 for s in events)


async def test_a_path_that_disappears_is_one_gap_of_each_size_until_it_returns(wire: type[Wire]) -> None:
    wire.send_fails = OSError(errno.ENETUNREACH, "Network is unreachable")
    intervals = 0

    def enough(events: list[Event]) -> bool:
        nonlocal intervals
        if len(events) == 2:
            asyncio.get_running_loop().call_later(0.3, setattr, wire, "send_fails", None)
        return bool(samples(events, 56) and samples(events, 8328))

    events = await events_of(enough)
    gaps = [e for e in events if isinstance(e, Gap)]
    assert [str(g.source)[-4:] for g in gaps] == ["2 56", "8328"]
    assert {g.reason for g in gaps} == {"Cannot ping 192.168.10.2 from 192.168.10.1 on eth1: Network is unreachable."}
    assert len(wire.opened) > 1


async def test_an_address_that_does_not_exist_is_a_gap_and_retried(wire: type[Wire]) -> None:
    wire.open_fails = CannotPingError("no ICMP socket from 192.168.10.1: no such address")

    def enough(events: list[Event]) -> bool:
        wire.open_fails = None
        return bool(samples(events, 56))

    events = await events_of(enough)
    assert isinstance(events[0], Gap)
    assert events[0].reason == "No ICMP socket from 192.168.10.1: no such address."


async def test_without_privilege_one_gap_names_the_remedy(wire: type[Wire]) -> None:
    wire.open_fails = NoPrivilegeError("no")
    events: list[Event] = []
    await run_latency(latency_paths(cluster(network(1))), 10, lambda: 1.0, events.append)
    (gap,) = events
    assert isinstance(gap, Gap)
    assert gap.source == ALL_PINGS
    assert "net.ipv4.ping_group_range" in gap.reason


async def test_nothing_is_sent_on_a_refused_path(wire: type[Wire]) -> None:
    events: list[Event] = []
    await run_latency(
        (LatencyPath(PATHS[0].path, refusal="racwire sends no pings here: why."),), 10, lambda: 1.0, events.append
    )
    assert [(str(e.source), e.reason) for e in events if isinstance(e, Gap)] == [
        ("latency 192.168.10.0/24 rac2", "racwire sends no pings here: why.")
    ]
    assert wire.opened == []


async def test_without_any_path_one_gap_has_the_reason() -> None:
    events: list[Event] = []
    await run_latency((), 10, lambda: 1.0, events.append)
    assert [type(e) for e in events] == [Gap]
