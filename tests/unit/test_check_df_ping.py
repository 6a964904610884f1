"""The check `df-ping`: which network, which direction, which layer."""

import msgspec
import pytest

from checks.facts import Leg, PingSeries, UnreadNode, Verdict
from checks.finding import Status
from checks.plugins.df_ping import df_ping
from tests.fixtures.clusters import cluster, node, path, with_interface, with_paths

B = Verdict.BLACK_HOLE


def found(built):
    return {f.code: f for f in df_ping.run(built)}


def broken(built, ways, verdict=B, **more):
    network = built.networks[1]
    changed = [path(network, a, b, verdict, leg, **more) for a, b, leg in ways]
    return found(with_paths(built, *changed))


def both_ways(hub, others):
    return [way for other in others for way in ((hub, other, Leg.REQUEST), (other, hub, Leg.REQUEST))]


@pytest.mark.parametrize("nodes", [2, 4, 8])
def test_a_healthy_cluster_passes(nodes):
    findings = df_ping.run(cluster(nodes))
    assert [f.status for f in findings] == [Status.PASS] * 2
    assert findings[0].table.rows[0][:3] == ("rac1", "·", "9000 P")


def test_a_black_hole_between_two_nodes_both_ways():
    finding = broken(cluster(2), both_ways("rac1", ["rac2"]))["IC-PATH-003"]
    assert finding.title == "Jumbo frames vanish on 192.168.11.0/24 between rac1 and rac2, both ways."
    assert finding.seen == ("rac1 <-> rac2: 56 bytes 20/20; 8972 bytes 0/20, no error; largest that passes 1500",)
    assert finding.subject == "eth2: black hole"
    assert finding.table.rows == (("rac1", "·", "1500 B"), ("rac2", "1500 B", "·"))


def test_one_way_is_named_from_the_leg_that_lost_the_packets():
    ways = [("rac1", "rac2", Leg.REQUEST), ("rac2", "rac1", Leg.REPLY)]
    finding = broken(cluster(2), ways)["IC-PATH-003"]
    assert finding.title == ("Jumbo frames vanish on 192.168.11.0/24 from rac1 to rac2; the other way they arrive.")


def test_the_port_of_one_node_among_four_is_accused():
    finding = broken(cluster(4), both_ways("rac3", ["rac1", "rac2", "rac4"]))["IC-PATH-003"]
    assert "between rac3 and every other node, both ways" in finding.title
    assert "the switch port of rac3" in finding.why
    assert finding.nodes == ("rac3",)


def test_when_the_way_could_not_be_told_it_is_said():
    ways = [("rac1", "rac2", Leg.UNKNOWN), ("rac2", "rac1", Leg.UNKNOWN)]
    assert "which way loses them could not be told" in broken(cluster(2), ways)["IC-PATH-003"].title


def test_a_receiver_whose_own_interface_is_small_is_accused_not_the_switch():
    built = cluster([node(1), with_interface(node(2), "eth2", mtu=1500), node(3)])
    codes = broken(built, [("rac1", "rac2", Leg.REQUEST), ("rac3", "rac2", Leg.REQUEST)])
    assert "IC-PATH-003" not in codes
    assert codes["IC-PATH-010"].title == (
        "rac2 throws away full-size packets from rac1 and rac3 on 192.168.11.0/24: its eth2 has MTU 1500."
    )


def test_a_sender_whose_kernel_refuses_is_named_with_its_mtu():
    series = (PingSeries(56, 20, 20), PingSeries(8972, 20, 0, refused_locally=20, local_mtu=1500))
    codes = broken(cluster(2), [("rac2", "rac1", Leg.UNKNOWN)], Verdict.LOCAL_MTU, series=series)
    assert "rac2 cannot send full-size packets" in codes["IC-PATH-002"].title
    assert "MTU 1500" in codes["IC-PATH-002"].title


