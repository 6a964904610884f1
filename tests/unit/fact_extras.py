"""Clusters with facts that no case has: other senders and loads, storage, bonds watched by ARP, hung instances."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from checks.model.facts import (
    ActivityGap,
    AsmClient,
    ClientTraffic,
    Cluster,
    ClusterMember,
    CounterChange,
    CounterGroup,
    DnfsServer,
    FlowArrivals,
    FragileMtu,
    HaipPaths,
    Held,
    HostSetup,
    KernelCounters,
    MissingRight,
    NodeSetup,
    NotAsked,
    OtherSender,
    PrivateTcp,
    QuietLosses,
    RecentLoad,
    StaleHome,
    StorageConnection,
    StorageUse,
    TcpFlow,
    UnaskedInstance,
    Unknown,
    UnreadView,
)
from checks.model.known_instances import active
from tests.cases.loading import DIRECTORY, load
from tests.fixtures.databases import losing
from tests.simulator.facts import facts_of
from tests.simulator.faults import Fault

_LATE = "GV$INSTANCE did not answer in 10 s."
_RIGHT = MissingRight("SELECT on SYS.GV_$SYSSTAT for RACWIRE")


def extras() -> Iterator[Cluster]:
    """Yield them."""
    lossy = facts_of([Fault("loss", 2, "rac2"), Fault("small-reassembly-memory", 0, "rac3")], mtu=1500)
    for base in (facts_of([]), lossy):
        yield _of_others(base)
        yield _unread(base)
    yield facts_of([Fault("hung-instance", 0, "rac2"), Fault("icmp-filtered", 0, "rac3")])
    yield facts_of([Fault("node-down", 0, "rac3"), Fault("drop-fragments", 1)], mtu=1500)
    yield facts_of([Fault("lag-member-mtu", 1)])
    yield Cluster("rac1", "2026-11-20T14:02:31+01:00", Unknown(_LATE), named_networks=("eth1",))
    bond = load(DIRECTORY / "healthy-bond-lacp.toml").make.cluster()
    yield replace(bond, setups=tuple(map(_watched_by_arp, bond.read_setups())))
    yield replace(bond, setups=tuple(map(_with_too_few_members, bond.read_setups())))
    yield facts_of([Fault("haip-filtered", 1)])
    yield facts_of([Fault("flow-share-loss", 1, "rac1")])
    yield facts_of([Fault("conntrack-full", 0, "rac1"), Fault("spoof-check", 2, "rac2")])


def _of_others(base: Cluster) -> Cluster:
    """Other racwires, measurements shortly before, storage with small packets, and an interval with a quiet part."""
    counters, flows = base.counters, base.flows
    assert not isinstance(counters, Unknown)
    assert not isinstance(flows, Unknown)
    probes = tuple(
        replace(
            probe, ports=tuple(replace(p, late=not n, held=n % 2) for n, p in enumerate(probe.ports)), held=Held.SHARE
        )
        for probe in flows.probes
    )
    later = tuple(FlowArrivals(a.node, a.sent, 0) for a in flows.arrivals)
    others = (OtherSender("rac1", 4711, 3.0, 1.0, True), OtherSender("rac2", 0))
    script = FragileMtu("eth1", "/etc/rc.local", "ip link", 9000)
    lost = losing(2, 37, {1: 37}, 3)
    return replace(
        base,
        nodes=tuple(replace(n, racwires=("racwire-measure",)) for n in base.read_nodes()),
        setups=tuple(
            replace(s, fragile=(script,), lldp=Unknown("no lldpd runs"), lacks_lldpd=True) for s in base.read_setups()
        ),
        flows=replace(flows, probes=probes, later_arrivals=later, others=others),
        activity=replace(
            lost,
            instances=tuple(replace(a, statistics=a.statistics | _SERVED) for a in active(lost)),
            quiet=QuietLosses(20.0, {1: 0, 2: 30}),
            clients=tuple(ClientTraffic(n, "ipq", 1, 1) for n in (1, 2, 3)),
        ),
        counters=replace(counters, nodes=tuple(map(_with_storage, counters.nodes)), quiet=counters.nodes),
        recent_load=(RecentLoad("sizes", "rac1", ("rac1", "rac2"), base.taken_at),),
        named_networks=("eth1",),
    )  # fmt: skip


_SERVED = {"gc cr blocks served": 1, "gc current blocks served": 1}
_FULL = (
    CounterGroup("eth1", {"rx_bytes": 3 << 40, "tx_bytes": 0}),
    CounterGroup("eth2", {"rx_bytes": 0, "tx_bytes": 3 << 40}),
)


def _with_storage(change: CounterChange, *, is_small: bool = True) -> CounterChange:
    here = f"192.168.10.{change.node.removeprefix('rac')}"
    large = StorageConnection("NFS", here, "192.168.10.51", 2049, 2, 8948, 9000, 8948, 0, 30.0, 2, 1, 20_000, 0)
    small = replace(large, remote_ip="192.168.10.50", mss=1348, path_mtu=1400, stalled=1, retransmits=2_000)
    fell = {group: {n: c for n, c in of.items() if n != "ReasmFails"} for group, of in change.counters.groups.items()}
    return replace(
        change,
        counters=KernelCounters(fell),
        storage=StorageUse((large, small) if is_small else (large,), ()),
        machine=replace(change.machine, nics=_FULL),
        private_tcp=PrivateTcp(
            30.0,
            tuple(
                TcpFlow(ip, "192.168.10.51", 2049, False, "NFS", 2, 8, 8, 1, 1)
                for ip in (here, here.replace(".10.", ".11."))
            ),
            is_cut=True,
        ),
        racwires=("racwire-probe",),
        left_out=("Ip.ReasmFails",),
    )


def _unread(base: Cluster) -> Cluster:
    """Instances and views that do not answer, an old Grid home, and parts of nodes that may not be read."""
    grid, database, activity = base.clusterware, base.database, base.activity
    counters, pinged = base.counters, base.haip_paths
    assert not isinstance(counters, Unknown)
    assert not isinstance(pinged, Unknown | NotAsked)
    assert not isinstance(grid, Unknown)
    assert not isinstance(database, Unknown | NotAsked)
    assert not isinstance(activity, Unknown | NotAsked)
    assert isinstance(grid.members, tuple)
    stale = StaleHome("/etc/oracle/olr.loc", "olr.loc", "it does not exist")
    refused = tuple(UnreadView(v, _LATE, _RIGHT) for v in ("GV$SYSSTAT", "GV$EVENT_HISTOGRAM_MICRO"))
    return replace(
        base,
        clusterware=replace(
            grid, grid_home=replace(grid.grid_home, stale=(stale,)), members=(*grid.members, ClusterMember("rac9"))
        ),
        database=replace(
            database,
            unasked=(UnaskedInstance(2, "prod2", _LATE, host="rac2", is_late=True, right=_RIGHT),),
            dnfs=(DnfsServer(1, "filer", 12_049),),
            asm=(AsmClient(1, "+ASM2"),),
            login_warning="ORA-28002: the password will expire",
        ),
        activity=replace(activity, instances=(*activity.instances[:1], ActivityGap(2, _LATE, _RIGHT)), unread=refused),
        counters=replace(counters, nodes=tuple(_with_storage(c, is_small=False) for c in counters.nodes)),
        haip_paths=HaipPaths(tuple(replace(p, small_sent=0, full_sent=0, reason="refused") for p in pinged.paths)),
        nodes=tuple(replace(n, unread=(Unknown("routes: refused"),)) for n in base.read_nodes()),
        setups=tuple(replace(s, unread=(Unknown("files: refused"),)) for s in base.read_setups()),
    )


def _watched_by_arp(setup: NodeSetup) -> NodeSetup:
    return _with_bonds(setup, polling_ms=0, arp_polling_ms=1000)


def _with_too_few_members(setup: NodeSetup) -> NodeSetup:
    return _with_bonds(setup, mii_status="down", min_links=3)


def _with_bonds(setup: NodeSetup, **changed: object) -> NodeSetup:
    host = setup.host
    assert isinstance(host, HostSetup)
    assert isinstance(host.bonds, tuple)
    return replace(setup, host=replace(host, bonds=tuple(replace(b, **changed) for b in host.bonds)))
