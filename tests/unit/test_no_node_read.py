"""No node could be read: every check of nodes reports that the result is unknown, and none proposes a change."""

from __future__ import annotations

import msgspec
import pytest

from checks.model.facts import InterconnectInUse, Unknown, UnreadNode
from checks.model.finding import Status
from checks.model.networks import private_networks
from checks.plugins.interconnect_in_use import interconnect_in_use
from checks.plugins.interfaces import interfaces
from checks.run.check_discovery import discover
from tests.fixtures.databases import asked

PLAIN = tuple(
    InterconnectInUse(n, nic, f"192.168.{subnet}.{n}", None, "")
    for n in (1, 2, 3)
    for nic, subnet in (("eth1", 10), ("eth2", 11))
)
CHECKS = tuple(discover())


def unread(named=True, interconnects=None):
    """Three nodes that ssh cannot reach; the networks as oifcfg stores them, without a netmask."""
    built = asked(3)
    nodes = tuple(UnreadNode(n.name, "ssh: No route to host") for n in built.read_nodes()) if named else ()
    database = built.database
    if interconnects is not None:
        database = msgspec.structs.replace(database, interconnects=interconnects)
    return msgspec.structs.replace(
        built,
        nodes=nodes,
        setups=nodes,
        networks=private_networks(built.clusterware, (), ()),
        paths=(),
        counters=Unknown("no node could be read"),
        database=database,
    )


@pytest.mark.parametrize("check", [c for c in CHECKS if "counters" not in c.needs], ids=lambda c: c.id)
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("interconnects", [None, PLAIN])
def test_without_node_facts_no_check_fails_or_recommends_a_change(check, named, interconnects):
    findings = check.run(unread(named, interconnects))
    assert all(f.status is not Status.FAIL for f in findings)
    assert not [remedy for f in findings for remedy in f.next if remedy.is_change]


@pytest.mark.parametrize("named", [True, False])
def test_the_private_networks_are_unknown(named):
    findings = interfaces.run(unread(named))
    assert {f.code for f in findings if f.status is Status.UNKNOWN} == {"IC-IFACE-010"}
    assert not [f for f in findings if f.status in (Status.FAIL, Status.PASS)]


def test_an_address_is_off_the_private_networks_only_if_their_netmasks_are_known():
    (finding,) = interconnect_in_use.run(unread(interconnects=PLAIN))
    assert finding.status is Status.UNKNOWN
    assert "no node could be read" in finding.title
