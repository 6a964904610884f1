"""The obstacles to a change: the name and the remedy of each, and whether an operator may accept it with a reason."""

import re
from pathlib import Path

import msgspec
import pytest

import checks.change
from checks.change.kinds.mtu_obstacles import mtu_obstacles
from checks.change.plan import codes
from checks.change.plan.change_plan import Accepted
from checks.change.plan.planning import PlanError
from checks.model.facts import (
    ActiveVersion,
    ClusterMember,
    FragileMtu,
    KeptMtu,
    Leg,
    LldpNeighbour,
    MissingRight,
    MtuByDhcp,
    NetworkService,
    PingSeries,
    Unknown,
    UnreadNode,
    Verdict,
)
from checks.model.own_command import written
from tests.fixtures.change_plans import infiniband, plan_for, stacked, to_change, with_setup
from tests.fixtures.clusters import Route, cluster, node, path, with_interface, with_paths
from tests.fixtures.reports import report_of
from tui.cli.main import main

CHANGE = Path(checks.change.__path__[0])
CODE = re.compile(r"CH-(?:START|PLAN|LOOK)-\d{3}")


def found(built, target=9000, accepted=()):
    codes = {one.code for one in accepted}
    remaining = [o for o in mtu_obstacles(report_of(built), target) if not (o.acceptable and o.code in codes)]
    return {o.code: o for o in remaining}


def with_clusterware(built, **changes):
    return msgspec.structs.replace(built, clusterware=msgspec.structs.replace(built.clusterware, **changes))


def lost(built, verdict=Verdict.LOSS, **more):
    network = built.networks[0]
    series = (PingSeries(56, 20, 12), PingSeries(1472, 20, 10))
    more = {"series": series, **more} if verdict is Verdict.LOSS else more
    return with_paths(built, path(network, "rac1", "rac2", verdict, Leg.REQUEST, **more))


def test_a_healthy_cluster_has_no_obstacles():
    assert found(to_change()) == {}
    assert found(to_change([node(1), node(2)]), 1500) == {}


def test_every_obstacle_has_a_title_a_sentence_and_next_steps():
    broken = lost(with_setup(to_change([stacked(1), node(2, 1500)]), "rac2", kept=(), platform="Microsoft Azure"))
    for obstacle in mtu_obstacles(report_of(broken), 9500):
        assert obstacle.title
        assert obstacle.sentence.rstrip().endswith(".")
        assert obstacle.next


def test_a_failure_is_named_by_its_code_and_can_be_accepted_with_a_reason():
    sick = lost(to_change())
    obstacle = found(sick)["IC-PATH-005"]
    assert obstacle.acceptable
    assert "rac1" in obstacle.sentence
    assert found(sick, accepted=(Accepted("IC-PATH-005", "", "the network team watches it"),)) == {}


def test_a_black_hole_prevents_raising_and_is_cured_by_lowering():
    holed = lost(to_change([node(1), node(2)]), Verdict.BLACK_HOLE)
    assert "IC-PATH-003" not in found(holed, 1500)
    assert any("fixed by this change" in remark for remark in map(written, plan_for(holed, 1500).remarks))
    assert "IC-PATH-003" in found(holed, 8000)


def test_a_node_with_another_mtu_does_not_prevent_a_change_in_either_direction():
    odd = to_change([node(1), node(2), node(3, 1500)])
    assert found(odd, 1500) == found(odd, 9000) == {}
    assert {layer.mtu_after for layer in plan_for(odd, 9000).layers} == {9000}


def test_a_route_that_limits_the_mtu_is_cured_by_lowering_only():
    routed = msgspec.structs.replace(node(2), routes=(Route("192.168.11.0/24", "eth2", mtu=1500),))
    assert "IC-MTU-005" in found(to_change([node(1), routed]), 8000)
    assert "IC-MTU-005" not in found(to_change([node(1), routed]), 1500)


def test_an_unfinished_upgrade_cannot_be_accepted():
    patching = with_clusterware(to_change(), version=ActiveVersion("19.0.0.0.0", "ROLLING PATCH", "1"))
    accepted = (Accepted("CH-START-006", "", "we know what we are doing"),)
    obstacle = found(patching, accepted=accepted)["CH-START-006"]
    assert not obstacle.acceptable
    assert "ROLLING PATCH" in obstacle.sentence


def test_before_12_1_no_upgrade_state_is_printed_and_none_is_required():
    assert found(with_clusterware(to_change(), version=ActiveVersion("11.2.0.4.0"))) == {}


