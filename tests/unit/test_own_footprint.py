"""racwire's own footprint: what its probes and measurements may have moved stays a number, and proves nothing."""

from __future__ import annotations

from dataclasses import replace as replaced
from datetime import datetime, timedelta

import msgspec
import pytest
from msgspec.structs import replace

from checks.diagnosis.diagnose import diagnose
from checks.model.check import Check
from checks.model.facts import Cluster, CounterChange, Flows, QuietLosses, RecentLoad, Unknown
from checks.model.facts.flow_probe import FlowPort, FlowProbe
from checks.model.finding import Finding, Status
from checks.model.hypothesis import Certainty, LossAccount
from checks.plugins.gc_blocks_lost import gc_blocks_lost
from checks.plugins.nic_counters import nic_counters
from checks.plugins.reassembly import reassembly
from checks.plugins.udp_receive_buffers import udp_receive_buffers
from checks.rules.lost_blocks import InstanceLoss
from checks.rules.own_footprint import may_be_own, notices, without_footprint
from checks.run.stored_measurements import recent_load
from tests.fixtures.clusters import cluster, node
from tests.fixtures.databases import BEGAN, asked, change, counters, database, losing, system, with_sysctls
from tests.unit import measurement_support as made

FULL = 4_194_304


def found(built: Cluster, *checks: Check) -> tuple[Finding, ...]:
    return without_footprint(built, [f for check in checks for f in check.run(built)])


def proved(built: Cluster, *checks: Check) -> list[str]:
    return [h.cause for h in diagnose(built, found(built, *checks)).with_standing(Certainty.PROVED)]


def without_room(**more: object) -> Cluster:
    """Return a cluster where rac2 had no memory for reassembly; `more` are facts of the cluster."""
    full = replace(change("rac2", Ip_ReasmFails=48), fragment_memory_bytes=FULL)
    limits = {"net_ipv4_ipfrag_high_thresh": FULL, "net_ipv4_ipfrag_time": 30}
    built = asked(cluster([node(1), with_sysctls(node(2), **limits)]), counters=counters(2, full))
    return replace(built, **more)


def load(kind: str, seconds_before: int, *nodes: str) -> tuple[RecentLoad, ...]:
    """Return a load that ended so many seconds before the counters were read."""
    ended = (datetime.fromisoformat(BEGAN) - timedelta(seconds=seconds_before)).isoformat()
    return (RecentLoad(kind, "rac1", nodes or ("rac1", "rac2"), ended),)


def test_a_full_memory_proves_its_cause_where_racwire_was_alone() -> None:
    assert proved(without_room(), reassembly) == ["CAUSE-03"]
    assert notices(without_room()) == ()


@pytest.mark.parametrize(
    "loads",
    [load("rate", 8), load("rate", 30), load("drill", 1), load("rate", -20)],
    ids=["just before", "ipfrag_time before", "a drill", "meanwhile"],
)
def test_after_a_measurement_a_full_memory_proves_nothing_and_no_change_is_advised(
    loads: tuple[RecentLoad, ...],
) -> None:
    built = without_room(recent_load=loads)
    (finding,) = [f for f in found(built, reassembly) if f.code == "IC-REASM-003"]
    assert (finding.status, may_be_own(finding)) == (Status.WARN, True)
    assert finding.data["failed_reassemblies"] == 48
    assert finding.next
    assert not any(step.is_change for step in finding.next)
    assert proved(built, reassembly) == []
    (hypothesis,) = diagnose(built, [finding]).with_standing(Certainty.SUPPORTED)
    assert hypothesis.cause == "CAUSE-03"
    assert len(notices(built)) == 2
    again = without_footprint(built, [finding])
    assert again == (finding,)  # a rerun of other checks marks it no second time


@pytest.mark.parametrize(
    "loads", [load("rate", 31), load("rate", 8, "rac1", "rac3")], ids=["over", "between other nodes"]
)
def test_a_measurement_that_cannot_have_moved_the_counter_changes_nothing(loads: tuple[RecentLoad, ...]) -> None:
    assert proved(without_room(recent_load=loads), reassembly) == ["CAUSE-03"]


