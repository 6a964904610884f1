"""The plan of a change: made from the facts of this cluster, its steps in order, each with commands and gates."""

import shlex
from datetime import date

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.change.gates import GATES
from checks.change.kinds.mtu import default_target
from checks.change.plan.change_plan import Accepted, ChangeKind, KnownWarning
from checks.change.plan.planning import PlanError, look_of, needed_checks, next_id
from checks.change.steps import stack_commands
from checks.model.facts import (
    Address,
    Clusterware,
    FragileMtu,
    ManagedDatabase,
    NetworkService,
    StaleHome,
    Unknown,
)
from checks.model.own_command import written
from checks.model.settings import DatabaseSettings, Settings
from checks.run.check_discovery import discover
from tests.fixtures.change_plans import (
    PROD,
    every_interface,
    infiniband,
    plan_for,
    stacked,
    to_change,
    with_setup,
)
from tests.fixtures.clusters import node, with_interface
from tests.fixtures.databases import database
from tests.fixtures.reports import report_of

STEPS = [
    "agree",
    "baseline",
    "backups",
    "console-access",
    "switch",
    "stack-down",
    "set-mtu",
    "survives-boot",
    "prove-paths",
    "first-node",
    "other-nodes",
    "databases",
    "interconnect",
    "compare",
    "sign-off",
]


def lines_of(plan, step, node=None):
    return [line for block in plan.step(step).commands if node in (None, block.node) for line in block.lines]


def gates_of(plan, step):
    return [gate.check for gate in plan.step(step).gates]


def test_a_plan_to_jumbo_has_all_steps_in_the_order_of_the_procedure():
    plan = plan_for(to_change())
    assert [step.id for step in plan.steps] == STEPS
    assert (plan.kind, plan.mtu_before, plan.mtu_after) == (ChangeKind.RAISE, 1500, 9000)
    assert plan.cluster == "prodrac"
    assert all(len(step.title) <= 16 for step in plan.steps)


def test_lowering_leaves_the_switch_as_it_is():
    plan = plan_for(to_change([node(1), node(2)]), 1500)
    assert plan.kind is ChangeKind.LOWER
    assert [step.id for step in plan.steps] == [step for step in STEPS if step != "switch"]


def test_a_switch_that_must_be_reloaded_is_raised_while_nothing_runs_over_it():
    plan = plan_for(to_change(), switches=("catalyst-3750",))
    order = [step.id for step in plan.steps]
    assert order.index("stack-down") < order.index("switch") < order.index("set-mtu")
    assert "Clusterware still runs" in written(plan_for(to_change()).step("switch").what)


def test_nothing_is_stopped_before_backups_for_the_rollback_exist():
    plan = plan_for(to_change())
    assert "crsctl stop" not in " ".join(line for s in plan.steps[:5] for b in s.commands for line in b.lines)
    assert gates_of(plan, "backups") == ["backups-made"]


def test_the_stack_is_stopped_on_all_nodes_autostart_first_and_each_database_once():
    lines = lines_of(plan_for(to_change()), "stack-down")
    crsctl = "/u01/app/19.0.0/grid/bin/crsctl"
    (stop,) = stack_commands.stop("rac1", "/u01/app/19.0.0/grid", plan_for(to_change()).databases).lines
    assert lines == [
        f"{crsctl} disable crs",
        f"{crsctl} disable crs",
        "PATH=$PATH:/u01/app/19.0.0/grid/bin srvctl stop database -d prod -o immediate",
        stop,
        stop,
    ]


def test_the_stack_starts_on_one_node_then_on_the_rest_and_autostart_is_enabled():
    plan = plan_for(to_change(3))
    first, others = plan.step("first-node"), plan.step("other-nodes")
    assert {block.node for block in first.commands} == {"rac1"}
    assert [(g.check, g.nodes) for g in first.gates] == [
        ("stack-up", ("rac1",)),
        ("stack-down", ("rac2", "rac3")),
        ("autostart-off", ()),
        ("df-ping", ()),
        ("one-byte-more", ()),
    ]
    assert [line.split()[-2:] for line in lines_of(plan, "other-nodes", "rac2")] == [["start", "crs"], ["check", "crs"]]
    assert lines_of(plan, "other-nodes", "rac1") == []
    assert [(g.check, g.until) for g in others.gates] == [("stack-up", "end"), ("df-ping", ""), ("one-byte-more", "")]
    assert [line.split()[-2:] for line in lines_of(plan, "databases", "rac2")] == [["enable", "crs"]]
    assert lines_of(plan, "databases", "rac1")[-1].endswith("srvctl start database -d prod")
    assert [(g.check, g.until) for g in plan.step("databases").gates] == [("autostart-on", "end"), ("instances-up", "")]