@pytest.mark.parametrize("platform", ["Oracle Engineered System"])
def test_an_engineered_system_is_changed_by_the_procedure_of_its_vendor(platform):
    obstacle = found(with_setup(to_change(), "rac1", platform=platform))["CH-START-007"]
    assert not obstacle.acceptable


def test_plain_infiniband_is_not_an_engineered_system_but_has_its_own_mtus():
    built = to_change([infiniband(1), infiniband(2)])
    for name in ("rac1", "rac2"):
        built = with_setup(built, name, infiniband_modes={"ib0": "datagram", "ib1": "datagram"})
    assert set(found(built, 9000)) == {"CH-START-010"}
    assert found(built, 4092) == {}


def test_a_node_that_could_not_be_read_is_reported_once():
    built = msgspec.structs.replace(
        cluster([node(1, 1500), UnreadNode("rac2", "ssh asked for a password")]), managed=Unknown("-")
    )
    seen = found(built)
    assert "ssh asked for a password" in seen["CH-START-001"].sentence
    assert not {"IC-MTU-006", "IC-PATH-008"} & set(seen)
    assert not seen["CH-START-001"].acceptable


def test_a_node_whose_setup_is_not_known_cannot_be_planned_for():
    built = to_change()
    built = msgspec.structs.replace(built, setups=(built.setups[0], UnreadNode("rac2", "its shell did not answer")))
    assert "setup of rac2" in found(built)["CH-START-001"].sentence


def test_an_inactive_member_and_a_stack_that_is_down_can_be_accepted():
    members = (ClusterMember("rac1", 1, status="Active"), ClusterMember("rac2", 2, status="Inactive"))
    built = with_clusterware(with_setup(to_change(), "rac2", daemons=(), instances=()), members=members)
    assert {"CH-START-004", "IC-GRID-006"} == set(found(built))
    assert all(o.acceptable for o in found(built).values())


def test_without_clusterware_no_plan_is_possible():
    built = msgspec.structs.replace(to_change(), clusterware=Unknown("No Grid home was found."))
    assert not found(built)["CH-START-003"].acceptable


def test_one_missing_cause_is_one_obstacle():
    none = Unknown("No Grid home was found.")
    built = found(msgspec.structs.replace(to_change(), clusterware=none, networks=none))
    assert {code for code, one in built.items() if none.reason.lower() in one.sentence.lower()} == {"CH-START-003"}


def test_networks_that_this_user_may_not_read_name_the_right():
    right = MissingRight("run the tools of the Grid home as grid or root", ("sudo -u grid racwire check",))
    refused = Unknown("dba1 may not run `oifcfg getif`.", right)
    built = found(msgspec.structs.replace(with_clusterware(to_change(), configuration=refused), networks=refused))
    assert {code for code, one in built.items() if refused.reason in one.sentence} == {"CH-START-008"}
    assert "Missing right: run the tools of the Grid home as grid or root" in built["CH-START-008"].next[0].text


def test_filtered_pings_leave_the_paths_unknown_which_can_be_accepted():
    assert found(lost(to_change(), Verdict.FILTERED))["IC-PATH-007"].acceptable


@pytest.mark.parametrize("target", [600, 9300])
def test_a_target_above_the_maximum_of_ethernet_is_refused(target):
    assert not found(to_change(), target)["CH-START-009"].acceptable


def test_a_nic_with_a_smaller_maximum_is_named_in_any_layer():
    small = with_interface(stacked(1), "p1", max_mtu=4096)
    obstacle = found(to_change([small, stacked(2)]))["CH-START-011"]
    assert "p1 of rac1 carries at most 4096" in obstacle.sentence


@pytest.mark.parametrize(("announced", "is_obstacle"), [(9000, True), (9018, False), (1518, False)])
def test_a_switch_port_that_announces_less_is_an_obstacle_unless_it_will_be_raised(announced, is_obstacle):
    port = LldpNeighbour("eth1", "sw1", "", "Ethernet7", announced)
    assert ("CH-START-012" in found(with_setup(to_change(), "rac1", lldp=(port,)))) == is_obstacle


def test_a_vlan_needs_four_more_bytes_on_the_switch():
    port = LldpNeighbour("p0", "sw1", "", "Ethernet7", 9018)
    built = with_setup(to_change([stacked(1), stacked(2)]), "rac1", lldp=(port,))
    assert "needs 9022" in found(built)["CH-START-012"].sentence


