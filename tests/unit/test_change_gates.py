"""Gates of the running services and of the MTU, now and after a boot: the result of each for every node."""

import msgspec
import pytest

from checks.change.plan.change_plan import ChangeKind, PlannedDatabase
from checks.change.progress.change_events import RolledBack
from checks.model.facts import FragileMtu, NetworkService, Unknown, UnreadNode
from checks.model.finding import Status
from tests.unit.change_gate_support import commands, found, gate_results, sentence
from tests.unit.change_support import (
    HOME,
    NODES,
    after,
    bond,
    boot_config,
    cluster,
    down,
    layer,
    nic,
    passed,
    plan,
    setup,
    until,
)

UNREAD = UnreadNode("rac3", "rac3 could not be read: ssh asked for a password.")


# --- running processes ------------------------------------------------------------------------------------------------


def test_no_process_may_run_before_an_mtu_is_set():
    assert gate_results("stack-down", down()) == dict.fromkeys(NODES, "PASS down")
    up = cluster(rac3=UNREAD)
    assert gate_results("stack-down", up) == {
        "rac1": "FAIL +ASM1 and 4 more run",
        "rac2": "FAIL +ASM2 and 4 more run",
        "rac3": "UNKNOWN not known",
    }
    assert sentence("stack-down", up, "rac3") == "What runs on rac3 is not known: " + UNREAD.reason
    assert commands("stack-down", up, "rac1") == [
        "srvctl stop database -d prod -o immediate",
        f"{HOME}/bin/crsctl stop crs",
    ]


def test_an_instance_started_by_hand_counts_as_running():
    now = down(rac2=setup("rac2", runs=False, instances=("prod2",)))
    assert gate_results("stack-down", now)["rac2"] == "FAIL prod2 runs"
    assert sentence("stack-down", now, "rac2") == "prod2 runs on rac2."
    assert "Stop by hand" in found("stack-down", now)[1].next[-1].text


def test_a_running_process_is_reported_even_if_the_rest_is_unknown():
    half = setup("rac2", runs=False, daemons=("ohasd.bin",), instances=Unknown("Not as this user."))
    assert gate_results("stack-down", down(rac2=half))["rac2"] == "FAIL ohasd.bin runs"
    silent = setup("rac2", runs=False, instances=Unknown("Not as this user."))
    assert sentence("stack-down", down(rac2=silent), "rac2") == "What runs on rac2 is not known: not as this user."


def test_clusterware_is_up_when_all_its_services_are():
    services = (*cluster().setup("rac1").services[:3], "CRS-4534: Cannot communicate with Event Manager")
    now = cluster(rac2=setup("rac2", services=services), rac3=setup("rac3", services=(), runs=False))
    assert gate_results("stack-up", now) == {"rac1": "PASS up", "rac2": "FAIL not up", "rac3": "FAIL not up"}
    assert "Cannot communicate with Event Manager" in sentence("stack-up", now, "rac2")


def test_without_an_answer_of_crsctl_the_processes_show_that_clusterware_is_down():
    unknown = Unknown("crsctl may not be run as this user.")
    now = cluster(rac2=setup("rac2", runs=False, services=unknown), rac3=setup("rac3", services=unknown))
    assert gate_results("stack-up", now) == {"rac1": "PASS up", "rac2": "FAIL not up", "rac3": "UNKNOWN not known"}


def test_autostart_is_off_for_the_change_and_on_after_it():
    now = cluster(rac2=setup("rac2", autostart=False), rac3=setup("rac3", autostart=Unknown("Not as this user.")))
    assert gate_results("autostart-off", now) == {
        "rac1": "FAIL starts at boot",
        "rac2": "PASS no autostart",
        "rac3": "UNKNOWN not known",
    }
    assert gate_results("autostart-on", now) == {
        "rac1": "PASS autostart",
        "rac2": "FAIL no autostart",
        "rac3": "UNKNOWN not known",
    }
    assert commands("autostart-on", now, "rac2") == [f"{HOME}/bin/crsctl enable crs"]


def test_each_database_must_run_on_the_nodes_where_it_ran_before():
    moved = cluster(rac1=setup("rac1", instances=("+ASM1", "prod2")), rac2=setup("rac2", instances=("+ASM2",)))
    assert gate_results("instances-up", moved) == {
        "rac1": "PASS 1 instance",
        "rac2": "FAIL prod2 missing",
        "rac3": "PASS none planned",
    }