def nodes_with_haip():
    haip = {n: Address(f"169.254.7.{n}", 17, "eth1:1") for n in (1, 2)}
    return [
        with_interface(node(n, 1500), "eth1", addresses=(*node(n).interfaces[1].addresses, haip[n])) for n in (1, 2)
    ]


def test_haip_addresses_are_pinged_before_the_databases_open_where_the_nodes_had_some():
    nodes = nodes_with_haip()
    plan = plan_for(to_change(nodes))
    gates = {step.id: [gate.check for gate in step.gates] for step in plan.steps}
    assert [step for step, checks in gates.items() if "haip-path" in checks] == ["other-nodes", "interconnect"]
    assert "between the HAIP addresses too" in written(plan.step("other-nodes").what)
    alone = plan_for(to_change([nodes[0], node(2, 1500)]))
    assert not any(gate.check == "haip-path" for step in alone.steps for gate in step.gates)


def test_a_database_that_is_already_down_is_neither_stopped_nor_started():
    down = ManagedDatabase("test", (), (("test1", "rac1"),))
    plan = plan_for(to_change(databases=(PROD, down)))
    assert [database.name for database in plan.databases] == ["prod"]
    assert plan.databases[0].instances == {"rac1": "prod1", "rac2": "prod2"}


def test_each_node_sets_all_its_layers_now_and_for_the_next_boot():
    plan = plan_for(to_change(network_services=[NetworkService.NETWORK_MANAGER, NetworkService.IFCFG]))
    assert lines_of(plan, "set-mtu", "rac1") == [
        "ip link set dev eth1 mtu 9000",
        "ip link set dev eth2 mtu 9000",
        "nmcli connection modify eth1 802-3-ethernet.mtu 9000",
        "nmcli connection modify eth2 802-3-ethernet.mtu 9000",
    ]
    assert lines_of(plan, "set-mtu", "rac2")[2].endswith("/etc/sysconfig/network-scripts/ifcfg-eth1")


def test_a_private_vlan_on_a_bond_is_raised_from_the_members_up_without_the_public_vlan():
    plan = plan_for(to_change([stacked(1), node(2, 1500)]))
    layers = [layer for layer in plan.layers if layer.node == "rac1"]
    assert [(layer.interface, layer.role, layer.level) for layer in layers] == [
        ("p0", "member", 0),
        ("p1", "member", 0),
        ("eth2", "port", 0),
        ("bond0", "parent", 1),
        ("bond0.100", "port", 2),
    ]
    run_time = [shlex.split(line)[4] for line in lines_of(plan, "set-mtu", "rac1") if line.startswith("ip link")]
    assert run_time == [layer.interface for layer in layers]
    assert "dev bond0.10 " not in " ".join(lines_of(plan, "set-mtu"))
    assert any(
        "bond0 of rac1 also carries networks that are not private" in remark for remark in map(written, plan.remarks)
    )
    assert any("9022 bytes" in remark for remark in map(written, plan.remarks))


def test_a_public_vlan_on_a_raised_bond_gets_its_present_mtu_for_the_next_boot():
    """A VLAN that is made at boot gets the MTU of its parent."""
    blocks = [b for b in plan_for(to_change([stacked(1), node(2, 1500)])).step("set-mtu").commands if b.node == "rac1"]
    assert blocks[1].lines == ("nmcli connection modify bond0.10 802-3-ethernet.mtu 1500",)
    plan = plan_for(to_change([stacked(1), node(2, 1500)], mtus={"bond0.10": 1500}))
    assert not any("bond0.10" in line for line in lines_of(plan, "set-mtu") if "bond0.100" not in line)


def test_lowering_leaves_a_bond_with_other_interfaces_at_the_larger_mtu():
    plan = plan_for(to_change([stacked(1, 9000), node(2, 9000)]), 1500)
    after = {layer.interface: layer.mtu_after for layer in plan.layers if layer.node == "rac1"}
    assert after == {"p0": 9000, "p1": 9000, "bond0": 9000, "bond0.100": 1500, "eth2": 1500}


def test_a_parent_with_a_larger_mtu_is_not_changed():
    def larger(interface):
        return interface if interface.kind == "vlan" else msgspec.structs.replace(interface, mtu=9216)

    plan = plan_for(to_change([every_interface(stacked(1), larger), node(2, 1500)]))
    after = {layer.interface: layer.mtu_after for layer in plan.layers if layer.node == "rac1"}
    assert (after["bond0"], after["p0"], after["bond0.100"]) == (9216, 9216, 9000)


def test_infiniband_is_changed_with_its_own_commands():
    built = to_change([infiniband(1), infiniband(2)])
    for name in ("rac1", "rac2"):
        built = with_setup(built, name, infiniband_modes={"ib0": "connected", "ib1": "connected"})
    plan = plan_for(built, 65520)
    assert "nmcli connection modify ib0 infiniband.mtu 65520" in lines_of(plan, "set-mtu", "rac1")
    assert "InfiniBand fabric" in written(plan.step("switch").what)
    assert default_target(report_of(built)) is None


