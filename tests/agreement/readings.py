"""What a run of the checks reads of a cluster whose truth changes while it reads: each fact at its own time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from random import Random

from msgspec.structs import replace

from checks.model.check import Check
from checks.model.facts import (
    Activity,
    Cluster,
    Clusterware,
    CounterChanges,
    Database,
    Node,
    NodeSetup,
    NotGathered,
    PathProbe,
    UnreadNode,
)
from checks.model.finding import EvidenceRef
from checks.model.journal import Entry
from checks.model.networks import private_networks
from checks.model.report import Report
from checks.model.run_record import RunRecord
from checks.model.settings import Settings
from checks.run.check_discovery import discover
from checks.run.engine import needed_groups
from checks.run.replay import ReplayedFacts
from tests.agreement.truth import NETWORKS, NODES, SUBNETS, Truth
from tests.simulator import facts as simulated
from tests.simulator.faults import Fault
from tests.simulator.judging import report_by
from tests.simulator.world import World

CHECKS = {check.id: check for check in discover().checks}
LOOKED = ("clusterware", "nodes", "networks", "setups")
"""The groups that the gates of a step read."""
_PROBED = ("flows", "haip_paths", "effective_routes", "owners")
_TOPICS = {
    "grid home": "clusterware",
    "crsctl check crs": "clusterware",
    "olsnodes": "clusterware",
    "oifcfg getif": "clusterware",
    "udp datagrams": "flows",
    "arp probes": "owners",
    "routes in use": "effective_routes",
    "sql interconnects": "database",
    "sql parameters": "database",
    "sql awr_devices": "database",
    "host": "setups",
    "alert logs": "setups",
    "boot files": "setups",
}
"""The group that an entry of the journal belongs to; any other is of the reading of its node."""
_OF_NODES = ("flows", "effective_routes", "setups")
"""The groups that are read on every node."""
_OF_NODE = ("interfaces", "routes", "neighbours", "sysctls")
_COUNTED = ("sql sysstat", "sql cache_transfer", "sql system_event", "sql instance_ping", "counters over time")


@lru_cache(maxsize=5000)
def _cluster(faults: frozenset[Fault]) -> Cluster:
    return simulated.facts_of(sorted(faults), is_lucky=True)


class Reader:
    """Reads the facts of one run: it draws when each is read, and takes what is so at that time."""

    def __init__(self, truth: Truth, begin: float, length: float, seed: int) -> None:
        self._truth = truth
        self._rng = Random(seed)
        self.begin, self.length = begin, length
        last = {"clusterware": 0.1}  # it names the nodes
        self.times = {group: self._time(0.0, last.get(group, 0.9)) for group in ("clusterware", "database", *_PROBED)}
        self.node_times = {node: self._time(0.0, 0.15) for node in NODES}
        self.setup_times = {node: self._time(0.2, 0.9) for node in NODES}
        self.path_times = {
            (SUBNETS[network], a, b): self._time(0.15, 0.9) for network in NETWORKS for a in NODES for b in NODES
        }
        self.window = (begin + 0.1 * length, begin + 0.95 * length)
        self.could_read = {node for node in NODES if node == NODES[0] or self._rng.random() > 0.03}
        """The nodes to which the login works."""

    def _time(self, first: float, last: float) -> float:
        return self.begin + self.length * self._rng.uniform(first, last)

    # --- facts --------------------------------------------------------------------------------------------------------

    def cluster(self, groups: Collection[str]) -> Cluster:
        """Return the facts of these groups; those of the others were not gathered."""
        whole = self._whole()
        every = {group: NotGathered() for group in whole.gathered_groups() if group not in groups}
        return replace(whole, **every)

    def _whole(self) -> Cluster:
        nodes = tuple(self._node(name) for name in NODES)
        grid = self._clusterware(self.times["clusterware"])
        networks = private_networks(grid, (), [node for node in nodes if isinstance(node, Node)])
        read = [node.name for node in nodes if isinstance(node, Node)]
        probed = {group: getattr(self._at(self.times[group], read), group) for group in _PROBED}
        return replace(
            _cluster(frozenset()),
            taken_at=self.iso(self.begin),
            clusterware=grid,
            nodes=nodes,
            networks=networks,
            setups=tuple(self._setup(name, name in read) for name in NODES),
            paths=tuple(self._paths(read)),
            database=self._database(self.times["database"]),
            activity=self._activity(),
            counters=self._counters(read),
            **probed,
        )

    def _at(self, t: float, read: Collection[str] = ()) -> Cluster:
        """The cluster at a time. Of a node that was read and is down by then, nothing answers."""
        faults = set(self._truth.faults(t))
        for name in NODES:
            gone = Fault("node-down", 0, name)
            if gone in faults and name in read:
                faults -= {gone}
                faults |= {Fault("port-dead", network, name) for network in NETWORKS}
            elif name not in read and read:
                faults |= {gone}
        return _cluster(frozenset(faults))

    def _unread(self, name: str, t: float) -> UnreadNode | None:
        if self._truth.is_down(name, t):
            reason = f"this node cannot reach {name}: no answer from its port 22 within 10 s"
            return UnreadNode(name, reason, is_silent=True)
        return None if name in self.could_read else UnreadNode(name, f"ssh to {name} was refused")

    def _node(self, name: str) -> Node | UnreadNode:
        t = self.node_times[name]
        nodes = self._at(t).nodes
        assert isinstance(nodes, tuple)
        return self._unread(name, t) or next(node for node in nodes if node.name == name)

    def _setup(self, name: str, is_read: bool) -> NodeSetup | UnreadNode:
        t = self.setup_times[name]
        if gone := self._unread(name, t) or (None if is_read else UnreadNode(name, "the node could not be read")):
            return gone
        setups = self._at(t).setups
        assert isinstance(setups, tuple)
        found = next(setup for setup in setups if setup.name == name)
        assert isinstance(found, NodeSetup)
        if self._truth.has_stack(name, t):
            return found
        return replace(
            found, daemons=(), instances=(), services=("CRS-4639: Could not contact Oracle High Availability Services",)
        )

    def _without_stack(self, t: float) -> World:
        return World([Fault("node-down", 0, name) for name in NODES if not self._truth.has_stack(name, t)])

    def _clusterware(self, t: float) -> Clusterware:
        return simulated._clusterware(self._without_stack(t))

    def _database(self, t: float) -> Database:
        found = simulated._database(self._without_stack(t))
        assert isinstance(found, Database)
        return found

    def _paths(self, read: Sequence[str]) -> Iterator[PathProbe]:
        for (network, a, b), t in self.path_times.items():
            paths = self._at(t, read).paths
            assert isinstance(paths, tuple)
            yield from (
                path
                for path in paths
                if isinstance(path, PathProbe) and (path.network, path.from_node, path.to_node) == (network, a, b)
            )

    def _activity(self) -> Activity:
        since, until = self.window
        live = [
            int(name[3:]) for name in NODES if self._truth.has_stack(name, since) and self._truth.has_stack(name, until)
        ]
        lost = {int(name[3:]): self._truth.lost(name, since, until) for name in NODES}
        healthy = _cluster(frozenset()).activity
        assert isinstance(healthy, Activity)
        senders = {number: next((other for other in live if other != number), 0) for number in live}
        own = (
            replace(one, statistics={**one.statistics, "gc blocks lost": lost[one.instance]})
            for one in healthy.instances
            if one.instance in live
        )
        transfers = (
            replace(one, lost=lost[one.receiver] if senders[one.receiver] == one.sender else 0)
            for one in healthy.transfers
            if one.receiver in live and one.sender in live
        )
        pings = (one for one in healthy.pings if one.instance in live and one.target in live)
        return replace(healthy, instances=tuple(own), transfers=tuple(transfers), pings=tuple(pings))

    def _counters(self, read: Sequence[str]) -> CounterChanges:
        there = frozenset(
            Fault("node-down", 0, name)
            for name in NODES
            if name not in read or any(self._truth.is_down(name, t) for t in self.window)
        )
        found = _cluster(there).counters
        assert isinstance(found, CounterChanges)
        return found

    # --- the journal --------------------------------------------------------------------------------------------------

    def iso(self, t: float) -> str:
        """Return a time as racwire writes it."""
        return datetime.fromtimestamp(self._truth.wall.time(t), UTC).isoformat(timespec="milliseconds")

    def entries(self, report: Report) -> tuple[Entry, ...]:
        """Return the journal of a report: what racwire read for its groups, each at its time."""
        refs = {EvidenceRef(*ref): None for ref in self._topics(report.cluster)}
        refs |= {ref: None for f in report.findings for ref in f.evidence if ref.topic.startswith("haip ")}
        found = sorted((t, ref.node, ref.topic) for ref in refs for t in self._read_at(ref))
        return tuple(Entry(node, topic, topic, self.iso(t), 20.0) for t, node, topic in found)

    def _topics(self, cluster: Cluster) -> Iterator[tuple[str, str]]:
        gathered, local = {*cluster.gathered_groups()}, NODES[0]
        for topic, group in _TOPICS.items():
            if group in gathered:
                nodes = NODES if group in _OF_NODES else (local,)
                yield from ((node, topic) for node in nodes)
        if "nodes" in gathered:
            yield from ((node, topic) for node in NODES for topic in _OF_NODE)
        if "paths" in gathered:
            yield from ((a, f"path {network} {a} {b}") for network, a, b in self.path_times if a != b)
        if "activity" in gathered:
            yield from ((local, topic) for topic in _COUNTED if topic.startswith("sql "))
        if "counters" in gathered:
            yield from ((node, "counters over time") for node in NODES)

    def _read_at(self, ref: EvidenceRef) -> Iterator[float]:
        what, *rest = ref.topic.split()
        if ref.topic in _COUNTED:
            yield from self.window
        elif what == "path":
            yield self.path_times[rest[0], rest[1], rest[2]]
        elif what == "haip":
            yield self.times["haip_paths"]
        elif (group := _TOPICS.get(ref.topic, "nodes")) == "setups":
            yield self.setup_times[ref.node]
        else:
            yield self.times.get(group) or self.node_times[ref.node]

    def record(self, checks: Sequence[Check], clock_s: float, *, is_part: bool = False) -> RunRecord:
        """Return the run of these checks."""
        report = report_by(ReplayedFacts(self.cluster(needed_groups(checks)), checks, Settings()))
        report = replace(report, started_at=self.iso(self.begin), duration_s=self.length, journal=self.entries(report))
        ended = self._truth.wall.time(self.begin + self.length)
        names = tuple(check.id for check in checks) if is_part else ()
        return RunRecord(report=report, ended=ended, checks=names, clock_s=clock_s)

    def gate(self, clock_s: float) -> RunRecord:
        """Return what the gates of a step read."""
        facts = self.cluster(LOOKED)
        report = report_by(ReplayedFacts(facts, (), Settings()))
        report = replace(report, cluster=facts, started_at=self.iso(self.begin), duration_s=self.length)
        ended = self._truth.wall.time(self.begin + self.length)
        report = replace(report, journal=self.entries(report))
        return RunRecord(report=report, ended=ended, is_gate=True, clock_s=clock_s)
