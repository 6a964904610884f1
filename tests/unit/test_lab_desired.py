"""The practice cluster's reasoning, without a cluster: places of faults, what should be so, and the steps to it."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.lab import FAULTS, LabError
from checks.lab.desired import desired
from checks.lab.directory import lab_directory
from checks.lab.faults import ActiveFault, place
from checks.lab.processes import Process
from checks.lab.state import State, boot_id, load, save
from checks.lab.topology import MAX_NODES, Port, Shape
from checks.lab.wiring import changed_nic, ruleset, unwire, wire

SHAPE, CUT = Shape(3, 9000), Shape(3, 1500)
ACTIVE = st.sampled_from(
    [place(fault, CUT if fault.needs_fragments else SHAPE, None, None) for fault in FAULTS.values()]
)


def test_no_two_nodes_share_an_address() -> None:
    nics = desired(Shape(MAX_NODES, 9000), ()).nics.values()
    addresses = [nic.address for nic in nics] + [nic.haip for nic in nics if nic.haip]
    assert len(addresses) == len(set(addresses)) == MAX_NODES * 5


def test_interface_names_fit_the_kernel() -> None:
    assert max(len(f"{port.name}-xx") for port in Shape(MAX_NODES, 9000).ports) <= 15


@given(st.lists(ACTIVE, unique=True))
def test_what_should_be_so_does_not_depend_on_the_order(faults: list[ActiveFault]) -> None:
    assert desired(SHAPE, faults) == desired(SHAPE, list(reversed(faults)))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
def test_each_fault_changes_something_and_not_the_public_addresses(fault) -> None:  # type: ignore[no-untyped-def]
    shape = CUT if fault.needs_fragments else SHAPE
    healthy, broken = desired(shape, ()), desired(shape, [place(fault, shape, None, None)])
    assert healthy != broken
    for node in shape.nodes:
        assert healthy.nics[Port(node, 0)] == broken.nics[Port(node, 0)]


def test_rewiring_back_removes_what_wiring_added() -> None:
    port = Port("rac2", 2)
    faults = [place(FAULTS[name], SHAPE, None, None) for name in ("switch-mtu", "routed")]
    cable = desired(SHAPE, faults).cables[port]
    words = [line.split() for line in wire(port, cable, 42)]
    added = {line[2] for line in words if line[:2] == ["link", "add"]}
    removed = {line.split()[2] for line in unwire(port, cable)}
    assert added == removed
    assert words[-1] == ["link", "set", "rac2-eth2", "master", "rac2-eth2-rt", "up"]


def test_changes_of_a_nic_use_its_new_name() -> None:
    before = desired(SHAPE, ()).nics[Port("rac2", 2)]
    faults = [place(FAULTS[name], SHAPE, None, None) for name in ("names-differ", "node-mtu")]
    after = desired(SHAPE, faults).nics[Port("rac2", 2)]
    assert changed_nic(before, before) == []
    assert changed_nic(before, after)[-1] == "link set ens2f1 mtu 1500"


def test_ruleset_without_rules_only_deletes() -> None:
    assert ruleset("bridge", ()) == "add table bridge racwire\ndelete table bridge racwire\n"
    assert "add rule inet racwire input drop\n" in ruleset("inet", ("input drop",))


@pytest.mark.parametrize(("node", "network"), itertools.product(("2", "rac2"), ("1", "eth1")))
def test_places_may_be_named_either_way(node: str, network: str) -> None:
    assert place(FAULTS["link-down"], SHAPE, node, network) == ActiveFault("link-down", "rac2", 1)


@pytest.mark.parametrize("fault", ["node-mtu", "switch-mtu", "switch-mtu-one-way"])
def test_large_packets_are_needed(fault: str) -> None:
    with pytest.raises(LabError, match="has MTU 1500"):
        place(FAULTS[fault], Shape(2, 1500), None, None)


def test_state_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    me = Process.of(os.getpid())
    port = Port("rac2", 2)
    faults = (ActiveFault("routed", *port), ActiveFault("loss", None, 1))
    state = State(SHAPE, boot_id(), False, "ssh", "", me, {"rac1": me}, {port: me}, faults)
    save(tmp_path, state)
    assert load(tmp_path) == state
    assert state.alive()
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", json.dumps({"version": 2}), json.dumps({"version": 1})])
def test_a_state_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text)
    assert load(tmp_path) is None


def test_the_directory_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RACWIRE_LAB_DIR", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert lab_directory().name == f"racwire-lab-{os.getuid()}"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert lab_directory() == tmp_path.resolve() / "racwire-lab"
    monkeypatch.setenv("RACWIRE_LAB_DIR", str(tmp_path / "with space"))
    with pytest.raises(LabError, match="letters, digits"):
        lab_directory()


def test_a_router_has_an_address_of_its_own() -> None:
    faults = [ActiveFault("routed", node, 2) for node in SHAPE.nodes]
    routers = [desired(SHAPE, faults).cables[Port(node, 2)].router for node in SHAPE.nodes]
    assert [router.address for router in routers if router] == ["192.168.11.253", "192.168.11.254", "192.168.11.252"]