def test_an_instance_that_clusterware_moved_or_renumbered_is_not_missing():
    one = plan(databases=(PlannedDatabase(name="one", instances={"rac1": "one_2"}),))
    moved = cluster(rac1=setup("rac1", instances=("+ASM1",)), rac3=setup("rac3", instances=("+ASM3", "one_1")))
    assert gate_results("instances-up", moved, until("other-nodes", opened=one))["rac1"] == "PASS 1 instance"
    without = cluster(rac1=setup("rac1", instances=("+ASM1", "other1")))
    assert gate_results("instances-up", without, until("other-nodes", opened=one))["rac1"] == "FAIL one_2 missing"


# --- the MTU now ------------------------------------------------------------------------------------------------------


def test_every_layer_must_have_the_planned_mtu():
    now = down(9000, rac2=1500, rac3=UNREAD)
    assert gate_results("running-mtu", now) == {"rac1": "PASS 9000", "rac2": "FAIL 1500", "rac3": "UNKNOWN not known"}
    assert commands("running-mtu", now, "rac2")[0] == "ip link set dev eth1 mtu 9000"


def test_a_configured_mtu_that_is_not_active_is_reported():
    now = down(1500, rac2_setup=setup("rac2", runs=False, mtu=9000))
    expected = "eth1 of rac2 is at MTU 1500; its file sets 9000, which is not active yet."
    assert sentence("running-mtu", now, "rac2") == expected


def test_an_interface_that_does_not_exist_has_no_mtu():
    without = msgspec.structs.replace(nic("rac2", 9000), interfaces=())
    assert gate_results("running-mtu", down(9000, rac2=without))["rac2"] == "FAIL eth1 missing"


def test_layers_are_raised_from_the_bottom_and_lowered_from_the_top():
    stacked = (
        layer("rac1", "eth4", role="member"),
        layer("rac1", "bond1", role="parent", level=1, kind="bond"),
        layer("rac1", "bond1.200", level=2, kind="vlan"),
    )
    low = tuple(msgspec.structs.replace(i, mtu=1500) for i in bond("rac1"))
    at_1500 = msgspec.structs.replace(nic("rac1", 1500), interfaces=low)
    at_9000 = msgspec.structs.replace(nic("rac1", 9000), interfaces=bond("rac1"))
    raising = until("set-mtu", opened=plan(layers=stacked, nodes=("rac1",)))
    assert [c.split()[4] for c in commands("running-mtu", down(rac1=at_1500), "rac1", raising)[:-1]] == [
        "eth4",
        "bond1",
        "bond1.200",
    ]
    stopping = until("stack-down", opened=raising.opened)
    back = commands("mtu-untouched", cluster(rac1=at_9000), "rac1", stopping)
    assert [c.split()[4] for c in back[:-1]] == ["bond1.200", "bond1", "eth4"]


def test_a_live_change_is_called_dangerous_with_the_command_that_reverts_it():
    now, of = cluster(1500, rac2=9000), until("stack-down")
    assert gate_results("mtu-untouched", now, of)["rac2"] == "FAIL DANGER: 9000"
    text = sentence("mtu-untouched", now, "rac2", of)
    assert text.startswith(
        "DANGER: eth1 of rac2 is at MTU 9000 while Clusterware runs on rac1, rac2 and rac3; the MTU was 1500."
    )
    assert "blocks are lost, and nodes are evicted" in text
    assert commands("mtu-untouched", now, "rac2", of)[0] == "ip link set dev eth1 mtu 1500"
    back = next(step for f in found("mtu-untouched", now, of) if f.nodes == ("rac2",) for step in f.next)
    assert back.advice == "Set the MTU back to 1500 at once."  # not "only with Clusterware down on all nodes"


def test_a_bond_raised_under_a_private_vlan_is_reported_as_info():
    layers = tuple(layer("rac1", i.name, role="port" if i.kind == "vlan" else "parent") for i in bond("rac1"))
    early = tuple(msgspec.structs.replace(i, mtu=1500 if i.kind == "vlan" else 9000) for i in bond("rac1"))
    now = cluster(1500, rac1=msgspec.structs.replace(nic("rac1", 1500), interfaces=early))
    of = until("baseline", opened=plan(layers=layers, nodes=("rac1",)))
    assert gate_results("mtu-untouched", now, of)["rac1"] == "INFO eth4, eth5 and bond1 9000"
    assert "still have their old MTU" in sentence("mtu-untouched", now, "rac1", of)


