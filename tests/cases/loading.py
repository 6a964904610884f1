"""The case book: the format of a case file, the cluster that it makes, and the comparison with a report.

`README.md` in this directory explains the format.
"""

from __future__ import annotations

import ipaddress
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
import pytest
from _pytest.mark import ParameterSet

from checks.model.facts import (
    Activity,
    Address,
    Cluster,
    Clusterware,
    ConfiguredInterface,
    CounterChange,
    DriverCounters,
    Haip,
    Interface,
    InterfaceConfiguration,
    KeptMtu,
    Leg,
    Neighbour,
    NetworkService,
    Node,
    NodeSetup,
    NotAsked,
    PathProbe,
    PingSeries,
    PrivateNetwork,
    Route,
    Unknown,
    UnreadNode,
    Verdict,
)
from checks.model.finding import PROBLEMS, Finding, Status
from checks.model.hypothesis import Hypothesis, Standing
from checks.model.report import Report, exit_code
from tests.cases import healthy_facts
from tests.cases.host_parts import DriverOf, HostOf
from tests.cases.log_case import LogLineOf, logs_of
from tests.fixtures.clusters import cluster, clusterware, interface, node, path, with_paths
from tests.fixtures.databases import (
    activity,
    asked,
    change,
    counters,
    database,
    device,
    history,
    own_activity,
    pings,
    system,
)
from tests.fixtures.databases import past_loss as loss_of_the_past
from tests.fixtures.databases import transfers as transfers_of
from tests.fixtures.probed import probed

DIRECTORY = Path(__file__).parent
NOT_REQUESTED = NotAsked("No database was named.")


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """A table of a case file; an unknown key is an error."""


class InterfaceOf(_Table, frozen=True, kw_only=True):
    """A changed or an additional interface on some nodes."""

    node: str | tuple[str, ...]
    name: str
    mtu: int | None = None
    renamed: str | None = None
    kind: str | None = None
    mac: str | None = None
    master: str | None = None
    parent: str | None = None
    members: tuple[str, ...] | None = None
    addresses: tuple[str, ...] | None = None
    speed: int | str | None = None
    """In Mbit/s; a text is the reason why it is not known."""
    duplex: str | None = None
    link: str | None = None
    """The link state of the kernel: `down`, `lowerlayerdown`."""
    off: bool = False
    """Whether the administrator has switched the interface off."""

    def changed(self, old: Interface | None) -> Interface:
        """Return the interface with the changes of the case."""
        fields = {
            "name": self.renamed,
            "mtu": self.mtu,
            "kind": self.kind,
            "mac_address": self.mac,
            "master": self.master,
            "parent": self.parent,
            "members": self.members,
            "operational_state": self.link,
            "administratively_up": False if self.off else None,
            "speed_mbps": Unknown(self.speed) if isinstance(self.speed, str) else self.speed,
            "duplex": Unknown(self.speed) if isinstance(self.speed, str) else self.duplex,
        }
        if self.addresses is not None:
            fields["addresses"] = tuple(_address(text) for text in self.addresses)
        base = old or interface(self.name, "")
        return msgspec.structs.replace(base, **{key: value for key, value in fields.items() if value is not None})


def _connected(routes: tuple[Route, ...], nic: Interface) -> tuple[Route, ...]:
    """Return the routes as a kernel has them after the addresses of a NIC changed."""
    others = tuple(r for r in routes if r.interface != nic.name or not r.source)
    own = {
        str(ipaddress.ip_network(f"{a.ip}/{a.prefix_length}", strict=False)): a.ip
        for a in nic.addresses
        if ":" not in a.ip
    }
    return (*others, *(Route(subnet, nic.name, source=ip) for subnet, ip in own.items() if nic.is_up))


def _address(text: str) -> Address:
    """Return an address from `169.254.47.99/17`, which a label such as `eth1:1` may follow."""
    with_length, _, label = text.partition(" ")
    ip, _, length = with_length.partition("/")
    return Address(ip, int(length), label)


