"""Whatever the database and the kernels report, no check raises, and none reports PASS for a fault."""

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.model.facts import (
    Activity,
    ActivityGap,
    BlockTransfer,
    Cluster,
    CounterChange,
    CounterChanges,
    CounterGroup,
    Database,
    DeviceHistory,
    History,
    HistoryPeriod,
    Instance,
    InstanceActivity,
    InstanceHistory,
    InstancePing,
    InterconnectInUse,
    KernelCounters,
    LossHistory,
    NotAsked,
    Parameter,
    SystemCounters,
    UnaskedInstance,
    Unknown,
    WaitBucket,
    WaitEvent,
)
from checks.model.finding import Finding, Status
from checks.plugins.device_mtu import device_mtu
from checks.plugins.gc_blocks_lost import gc_blocks_lost
from checks.plugins.gc_receive_time import gc_receive_time
from checks.plugins.instance_ping import instance_ping
from checks.plugins.interconnect_in_use import interconnect_in_use
from checks.plugins.reassembly import reassembly
from checks.plugins.rp_filter import rp_filter
from checks.plugins.udp_receive_buffers import udp_receive_buffers
from checks.sources.database.statements import statements
from tests.fixtures.clusters import cluster, node
from tests.fixtures.databases import asked, history, losing, past_loss

CHECKS = (
    gc_blocks_lost,
    gc_receive_time,
    interconnect_in_use,
    instance_ping,
    device_mtu,
    reassembly,
    udp_receive_buffers,
    rp_filter,
)
PROBLEMS = {Status.FAIL, Status.WARN}

number = st.integers(0, 2**40) | st.integers(0, 20)
instance = st.integers(1, 4)
words = st.text("abcAB :.12", max_size=12)
moments = st.sampled_from(["2026-11-18T03:00:00", "2026-11-20T14:00:00", "yesterday", ""])
unknown = st.builds(Unknown, st.sampled_from(["no grant", "It was restarted. Wait a while.", "", "GV$ hangs"]))
seconds = st.floats(0, 1e6)
ips = st.sampled_from(["192.168.10.1", "192.168.11.2", "169.254.10.1", "10.20.0.2", "172.16.0.1", "fe80::1", "", "x"])
nics = st.sampled_from(["eth1", "eth1:1", "eth2", "eth0", "bondib0", "re0", ""])

STATISTICS = (
    "gc blocks lost",
    "gc claim blocks lost",
    "gc blocks corrupt",
    "gc cr blocks received",
    "gc current blocks received",
    "gc cr block receive time",
    "gc current block receive time",
)
EVENTS = ("gc cr block 2-way", "gc current block busy", "gc cr block lost", "gc current retry", "gc cr block congested")

events = st.builds(
    WaitEvent,
    st.sampled_from(EVENTS),
    number,
    number,
    st.lists(st.builds(WaitBucket, st.integers(1, 2**30), number), max_size=3).map(tuple),
)
activities = st.builds(
    InstanceActivity,
    instance,
    seconds,
    st.dictionaries(st.sampled_from(STATISTICS), number),
    events=st.lists(events, max_size=4).map(tuple),
)
databases = st.builds(
    Database,
    name=words,
    dbid=number,
    version=st.sampled_from(["19.22.0.0.0", "12.1.0.2.0", "11.2.0.4.0", ""]),
    role=words,
    open_mode=words,
    reached=words,
    user=words,
    driver=words,
    connected_instance=instance,
    block_size_bytes=st.sampled_from([None, 0, 2048, 8192, 32768]),
    is_multitenant=st.booleans(),
    container=st.sampled_from(["", "CDB$ROOT", "APP1"]),
    instances=st.lists(
        st.builds(
            Instance,
            instance,
            words,
            st.sampled_from(["rac1", "RAC2.example.com", "rac9", ""]),
            st.sampled_from(["19.22.0.0.0", "12.1.0.2.0"]),
            moments,
        ),
        max_size=4,
        unique_by=lambda i: i.number,
    ).map(tuple),
    unasked=st.lists(st.builds(UnaskedInstance, instance, words, words), max_size=2).map(tuple),
    interconnects=unknown
    | st.lists(
        st.builds(InterconnectInUse, instance, nics, ips, st.sampled_from([None, True, False]), words), max_size=6
    ).map(tuple),
    parameters=unknown
    | st.lists(st.builds(Parameter, instance, st.just("cluster_interconnects"), words), max_size=4).map(tuple),
)
pings = st.builds(InstancePing, instance, instance, number, number, number, number)
transfers = st.builds(BlockTransfer, instance, instance, number, number, number)
samples = st.builds(
    Activity,
    moments,
    moments,
    seconds,
    st.lists(activities | st.builds(ActivityGap, instance, words), max_size=4, unique_by=lambda a: a.instance).map(
        tuple
    ),
    transfers=unknown | st.lists(transfers, max_size=6).map(tuple),
    pings=unknown | st.lists(pings, max_size=6).map(tuple),
)
losses = st.builds(LossHistory, instance, number, number, moments, moments, moments, moments, moments, moments, number)
devices = st.builds(
    DeviceHistory,
    instance,
    nics,
    ips,
    st.sampled_from([1500, 9000]),
    moments,
    st.lists(st.sampled_from([1500, 9000]), max_size=2).map(tuple),
    number,
    number,
    packets_received=number,
    packets_sent=number,
)
histories = st.builds(
    History,
    st.sampled_from(["AWR", "Statspack"]),
    number,
    number,
    number,
    moments,
    moments,
    st.lists(
        st.builds(InstanceHistory, instance, words, words, seconds, number, number, number),
        max_size=3,
        unique_by=lambda i: i.instance,
    ).map(tuple),
    st.lists(st.builds(HistoryPeriod, instance, moments, moments, seconds, *[number] * 5), max_size=4).map(tuple),
    st.lists(losses, max_size=3, unique_by=lambda loss: loss.instance).map(tuple),
    devices=unknown | st.lists(devices, max_size=5).map(tuple),
)
COUNTERS = (
    "Ip.ReasmFails",
    "Ip.ReasmTimeout",
    "Ip.ReasmReqds",
    "Udp.InDatagrams",
    "Udp.InErrors",
    "Udp.RcvbufErrors",
    "Udp.InCsumErrors",
    "Udp.MemErrors",
    "TcpExt.IPReversePathFilter",
    "Softnet.Dropped",
)


