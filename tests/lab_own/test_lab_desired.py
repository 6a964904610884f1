"""The desired state of the practice cluster, without a cluster: places of faults, states, and the commands to reach
them."""

from __future__ import annotations

import itertools
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racwire_lab import FAULTS, LabError
from racwire_lab.cluster.desired import desired
from racwire_lab.cluster.directory import lab_directory
from racwire_lab.cluster.drop_rules import DropRule, ruleset
from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.faults import place
from racwire_lab.cluster.processes import Process
from racwire_lab.cluster.state import State, boot_id, load, save
from racwire_lab.cluster.topology import MAX_NODES, PortId, Shape, ports_named
from racwire_lab.cluster.wiring import changed_nic, join, split, unwire, wire

SHAPE = Shape(3, 9000, hypervisor=("rac2", "rac3"))
CUT, STORING = replace(SHAPE, mtu=1500), replace(SHAPE, has_storage=True, rate_mbps=1000)


def shape_for(fault: Fault) -> Shape:
    return CUT if fault.needs_fragments else STORING if fault.needs_storage or fault.needs_rate else SHAPE


ACTIVE = st.sampled_from([place(fault, shape_for(fault), None, None) for fault in FAULTS.values()])


def test_no_two_nodes_share_an_address() -> None:
    nics = desired(Shape(MAX_NODES, 9000), ()).nics.values()
    addresses = [nic.address for nic in nics] + [nic.haip for nic in nics if nic.haip]
    assert len(addresses) == len(set(addresses)) == MAX_NODES * 5


def test_interface_names_fit_the_kernel() -> None:
    assert max(len(f"{port.name}-xx") for port in Shape(MAX_NODES, 9000).ports) <= 15


def test_rules_of_one_name_count_together() -> None:
    rules = desired(SHAPE, [place(FAULTS["flow-share-loss"], SHAPE, None, None)]).switch_rules
    lines = ruleset("bridge", rules).splitlines()
    assert {rule.name for rule in rules} == {"flow-share-loss-rac2-eth2"}
    assert len([line for line in lines if line.endswith("jump flow-share-loss-rac2-eth2")]) == len(rules) == 6
    assert lines.count("add counter bridge racwire flow-share-loss-rac2-eth2") == 1


def test_a_fault_of_a_hypervisor_needs_one_before_the_node() -> None:
    with pytest.raises(
        LabError, match=r"which rac2 is not: run `racwire lab down` .* `racwire lab up --hypervisor`\.$"
    ):
        place(FAULTS["spoof-check"], Shape(3, 9000), None, None)
    with pytest.raises(LabError, match=r"which rac1 is not: choose --node rac2\.$"):
        place(FAULTS["spoof-check"], SHAPE, "rac1", None)


@given(st.lists(ACTIVE, unique=True))
def test_the_desired_state_does_not_depend_on_the_order_of_faults(faults: list[ActiveFault]) -> None:
    assert desired(STORING, faults) == desired(STORING, list(reversed(faults)))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
def test_each_fault_changes_something_and_not_the_public_addresses(fault) -> None:  # type: ignore[no-untyped-def]
    shape = shape_for(fault)
    healthy, broken = desired(shape, ()), desired(shape, [place(fault, shape, None, None)])
    assert healthy != broken
    for node in shape.nodes:
        # Another program's address is no address of the node: nothing in the cluster uses it.
        assert healthy.nics[PortId(node, 0)] == replace(broken.nics[PortId(node, 0)], link_local=None)


def test_rewiring_back_removes_the_added_interfaces() -> None:
    port = PortId("rac2", 2)
    faults = [place(FAULTS[name], SHAPE, None, None) for name in ("switch-mtu", "routed")]
    cable = desired(SHAPE, faults).cables[port]
    words = [line.split() for line in wire(port, cable, 42)]
    added = {line[2] for line in words if line[:2] == ["link", "add"]}
    removed = {line.split()[2] for line in unwire(port, cable)}
    assert added == removed
    assert words[-1] == ["link", "set", "rac2-eth2", "master", "rac2-eth2-rt", "up"]