def test_full_receive_buffers_prove_their_cause_unless_racwire_measured_at_that_time() -> None:
    overflowed = counters(2, change("rac2", Udp_RcvbufErrors=24, Udp_InErrors=24))
    for loads, causes in ((load("rate", 8), ["CAUSE-02"]), (load("rate", -8), [])):
        assert proved(asked(2, counters=overflowed, recent_load=loads), udp_receive_buffers) == causes


@pytest.mark.parametrize(
    ("lock", "code", "is_doubtful"),
    [
        ("racwire-measure", "IC-UDP-002", True),
        ("racwire-measure", "IC-UDP-004", True),
        ("racwire-probe", "IC-UDP-004", True),
        ("racwire-pings", "IC-UDP-004", True),
        ("racwire-probe", "IC-UDP-002", False),  # probes go to ports without a socket
        ("racwire-sample", "IC-UDP-002", False),
    ],
)
def test_another_racwire_is_doubted_for_what_it_moves(lock: str, code: str, is_doubtful: bool) -> None:
    moved = counters(2, change("rac2", Udp_RcvbufErrors=24, Udp_InErrors=24, Softnet_Dropped=24))
    built = asked(cluster([replace(node(1), racwires=(lock,)), node(2)]), counters=moved)
    (finding,) = [f for f in found(built, udp_receive_buffers) if f.code == code]
    assert may_be_own(finding) is is_doubtful
    assert bool(notices(built)) is (lock != "racwire-sample")


def test_a_measurement_that_began_after_the_nodes_were_read_is_seen_by_the_counters() -> None:
    measuring = replace(change("rac2", Udp_RcvbufErrors=24, Udp_InErrors=24), racwires=("racwire-measure",))
    assert proved(asked(2, counters=counters(2, measuring)), udp_receive_buffers) == []
    # The counters' readings see the locks of this run's own probes too.
    own = replace(measuring, racwires=("racwire-probe",))
    assert proved(asked(2, counters=counters(2, own)), udp_receive_buffers) == ["CAUSE-02"]


# --- this run's own probes --------------------------------------------------------------------------------------------


def dropping(first: int, whole: int, *, probing_s: float = 5.0) -> Cluster:
    """Return a cluster where eth1 of rac2 had no buffer for some packets, the first of them while racwire probed."""

    def part(number: int, seconds: float) -> CounterChange:
        counts = {"eth1": {"rx_missed_errors": number}}
        return replace(change("rac2"), seconds=seconds, machine=system(counts))

    quiet_s = 30.0 - probing_s
    quiet = (replace(change("rac1"), seconds=quiet_s), part(whole - first, quiet_s))
    return asked(2, counters=counters(2, part(whole, 30.0), quiet=quiet))


def test_drops_of_a_nic_only_while_racwire_probed_prove_nothing() -> None:
    assert proved(dropping(40, 41), nic_counters) == ["CAUSE-16"]
    assert proved(dropping(40, 40, probing_s=29.0), nic_counters) == ["CAUSE-16"]  # hardly any quiet time
    assert proved(dropping(40, 40), nic_counters) == []
    (finding,) = [f for f in found(dropping(40, 40), nic_counters) if f.code == "IC-NIC-003"]
    assert finding.status is Status.WARN
    assert "only while racwire probed" in finding.seen[0]


def with_flow(built: Cluster, lost: int) -> Cluster:
    ports = tuple(FlowPort(20_000 + n, 8_192, whole=False) for n in range(lost))
    probe = FlowProbe("192.168.10.0/24", "rac1", "rac2", "192.168.10.1", "192.168.10.2", 1500, ports=ports)
    return replace(built, flows=Flows((probe,)))


@pytest.mark.parametrize(("own", "status"), [(3, Status.WARN), (2, Status.FAIL)])
def test_own_datagrams_that_stayed_incomplete_are_not_a_failure_of_the_cluster(own: int, status: Status) -> None:
    lost = counters(2, change("rac2", Ip_ReasmReqds=20, Ip_ReasmFails=3, Ip_ReasmTimeout=3))
    nodes = [node(1), with_sysctls(node(2), net_ipv4_ipfrag_time=2)]
    built = with_flow(asked(cluster(nodes), counters=lost), own)
    (finding,) = [f for f in found(built, reassembly) if f.code == "IC-REASM-002"]
    assert (finding.status, may_be_own(finding)) == (status, status is Status.WARN)
    late = with_flow(asked(cluster([node(1), with_sysctls(node(2), net_ipv4_ipfrag_time=60)]), counters=lost), own)
    assert not any(map(may_be_own, found(late, reassembly)))  # they are given up after this interval