def _change(name, time, values, left_out, machine):
    groups: dict[str, dict[str, int]] = {}
    for counter, value in values.items():
        group, _, short = counter.partition(".")
        groups.setdefault(group, {})[short] = value
    return CounterChange(name, time, KernelCounters(groups), left_out, machine=machine)


names = st.sampled_from(["eth1", "eth2", "cpu", "cpu0", "memory", "io"])
figures = st.sampled_from(
    (
        *("rx_crc_errors", "rx_missed_errors", "rx_dropped", "qdisc_drops", "carrier_changes", "rx_errors", "tx_bytes"),
        *("user", "idle", "steal", "softirq", "squeezed", "processed", "some", "full"),
        *("pswpin", "pswpout", "allocstall", "oom_kill"),
    )
)
groups = st.builds(CounterGroup, names, st.dictionaries(figures, number, max_size=6))
many = unknown | st.lists(groups, max_size=4, unique_by=lambda g: g.name).map(tuple)
machines = st.builds(SystemCounters, many, many, many, unknown | groups)
changes = st.builds(
    _change,
    st.sampled_from(["rac1", "rac2", "rac3"]),
    seconds,
    st.dictionaries(st.sampled_from(COUNTERS), number),
    st.lists(st.sampled_from(COUNTERS), max_size=2).map(tuple),
    machines,
)
counters = st.builds(
    CounterChanges,
    moments,
    moments,
    seconds,
    st.lists(changes, max_size=3, unique_by=lambda c: c.node).map(tuple),
    st.dictionaries(st.sampled_from(["rac4", "rac5"]), unknown, max_size=2),
)
not_requested = st.just(NotAsked("No database connection is set."))
CLUSTERS = [cluster(2), cluster([node(1, 1500), node(2, 1500)]), cluster([])]


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    base = draw(st.sampled_from(CLUSTERS))
    if draw(st.booleans()):
        base = msgspec.structs.replace(base, networks=draw(unknown), paths=draw(unknown), clusterware=draw(unknown))
    return msgspec.structs.replace(
        base,
        database=draw(databases | unknown | not_requested),
        activity=draw(samples | unknown | not_requested),
        history=draw(histories | unknown | not_requested),
        counters=draw(counters | unknown),
    )


def judged(check, built):
    """The findings of the check when it has its facts; none when the engine would not run it."""
    if any(isinstance(getattr(built, need), Unknown | NotAsked) for need in check.needs):
        return ()
    findings = check.run(built)
    for finding in findings:
        assert isinstance(msgspec.convert(msgspec.to_builtins(finding), Finding), Finding)
        assert finding.title.strip().endswith(".")
        assert "None" not in finding.title
        assert finding.status is Status.PASS or finding.status not in PROBLEMS or finding.why
    return findings


def test_evidence_in_sql_is_of_statements_that_racwire_sends():
    lost = asked(2, activity=losing(2, 37, {1: 37}), history=history(2, [past_loss(2)]))
    before = asked(2, history=history(2, [past_loss(2)]))
    topics = {e.topic for built in (lost, before) for c in CHECKS for f in c.run(built) for e in f.evidence}
    requested = {topic for topic in topics if topic.startswith("sql ")}
    assert {"sql sysstat", "sql cache_transfer", "sql interconnects", "sql awr_devices"} <= requested
    assert requested <= {statement.topic for statement in statements().values()}


@given(clusters())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_no_check_raises_or_passes_a_loss(built):
    statuses = {check.id: {f.status for f in judged(check, built)} for check in CHECKS}
    activity = built.activity
    if isinstance(activity, Activity):
        lost = [a for a in activity.instances if isinstance(a, InstanceActivity) and a.statistics.get("gc blocks lost")]
        assert not (lost and Status.PASS in statuses["gc-blocks-lost"])
        assert (
            not any(isinstance(a, ActivityGap) for a in activity.instances)
            or Status.UNKNOWN in statuses["gc-blocks-lost"]
        )
    if isinstance(built.counters, CounterChanges):
        of = [c.counters for c in built.counters.nodes]
        assert bool(PROBLEMS & statuses["reassembly"]) == any(
            c.value("Ip", "ReasmFails") or c.value("Ip", "ReasmTimeout") for c in of
        )
        assert (Status.FAIL in statuses["udp-receive-buffers"]) == any(
            c.value("Udp", "RcvbufErrors") or c.value("Udp", "MemErrors") for c in of
        )
        assert not built.counters.unread or Status.UNKNOWN in statuses["reassembly"] & statuses["udp-receive-buffers"]
        for check in (reassembly, udp_receive_buffers, rp_filter):
            assert sum(f.status is Status.UNKNOWN for f in judged(check, built)) <= 1
    if isinstance(built.database, Database) and isinstance(built.database.interconnects, tuple):
        numbers = {i.number for i in built.database.instances}
        public = [i for i in built.database.interconnects if i.is_public and i.instance in numbers]
        assert bool(public) <= (Status.FAIL in statuses["interconnect-in-use"])
