"""The remarks of a plan about this cluster before its first step: blocks, limits, unknown values."""

import msgspec
import pytest

from checks.change.plan.command_block import Who
from checks.change.plan.remarks import operator_remarks
from checks.model.facts import LldpNeighbour, NetworkService
from checks.model.own_command import written
from checks.model.settings import ChangeSettings, DatabaseSettings, Settings
from tests.fixtures.change_plans import infiniband, plan_for, stacked, to_change, with_setup
from tests.fixtures.clusters import node, with_interface
from tests.unit.test_change_plan import make_plan_with
from tests.unit.test_change_plan_back import standing_at, way_back


def remarks_of(built, target=9000, **more):
    return " ".join(map(written, plan_for(built, target, **more).remarks))


def port(name, size):
    return LldpNeighbour("eth1", "sw1", "", name, size)


def test_the_smallest_driver_limit_is_shown_with_its_interface():
    small = [with_interface(node(n, 1500), "eth2", max_mtu=9100) for n in (1, 2)]
    assert "a driver reports is 9100 bytes (eth2 of rac1 and eth2 of rac2)" in remarks_of(to_change(small))


@pytest.mark.parametrize(
    ("lldp", "expected"),
    [
        ((), "LLDP names no switch port of the private networks: only the step prove-paths tests the switches."),
        ((LldpNeighbour("eth1", "sw1", "", "Ethernet7"),), "1 of 4 private NICs; no port announces its largest frame"),
        (
            (port("Ethernet7", 9236),),
            "1 port announces its largest frame. The smallest of these sizes is 9236 bytes (sw1 Ethernet7)",
        ),
        ((port("Ethernet7", 1518),), "sw1 Ethernet7 still announces standard frames."),
    ],
)
def test_the_announced_switch_limits_and_the_missing_ones_are_shown(lldp, expected):
    assert expected in remarks_of(with_setup(to_change(), "rac1", lldp=lldp))


def test_a_cloud_that_is_large_enough_is_named_with_its_limit():
    assert "runs on Amazon EC2, which carries at most 9001 bytes for eth1 of rac1" in remarks_of(
        with_setup(to_change(), "rac1", platform="Amazon EC2")
    )


def test_dependent_interfaces_are_counted_and_infiniband_has_no_ethernet_switch():
    assert "use 1 bond and 1 VLAN" in remarks_of(to_change([stacked(1), node(2, 1500)]))
    built = to_change([infiniband(1), infiniband(2)])
    for name in ("rac1", "rac2"):
        built = with_setup(built, name, infiniband_modes={"ib0": "connected", "ib1": "connected"})
    assert "LLDP" not in remarks_of(built, 65520)
    assert "connected mode up to 65520" in remarks_of(built, 65520)


def test_networks_with_different_mtus_are_listed_separately():
    built = to_change()
    networks = (built.networks[0], msgspec.structs.replace(built.networks[1], mtu=4000))
    remarks = plan_for(msgspec.structs.replace(built, networks=networks)).remarks
    assert "A block of 8 KB is sent in 6 packets on 192.168.10.0/24 at MTU 1500, and in 1 at MTU 9000." in remarks
    assert "A block of 8 KB is sent in 3 packets on 192.168.11.0/24 at MTU 4000, and in 1 at MTU 9000." in remarks


def test_remarks_of_a_rollback_describe_the_restored_state():
    back = " ".join(map(written, way_back(standing_at("compare")).remarks))
    assert "At MTU 1500, a block of 8 KB is sent in 6 packets, as before the change." in back
    assert "9000" not in back
    assert "oifcfg needs no change" in back


def test_the_practice_cluster_is_named_and_its_switch_is_outside_its_nodes():
    practice = plan_for(to_change(), switches=("practice",))
    assert "`racwire lab shell rac1` opens a root shell on rac1" in next(operator_remarks(practice))
    assert practice.step("switch").commands[0].heading.startswith("On the practice switch")
    assert "practice" not in remarks_of(to_change())


def test_the_node_of_racwire_is_booted_last_which_ends_racwire():
    plan = plan_for(to_change(2, network_services=[NetworkService.NETWORK_MANAGER, NetworkService.NETWORKD]))
    blocks = plan.step("survives-boot").commands
    assert [block.node for block in blocks] == ["rac2", "rac1"]
    assert "racwire runs on it" in written(blocks[1].note)
    assert "racwire runs on it" not in written(blocks[0].note)


def test_a_restore_point_is_offered_with_its_limits_and_its_removal():
    plan = plan_for(to_change())
    (made,) = [block for block in plan.step("backups").commands if block.who is Who.SYSDBA]
    assert made.lines == ("CREATE RESTORE POINT racwire_before_2026_11_20_a GUARANTEE FLASHBACK DATABASE;",)
    assert "protects the data, not the network" in written(made.note)
    for last in (plan.steps[-1], way_back(standing_at("set-mtu")).steps[-1]):
        (dropped,) = [block for block in last.commands if block.who is Who.SYSDBA]
        assert dropped.lines == ("DROP RESTORE POINT racwire_before_2026_11_20_a;",)
        assert dropped.optional


@pytest.mark.parametrize("has_pack", [True, False])
def test_awr_is_offered_only_with_the_licence(has_pack):
    settings = Settings(database=DatabaseSettings(diagnostics_pack=has_pack), change=ChangeSettings())
    plan = make_plan_with(settings)
    for step in ("baseline", "compare"):
        lines = [line for block in plan.step(step).commands for line in block.lines]
        assert any("awrgrpt.sql" in line for line in lines) == has_pack