def test_a_router_is_named_with_its_address_and_mtu():
    series = (PingSeries(56, 20, 20, ttl=63), PingSeries(8972, 20, 0, too_big_mtu=1500, too_big_from="192.168.11.254"))
    codes = broken(cluster(2), [("rac1", "rac2", Leg.UNKNOWN)], Verdict.TOO_BIG, series=series, hops=1)
    assert "192.168.11.254" in codes["IC-PATH-004"].title
    assert "1500" in codes["IC-PATH-004"].title
    assert "IC-PATH-009" not in codes


def test_a_router_that_lets_everything_pass_is_still_a_fault():
    assert (
        broken(cluster(2), [("rac1", "rac2", Leg.UNKNOWN)], Verdict.PASSES, hops=1)["IC-PATH-009"].status is Status.FAIL
    )


def test_loss_says_how_much_and_its_threshold_decides():
    series = (PingSeries(56, 1000, 996), PingSeries(8972, 1000, 998))
    built = cluster(2)
    ways = [("rac1", "rac2", Leg.UNKNOWN)]
    finding = broken(built, ways, Verdict.LOSS, series=series)["IC-PATH-005"]
    assert finding.status is Status.WARN
    assert "6 of 2,000 packets got no answer" in finding.seen
    strict = msgspec.structs.replace(built, thresholds=type(built.thresholds)(loss_fail_percent=0.1))
    assert broken(strict, ways, Verdict.LOSS, series=series)["IC-PATH-005"].status is Status.FAIL


def test_filtered_pings_are_unknown_and_never_a_black_hole():
    codes = broken(cluster(2), [("rac1", "rac2", Leg.UNKNOWN)], Verdict.FILTERED, reason="alive by ssh")
    assert codes["IC-PATH-007"].status is Status.UNKNOWN
    assert set(codes) == {"IC-PATH-001", "IC-PATH-007"}


def test_unreachable_and_unprobed_paths_say_why():
    codes = broken(cluster(2), [("rac1", "rac2", Leg.UNKNOWN)], Verdict.UNREACHABLE, reason="eth2 of rac2 has no link.")
    assert "eth2 of rac2 has no link." in codes["IC-PATH-006"].seen
    codes = broken(cluster(2), [("rac2", "rac1", Leg.UNKNOWN)], Verdict.UNKNOWN, reason="rac2 could not be read")
    assert codes["IC-PATH-008"].status is Status.UNKNOWN


def test_one_node_alone_has_nothing_to_probe():
    assert [f.status for f in df_ping.run(cluster(1))] == [Status.SKIPPED]


def test_a_node_that_could_not_be_read_leaves_its_paths_unknown():
    findings = df_ping.run(cluster([node(1), node(2), UnreadNode("rac3", "User equivalence is missing.")]))
    assert [(f.code, f.status) for f in findings][-1] == ("IC-PATH-008", Status.UNKNOWN)
    assert findings[-1].title == "No path to or from rac3 was probed, since rac3 could not be read."


def test_no_port_is_accused_when_nothing_is_known_of_the_others():
    built = cluster(3)
    network = built.networks[1]
    unmeasured = [path(network, a, b, Verdict.UNKNOWN) for a, b in (("rac1", "rac3"), ("rac3", "rac1"))]
    finding = broken(with_paths(built, *unmeasured), both_ways("rac2", ["rac1", "rac3"]))["IC-PATH-003"]
    assert finding.subject == "eth2: black hole"
    assert "a switch port on the path" in finding.why


def test_packets_lost_once_and_not_again_are_information():
    reason = "1 of 80 packets got no answer while all paths were probed at once, none when alone"
    codes = broken(cluster(2), [("rac1", "rac2", Leg.UNKNOWN)], Verdict.PASSES, reason=reason)
    assert codes["IC-PATH-012"].status is Status.INFO
    assert codes["IC-PATH-012"].seen == (f"rac1 -> rac2: {reason}",)
