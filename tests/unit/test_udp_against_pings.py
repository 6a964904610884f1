"""Blocks that flow without a loss outweigh failed pings; anything less does not."""

import msgspec
import pytest

from checks.model.facts import (
    Cluster,
    Database,
    FlowArrivals,
    FlowPort,
    FlowProbe,
    Flows,
    HaipPath,
    HaipPaths,
    InterconnectInUse,
    PingSeries,
    Unknown,
    Verdict,
)
from checks.model.finding import Finding, Status
from checks.plugins.df_ping import df_ping
from checks.plugins.haip_path import haip_path
from checks.rules.udp_against_pings import as_observed, outweigh
from tests.fixtures.clusters import cluster, path, with_paths
from tests.fixtures.databases import activity, asked, database, losing, own_activity, transfers
from tests.fixtures.probed import probed

USED = tuple(
    InterconnectInUse(number, nic, f"192.168.{subnet}.{number}", False, "")
    for number in (1, 2)
    for nic, subnet in (("eth1", 10), ("eth2", 11))
)


def using(*interconnects: InterconnectInUse) -> Database:
    return msgspec.structs.replace(database(2), interconnects=interconnects)


def loaded(verdict: Verdict, **groups: object) -> Cluster:
    """Two nodes with load whose pings have this verdict on the second network, both ways."""
    base = asked(2, **{"database": using(*USED), "activity": activity(2), **groups})
    assert isinstance(base.networks, tuple)
    network = base.networks[1]
    return with_paths(base, path(network, "rac1", "rac2", verdict), path(network, "rac2", "rac1", verdict))


def judged(cluster: Cluster) -> Finding:
    (found,) = (f for f in outweigh(cluster, df_ping.run(cluster)) if f.status is not Status.PASS)
    return found


@pytest.mark.parametrize("verdict", [Verdict.BLACK_HOLE, Verdict.FILTERED])
def test_blocks_without_a_loss_turn_failed_pings_into_a_remark(verdict):
    found = judged(loaded(verdict))
    assert found.status is Status.INFO
    assert found.title.endswith("while 24,800 blocks arrived there without a loss.")
    assert "switch" not in " ".join(step.text for step in found.next)
    assert not any(step.is_change for step in found.next)
    assert as_observed(found).status in (Status.FAIL, Status.UNKNOWN)


@pytest.mark.parametrize(
    "groups",
    [
        {"activity": losing(2, 3, {1: 3})},
        {"activity": activity(2, own_activity(1, {"gc blocks lost": 2}))},
        {"activity": activity(2, transfers=transfers(2)[:1])},
        {"activity": activity(2, transfers=Unknown("no grant"))},
        {"activity": Unknown("no database")},
        {"database": msgspec.structs.replace(database(2), interconnects=Unknown("no grant"))},
        {"database": using(*USED[::2])},
    ],
    ids=["lost", "unknown sender", "one direction", "no transfers", "no activity", "unknown network", "other network"],
)
def test_pings_stand_where_the_load_is_not_known_to_be_well(groups):
    before = loaded(Verdict.BLACK_HOLE, **groups)
    assert judged(before).status is Status.FAIL
    assert judged(before).outweighed is None


def test_blocks_took_another_network_where_a_port_has_no_link():
    before = loaded(Verdict.UNREACHABLE)
    assert isinstance(before.nodes, tuple)
    down = msgspec.structs.replace(before.nodes[1].interface("eth2"), operational_state="lowerlayerdown")
    others = tuple(down if i.name == "eth2" else i for i in before.nodes[1].interfaces)
    nodes = (before.nodes[0], msgspec.structs.replace(before.nodes[1], interfaces=others))
    assert judged(msgspec.structs.replace(before, nodes=nodes)).status is Status.FAIL


def test_blocks_took_another_network_where_datagrams_are_lost():
    lost = FlowPort(40000, 8972, sent=3, small_sent=1)
    probe = FlowProbe("192.168.11.0/24", "rac1", "rac2", "192.168.11.1", "192.168.11.2", 9000, 6947, (lost,))
    flows = Flows((probe,), (FlowArrivals("rac2", 4, 0),))
    assert judged(loaded(Verdict.BLACK_HOLE, flows=flows)).status is Status.FAIL


def test_a_path_without_any_answer_needs_datagrams_and_not_blocks_alone():
    assert judged(loaded(Verdict.UNREACHABLE)).status is Status.FAIL


def test_a_black_hole_that_a_block_fits_into_stands():
    base = asked(2, database=using(*USED), activity=activity(2))
    assert isinstance(base.networks, tuple)
    narrow = with_paths(base, path(base.networks[1], "rac1", "rac2", Verdict.BLACK_HOLE, path_mtu=8600))
    assert judged(narrow).status is Status.FAIL


@pytest.mark.parametrize(("answered", "status"), [(10, Status.INFO), (79_999, Status.FAIL)])
def test_a_rare_loss_of_pings_needs_as_many_blocks(answered, status):
    base = asked(2, database=using(*USED), activity=activity(2))
    assert isinstance(base.networks, tuple)
    sent = 20 if answered == 10 else 80_000
    series = (PingSeries(56, sent, answered), PingSeries(8972, sent, answered))
    lossy = with_paths(base, path(base.networks[1], "rac1", "rac2", Verdict.LOSS, series=series))
    found = judged(
        msgspec.structs.replace(lossy, thresholds=msgspec.structs.replace(lossy.thresholds, loss_fail_percent=1e-9))
    )
    assert found.status is status