def test_changes_of_a_nic_use_its_new_name() -> None:
    before = desired(SHAPE, ()).nics[PortId("rac2", 2)]
    faults = [place(FAULTS[name], SHAPE, None, None) for name in ("names-differ", "node-mtu")]
    after = desired(SHAPE, faults).nics[PortId("rac2", 2)]
    assert changed_nic(before, before, has_haip=True) == []
    assert changed_nic(before, after, has_haip=True)[-1] == "link set ens2f1 mtu 1500"


def test_a_haip_comes_back_with_another_address_only_while_clusterware_runs() -> None:
    before = desired(SHAPE, ()).nics[PortId("rac2", 2)]
    after = desired(SHAPE, [place(FAULTS["duplicate-subnet"], SHAPE, None, None)]).nics[PortId("rac2", 2)]
    assert after.haip is not None
    for has_haip in (True, False):
        lines = changed_nic(before, after, has_haip=has_haip)
        assert "address flush dev eth2" in lines
        assert any(after.haip in line for line in lines) == has_haip


def test_a_switch_in_two_halves_has_half_of_the_nodes_on_each_and_is_one_again() -> None:
    shape = Shape(4, 9000)
    for name, mtu in (("split-switch", None), ("split-switch-mtu", 1500)):
        broken = desired(shape, [place(FAULTS[name], shape, None, None)])
        (trunk,) = broken.trunks
        assert (trunk.bridge, trunk.mtu) == ("priv2", mtu)
        halves = {node: broken.cables[PortId(node, 2)].bridge for node in shape.nodes}
        assert halves == {"rac1": "priv2", "rac2": "priv2", "rac3": trunk.second, "rac4": trunk.second}
        added = {line.split()[2] for line in split(broken.trunks) if line.startswith("link add")}
        assert added == {line.split()[2] for line in join(broken.trunks)}
        assert max(map(len, added)) <= 15


def test_no_two_nics_share_a_mac_address_but_with_the_fault() -> None:
    shape = Shape(MAX_NODES, 9000)
    assert len({nic.mac for nic in desired(shape, ()).nics.values()}) == MAX_NODES * 3
    nics = desired(SHAPE, [place(FAULTS["duplicate-mac"], SHAPE, "1", None)]).nics
    assert nics[PortId("rac1", 2)].mac == nics[PortId("rac2", 2)].mac


def test_an_entry_that_was_set_by_hand_is_removed_again() -> None:
    before = desired(SHAPE, ()).nics[PortId("rac2", 2)]
    after = desired(SHAPE, [place(FAULTS["wrong-neighbour"], SHAPE, None, None)]).nics[PortId("rac2", 2)]
    (made,) = changed_nic(before, after, has_haip=True)
    assert made == "neigh replace 192.168.11.1 lladdr 02:de:ad:00:00:01 dev eth2 nud permanent"
    assert changed_nic(after, before, has_haip=True) == ["neigh flush to 192.168.11.1 dev eth2 nud permanent"]


def test_crossed_cables_and_swapped_addresses_exchange_the_two_networks() -> None:
    crossed = desired(SHAPE, [place(FAULTS["crossed-cables"], SHAPE, None, None)])
    assert [crossed.cables[PortId("rac2", n)].bridge for n in (1, 2)] == ["priv2", "priv1"]
    swapped = desired(SHAPE, [place(FAULTS["swapped-addresses"], SHAPE, None, None)])
    assert [swapped.nics[PortId("rac2", n)].address for n in (1, 2)] == ["192.168.11.2/24", "192.168.10.2/24"]


def test_ruleset_without_rules_only_deletes() -> None:
    assert ruleset("bridge", ()) == "add table bridge racwire\ndelete table bridge racwire\n"
    rules = ruleset("inet", (DropRule("udp-filtered-rac2", "input", "meta l4proto udp"),))
    assert 'racwire input meta l4proto udp counter name "udp-filtered-rac2" jump udp-filtered-rac2\n' in rules
    assert rules.endswith("racwire input meta l4proto udp counter drop\n"), "a person sees the rule that drops"


@pytest.mark.parametrize(("node", "network"), itertools.product(("2", "rac2"), ("1", "eth1")))
def test_places_may_be_named_in_either_order(node: str, network: str) -> None:
    assert place(FAULTS["link-down"], SHAPE, node, network) == ActiveFault("link-down", "rac2", 1)