class NeighbourOf(_Table, frozen=True, kw_only=True):
    """A neighbour entry of some nodes."""

    node: str | tuple[str, ...]
    ip: str
    interface: str
    mac: str
    state: str = "reachable"


class RouteOf(_Table, frozen=True, kw_only=True):
    """A route of a node, which replaces the one with the same destination and metric."""

    node: str | tuple[str, ...]
    to: str
    interface: str
    gateway: str = ""
    mtu: int | None = None
    mtu_locked: bool = False
    metric: int = 0


class PathOf(_Table, frozen=True, kw_only=True):
    """The result of pings between nodes on one network; all other paths pass."""

    from_: str | tuple[str, ...]
    to: str | tuple[str, ...]
    network: str = "eth2"
    """The network, by its interface in oifcfg."""
    both_ways: bool = False
    verdict: Verdict
    lost_leg: Leg = Leg.UNKNOWN
    small: tuple[int, int] | None = None
    """Small packets: sent, answered."""
    full: tuple[int, int] | None = None
    refused_locally: int = 0
    local_mtu: int | None = None
    too_big_mtu: int | None = None
    too_big_from: str = ""
    hops: int | None = None
    reason: str = ""
    neighbour_mac: str = ""

    def probes(self, networks: Iterable[PrivateNetwork]) -> Iterator[PathProbe]:
        """Yield the probed paths."""
        network = next(n for n in networks if n.interface == self.network)
        more: dict[str, object] = {"hops": self.hops, "reason": self.reason, "neighbour_mac": self.neighbour_mac}
        if self.small or self.full:
            (sent, back), (sent_full, back_full) = self.small or (20, 20), self.full or (20, 20)
            mtu = network.mtu if isinstance(network.mtu, int) else 9000
            more["series"] = (
                PingSeries(56, sent, back),
                PingSeries(
                    mtu - 28, sent_full, back_full, refused_locally=self.refused_locally, local_mtu=self.local_mtu,
                    too_big_mtu=self.too_big_mtu, too_big_from=self.too_big_from,
                ),
            )  # fmt: skip
        for a in _several(self.from_):
            for b in _several(self.to):
                if a != b:
                    yield path(network, a, b, self.verdict, self.lost_leg, **more)
                    if self.both_ways:
                        yield path(network, b, a, self.verdict, self.lost_leg, **more)


class BootOf(_Table, frozen=True, kw_only=True):
    """The configuration of an interface at the next boot."""

    node: str
    interface: str
    mtu: int | None = None
    """The MTU in the files; None when no file sets it."""
    manager: NetworkService = NetworkService.IFCFG
    file: str = ""


class LostBlocks(_Table, frozen=True, kw_only=True):
    """Blocks that one instance lost from another one, as in GV$INSTANCE_CACHE_TRANSFER."""

    receiver: int
    sender: int
    blocks: int


class PingOf(_Table, frozen=True, kw_only=True):
    """The pings of one instance to another."""

    from_: int
    to: int
    small_us: int
    large_us: int


class PastLoss(_Table, frozen=True, kw_only=True):
    """Blocks that AWR counts as lost since 18 November."""

    instance: int
    blocks: int
    last: str = "2026-11-20T14:00:00"