def test_the_default_target_is_jumbo_from_the_standard_and_the_standard_from_jumbo():
    assert default_target(report_of(to_change())) == 9000
    assert default_target(report_of(to_change([node(1), node(2)]))) == 1500


def test_the_default_target_fits_the_cloud_and_the_smallest_nic():
    built = with_setup(to_change(), "rac2", platform="Microsoft Azure")
    assert default_target(report_of(built)) == 3900
    small = [with_interface(node(n, 1500), "eth2", max_mtu=4088) for n in (1, 2)]
    assert default_target(report_of(to_change(small))) == 4088


def test_one_node_for_each_network_service_is_booted_and_this_node_only_if_necessary():
    plan = plan_for(to_change(4, network_services=[NetworkService.NETWORK_MANAGER, NetworkService.NETWORKD]))
    assert [block.node for block in plan.step("survives-boot").commands] == ["rac2", "rac3"]


def test_a_script_that_also_sets_an_mtu_is_named_with_its_file():
    same = FragileMtu("eth1", "/etc/rc.d/rc.local", "ip link set dev eth1 mtu 9000", 9000)
    block = plan_for(with_setup(to_change(), "rac2", fragile=(same,))).step("set-mtu").commands[-1]
    assert block.node == "rac2"
    assert "/etc/rc.d/rc.local" in block.lines[0]
    assert "ip link set dev eth1 mtu 9000" in block.note


def make_plan_with(settings, built=None, **more):
    return plan_for(built or to_change(), settings=settings, **more)


def test_gates_that_need_a_database_exist_only_with_a_configured_database():
    without = make_plan_with(Settings())
    assert not {"gc-blocks-lost", "interconnect-in-use"} & set(gates_of(without, "interconnect"))
    settings = Settings(database=DatabaseSettings(connect="scan:1521/prod"))
    plan = make_plan_with(settings, msgspec.structs.replace(to_change(), database=database()))
    assert {"gc-blocks-lost", "interconnect-in-use", "instance-ping"} <= set(gates_of(plan, "interconnect"))
    assert gates_of(plan, "baseline") == ["baseline-recording", "gc-blocks-lost", "instance-ping"]
    assert "--connect scan:1521/prod" in lines_of(plan, "compare")[0]


def test_remarks_explain_the_effects_of_the_target():
    nodes = nodes_with_haip()
    remarks = " ".join(map(written, plan_for(to_change(nodes)).remarks))
    assert "A block of 8 KB is sent in 6 packets at MTU 1500, and in 1 at MTU 9000." in remarks
    assert "HAIP has one address" in remarks
    assert "oifcfg needs no change" in remarks
    assert "30 s (misscount)" in remarks


def test_larger_blocks_are_still_fragmented_and_a_remark_says_so():
    built = msgspec.structs.replace(
        to_change(), database=msgspec.structs.replace(database(), block_size_bytes=32768, parameters=Unknown("-"))
    )
    assert any(
        "4 at MTU 9000. The kernel still fragments it" in remark for remark in map(written, plan_for(built).remarks)
    )


def test_an_instance_that_clusterware_does_not_know_is_named():
    built = with_setup(to_change(), "rac2", instances=("+ASM2", "prod2", "xe"))
    assert any("xe on rac2 also runs" in remark for remark in map(written, plan_for(built).remarks))


def test_the_reason_of_an_acceptance_is_in_the_plan_with_its_subject():
    fault = with_setup(to_change(), "rac2", kept=())
    with pytest.raises(PlanError):
        plan_for(fault)
    plan = plan_for(fault, accepted=(Accepted("CH-START-016", "", "kept by our own script, see ticket 7"),))
    (accepted,) = plan.accepted
    assert "rac2" in accepted.title
    assert accepted.reason == "kept by our own script, see ticket 7"
    by_hand = [block for block in plan.step("set-mtu").commands if block.by_hand]
    assert "racwire found no network service that configures eth1, eth2" in written(by_hand[0].note)


def test_the_state_for_later_comparison_is_recorded():
    plan = plan_for(to_change())
    assert plan.interconnects == (
        "eth0  10.20.0.0  global  public",
        "eth1  192.168.10.0  global  cluster_interconnect",
        "eth2  192.168.11.0  global  cluster_interconnect",
    )
    assert plan.boot_ids == {"rac1": "boot-rac1", "rac2": "boot-rac2"}
    observed = look_of(to_change(), plan)
    assert observed.mtus["rac2"] == {"eth1": 1500, "eth2": 1500}
    assert observed.running == {"rac1": True, "rac2": True}


