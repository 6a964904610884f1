"""The groups of multicast that Clusterware joins: a node without one, and the documents that differ."""

from __future__ import annotations

import msgspec
import pytest

from checks.model.facts import (
    Cluster,
    HostSetup,
    JoinedGroup,
    Unknown,
)
from checks.model.finding import Status
from checks.plugins.multicast import multicast
from tests.fixtures.clusters import cluster, clusterware
from tests.fixtures.databases import asked
from tests.unit.host_support import healthy_host, of_hosts
from tests.unit.test_check_host_setup import found, replaced


def test_multicast_is_a_cause_only_for_11_2_and_a_node_that_did_not_join():
    facts = clusterware(2)
    out = tuple(replaced(m, status="Inactive") if m.name == "rac2" else m for m in facts.members)
    assert found(multicast, cluster(2, replaced(facts, members=out))) == []
    old = replaced(facts, members=out, version=replaced(facts.version, version="11.2.0.4.0"))
    assert found(multicast, cluster(2, old)) == [(Status.WARN, "IC-MCAST-002")]
    avahi = replaced(healthy_host(), is_avahi_active=True)
    assert found(multicast, of_hosts(healthy_host(), avahi)) == [(Status.INFO, "IC-MCAST-003")]


EACH = tuple(JoinedGroup(nic, group) for nic in ("eth0", "eth1", "eth2") for group in ("224.0.0.251", "230.0.1.0"))
"""As Clusterware joins them on IPv4 networks."""


def without(group: str, *nics: str) -> tuple[JoinedGroup, ...]:
    return tuple(one for one in EACH if one.group != group or one.interface not in nics)


def joined(*of_nodes: tuple[JoinedGroup, ...] | Unknown, avahi: bool = False) -> Cluster:
    hosts = (replaced(healthy_host(), groups_joined=groups, is_avahi_active=avahi) for groups in of_nodes)
    return of_hosts(*hosts)


def absent(built: Cluster) -> list[tuple[Status, tuple[str, ...], str]]:
    return [(f.status, f.nodes, f.title) for f in multicast.run(built) if f.code == "IC-MCAST-004"]


def test_a_group_that_clusterware_joined_on_the_other_nodes_alone():
    built = joined(EACH, without("230.0.1.0", "eth1"), EACH)
    title = (
        "Clusterware on rac2 has not joined the multicast group 230.0.1.0 on eth1 (192.168.10.0/24); on rac1 and rac3 "
        "it has."
    )
    assert absent(built) == [(Status.INFO, ("rac2",), title)]
    facts = clusterware(3)
    out = tuple(replaced(m, status="Inactive") if m.name == "rac2" else m for m in facts.members)
    assert absent(asked(built, clusterware=replaced(facts, members=out))) == [(Status.WARN, ("rac2",), title)]


def test_a_group_on_the_wrong_nic_names_it():
    built = joined(EACH, without("230.0.1.0", "eth1", "eth2"))
    (first, _) = (f for f in multicast.run(built) if f.code == "IC-MCAST-004")
    assert first.seen[0] == "rac2: eth1 has not joined 230.0.1.0; eth0 has"


@pytest.mark.parametrize(
    ("groups", "found_on"),
    [
        ((EACH, ()), 4),
        ((EACH, EACH), 0),
        (((), ()), 0),
        ((without("230.0.1.0", "eth0", "eth1", "eth2"),) * 2, 0),
        ((EACH, Unknown("not read")), 0),
        ((Unknown("not read"), ()), 0),
        ((without("224.0.0.251", "eth2"), EACH), 1),
    ],
    ids=["neither group", "both", "no node", "newer release", "not read", "no peer read", "mDNS on one NIC"],
)
def test_groups_are_compared_with_those_of_peers_only(groups, found_on):
    assert len(absent(joined(*groups))) == found_on


def test_a_group_that_avahi_can_have_joined_shows_nothing_of_clusterware():
    assert [title for _, _, title in absent(joined(EACH, (), avahi=True)) if "224.0.0.251" in title] == []


@pytest.mark.parametrize("daemons", [(), Unknown("hidden"), ("ohasd.bin",)], ids=["down", "not known", "starting"])
def test_a_node_without_the_daemon_joins_no_group(daemons):
    built = joined(EACH, ())
    setups = tuple(replaced(s, daemons=daemons) if s.name == "rac2" else s for s in built.setups)
    assert absent(asked(built, setups=setups)) == []


def test_networks_of_ipv6_have_a_group_of_their_own():
    built = joined((*EACH, JoinedGroup("eth1", "ff02::fb")), EACH)
    assert absent(built) == []
    networks = tuple(replaced(n, name="fd00:10::/64", subnet="fd00:10::/64") for n in built.networks[:1])
    ((_, nodes, title),) = absent(asked(built, networks=networks))
    assert nodes == ("rac2",)
    assert "ff02::fb on eth1 (fd00:10::/64)" in title


def test_documents_differ_on_multicast_and_both_are_named():
    built = joined(EACH, ())
    why = next(f.why for f in multicast.run(built) if f.code == "IC-MCAST-004")
    assert "MOS 1212703.1" in why
    assert "installation guides since 12.2" in why


def test_facts_of_older_files_have_no_setup_outside_clusterware():
    assert isinstance(cluster(2).setups[0].host, Unknown)
    assert msgspec.convert(msgspec.to_builtins(healthy_host()), HostSetup) == healthy_host()