class Make(_Table, frozen=True, kw_only=True):
    """How the case is made: from facts of a healthy cluster, or by faults of the practice cluster."""

    nodes: int = 2
    mtu: int = 9000
    database: str = ""
    """The release of the database; empty when no database was queried."""

    unread: dict[str, str] = {}
    oifcfg: tuple[str, ...] = ()
    haip: str = "ONLINE"
    interface: tuple[InterfaceOf, ...] = ()
    neighbour: tuple[NeighbourOf, ...] = ()
    route: tuple[RouteOf, ...] = ()
    log: tuple[LogLineOf, ...] = ()
    """Lines of alert logs; where there is one, the logs of all nodes were read."""
    inactive: tuple[str, ...] = ()
    """The nodes that olsnodes shows as Inactive."""
    path: tuple[PathOf, ...] = ()
    boot: tuple[BootOf, ...] = ()
    host: dict[str, HostOf] = {}
    """Changes of the setup outside Clusterware, by node."""
    sysctl: dict[str, dict[str, str]] = {}
    counted: dict[str, dict[str, dict[str, int]]] = {}
    system: dict[str, dict[str, dict[str, int]]] = {}
    driver: dict[str, dict[str, DriverOf]] = {}
    """What the drivers of NICs counted, by node and NIC."""
    statistics: dict[str, dict[str, int]] = {}
    lost: tuple[LostBlocks, ...] = ()
    ping: tuple[PingOf, ...] = ()
    past_loss: tuple[PastLoss, ...] = ()
    silent: bool = False
    """Whether no instance gets a block or a ping of another one."""
    fragment_memory: dict[str, int] = {}
    """The bytes that packets in reassembly used, by node."""
    thresholds: dict[str, float] = {}

    lab: tuple[str, ...] | None = None
    """Faults of the practice cluster, as `racwire lab break` takes them; None for a case of facts."""
    interval_s: int = 1
    checks: tuple[str, ...] = ()
    """The checks to run; empty for all of them."""

    def cluster(self) -> Cluster:
        """Return the cluster made of facts."""
        nodes = [self._node(number) for number in range(1, self.nodes + 1)]
        built = cluster(nodes, self._clusterware())
        assert isinstance(built.networks, tuple)
        built = with_paths(built, *(probe for declared in self.path for probe in declared.probes(built.networks)))
        built = msgspec.structs.replace(
            probed(built),
            setups=tuple(self._with_host(self._setup(setup), built) for setup in built.setups),
            thresholds=msgspec.structs.replace(built.thresholds, **self.thresholds),
        )
        numbers = range(1, self.nodes + 1)
        return asked(
            built,
            counters=counters(self.nodes, *(self._counted(node) for node in built.read_nodes())),
            database=database(self.nodes, self.database) if self.database else NOT_REQUESTED,
            activity=self._activity() if self.database else NOT_REQUESTED,
            history=history(
                self.nodes,
                [loss_of_the_past(loss.instance, loss.blocks, loss.last) for loss in self.past_loss],
                devices=tuple(device(n, nic, self.mtu) for n in numbers for nic in ("eth1", "eth2")),
            )
            if self.database
            else NOT_REQUESTED,
        )

    def _node(self, number: int) -> Node | UnreadNode:
        built = node(number, self.mtu)
        if built.name in self.unread:
            return UnreadNode(built.name, self.unread[built.name])
        for declared in self.interface:
            if built.name in _several(declared.node):
                new = declared.changed(built.interface(declared.name))
                others = tuple(new if i.name == declared.name else i for i in built.interfaces)
                added = () if built.interface(declared.name) else (new,)
                built = msgspec.structs.replace(built, interfaces=(*others, *added))
                if declared.addresses is not None:
                    built = msgspec.structs.replace(built, routes=_connected(built.routes, new))
        for route in self.route:
            if built.name in _several(route.node):
                new_route = Route(
                    route.to, route.interface, route.gateway, route.mtu, route.mtu_locked, metric=route.metric
                )
                others = tuple(r for r in built.routes if (r.destination, r.metric) != (route.to, route.metric))
                built = msgspec.structs.replace(built, routes=(*others, new_route))
        entries = [n for n in self.neighbour if built.name in _several(n.node)]
        neighbours = tuple(Neighbour(n.ip, n.interface, n.mac, n.state) for n in entries)
        built = msgspec.structs.replace(built, neighbours=(*built.neighbours, *neighbours))
        return msgspec.structs.replace(
            built, sysctls={**healthy_facts.SYSCTLS, **built.sysctls, **self.sysctl.get(built.name, {})}
        )

    def _clusterware(self) -> Clusterware:
        facts = clusterware(self.nodes)
        changes: dict[str, object] = {}
        if self.oifcfg:
            words = [line.split() for line in self.oifcfg]
            entries = tuple(ConfiguredInterface(n, net, scope, tuple(r.split(","))) for n, net, scope, r in words)
            changes["configuration"] = InterfaceConfiguration(entries)
        if self.inactive and isinstance(facts.members, tuple):
            changes["members"] = tuple(
                msgspec.structs.replace(m, status="Inactive") if m.name in self.inactive else m for m in facts.members
            )
        if self.haip != "ONLINE":
            changes["haip"] = Haip(False) if self.haip == "absent" else Haip(True, "ONLINE", self.haip)
        return msgspec.structs.replace(facts, **changes)

    def _with_host(self, setup: NodeSetup | UnreadNode, built: Cluster) -> NodeSetup | UnreadNode:
        node = built.node(setup.name)
        if isinstance(setup, UnreadNode) or node is None:
            return setup
        instance = f"prod{setup.name.removeprefix('rac')}" if self.database else ""
        logs = setup.logs if self.log else healthy_facts.logs(node, instance)
        host = healthy_facts.host(node, instance)
        changed = self.host[setup.name].applied(host) if setup.name in self.host else host
        return msgspec.structs.replace(setup, host=changed, logs=logs)

    def _setup(self, setup: NodeSetup | UnreadNode) -> NodeSetup | UnreadNode:
        declared = {boot.interface: boot for boot in self.boot if boot.node == setup.name}
        if self.log and isinstance(setup, NodeSetup):
            setup = msgspec.structs.replace(setup, logs=logs_of(setup.name, self.log))
        if isinstance(setup, UnreadNode) or not declared:
            return setup
        assert isinstance(setup.kept, tuple)
        entries = [KeptMtu(b.interface, b.manager, b.file, mtu=b.mtu) for b in declared.values()]
        return msgspec.structs.replace(setup, kept=(*(k for k in setup.kept if k.interface not in declared), *entries))

    def _counted(self, node: Node) -> CounterChange:
        groups = self.counted.get(node.name, {})
        flat = {f"{group}_{n}": value for group, values in groups.items() for n, value in values.items()}
        names = [i.name for i in node.interfaces]
        is_set = node.name in self.system
        machine = system(self.system[node.name], names) if is_set else healthy_facts.system(node)
        if drivers := self.driver.get(node.name):
            counted = tuple(DriverCounters(nic, of.counts, of.driver) for nic, of in drivers.items())
            machine = msgspec.structs.replace(machine, drivers=counted)
        return msgspec.structs.replace(
            change(node.name, **flat), fragment_memory_bytes=self.fragment_memory.get(node.name), machine=machine
        )

    def _activity(self) -> Activity:
        own: dict[int, dict[str, int]] = {}
        for loss in self.lost:
            statistics = own.setdefault(loss.receiver, {"gc blocks lost": 0})
            statistics["gc blocks lost"] += loss.blocks
        for name, statistics in self.statistics.items():
            own.setdefault(int(name.removeprefix("prod")), {}).update(statistics)
        if self.silent:
            none = dict.fromkeys(("gc cr blocks received", "gc current blocks received"), 0)
            return activity(
                self.nodes,
                *(own_activity(number, none, events=()) for number in range(1, self.nodes + 1)),
                transfers=tuple(
                    msgspec.structs.replace(t, cr_blocks=0, current_blocks=0) for t in transfers_of(self.nodes)
                ),
                pings=pings(self.nodes, count=0),
            )
        matrix = {(loss.receiver, loss.sender): loss.blocks for loss in self.lost}
        times = {(p.from_, p.to): (p.small_us, p.large_us) for p in self.ping}
        return activity(
            self.nodes,
            *(own_activity(number, statistics) for number, statistics in own.items()),
            transfers=transfers_of(self.nodes, matrix),
            pings=pings(self.nodes, times),
        )


