"""Changes of the private networks, rehearsed there and back, with an error in the middle that its gate names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.lab_support import needs_namespaces, run
from tests.lab.rehearsal import Rehearsal, waiting

pytestmark = [pytest.mark.lab, needs_namespaces, pytest.mark.beyond_sample]

ADD = ("add-network", "--interface", "eth3")
MOVE = ("move-network", "--from", "eth1", "--interface", "eth3")
BEFORE = {"eth0 10.20.0.0", "eth1 192.168.10.0", "eth2 192.168.11.0"}
NEW = "eth3 192.168.12.0"


@pytest.fixture
def rehearsal(tmp_path: Path) -> Iterator[Rehearsal]:
    made = Rehearsal(tmp_path, database=True, spare=True)
    yield made
    made.end()


def registered(rehearsal: Rehearsal) -> set[str]:
    """Return the interfaces and subnets of `oifcfg getif`."""
    printed = oifcfg(rehearsal, "getif")
    return {" ".join(line.split()[:2]) for line in printed.splitlines()}


def oifcfg(rehearsal: Rehearsal, *words: str) -> str:
    home = rehearsal.lab.environment("rac1")["GRID_HOME"]
    return run(rehearsal.lab, "rac1", f"{home}/bin/oifcfg", *words).stdout


def haips(rehearsal: Rehearsal, node: str) -> set[str]:
    """Return the interfaces of a node that have a HAIP address."""
    printed = run(rehearsal.lab, node, "ip", "-o", "-4", "address", "show").stdout
    return {line.split()[1] for line in printed.splitlines() if " 169.254." in line}


def waits(rehearsal: Rehearsal, *parts: str) -> None:
    """Verify, and check that the gate does not pass for a reason with all these parts."""
    verified = rehearsal.verify()
    assert verified["code"] == 2, verified
    assert any(all(part in text for part in parts) for text in waiting(verified)), waiting(verified)


def test_a_network_is_added_and_removed_again(rehearsal):
    rehearsal.open(*ADD)
    rehearsal.walk("network-ready")
    # A forgotten switch port of the new network.
    rehearsal.outside(["racwire lab switch rac2-eth3 mtu 1400"])
    waits(rehearsal, "df-ping", "192.168.12.0/24")
    rehearsal.outside(["racwire lab switch rac2-eth3 mtu 9216"])
    # One node without the address.
    rehearsal.inside("rac2", ["ip address delete 192.168.12.2/24 dev eth3"])
    waits(rehearsal, "network-in-place rac2", "no interface has 192.168.12.2/24")
    rehearsal.inside("rac2", ["ip address add 192.168.12.2/24 dev eth3"])

    rehearsal.walk("register")
    # setif with the wrong subnet.
    oifcfg(rehearsal, "setif", "-global", "eth3/192.168.21.0:cluster_interconnect,asm")
    waits(rehearsal, "oifcfg-planned", "`eth3 192.168.12.0 global cluster_interconnect,asm` is missing", "192.168.21.0")
    oifcfg(rehearsal, "delif", "-global", "eth3/192.168.21.0")

    rehearsal.walk("sign-off")
    assert haips(rehearsal, "rac1") == haips(rehearsal, "rac2") == {"eth1", "eth2", "eth3"}
    assert registered(rehearsal) == {*BEFORE, NEW}
    registry = rehearsal.report().registry
    assert [line.split()[:2] for line in registry.added] == [["eth3", "192.168.12.0"]]
    assert registry.removed == ()

    result = rehearsal.change("rollback", "--by", "Ann Lee", "--reason", "The new switch is needed elsewhere.")
    assert result.code == 0, result.err
    rehearsal.walk()
    assert registered(rehearsal) == BEFORE
    assert haips(rehearsal, "rac1") == haips(rehearsal, "rac2") == {"eth1", "eth2"}
    assert rehearsal.report().outcome == "rolled back"


def test_the_interconnect_moves_to_another_nic_and_back(rehearsal):
    rehearsal.open(*MOVE)
    rehearsal.walk("old-network-down")
    # The old network is down on one node only.
    step = rehearsal.step()
    rehearsal.operate(step, nodes=("rac1",))
    waits(rehearsal, "network-gone rac2", "eth1 of rac2 is up")
    rehearsal.operate(step, nodes=("rac2",))
    rehearsal.prove(step)

    rehearsal.walk("other-nodes")
    rehearsal.walk("deregister")
    assert haips(rehearsal, "rac1") == haips(rehearsal, "rac2") == {"eth2", "eth3"}
    rehearsal.walk("sign-off")
    assert registered(rehearsal) == {*BEFORE - {"eth1 192.168.10.0"}, NEW}
    # Somebody brings the old interface up again.
    rehearsal.inside("rac2", ["nmcli connection up eth1"])
    waits(rehearsal, "network-gone rac2", "eth1 of rac2 is up")

    result = rehearsal.change("rollback", "--by", "Ann Lee", "--reason", "The new switch is needed elsewhere.")
    assert result.code == 0, result.err
    rehearsal.walk()
    assert registered(rehearsal) == BEFORE
    assert haips(rehearsal, "rac1") == haips(rehearsal, "rac2") == {"eth1", "eth2"}
    assert rehearsal.report().outcome == "rolled back"


def test_a_line_that_is_deleted_too_early_is_named_and_the_way_back_needs_no_outage(rehearsal):
    rehearsal.open(*MOVE)
    rehearsal.walk("register")
    rehearsal.operate(rehearsal.step())
    oifcfg(rehearsal, "delif", "-global", "eth1/192.168.10.0")
    waits(rehearsal, "oifcfg-planned", "`eth1 192.168.10.0 global cluster_interconnect,asm` is missing")
    oifcfg(rehearsal, "setif", "-global", "eth1/192.168.10.0:cluster_interconnect,asm")
    assert rehearsal.verify()["passed"]

    result = rehearsal.change("rollback", "--by", "Ann Lee", "--reason", "The window is over already.")
    assert result.code == 0, result.err
    steps = [step["id"] for step in rehearsal.change("status", "--format", "json").document["steps"]]
    assert steps == ["deregister", "sign-off"]
    rehearsal.walk()
    assert registered(rehearsal) == BEFORE
    assert rehearsal.report().outages == ()


def test_a_node_that_is_started_early_is_named(rehearsal):
    rehearsal.open(*MOVE)
    rehearsal.walk("old-network-down")
    home = rehearsal.lab.environment("rac2")["GRID_HOME"]
    rehearsal.inside("rac2", [f"{home}/bin/crsctl start crs"])
    verified = rehearsal.verify()
    assert not verified["passed"]
    assert any("stack-down rac2" in text for text in waiting(verified))
    rehearsal.inside("rac2", [f"{home}/bin/crsctl stop crs"])
    rehearsal.walk("first-node", look_first=True)
    assert rehearsal.current == "first-node"