def test_one_running_node_makes_danger_and_an_unread_node_makes_unknown():
    one, of = down(1500, rac2=9000, rac3=setup("rac3")), until("stack-down")
    assert gate_results("mtu-untouched", one, of)["rac2"] == "FAIL DANGER: 9000"
    doubt = down(1500, rac2=9000, rac3_setup=UNREAD)
    assert gate_results("mtu-untouched", doubt, of)["rac2"] == "UNKNOWN 9000"
    early = down(1500, rac2=9000)
    assert gate_results("mtu-untouched", early, of)["rac2"] == "INFO 9000"
    assert gate_results("mtu-untouched", early, of)["rac1"] == "PASS 1500"


def test_a_stack_that_runs_while_mtus_are_set_must_be_stopped_first():
    now = down(9000, rac2=1500, rac3=setup("rac3", mtu=9000))
    assert gate_results("running-mtu", now)["rac2"] == "FAIL DANGER: 1500"
    assert commands("running-mtu", now, "rac2") == [f"{HOME}/bin/crsctl stop crs -f"]


def test_a_lost_mtu_on_a_running_cluster_is_set_to_that_of_the_other_nodes():
    now = cluster(9000, rac2=1500)
    assert commands("running-mtu", now, "rac2", until("sign-off")) == ["ip link set dev eth1 mtu 9000"]


# --- the MTU after the next boot --------------------------------------------------------------------------------------


def test_the_boot_configuration_must_have_the_running_mtu():
    now = down(
        9000,
        rac2=setup("rac2", runs=False, mtu=None),
        rac3=setup("rac3", runs=False, mtu=1500),
    )
    assert gate_results("kept-mtu", now) == {
        "rac1": "PASS 9000 at boot",
        "rac2": "FAIL not set at boot",
        "rac3": "FAIL 1500 at boot",
    }
    assert sentence("kept-mtu", now, "rac3") == (
        "eth1 of rac3 will come up at MTU 1500 after the next boot: "
        "/etc/NetworkManager/system-connections/eth1.nmconnection sets 1500."
    )


@pytest.mark.parametrize(
    ("differing", "text"),
    [
        ({"kept": Unknown("NetworkManager's files may be read by root only.")}, "UNKNOWN not known"),
        ({"kept": (boot_config(None),), "network_services": ()}, "FAIL not set at boot"),
        ({"kept": (), "network_services": (NetworkService.UNKNOWN,)}, "UNKNOWN not known"),
        ({"kept": (), "network_services": (NetworkService.IFCFG,)}, "FAIL not set at boot"),
    ],
)
def test_an_unknown_boot_configuration_is_neither_a_pass_nor_a_failure(differing, text):
    assert gate_results("kept-mtu", down(9000, rac2=setup("rac2", runs=False, **differing)))["rac2"] == text


def test_a_user_who_cannot_read_the_files_is_advised_to_verify_as_root():
    closed = setup("rac2", runs=False, kept=Unknown("NetworkManager's files may be read by root only."))
    assert commands("kept-mtu", down(9000, rac2=closed), "rac2") == ["racwire change verify"]


def test_a_member_takes_the_mtu_of_its_bond_and_a_vlan_that_of_its_parent():
    layers = (
        layer("rac1", "eth4", role="member"),
        layer("rac1", "eth5", role="member"),
        layer("rac1", "bond1", role="parent", level=1, kind="bond"),
        layer("rac1", "bond1.200", level=2, kind="vlan"),
    )
    of = until("set-mtu", opened=plan(layers=layers, nodes=("rac1",)))
    node = msgspec.structs.replace(nic("rac1", 9000), interfaces=bond("rac1"))

    def gate(*files: tuple[str, int | None]) -> str:
        own = setup("rac1", runs=False, kept=tuple(boot_config(mtu, name) for name, mtu in files))
        return gate_results("kept-mtu", down(9000, rac1_node=node, rac1_setup=own), of)["rac1"]

    assert gate(("bond1", 9000), ("eth4", None), ("bond1.200", None)) == "PASS 9000 at boot"
    assert gate(("bond1", None), ("eth4", None), ("bond1.200", None)) == "FAIL not set at boot"
    assert gate(("bond1", 9000), ("eth4", 1500)) == "FAIL 1500 at boot"
    assert gate(("bond1", 9000), ("bond1.200", 1500)) == "FAIL 1500 at boot"