def test_large_packets_are_required() -> None:
    with pytest.raises(LabError, match="has MTU 1500"):
        place(FAULTS["node-mtu"], Shape(2, 1500), None, None)


@pytest.mark.parametrize("fault", ["switch-mtu", "switch-mtu-one-way"])
def test_a_switch_fault_is_possible_before_any_node_sends_large_packets(fault: str) -> None:
    shape = Shape(2, 1500)
    assert desired(shape, [place(FAULTS[fault], shape, None, None)]) != desired(shape, ())
    assert "At MTU 1500" in FAULTS[fault].effect


class TestSwitchPorts:
    PORT = PortId("rac2", 1)

    def uplinks(self, shape: Shape, *faults: str, **port_mtus: int) -> dict[str, int | None]:
        active = [place(FAULTS[fault], shape, None, "eth1") for fault in faults]
        mtus = {
            port: mtu for port in shape.ports for name, mtu in port_mtus.items() if port.name.replace("-", "_") == name
        }
        return {port.name: cable.uplink_mtu for port, cable in desired(shape, active, mtus).cables.items()}

    def test_a_port_without_a_fault_is_connected_directly_to_the_switch(self) -> None:
        assert set(self.uplinks(SHAPE).values()) == {None}

    def test_only_ports_of_private_networks_start_with_a_small_mtu(self) -> None:
        uplinks = self.uplinks(Shape(2, 1500, switch_mtu=1500))
        assert {name for name, mtu in uplinks.items() if mtu == 1500} == {
            "rac1-eth1", "rac1-eth2", "rac2-eth1", "rac2-eth2",
        }  # fmt: skip
        assert uplinks["rac1-eth0"] is uplinks["rac2-eth0"] is None

    def test_one_port_is_changed(self) -> None:
        uplinks = self.uplinks(Shape(2, 1500, switch_mtu=1500), rac2_eth1=9216)
        assert (uplinks["rac2-eth1"], uplinks["rac2-eth2"]) == (None, 1500)

    @pytest.mark.parametrize(("mtu", "left"), [(9216, 1500), (4000, 1500), (1280, 1280)])
    def test_the_fault_raises_the_mtu_of_no_port(self, mtu: int, left: int) -> None:
        assert self.uplinks(SHAPE, "switch-mtu", rac2_eth1=mtu)["rac2-eth1"] == left

    def test_a_port_is_selected_by_its_name_or_with_all_others(self) -> None:
        assert ports_named("rac2-eth1", SHAPE) == (self.PORT,)
        assert len(ports_named("all", SHAPE)) == 2 * SHAPE.size

    @pytest.mark.parametrize("name", ["rac2-eth0", "rac9-eth1", "eth1", ""])
    def test_an_unknown_port_is_one_sentence(self, name: str) -> None:
        with pytest.raises(LabError, match=r"^There is no switch port .* choose all, or one of rac1-eth1, .*\.$"):
            ports_named(name, SHAPE)


def test_the_state_round_trips(tmp_path: Path) -> None:
    me = Process.of(os.getpid())
    port = PortId("rac2", 2)
    faults = (ActiveFault("routed", *port), ActiveFault("loss", None, 1))
    state = State(SHAPE, boot_id(), False, "ssh", "", me, {"rac1": me}, {port: me}, faults, {port: 1500})
    save(tmp_path, state)
    assert load(tmp_path) == state
    assert state.alive()
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", json.dumps({"version": 2}), json.dumps({"version": 1})])
def test_a_state_that_cannot_be_read_counts_as_missing(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text)
    assert load(tmp_path) is None


def test_the_directory_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RACWIRE_LAB_DIR", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert lab_directory().name == f"racwire-lab-{os.getuid()}"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert lab_directory() == tmp_path.resolve() / "racwire-lab"
    monkeypatch.setenv("RACWIRE_LAB_DIR", str(tmp_path / "with space"))
    with pytest.raises(LabError, match="letters, digits"):
        lab_directory()


def test_a_router_has_its_own_address() -> None:
    faults = [ActiveFault("routed", node, 2) for node in SHAPE.nodes]
    routers = [desired(SHAPE, faults).cables[PortId(node, 2)].router for node in SHAPE.nodes]
    assert [router.address for router in routers if router] == ["192.168.11.253", "192.168.11.254", "192.168.11.252"]