def test_a_cluster_at_the_target_needs_no_change():
    assert set(found(to_change([node(1), node(2)]), 9000)) == {"CH-START-014"}


def test_two_private_networks_on_one_subnet_cannot_be_proved():
    built = to_change()
    twice = tuple(msgspec.structs.replace(n, subnet="192.168.10.0/24") for n in built.networks)
    assert "CH-START-015" in found(msgspec.structs.replace(built, networks=twice))


def test_a_node_without_a_port_on_a_private_network_is_named():
    built = to_change()
    alone = msgspec.structs.replace(built.networks[1], ports=built.networks[1].ports[:1])
    built = msgspec.structs.replace(built, networks=(built.networks[0], alone))
    assert "rac2 has no interface on 192.168.11.0/24" in found(built)["CH-START-027"].sentence


def test_an_unknown_boot_configuration_must_be_accepted():
    assert "eth1 and eth2 of rac2" in found(with_setup(to_change(), "rac2", kept=()))["CH-START-016"].sentence


def test_unreadable_files_are_reported_once_for_each_node():
    hidden = Unknown("NetworkManager's files can be read by root only")
    built = to_change(mtus={"eth1": hidden, "eth2": hidden})
    several = [o for o in mtu_obstacles(report_of(built), 9000) if o.code == "CH-START-022"]
    assert len(several) == 2
    assert all("root" in o.sentence for o in several)


def test_an_mtu_from_dhcp_must_be_accepted():
    by_dhcp = MtuByDhcp()
    assert set(found(to_change(mtus={"eth2": by_dhcp}))) == {"CH-START-023"}


def test_a_file_shared_with_a_public_interface_must_be_accepted():
    built = to_change(network_services=[NetworkService.NETWORKD])
    one = "/etc/systemd/network/10-eth.network"
    shared = tuple(KeptMtu(name, NetworkService.NETWORKD, one) for name in ("eth0", "eth1", "eth2"))
    obstacle = found(with_setup(built, "rac1", kept=shared))["CH-START-024"]
    assert "configures eth2 and also eth0, which is not private" in obstacle.sentence
    assert found(with_setup(built, "rac1", kept=shared[1:])) == {}


def test_a_script_that_would_revert_the_change_is_named_with_its_line():
    line = FragileMtu("eth1", "/etc/rc.d/rc.local", "ip link set dev eth1 mtu 1500", 1500)
    public = FragileMtu("eth0", "/etc/rc.d/rc.local", "ip link set dev eth0 mtu 1400", 1400)
    obstacle = found(with_setup(to_change(), "rac1", fragile=(public, line)))["CH-START-017"]
    assert "ip link set dev eth1 mtu 1500" in obstacle.sentence
    assert "CH-START-017" not in found(with_setup(to_change(), "rac1", fragile=(public,)))


def test_a_private_vlan_on_a_public_interface_is_not_planned():
    public = with_interface(stacked(1), "bond0", addresses=node(1).interfaces[0].addresses)
    obstacle = found(to_change([public, stacked(2)]))["CH-START-018"]
    assert "bond0 of rac1" in obstacle.sentence
    assert not obstacle.acceptable


def test_obstacles_that_cannot_be_accepted_come_first():
    both = with_setup(lost(to_change()), "rac1", platform="Oracle Engineered System")
    assert [o.acceptable for o in mtu_obstacles(report_of(both), 9000)] == [False, True]


def test_an_unknown_vendor_of_a_switch_is_refused_with_the_list_of_known_ones():
    with pytest.raises(PlanError) as refused:
        plan_for(to_change(), switches=("nexus-1",))
    (obstacle,) = refused.value.obstacles
    assert "nexus-1" in obstacle.sentence
    assert "nexus-9000" in obstacle.next[0].text


def test_each_code_has_one_documented_meaning(capsys):
    assert len({kind.code for kind in codes.KINDS}) == len(codes.KINDS)
    used = {code for file in CHANGE.rglob("*.py") for code in CODE.findall(file.read_text())}
    assert used == {kind.code for kind in codes.KINDS}
    for code in ("CH-START-006", "CH-PLAN-002", "CH-LOOK-001"):
        assert main(["explain", code]) == 0
        assert code in capsys.readouterr().out


def test_mixed_infiniband_and_an_impossible_infiniband_target_are_different_obstacles():
    mixed = node(2, 2044)
    built = to_change([infiniband(1), mixed])
    assert "partly InfiniBand" in found(built, 2044)["CH-START-025"].sentence
    assert "CH-START-010" not in found(built, 2044)