@pytest.mark.parametrize(
    ("fragile", "text"),
    [
        (FragileMtu("eth1", "/etc/rc.local", "ip link set eth1 mtu 1500", 1500), "FAIL 1500 by script"),
        (FragileMtu("", "/etc/udev/rules.d/9.rules", 'ATTR{mtu}="1500"', 1500), "UNKNOWN 1500 by script"),
        (FragileMtu("eth1", "/etc/rc.local", "ip link set eth1 mtu 9000", 9000), "INFO 9000 by script"),
    ],
)
def test_a_script_that_sets_another_mtu_at_boot_is_found(fragile, text):
    now = down(9000, rac2=setup("rac2", runs=False, mtu=9000, fragile=(fragile,)))
    results = [f for f in found("kept-mtu", now) if f.nodes == ("rac2",)]
    assert [f"{f.status} {f.subject}" for f in results] == [text, "PASS 9000 at boot"]
    assert fragile.line in results[0].title


def test_a_script_for_another_interface_does_not_affect_the_change():
    other = FragileMtu("eth0", "/etc/rc.local", "ip link set eth0 mtu 1400", 1400)
    now = down(9000, rac2=setup("rac2", runs=False, mtu=9000, fragile=(other,)))
    assert [f.status for f in found("kept-mtu", now)] == [Status.PASS] * 3


def test_the_default_mtu_needs_no_file():
    lowering = plan(kind=ChangeKind.LOWER, layers=tuple(layer(node, mtu_before=9000, mtu_after=1500) for node in NODES))
    now = down(1500, rac2=setup("rac2", runs=False, mtu=None), rac3=setup("rac3", runs=False, mtu=9000))
    assert gate_results("kept-mtu", now, until("set-mtu", opened=lowering)) == {
        "rac1": "PASS 1500 at boot",
        "rac2": "PASS 1500 at boot",
        "rac3": "FAIL 9000 at boot",
    }


def test_a_rollback_requires_the_boot_configuration_from_before_the_change():
    """A node that ran at 9000 before the change without any file for it stays so."""
    layers = tuple(layer(node, mtu_before=1500, mtu_after=9000, kept_before=None) for node in NODES)
    back = plan(kind=ChangeKind.ROLLBACK, layers=layers, steps=plan().steps[3:])
    of = after(until("set-mtu"), RolledBack(back, "A. Lee", "a good reason"))
    assert (
        gate_results("kept-mtu", down(9000, rac2=setup("rac2", runs=False, mtu=None)), of)["rac2"]
        == "PASS 9000 at boot"
    )


# --- a boot -----------------------------------------------------------------------------------------------------------

SET = after(until("set-mtu", down(9000)), passed("set-mtu", down(9000)))


def booted(node: str) -> object:
    return setup(node, runs=False, mtu=9000, boot="second")


def test_one_boot_proves_all_nodes_with_the_same_network_service():
    assert gate_results("rebooted", down(9000), SET) == dict.fromkeys(NODES, "FAIL not booted")
    assert gate_results("rebooted", down(9000, rac2=booted("rac2")), SET) == {
        "rac1": "INFO as rac2",
        "rac2": "PASS booted",
        "rac3": "INFO as rac2",
    }


def test_a_node_with_another_network_service_needs_its_own_boot():
    layers = (layer("rac1"), layer("rac2"), layer("rac3", network_service=str(NetworkService.NETWORKD)))
    mixed = plan(layers=layers)
    of = after(until("set-mtu", down(9000), mixed), passed("set-mtu", down(9000)))
    now = down(9000, rac2=booted("rac2"))
    assert gate_results("rebooted", now, of)["rac3"] == "FAIL not booted"
    assert "systemd-networkd" in sentence("rebooted", now, "rac3", of)


def test_a_node_that_booted_with_another_mtu_is_reported():
    now = down(9000, rac2_setup=booted("rac2"), rac2=1500)
    assert gate_results("rebooted", now, SET)["rac2"] == "FAIL came back at 1500"
    assert sentence("rebooted", now, "rac2", SET) == (
        "rac2 was booted and came back with eth1 at MTU 1500: the boot configuration does not set the planned MTU."
    )


def test_a_boot_before_the_mtu_was_set_proves_nothing():
    late = after(until("set-mtu", down()), passed("set-mtu", down(9000, rac2=booted("rac2"))))
    assert gate_results("rebooted", down(9000, rac2=booted("rac2")), late)["rac2"] == "FAIL not booted"
