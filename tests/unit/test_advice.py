"""The advice under findings: who acts, in which order, and that it fits what was read."""

from __future__ import annotations

import msgspec
import pytest

from checks.model.effect import Effect
from checks.model.facts import AddressProbe, AddressProbes, ClusterMember
from checks.plugins.address_owners import address_owners
from checks.plugins.clusterware import clusterware as clusterware_check
from checks.plugins.shared.fragments import plan_jumbo
from checks.plugins.shared.switch_steps import dotted
from tests.fixtures.clusters import cluster, clusterware, node, with_interface


@pytest.mark.parametrize(
    ("mtu", "datagram_bytes", "is_planned"),
    [(1500, 8192, True), (9000, 8192, False), (9000, 16384, False), (3900, 8192, False), (1500, 1024, False)],
)
def test_jumbo_frames_are_planned_only_where_the_standard_mtu_cuts_a_block(mtu, datagram_bytes, is_planned):
    """A plan without a target lowers the MTU of a cluster that has jumbo frames."""
    steps = plan_jumbo(cluster([node(1, mtu), node(2, mtu)]), datagram_bytes)
    assert [step.commands for step in steps] == ([("racwire change new",)] if is_planned else [])
    assert all(step.is_change and step.effect is Effect.CLUSTER_DOWN_FIRST for step in steps)


@pytest.mark.parametrize(
    ("mac", "written"),
    [("52:54:00:AB:34:56", "5254.00ab.3456"), ("00:00:10:88:fe:80:" + "00:" * 13 + "01", ""), ("", "")],
)
def test_a_mac_address_is_written_as_every_cisco_switch_takes_it(mac: str, written: str) -> None:
    assert dotted(mac) == written


def test_a_second_owner_is_asked_for_by_a_program_that_waits_for_the_second_answer() -> None:
    """arping -D ends at the first answer, which can be that of the right host."""
    probes = AddressProbe(
        "192.168.11.0/24", "rac2", "192.168.11.2", "eth2", 2, ("02:00:00:00:02:02", "02:ff:00:00:00:01")
    )
    nodes = [with_interface(node(n), "eth2", mac_address=f"02:00:00:00:02:0{n}") for n in (1, 2)]
    facts = msgspec.structs.replace(cluster(nodes), owners=AddressProbes("rac1", (probes,)))
    (finding,) = [f for f in address_owners.run(facts) if f.code == "IC-OWNER-002"]
    by_hand, _, switches = finding.next
    assert by_hand.commands == ("arping -c 3 -I eth2 192.168.11.2",)
    assert switches.commands == ("show mac address-table address 02ff.0000.0001",)


def test_a_node_that_is_inactive_is_not_called_evicted() -> None:
    members = (ClusterMember("rac1", 1, status="Active"), ClusterMember("rac2", 2, status="Inactive"))
    facts = msgspec.structs.replace(cluster(2), clusterware=msgspec.structs.replace(clusterware(), members=members))
    (finding,) = [f for f in clusterware_check.run(facts) if f.code == "IC-GRID-006"]
    assert "whether CSS evicted it or Clusterware was stopped there" in finding.next[0].text