class Expected(_Table, frozen=True, kw_only=True):
    """A finding that the report must contain. `*` in a title matches any text."""

    code: str
    status: Status
    check: str = ""
    title: str = "*"
    subject: str = "*"
    nodes: tuple[str, ...] | None = None
    network: str | None = None
    says: tuple[str, ...] = ()
    """Texts that must be anywhere in the finding."""
    says_not: tuple[str, ...] = ()
    offers_change: bool | None = None
    """Whether one of its next steps changes the cluster."""

    def is_met_by(self, finding: Finding) -> bool:
        """Whether the finding is the expected one."""
        whole = text_of(finding)
        return (
            (finding.code, finding.status) == (self.code, self.status)
            and self.check in ("", finding.check)
            and fnmatchcase(finding.title, self.title)
            and fnmatchcase(finding.subject, self.subject)
            and self.nodes in (None, finding.nodes)
            and self.network in (None, finding.network)
            and all(text in whole for text in self.says)
            and not any(text in whole for text in self.says_not)
            and self.offers_change in (None, any(remedy.is_change for remedy in finding.next))
        )


class ExpectedCause(_Table, frozen=True, kw_only=True):
    """A cause with which the diagnosis must begin, at its place in the order of the case."""

    cause: str | tuple[str, ...]
    """The code of the cause; several where the evidence cannot tell them apart."""
    standing: Standing | None = None
    place: str = "*"
    """The place, as the hypothesis has it; `*` matches any text."""
    nodes: tuple[str, ...] | None = None
    network: str | None = None

    @property
    def causes(self) -> tuple[str, ...]:
        """The codes, any of which is right."""
        return _several(self.cause)

    def fits(self, hypothesis: Hypothesis) -> bool:
        """Whether the hypothesis is the cause at the right place, with any standing that is in the first lines."""
        return (
            hypothesis.cause in self.causes
            and hypothesis.standing in (Standing.PROVED, Standing.SUPPORTED)
            and (self.place == "*" or any(fnmatchcase(place, self.place) for place in hypothesis.places))
            and (self.nodes is None or set(self.nodes) <= set(hypothesis.nodes))
            and (self.network is None or self.network in hypothesis.networks)
        )

    def is_met_by(self, hypothesis: Hypothesis) -> bool:
        """Whether the hypothesis is the expected one."""
        return self.fits(hypothesis) and self.standing in (None, hypothesis.standing)