def test_an_unread_value_is_left_out_of_an_observed_state():
    seen = with_setup(to_change(), "rac2", daemons=Unknown("no"), boot_id=Unknown("no"))
    observed = look_of(seen, plan_for(to_change()))
    assert set(observed.running) == set(observed.boot_ids) == {"rac1"}


def test_ids_are_the_date_and_the_first_free_letters():
    day = date(2026, 11, 20)
    assert next_id([], day) == "2026-11-20-a"
    assert next_id(["2026-11-20-a", "2026-11-19-b"], day) == "2026-11-20-b"
    assert next_id([f"2026-11-20-{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"], day) == "2026-11-20-aa"


def test_all_checks_run_and_the_setups_are_gathered_before_a_plan():
    checks = needed_checks(discover())
    assert {c.id for c in discover()} < {c.id for c in checks}
    assert {"setups", "managed"} <= {group for c in checks for group in (*c.needs, *c.uses)}
    assert [f.code for f in checks[-1].run(to_change())] == ["CH-PLAN-001"]


NETWORK_SERVICES = st.lists(
    st.sampled_from([k for k in NetworkService if k is not NetworkService.UNKNOWN]), min_size=1, max_size=3
)


@given(nodes=st.lists(st.booleans(), min_size=2, max_size=4), network_services=NETWORK_SERVICES, jumbo=st.booleans())
@settings(max_examples=12)
def test_the_plan_of_any_cluster_is_complete_and_can_be_pasted(nodes, network_services, jumbo):
    before, after = (9000, 1500) if jumbo else (1500, 9000)
    built = to_change(
        [stacked(n, before) if is_stacked else node(n, before) for n, is_stacked in enumerate(nodes, 1)],
        network_services,
    )
    plan = plan_for(built, after)
    for name in plan.nodes:
        lines = lines_of(plan, "set-mtu", name)
        own = [layer for layer in plan.layers if layer.node == name]
        run_time = [shlex.split(line)[4] for line in lines if line.startswith("ip link set")]
        assert sorted(run_time) == sorted(layer.interface for layer in own)
        for layer in own:
            assert layer.network_service in [*network_services]
            commands = [line.replace("\\", "") for line in lines if not line.startswith("ip link")]
            assert any(layer.interface in line for line in commands)
    for step in plan.steps:
        assert step.what
        assert step.why
        assert step.gates or step.attest
        for block in step.commands:
            assert block.heading.startswith(("As ", "On ", "To ", "By hand", "Where "))
            for line in block.lines:
                shlex.split(line, comments=True)
    assert msgspec.json.decode(msgspec.json.encode(plan), type=type(plan)) == plan


def test_a_plan_for_sixteen_nodes_has_all_nodes():
    plan = plan_for(to_change(16))
    assert len({block.node for block in plan.step("set-mtu").commands}) == 16
    assert {block.node for block in plan.step("stack-down").commands} == set(plan.nodes)


def test_the_last_step_verifies_again_in_both_directions():
    assert gates_of(plan_for(to_change()), "sign-off") == ["running-mtu", "kept-mtu", "stack-up"]


def test_the_warnings_of_the_start_are_recorded():
    built = to_change()
    assert isinstance(built.clusterware, Clusterware)
    stale = StaleHome("/u01/old", "/etc/oratab", "it has no bin")
    home = msgspec.structs.replace(built.clusterware.grid_home, stale=(stale,))
    warned = msgspec.structs.replace(built, clusterware=msgspec.structs.replace(built.clusterware, grid_home=home))
    assert plan_for(built).known == ()
    assert plan_for(warned).known == (KnownWarning("IC-GRID-002", "/etc/oratab is stale"),)


def test_every_gate_is_one_that_racwire_can_verify():
    known = {gate.id for gate in GATES} | {check.id for check in discover()}
    settings = Settings(database=DatabaseSettings(connect="scan:1521/prod"))
    plan = make_plan_with(settings, msgspec.structs.replace(to_change(), database=database()))
    assert {gate.check for step in plan.steps for gate in step.gates} <= known
    untils = {gate.until for step in plan.steps for gate in step.gates}
    assert untils <= {"", "end", *STEPS}


def test_a_rollback_before_the_databases_are_open_is_no_second_outage():
    plan = plan_for(to_change())
    assert plan.step("other-nodes").if_rolled_back.endswith(
        "The databases are still down, so this prolongs the outage and needs no second one, except where Clusterware "
        "has started a database itself."
    )
    assert "another full outage, once a database was started" in plan.step("databases").if_rolled_back


def test_the_archives_are_attested_where_racwire_may_not_read_them():
    (by_root,) = [step for step in plan_for(to_change(), made_by="root@rac1").steps if step.id == "backups"]
    assert not by_root.attest
    assert "tar listed the archive" in plan_for(to_change()).step("backups").attest