def lost_blocks(whole: int, first: int, probing_s: float = 3.0, **more: object) -> Cluster:
    part = QuietLosses(30.0 - probing_s, {1: 0, 2: whole - first})
    activity = losing(2, whole, {1: whole}, quiet=part)
    return asked(2, database=database(2), activity=activity, **more)


def account(built: Cluster) -> LossAccount:
    (one,) = diagnose(built, gc_blocks_lost.run(built)).accounts
    return one


def test_blocks_lost_only_while_racwire_probed_stay_in_the_account_and_warn() -> None:
    built = lost_blocks(9, 9)
    (finding,) = [f for f in gc_blocks_lost.run(built) if f.code == "IC-LOST-002"]
    assert finding.status is Status.WARN
    assert finding.title.endswith(", and only while racwire probed.")
    assert account(built).text == "9 lost at prod2 = 9 while racwire probed."
    assert (account(built).while_probing, account(built).unexplained, account(built).explained) == (9, 0, {})


def test_more_losses_while_racwire_probed_than_chance_explains_are_apart_from_what_a_cause_explains() -> None:
    full = counters(2, change("rac2", Udp_RcvbufErrors=24, Udp_InErrors=24))
    built = lost_blocks(14, 8, counters=full)
    own = diagnose(built, [*gc_blocks_lost.run(built), *udp_receive_buffers.run(built)]).accounts[0]
    assert own.text == "14 lost at prod2 = 6 in its receive buffers + 8 while racwire probed."
    # As many as at any other time: the cause explains them.
    built = lost_blocks(24, 3, counters=full)
    own = diagnose(built, [*gc_blocks_lost.run(built), *udp_receive_buffers.run(built)]).accounts[0]
    assert own.text == "24 lost at prod2 = 24 in its receive buffers."


def test_a_loss_that_nothing_explains_is_divided_by_time() -> None:
    assert account(lost_blocks(30, 3)).text == "30 lost at prod2 = 3 while racwire probed + 27 not explained."


def test_without_a_quiet_time_nothing_is_claimed_of_the_probes() -> None:
    built = lost_blocks(9, 9, probing_s=29.0)
    (finding,) = [f for f in gc_blocks_lost.run(built) if f.code == "IC-LOST-002"]
    assert "only while" not in finding.title
    never = Unknown("The probes of this run lasted until the end of the interval.")
    built = asked(2, database=database(2), activity=losing(2, 9, {1: 9}, quiet=never))
    (finding,) = [f for f in gc_blocks_lost.run(built) if f.code == "IC-LOST-002"]
    assert any(line.endswith(never.reason) for line in finding.seen)
    assert account(built).text == "9 lost at prod2 = 9 not explained."


def test_the_probability_of_many_losses_is_not_computed() -> None:
    loss = InstanceLoss(1, 30.0, 1_000_000, 5, {}, (), False, 0, 0, while_probing=300_000, probing_s=3.0)
    assert loss.apart == 300_000
    assert replaced(loss, while_probing=100_000).apart == 0


# --- where it is read -------------------------------------------------------------------------------------------------


def test_kept_results_that_ended_shortly_before_a_run_are_facts_of_it() -> None:
    one = made.sizes()  # from 05:03:11 on, for 90 s
    (recent,) = recent_load([one, made.storage()], "2026-11-24T04:05:00+00:00")
    assert recent == RecentLoad("sizes", "rac1", ("rac1", "rac2"), "2026-11-24T05:04:41+01:00")
    assert recent_load([one], "2026-11-24T04:10:00+00:00") == ()
    assert recent_load([replace(one, started_at="yesterday")], "2026-11-24T04:05:00+00:00") == ()


def test_facts_of_racwire_itself_survive_a_file_and_old_files_have_none() -> None:
    built = replace(lost_blocks(9, 9), recent_load=load("rate", 8))
    assert msgspec.json.decode(msgspec.json.encode(built), type=Cluster) == built
    old = msgspec.to_builtins(asked(2))
    assert "recent_load" not in old
    assert "quiet" not in old["activity"]