class Expect(_Table, frozen=True, kw_only=True):
    """The expected result of a run: each of these findings, and no other problem."""

    exit_code: int
    findings: tuple[Expected, ...] = ()
    also: tuple[str, ...] = ()
    """Codes of problems that the report may contain; `*` matches any text."""
    causes: tuple[str, ...] | None = None
    """The codes of the proved and the supported causes, in the order of the report."""
    cause: tuple[ExpectedCause, ...] = ()
    """The causes with which the diagnosis begins, in this order."""
    excluded: tuple[str, ...] = ()
    """The codes of causes that must be excluded."""
    unexplained: int | None = None
    """The number of effects that none of these causes explains."""
    lost: tuple[tuple[str, str], ...] = ()
    """Receiver and sender of lost blocks on the practice cluster, where the number is not known before."""

    @property
    def first(self) -> tuple[ExpectedCause, ...]:
        """The causes with which the diagnosis begins."""
        return self.cause or tuple(ExpectedCause(cause=code) for code in self.causes or ())


class MustNot(_Table, frozen=True, kw_only=True):
    """Findings and phrases that the report must not contain."""

    codes: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = ()
    phrases: tuple[str, ...] = ()


class Case(_Table, frozen=True, kw_only=True):
    """One fault, or one healthy variant, and the expected report."""

    title: str
    make: Make
    expect: Expect
    must_not: MustNot = MustNot()
    sample: bool = False
    """Whether `make test` also runs this case of the practice cluster."""
    order: int = 0
    """Order among cases that share a practice cluster: cases that leave traces have a higher number."""
    name: str = ""
    """The file name without its suffix."""

    @property
    def is_healthy(self) -> bool:
        """Whether the case is a variant that must cause no alarm."""
        return "healthy" in self.name

    def faults_of(self, report: Report, noise: Iterable[str] = ()) -> list[str]:
        """Return the differences from the expected report, a line each; an empty list when there are none."""
        return list(self._faults(report, {*noise, *self.expect.also}))

    def _faults(self, report: Report, tolerated: set[str]) -> Iterator[str]:
        for expected in self.expect.findings:
            if not any(expected.is_met_by(finding) for finding in report.findings):
                yield f"not found: {expected}"
        for finding in report.findings:
            whole = text_of(finding)
            is_expected = any(expected.is_met_by(finding) for expected in self.expect.findings)
            # Each check says of a node that could not be read that it does not know it.
            of_unread = bool(finding.nodes) and {*finding.nodes} <= {n.name for n in report.cluster.unread_nodes()}
            is_expected |= finding.status is Status.UNKNOWN and of_unread
            if finding.status in PROBLEMS and not _is_tolerated(finding, tolerated) and not is_expected:
                yield f"not expected: {finding.status} {finding.code} {finding.title}"
            if finding.code in self.must_not.codes or finding.status in self.must_not.statuses:
                yield f"must not be found: {finding.status} {finding.code} {finding.title}"
            yield from (f"must not be in the report: {p!r} in {whole}" for p in self.must_not.phrases if p in whole)
        found = [h.cause for h in report.diagnosis.with_standing(Standing.PROVED, Standing.SUPPORTED)]
        if self.expect.causes is not None and found != list(self.expect.causes):
            yield f"causes {', '.join(found) or 'none'}"
        unexplained = report.diagnosis.unexplained
        if self.expect.unexplained is not None and len(unexplained) != self.expect.unexplained:
            yield f"unexplained: {'; '.join(unexplained) or 'nothing'}"
        if not self.expect.findings and found:
            yield f"causes of a healthy cluster: {', '.join(found)}"
        code = exit_code(report)
        if code != self.expect.exit_code and not any(
            _is_tolerated(finding, tolerated) and finding.status in PROBLEMS for finding in report.findings
        ):
            yield f"exit code {code}"


