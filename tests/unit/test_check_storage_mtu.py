"""storage-mtu: what limits packets to storage, segments sent again, NFS over UDP, and what is no fault."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from checks.model.effect import Effect
from checks.model.facts import (
    Address,
    AsmClient,
    Cluster,
    Clusterware,
    ConfiguredInterface,
    DnfsServer,
    InterfaceConfiguration,
    Node,
    Route,
    StorageConnection,
    StorageMount,
    StorageUse,
    Thresholds,
    Unknown,
)
from checks.model.finding import Finding, Status
from checks.plugins.storage_mtu import storage_mtu
from tests.fixtures.clusters import cluster, clusterware, interface, node
from tests.fixtures.databases import change, counters, database

FILER = "10.40.0.200"


def nfs(number: int = 1, mss: int | None = 8948, path: int | None = 9000, offered: int | None = 8948, **more: object):
    facts: dict[str, object] = {"seconds": 5.0, "compared": 1, "segments": 4_000, "retransmits": 0}
    return StorageConnection(
        "NFS", f"10.40.0.{number}", FILER, 2049, mss=mss, path_mtu=path, advertised_mss=offered, **{**facts, **more}
    )  # type: ignore[arg-type]


def on_storage(number: int, mtu: int = 9000, *routes: Route) -> Node:
    base = node(number)
    own = interface("eth3", f"10.40.0.{number}", mtu)
    return replace(base, interfaces=(*base.interfaces, own), routes=(*base.routes, *routes))


def built(*uses: StorageUse | Unknown | None, nodes: list[Node] | None = None) -> Cluster:
    changes = [replace(change(f"rac{n}"), storage=use) for n, use in enumerate(uses, 1)]
    made = cluster(nodes or [on_storage(n) for n in range(1, len(uses) + 1)])
    return replace(made, counters=counters(len(uses), *changes))


def use(*connections: StorageConnection, mounts: tuple[StorageMount, ...] = ()) -> StorageUse:
    return StorageUse(connections, mounts)


def found(facts: Cluster) -> list[Finding]:
    return list(storage_mtu.run(facts))


def brief(facts: Cluster) -> list[tuple[str, Status]]:
    return [(f.code, f.status) for f in found(facts)]


def test_packets_of_the_mtu_pass() -> None:
    (finding,) = found(built(use(nfs(1)), use(nfs(2, connections=3))))
    assert (finding.code, finding.status) == ("IC-STORE-001", Status.PASS)
    assert finding.title == (
        "Packets to storage are as large as the MTU of the interface permits, on 4 connections of rac1 and rac2."
    )


@pytest.mark.parametrize(
    ("connection", "routes", "code", "limit"),
    [
        (nfs(mss=1448), (), "IC-STORE-002", "server"),
        (nfs(mss=1448, path=None, offered=None), (), "IC-STORE-002", "not known"),
        (nfs(mss=1448, path=1500), (), "IC-STORE-003", "path"),
        (nfs(mss=1448, path=1500), (Route("10.40.0.0/24", "eth3", mtu=1500),), "IC-STORE-004", "route"),
        (nfs(mss=8948, offered=1448), (), "IC-STORE-004", "offer"),
        (nfs(mss=8948, offered=1448), (Route("default", "eth3", mtu=9000),), "IC-STORE-004", "offer"),
    ],
)
def test_the_end_that_limits_the_packets_is_named(connection, routes, code: str, limit: str) -> None:
    (finding,) = found(built(use(connection), nodes=[on_storage(1, 9000, *routes)]))
    assert (finding.code, finding.status, finding.data["limit"]) == (code, Status.WARN, limit)
    assert "1,500 bytes on rac1, where the MTU of eth3 is 9,000." in finding.title
    # An umount at noon takes the storage away from what uses it.
    opening = [step for step in finding.next if "umount" in step.text]
    assert [(step.is_change, step.effect) for step in opening] == [(True, Effect.STOPS)] * (limit != "path")


def test_connections_that_received_nothing_are_named() -> None:
    (finding,) = found(built(use(nfs(1, connections=2, compared=2, silent=1)), use(nfs(2, silent=0))))
    assert finding.status is Status.PASS
    assert finding.title.endswith("on 3 connections of rac1 and rac2; 1 connection of rac1 received no data meanwhile.")


def test_two_nodes_and_one_server_are_one_finding() -> None:
    (finding,) = found(built(use(nfs(1, mss=1448)), use(nfs(2, mss=1448))))
    assert finding.nodes == ("rac1", "rac2")
    assert finding.extent is not None
    assert (finding.extent.value, finding.extent.unit) == (2, "nodes")


def test_the_limit_is_a_threshold() -> None:
    facts = built(use(nfs(mss=8192 - 52)))
    assert brief(facts) == [("IC-STORE-001", Status.PASS)]
    strict = replace(facts, thresholds=Thresholds(storage_packet_warn_percent=95))
    assert brief(strict) == [("IC-STORE-002", Status.WARN)]


def test_an_interface_at_1500_is_no_fault_and_is_named_where_another_node_shows_jumbo() -> None:
    small = nfs(2, mss=1448, path=1500, offered=1448)
    alone = built(use(nfs(1, mss=1448, path=1500, offered=1448)), nodes=[on_storage(1, 1500)])
    assert brief(alone) == [("IC-STORE-001", Status.PASS)]
    both = built(use(nfs(1)), use(small), nodes=[on_storage(1), on_storage(2, 1500)])
    assert brief(both) == [("IC-STORE-006", Status.INFO), ("IC-STORE-001", Status.PASS)]
    assert found(both)[0].title == (
        "The MTU of eth3 of rac2 is 1,500, and rac1 exchanges packets of 9,000 bytes with the same storage server "
        "10.40.0.200 (NFS)."
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"retransmits": 20}, ("IC-STORE-001", Status.PASS)),
        ({"retransmits": 21}, ("IC-STORE-005", Status.WARN)),
        ({"retransmits": 9, "segments": 90}, ("IC-STORE-001", Status.PASS)),
        ({"retransmits": 10, "segments": 90}, ("IC-STORE-005", Status.WARN)),
        ({"retransmits": 10, "segments": None}, ("IC-STORE-005", Status.INFO)),
        ({"retransmits": 0, "stalled": 1}, ("IC-STORE-005", Status.WARN)),
        ({"retransmits": None, "segments": None, "compared": 0}, ("IC-STORE-001", Status.PASS)),
    ],
)
def test_segments_sent_again(values: dict[str, object], expected: tuple[str, Status]) -> None:
    assert brief(built(use(nfs(**values)))) == [expected]


def test_a_stalled_connection_leads_to_pings_of_both_sizes() -> None:
    (finding,) = found(built(use(nfs(stalled=2, retransmits=4, segments=4))))
    assert finding.title.startswith("2 connections to the storage server 10.40.0.200 (NFS) wait for an answer")
    assert finding.next[0].commands == (f"ping -c 3 -M do -s 8972 {FILER}", f"ping -c 3 -M do -s 56 {FILER}")


def test_nfs_over_udp_is_a_warning() -> None:
    mount = StorageMount("/backup", FILER, "udp", "3", 5.0, 120, 2, 0.4)
    (finding,) = found(built(use(mounts=(mount,))))
    assert (finding.code, finding.status) == ("IC-STORE-007", Status.WARN)
    assert finding.title == "rac1 uses NFS over UDP at /backup."
    assert finding.seen == (
        "rac1: /backup from 10.40.0.200, NFS version 3 over udp, 120 reads and writes in 5 s, 0.4 ms a round trip, "
        "2 sent again",
    )


def test_direct_nfs_is_named_and_unknown_at_another_port() -> None:
    servers = (DnfsServer(1, FILER, 2049), DnfsServer(2, "filer2", 12049))
    facts = replace(built(use(nfs(1)), use(nfs(2))), database=database(dnfs=servers))
    elsewhere, passed = sorted(found(facts), key=lambda f: f.code, reverse=True)
    assert passed.seen[-2:] == (
        "prod1: Direct NFS to 10.40.0.200, port 2049",
        "prod2: Direct NFS to filer2, port 12049",
    )
    assert (elsewhere.status, elsewhere.title) == (
        Status.UNKNOWN,
        "The packet sizes of Direct NFS from prod2 to filer2 are not known: it uses port 12049, and racwire reads the "
        "connections to port 2049.",
    )


def test_servers_of_direct_nfs_that_may_not_be_read_leave_the_rest() -> None:
    facts = replace(built(use(nfs(1))), database=database(dnfs=Unknown("ORA-00942 on SYS.GV_$DNFS_SERVERS.")))
    (passed,) = found(facts)
    assert passed.status is Status.PASS
    assert passed.seen[-1] == "Direct NFS: not known. ORA-00942 on SYS.GV_$DNFS_SERVERS."


def test_no_storage_is_skipped_with_its_reason() -> None:
    (finding,) = found(built(use(), use()))
    assert finding.status is Status.SKIPPED
    assert finding.title.startswith("rac1 and rac2 have no open connection to storage")
    (old,) = found(built(None, None))
    assert (old.status, old.subject) == (Status.SKIPPED, "not in the file")


def test_a_connection_of_the_node_to_itself_is_left_out() -> None:
    own = replace(nfs(), remote_ip="10.40.0.1")
    assert brief(built(use(own))) == [("IC-STORE-001", Status.SKIPPED)]


@pytest.mark.parametrize(
    "unread",
    [
        Unknown("rac1 did not answer."),
        StorageUse(Unknown("The node has connections to storage, and no ss."), ()),
        StorageUse((), Unknown("The node does not show /proc/self/mountstats.")),
        use(nfs(99)),
        use(nfs(mss=None)),
    ],
)
def test_what_could_not_be_read_is_unknown(unread: StorageUse | Unknown) -> None:
    assert brief(built(unread)) == [("IC-STORE-008", Status.UNKNOWN)]


def test_one_unread_node_does_not_hide_the_other() -> None:
    facts = built(use(nfs(mss=1448)), Unknown("rac2 did not answer."))
    assert brief(facts) == [("IC-STORE-002", Status.WARN), ("IC-STORE-008", Status.UNKNOWN)]


def test_an_address_of_another_family_has_larger_headers() -> None:
    base = on_storage(1)
    own = replace(base.interfaces[-1], addresses=(Address("fd00:40::1", 64),))
    six = replace(nfs(mss=8928), local_ip="fd00:40::1", remote_ip="fd00:40::c8")
    (finding,) = found(built(use(six), nodes=[replace(base, interfaces=(*base.interfaces[:-1], own))]))
    assert finding.status is Status.PASS


def with_roles(*roles: tuple[str, str, str]) -> Cluster:
    entries = tuple(ConfiguredInterface(n, net, "global", tuple(r.split(","))) for n, net, r in roles)
    facts = replace(clusterware(), configuration=InterfaceConfiguration(entries))
    return replace(built(use(nfs(1)), use(nfs(2))), clusterware=facts)


def test_a_private_network_that_asm_uses_is_named_with_its_mtu() -> None:
    facts = with_roles(
        ("eth0", "10.20.0.0", "public"),
        ("eth1", "192.168.10.0", "asm,cluster_interconnect"),
        ("eth2", "192.168.11.0", "cluster_interconnect"),
    )
    (finding,) = [f for f in found(facts) if f.code == "IC-STORE-009"]
    assert finding.status is Status.INFO
    assert finding.title == "oifcfg names the private network 192.168.10.0 on eth1 for ASM too, with MTU 9000."
    assert finding.seen == (
        "oifcfg getif: eth1  192.168.10.0  global  asm,cluster_interconnect",
        "rac1: eth1 has MTU 9000",
        "rac2: eth1 has MTU 9000",
    )


def test_several_networks_of_asm_are_one_finding_and_the_private_ones_another() -> None:
    both = "asm,cluster_interconnect"
    facts = with_roles(("eth1", "192.168.10.0", both), ("eth2", "192.168.11.0", both), ("eth3", "10.40.0.0", "asm"))
    assert [f.title for f in found(facts) if f.code == "IC-STORE-009"] == [
        "oifcfg names the private networks 192.168.10.0 on eth1 and 192.168.11.0 on eth2 for ASM too, with MTU 9000.",
        "oifcfg names the network 10.40.0.0 on eth3 for ASM, with MTU 9000.",
    ]


def test_a_network_of_asm_alone_is_named_and_no_private_one() -> None:
    facts = with_roles(("eth1", "192.168.10.0", "cluster_interconnect"), ("eth3", "10.40.0.0", "asm"))
    (finding,) = [f for f in found(facts) if f.code == "IC-STORE-009"]
    assert finding.title == "oifcfg names the network 10.40.0.0 on eth3 for ASM, with MTU 9000."
    assert finding.data["is_private"] is False
    uneven = replace(facts, nodes=(on_storage(1), on_storage(2, 1500)))
    (finding,) = [f for f in found(uneven) if f.code == "IC-STORE-009"]
    assert finding.title.endswith("on eth3 for ASM, with MTU 1500 and 9000.")
    assert "mtu" not in finding.data
    absent = with_roles(("eth9", "10.99.0.0", "asm"))
    (finding,) = [f for f in found(absent) if f.code == "IC-STORE-009"]
    assert finding.title == "oifcfg names the network 10.99.0.0 on eth9 for ASM."


def test_without_a_network_of_asm_or_without_oifcfg_nothing_is_said_of_asm() -> None:
    plain = built(use(nfs(1)), use(nfs(2)))
    assert "IC-STORE-009" not in [code for code, _ in brief(plain)]
    for unknown in (Unknown("no Grid home"), replace(clusterware(), configuration=Unknown("oifcfg hangs"))):
        assert "IC-STORE-009" not in [code for code, _ in brief(replace(plain, clusterware=unknown))]


# --- ASM --------------------------------------------------------------------------------------------------------------


def of_asm(*asm: AsmClient, unread: Unknown | None = None, **instances: tuple[str, ...]) -> list[Finding]:
    """The findings about ASM of a cluster whose two private networks carry ASM, with the processes of its nodes."""
    facts = cluster(2)
    assert isinstance(facts.clusterware, Clusterware)
    configuration = facts.clusterware.configuration
    assert not isinstance(configuration, Unknown)
    lines = tuple(
        replace(line, roles=("asm", "cluster_interconnect")) if line.is_private else line
        for line in configuration.interfaces
    )
    setups = tuple(replace(s, instances=instances.get(s.name, (f"+ASM{s.name[-1]}",))) for s in facts.read_setups())
    grid = replace(facts.clusterware, configuration=replace(configuration, interfaces=lines))
    facts = replace(facts, clusterware=grid, setups=setups, database=database(asm=unread or asm))
    return [f for f in storage_mtu.run(facts) if f.code in ("IC-STORE-009", "IC-STORE-010")]


def test_an_instance_with_the_asm_instance_of_another_node_is_named_with_the_network() -> None:
    network, elsewhere = of_asm(AsmClient(1, "+ASM1"), AsmClient(2, "+ASM1"))
    assert (elsewhere.code, elsewhere.status) == ("IC-STORE-010", Status.INFO)
    assert elsewhere.title == (
        "prod2 on rac2 uses +ASM1 on rac1, over the networks of ASM, 192.168.10.0 and 192.168.11.0."
    )
    assert (elsewhere.nodes, elsewhere.data) == (("rac2",), {"instances": 1, "asm": "+ASM1", "node": "rac1"})
    lines = ("prod1 uses +ASM1 on rac1", "prod2 uses +ASM1 on rac1")
    assert network.seen[-2:] == elsewhere.seen == lines


def test_an_instance_with_asm_of_its_own_node_or_of_a_node_not_read_is_no_finding() -> None:
    (network,) = of_asm(AsmClient(1, "+ASM1"), AsmClient(2, "+ASM7"), rac2=("+APX2", "+ASM2", "prod2"))
    assert network.code == "IC-STORE-009"
    assert network.seen[-3:] == (
        "prod1 uses +ASM1 on rac1",
        "prod2 uses +ASM7 on a node that is not known",
        "rac2 runs +APX2, by which ACFS uses an ASM instance",
    )


def test_the_reason_why_the_asm_instances_are_not_known_is_named() -> None:
    (network,) = of_asm(unread=Unknown("ORA-00942 on SYS.GV_$ASM_CLIENT."))
    assert network.seen[-1] == "Which ASM instance is used: not known. ORA-00942 on SYS.GV_$ASM_CLIENT."