def test_a_later_run_with_losses_restores_the_failure():
    remark = judged(loaded(Verdict.BLACK_HOLE))
    (again,) = outweigh(loaded(Verdict.BLACK_HOLE, activity=losing(2, 3, {1: 3})), [remark])
    assert (again.status, again.outweighed) == (Status.FAIL, None)


def test_datagrams_of_full_size_turn_failed_pings_into_a_remark_without_a_database():
    base = probed(cluster(2))
    assert isinstance(base.networks, tuple)
    network = base.networks[1]
    silent = [path(network, a, b, Verdict.FILTERED) for a, b in (("rac1", "rac2"), ("rac2", "rac1"))]
    found = judged(with_paths(base, *silent))
    assert (found.status, found.outweighed.status) == (Status.INFO, Status.UNKNOWN)
    assert found.title.endswith("while full-size UDP datagrams are answered there.")


def test_datagrams_that_are_lost_in_one_direction_outweigh_nothing():
    base = probed(cluster(2))
    assert isinstance(base.networks, tuple)
    network = base.networks[1]
    lost = msgspec.structs.replace(base.flows.probes[-1], ports=())
    base = msgspec.structs.replace(
        base, flows=msgspec.structs.replace(base.flows, probes=(*base.flows.probes[:-1], lost))
    )
    assert judged(with_paths(base, path(network, "rac1", "rac2", Verdict.FILTERED))).status is Status.UNKNOWN


def haip_silent(**groups: object) -> Cluster:
    base = loaded(Verdict.FILTERED, **groups)
    ways = (("rac1", "rac2"), ("rac2", "rac1"))
    silent = tuple(HaipPath("192.168.11.0/24", a, b, "169.254.1.1", "169.254.1.2", 9000, 1, 0, 3, 0) for a, b in ways)
    return msgspec.structs.replace(base, haip_paths=HaipPaths(silent))


def test_blocks_outweigh_pings_between_haip_addresses():
    (found,) = outweigh(haip_silent(), [f for f in haip_path.run(haip_silent()) if f.code == "IC-HAIP-002"])
    assert (found.status, found.outweighed.status) == (Status.INFO, Status.FAIL)
    passing = loaded(Verdict.PASSES).paths  # so ICMP is not the reason
    for built, code in (
        (haip_silent(activity=losing(2, 3, {1: 3})), "IC-HAIP-002"),
        (msgspec.structs.replace(haip_silent(), paths=passing), "IC-HAIP-010"),
    ):
        (found,) = outweigh(built, [f for f in haip_path.run(built) if f.code == code])
        assert found.status is Status.FAIL


def test_blocks_do_not_outweigh_haip_pings_where_the_sender_refuses_datagrams():
    barred = FlowPort(0, 8972, sent=0, error="EPERM")
    ends = ("192.168.11.0/24", "rac1", "rac2", "192.168.11.1", "192.168.11.2", 9000, 6947)
    built = msgspec.structs.replace(haip_silent(), flows=Flows((FlowProbe(*ends, (barred,)),)))
    (found,) = outweigh(built, [f for f in haip_path.run(built) if f.code == "IC-HAIP-002"])
    assert found.status is Status.FAIL


def test_blocks_outweigh_haip_pings_where_they_can_take_no_other_network():
    base = haip_silent()
    assert isinstance(base.networks, tuple)
    only = msgspec.structs.replace(
        base,
        networks=base.networks[1:],
        paths=tuple(p for p in loaded(Verdict.PASSES).paths if p.network == base.networks[1].name),
    )
    (found,) = outweigh(only, [f for f in haip_path.run(only) if f.code == "IC-HAIP-010"])
    assert (found.status, found.outweighed.status) == (Status.INFO, Status.FAIL)


@pytest.mark.parametrize(("small_answered", "status"), [(1, Status.INFO), (0, Status.FAIL)])
def test_blocks_take_another_network_where_haip_is_silent_and_private_addresses_answer(small_answered, status):
    base = haip_silent()
    silent = tuple(msgspec.structs.replace(p, small_answered=small_answered) for p in base.haip_paths.paths)
    series = (PingSeries(56, 20, 10), PingSeries(8972, 20, 10))
    lossy = with_paths(
        msgspec.structs.replace(loaded(Verdict.PASSES), haip_paths=HaipPaths(silent)),
        path(base.networks[1], "rac1", "rac2", Verdict.LOSS, series=series),
    )
    assert judged(lossy).status is status


@pytest.mark.parametrize(("received", "code"), [(33, "IC-HAIP-010"), (10, "IC-HAIP-002")])
def test_haip_is_filtered_where_the_share_lost_of_private_pings_leaves_no_chance(received, code):
    base = haip_silent()
    series = (PingSeries(56, 40, received), PingSeries(8972, 40, 40))
    ways = (("rac1", "rac2"), ("rac2", "rac1"))
    lossy = with_paths(base, *(path(base.networks[1], a, b, Verdict.LOSS, series=series) for a, b in ways))
    (found,) = [f for f in haip_path.run(lossy) if f.status is Status.FAIL]
    assert found.code == code
    assert found.title.endswith("answer most pings.") is (code == "IC-HAIP-010")


def test_blocks_from_before_do_not_outweigh_a_peer_without_a_mac_address():
    base = loaded(Verdict.FILTERED)
    assert judged(base).status is Status.INFO
    silent = tuple(
        msgspec.structs.replace(
            p, series=tuple(msgspec.structs.replace(s, unreachable_from=p.source_ip) for s in p.series)
        )
        for p in base.read_paths()
        if p.verdict is not Verdict.PASSES
    )
    assert judged(with_paths(base, *silent)).status is not Status.INFO