def _is_tolerated(finding: Finding, codes: Iterable[str]) -> bool:
    return any(fnmatchcase(finding.code, code) for code in codes)


def text_of(finding: Finding) -> str:
    """Return all texts of a finding, a line each."""
    table = [" ".join(row) for row in finding.table.rows] if finding.table else []
    steps = [line for remedy in finding.next for line in (remedy.text, remedy.where, *remedy.commands)]
    return "\n".join(
        [
            finding.title,
            finding.subject,
            *finding.seen,
            *finding.expected,
            finding.why,
            *steps,
            *finding.sources,
            *table,
        ]
    )


def _several(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


def load(file: Path) -> Case:
    """Read one case. Raises msgspec.ValidationError for an unknown key or value."""
    case = msgspec.convert(tomllib.loads(file.read_text()), Case)
    return msgspec.structs.replace(case, name=file.stem)


def cases() -> list[Case]:
    """Return all cases, by name."""
    return [load(file) for file in sorted(DIRECTORY.glob("*.toml"))]


def fact_cases() -> list[Case]:
    """Return the cases that are made of facts."""
    return [case for case in cases() if case.make.lab is None]


def parameters(*, database: bool) -> list[ParameterSet]:
    """Return the cases of the practice cluster with its nodes and MTU, ordered so that cases can share a cluster."""
    chosen = [case for case in cases() if case.make.lab is not None and bool(case.make.database) == database]
    chosen.sort(key=lambda case: (case.make.nodes, -case.make.mtu, case.order, case.name))
    beyond = pytest.mark.beyond_sample
    return [
        pytest.param((case.make.nodes, case.make.mtu), case, id=case.name, marks=() if case.sample else beyond)
        for case in chosen
    ]
