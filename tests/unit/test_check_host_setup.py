"""Checks of a node's setup outside Clusterware: healthy, with one fault each, and where it could not be read."""

from __future__ import annotations

import subprocess

import msgspec
import pytest

from checks.model.facts import (
    Address,
    FirewalldZone,
    FlowPort,
    FlowProbe,
    Flows,
    MissingRight,
    NodeMemory,
    PacketFilters,
    PrivateUse,
    RightsOfOradism,
    Route,
    ScheduledProcess,
    Unknown,
    UnreadNode,
)
from checks.model.finding import Status
from checks.plugins.bonding import bonding
from checks.plugins.driver_settings import driver_settings
from checks.plugins.kernel_minimums import kernel_minimums
from checks.plugins.loopback_memory import loopback_memory
from checks.plugins.multicast import multicast
from checks.plugins.oracle_processes import oracle_processes
from checks.plugins.packet_filter import packet_filter
from checks.plugins.private_routes import private_routes
from checks.plugins.shared_network import shared_network
from checks.plugins.virtualisation import virtualisation
from tests.fixtures.clusters import cluster, interface, node
from tests.fixtures.databases import asked, counters, database
from tests.unit.host_support import BACKUP, GIGABYTE_KB, bonded, driver, healthy_host, member, of_hosts, with_hosts

STATIC = (bonding, driver_settings, loopback_memory, oracle_processes, shared_network, virtualisation)
replaced = msgspec.structs.replace


def found(check, built) -> list[tuple[Status, str]]:
    return [(f.status, f.code) for f in check.run(built) if f.status not in (Status.PASS, Status.SKIPPED)]


@pytest.mark.parametrize("check", [*STATIC, kernel_minimums, private_routes, multicast], ids=lambda check: check.id)
def test_a_healthy_cluster_and_a_file_without_the_facts_cause_no_alarm(check):
    assert found(check, of_hosts(healthy_host(), healthy_host())) == []
    assert found(check, cluster(2)) == []


@pytest.mark.parametrize("check", STATIC, ids=lambda check: check.id)
def test_a_node_that_could_not_be_read_is_unknown_and_named(check):
    built = of_hosts(healthy_host(), healthy_host())
    unread = UnreadNode("rac2", "Its shell did not answer.", MissingRight("log in"))
    built = replaced(built, setups=(built.setups[0], unread))
    findings = [f for f in check.run(built) if f.status is Status.UNKNOWN]
    if check is not virtualisation:
        assert [(f.nodes, f.lacks[0].reason) for f in findings] == [(("rac2",), unread.reason)]
    assert not any("rac2" in f.title for f in check.run(built) if f.status is Status.PASS and f.code != "IC-DRIVER-007")


def with_loopback(mtu: int, *memory: NodeMemory):
    nodes = [node(n) for n in range(1, len(memory) + 1)]
    lo = interface("lo", "127.0.0.1", mtu, kind="loopback")
    nodes = [replaced(n, interfaces=(*n.interfaces, lo)) for n in nodes]
    return with_hosts(cluster(nodes), *(replaced(healthy_host(), memory=m) for m in memory))


def test_a_large_mtu_of_lo_is_a_warning_only_with_a_small_reserve():
    enough = NodeMemory(64 * GIGABYTE_KB, 300_000)
    short = NodeMemory(64 * GIGABYTE_KB, 90_112, available_kb=8 * GIGABYTE_KB, huge_kb=0)
    assert found(loopback_memory, with_loopback(65_536, enough, short)) == [
        (Status.WARN, "IC-LOOP-003"),
    ]
    assert found(loopback_memory, with_loopback(16_436, enough, short)) == []
    (finding,) = (f for f in loopback_memory.run(with_loopback(65_536, short)) if f.status is Status.WARN)
    assert finding.next[1].commands == ("sysctl -w vm.min_free_kbytes=268435",)


@pytest.mark.parametrize(
    ("total_gb", "numa", "available_gb", "huge_gb", "refused"),
    [
        (1536, 8, 400, 0, ""),
        (1536, 8, 400, 1024, "they are 10 % of the 536,870,912 KB outside huge pages"),
        (1536, 8, 180, 0, "they are more than a quarter of the 188,743,680 KB that are available now"),
        (64, 1, None, 0, "how much memory is available there is not known"),
        (64, 1, 8, None, "how much memory is available there is not known"),
    ],
)
def test_a_reserve_that_the_running_node_cannot_spare_has_no_command(total_gb, numa, available_gb, huge_gb, refused):
    available, huge = (None if size is None else size * GIGABYTE_KB for size in (available_gb, huge_gb))
    built = with_loopback(65_536, NodeMemory(total_gb * GIGABYTE_KB, 90_112, numa, 32, available, huge))
    (finding,) = (f for f in loopback_memory.run(built) if f.status is Status.WARN)
    step = finding.next[1]
    assert bool(step.commands) is not bool(refused)
    assert refused in step.text


def test_the_reserves_of_nodes_that_differ_in_what_is_available_are_one_finding():
    short = [NodeMemory(64 * GIGABYTE_KB, 90_112, 1, 32, kb * GIGABYTE_KB, 0) for kb in (8, 9)]
    assert found(loopback_memory, with_loopback(65_536, *short)) == [(Status.WARN, "IC-LOOP-003")]


@pytest.mark.parametrize(
    ("members", "changes", "expected"),
    [
        ([member("p0"), member("p1", "down", None)], {}, [(Status.WARN, "IC-BOND-002")]),
        ([member("p0", "down", None), member("p1", "down", None)], {}, [(Status.FAIL, "IC-BOND-002")]),
        ([member("p0"), member("p1", aggregator=2)], {}, [(Status.FAIL, "IC-BOND-003")]),
        ([member("p0"), member("p1", aggregator=2)], {"mode": BACKUP}, [(Status.INFO, "IC-BOND-009")]),
        ([member("p0"), member("p1", speed=10_000)], {}, [(Status.WARN, "IC-BOND-005")]),
        ([member("p0")], {}, [(Status.WARN, "IC-BOND-006")]),
        ([member("p0"), member("p1")], {"polling_ms": 0}, [(Status.WARN, "IC-BOND-007")]),
        ([member("p0"), member("p1")], {"polling_ms": 0, "arp_polling_ms": 200}, []),
        (
            [member("p0"), member("p1")],
            {"mode": "load balancing (round-robin)"},
            [(Status.WARN, "IC-BOND-004"), (Status.INFO, "IC-BOND-009")],
        ),
        ([member("p0"), member("p1")], {"hash_policy": "layer3+4"}, [(Status.INFO, "IC-BOND-009")]),
        (
            [member("p0"), member("p1")],
            {"hash_policy": "layer2"},
            [(Status.INFO, "IC-BOND-009"), (Status.INFO, "IC-BOND-011")],
        ),
        ([member("p0"), member("p1", "down", None, 2)], {}, [(Status.WARN, "IC-BOND-002")]),
    ],
)
def test_bonds(members, changes, expected):
    assert found(bonding, bonded(*members, **changes)) == expected


def test_bonds_that_use_different_members_on_the_nodes_are_information():
    built = bonded(member("p0"), member("p1"), mode=BACKUP, active_member="p1")
    own = built.setups[0].host
    for other, codes in (("p0", ["IC-BOND-010"]), ("p1", []), ("", [])):
        bond = replaced(own.bonds[0], mode=BACKUP, active_member=other)
        differ = with_hosts(built, replaced(own, bonds=(bond,)), built.setups[1].host)
        assert [f.code for f in bonding.run(differ) if f.status is Status.INFO] == codes
    assert "p0 on rac1, p1 on rac2" in " ".join(
        f.title
        for f in bonding.run(
            with_hosts(
                built,
                replaced(own, bonds=(replaced(own.bonds[0], mode=BACKUP, active_member="p0"),)),
                built.setups[1].host,
            )
        )
    )


def test_a_bond_that_the_driver_does_not_show_is_unknown():
    built = bonded(member("p0"), member("p1"))
    hosts = [s.host for s in built.setups]
    built = with_hosts(built, hosts[0], replaced(hosts[1], bonds=()))
    (finding,) = (f for f in bonding.run(built) if f.status is Status.UNKNOWN)
    assert finding.nodes == ("rac2",)


def test_buffers_below_the_minimum_are_raised_and_the_others_left_alone():
    low = replaced(node(2), sysctls={"net.core.rmem_default": "212992", "net.core.rmem_max": "16777216"})
    fine = replaced(node(1), sysctls={"net.core.rmem_default": "262144", "net.core.wmem_max": "1048576"})
    findings = kernel_minimums.run(cluster([fine, low]))
    assert [(f.status, f.nodes) for f in findings] == [(Status.WARN, ("rac2",)), (Status.PASS, ())]
    assert [step.commands for step in findings[0].next[1:]] == [
        ("racwire change new receive-buffers",),
        ("sysctl -w net.core.rmem_default=262144",),
    ]


@pytest.mark.parametrize(
    ("kernel", "mtu", "limit", "is_short"),
    [
        ("3.10.0-1160.el7.x86_64", 1500, 4_194_304, True),
        ("3.10.0-1160.el7.x86_64", 1500, 16_777_216, False),
        ("3.10.0-1160.el7.x86_64", 9000, 4_194_304, False),
        ("5.15.0-200.el8uek.x86_64", 1500, 4_194_304, False),
    ],
)
def test_memory_for_fragments_against_the_cpus(kernel, mtu, limit, is_short):
    small = {"net.ipv4.ipfrag_high_thresh": str(limit)}
    nodes = [replaced(node(n, mtu), kernel_release=kernel, sysctls=small) for n in (1, 2)]
    host = replaced(healthy_host(), memory=NodeMemory(256 * GIGABYTE_KB, 2_000_000, 2, 96))
    codes = [code for _, code in found(kernel_minimums, with_hosts(cluster(nodes), host, host))]
    assert codes == (["IC-KERNEL-003"] if is_short else [])


def on_routes(*routes: Route, **changes: object):
    second = node(2)
    return cluster([node(1), replaced(second, routes=(*second.routes, *routes), **changes)])


@pytest.mark.parametrize(
    ("route", "code"),
    [
        (Route("default", "eth2", "192.168.11.254"), "IC-ROUTE-002"),
        (Route("0.0.0.0/0", "eth1", "192.168.10.254", metric=300), "IC-ROUTE-002"),
        (Route("default", "eth0", "10.20.0.254"), ""),
        (Route("169.254.0.0/17", "eth1", mtu=1400), "IC-ROUTE-003"),
        (Route("169.254.128.7/32", "eth2", mtu=8999, mtu_locked=True), "IC-ROUTE-003"),
        (Route("169.254.0.0/17", "eth1", mtu=9000), ""),
        (Route("169.254.0.0/16", "eth0", mtu=1400), ""),
        (Route("fe80::/64", "eth1", mtu=1400), ""),
        (Route("not a network", "eth1", mtu=1400), ""),
    ],
)
def test_routes(route, code):
    assert [c for _, c in found(private_routes, on_routes(route))] == ([code] if code else [])


def test_a_node_without_a_public_network_may_have_its_default_route_on_a_private_one():
    second = node(2)
    private = tuple(i for i in second.interfaces if i.name != "eth0")
    built = on_routes(Route("default", "eth1", "192.168.10.254"), interfaces=private)
    assert found(private_routes, built) == []


ENDS = ("192.168.11.0/24", "rac1", "rac2", "192.168.11.1", "192.168.11.2", 9000, 6947)
REFUSED_HERE = FlowPort(0, 8972, sent=0, error="ENETUNREACH")


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        (REFUSED_HERE, [(Status.FAIL, "IC-ROUTE-006")]),
        (FlowPort(40000, 8972, answered=1), []),  # a rule leads to another table
        (None, [(Status.WARN, "IC-ROUTE-006")]),
    ],
)
def test_a_private_network_without_a_route_is_a_failure_unless_datagrams_pass(port, expected):
    first = node(1)
    bare = replaced(first, routes=tuple(r for r in first.routes if r.interface != "eth2"))
    built = replaced(cluster([bare, node(2)]), flows=Flows((FlowProbe(*ENDS, (port,)),) if port else ()))
    assert found(private_routes, built) == expected
    down = tuple(replaced(i, operational_state="down") if i.name == "eth2" else i for i in bare.interfaces)
    assert found(private_routes, cluster([replaced(bare, interfaces=down), node(2)])) == []
    assert found(private_routes, cluster([replaced(first, routes=()), node(2)])) == []


def test_forwarding_is_a_warning_unless_the_node_has_a_bridge_of_its_own():
    on = {"net.ipv4.ip_forward": "1"}
    assert found(private_routes, on_routes(sysctls=on)) == [(Status.WARN, "IC-ROUTE-004")]
    docker = interface("docker0", "", 1500, kind="bridge", addresses=(Address("172.17.0.1", 16),))
    built = on_routes(sysctls=on, interfaces=(*node(2).interfaces, docker))
    assert found(private_routes, built) == [(Status.INFO, "IC-ROUTE-004")]


def test_the_commands_against_forwarding_leave_every_other_setting_as_it_is():
    (finding,) = (f for f in private_routes.run(on_routes(sysctls={"net.ipv4.ip_forward": "1"})) if f.next)
    settings = "cd /proc/sys/net; grep -rsH . ipv4 ipv6"
    script = f"""
        sysctl -q -w net.ipv4.ip_forward=1 net.ipv4.conf.all.accept_redirects=0 net.ipv4.conf.lo.send_redirects=0
        before=$({settings})
        {"; ".join(finding.next[1].commands)} > /dev/null
        after=$({settings})
        printf '%s\\n' "$before" "$after" | sort | uniq -u | grep -v forward
    """
    done = subprocess.run(["unshare", "-rn", "sh", "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("", "")
    without = script.replace("$kept", "")  # the test sees what the kernel resets
    done = subprocess.run(["unshare", "-rn", "sh", "-c", without], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [f"ipv4/conf/all/accept_redirects:{value}" for value in (0, 1)]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"firmware": "0x80000388"}, "IC-DRIVER-002"),
        ({"driver": "i40e"}, "IC-DRIVER-002"),
        ({"pause_rx": False}, "IC-DRIVER-005"),
        ({"pause_rx": None, "pause_tx": None}, ""),
        ({"rx_ring": 512}, "IC-DRIVER-004"),
        ({"rx_ring": None, "rx_ring_most": None}, ""),
    ],
)
def test_drivers_that_differ(changes, code):
    other = replaced(healthy_host(), drivers=(driver("eth1", **changes), driver("eth2")))
    assert [c for _, c in found(driver_settings, of_hosts(healthy_host(), other))] == ([code] if code else [])


def test_a_version_taken_from_the_kernel_differs_with_the_kernel_only():
    nodes = [replaced(node(n), kernel_release=f"5.15.0-{n}") for n in (1, 2)]
    hosts = [replaced(healthy_host(), drivers=(driver("eth1", version=f"5.15.0-{n}"),)) for n in (1, 2)]
    assert found(driver_settings, with_hosts(cluster(nodes), *hosts)) == [(Status.INFO, "IC-DRIVER-003")]


def test_without_ethtool_rings_are_left_out_with_the_reason():
    host = replaced(healthy_host(), drivers=Unknown("ethtool is not installed there"))
    (left_out,) = (f for f in driver_settings.run(of_hosts(host, host)) if f.status is Status.SKIPPED)
    assert "ethtool is not installed there" in left_out.title


@pytest.mark.parametrize(
    ("release", "lms", "vktm", "expected"),
    [
        ("18.3.0.0.0", 2, 2, []),
        ("18.3.0.0.0", 0, 2, [(Status.WARN, "IC-PROC-002")]),
        ("19.22.0.0.0", 0, 2, [(Status.WARN, "IC-PROC-002")]),
        ("19.22.0.0.0", 0, 0, [(Status.WARN, "IC-PROC-002")]),
        ("", 0, 2, [(Status.WARN, "IC-PROC-002")]),
        ("12.2.0.1.0", 1, 2, []),
    ],
)
def test_priority_by_release(release, lms, vktm, expected):
    processes = tuple(
        ScheduledProcess(name, "prod2", policy, 1, 1, int(policy > 0))
        for name, policy in (("LMS0", lms), ("VKTM", vktm))
    )
    built = of_hosts(healthy_host(), replaced(healthy_host(), processes=processes))
    built = asked(built, database=database(2, release)) if release else built
    assert found(oracle_processes, built) == expected


def test_lms_with_one_real_time_thread_is_well_and_its_threads_are_shown():
    processes = (ScheduledProcess("LMS0", "prod2", 0, 0, 3, 1), ScheduledProcess("VKTM", "prod2", 2, 1, 1, 1))
    built = of_hosts(healthy_host(), replaced(healthy_host(), processes=processes))
    (well,) = oracle_processes.run(asked(built, database=database(2, "19.22.0.0.0")))
    assert (well.status, well.title[:8]) == (Status.PASS, "LMS and ")
    assert "LMS0 of prod2 time sharing, 1 of 3 threads real-time" in well.seen[0]


def test_an_oradism_without_its_rights_is_a_warning_before_the_next_start_of_an_instance():
    home = RightsOfOradism("/u01/db/bin/oradism", "oracle", "0750")
    built = of_hosts(healthy_host(), replaced(healthy_host(), oradism=(home,)))
    assert found(oracle_processes, built) == [(Status.WARN, "IC-PROC-004")]


def test_other_users_of_a_private_network():
    uses = (
        PrivateUse("NFS", "192.168.11.2", "192.168.11.9", 2),
        PrivateUse("iSCSI", "10.20.0.2", "10.20.0.9", 4),
        PrivateUse("NFS", "", "not an address", 0, "/backup"),
    )
    built = of_hosts(healthy_host(), replaced(healthy_host(), others=uses))
    (finding,) = (f for f in shared_network.run(built) if f.status is Status.WARN)
    assert (finding.network, finding.nodes, finding.data["connections"]) == ("192.168.11.0/24", ("rac2",), 2)


@pytest.mark.parametrize(
    ("is_virtual", "drivers", "expected"),
    [
        (True, {"eth1": "e1000", "eth2": "vmxnet3"}, [(Status.WARN, "IC-VIRT-002")]),
        (True, {"eth1": "virtio_net", "eth2": "virtio_net"}, []),
        (False, {"eth1": "e1000e", "eth2": "e1000e"}, []),
        (None, {"eth1": "e1000"}, []),
    ],
)
def test_emulated_nics(is_virtual, drivers, expected):
    host = replaced(
        healthy_host(), is_virtual=is_virtual, drivers_in_use=drivers, drivers=Unknown("ethtool is not installed there")
    )
    assert found(virtualisation, of_hosts(healthy_host(), host)) == expected


def test_zones_and_services_that_filter():
    zones = (FirewalldZone("eth1", "trusted"), FirewalldZone("eth0", "public"))
    exposed = replaced(healthy_host(), filters=PacketFilters(("firewalld", "nftables"), zones, "public"))
    built = asked(of_hosts(healthy_host(), exposed), counters=counters(2))
    findings = [f for f in packet_filter.run(built) if f.code != "IC-FILTER-001"]
    assert [(f.status, f.code, f.nodes) for f in findings] == [
        (Status.WARN, "IC-FILTER-004", ("rac2",)),
        (Status.INFO, "IC-FILTER-005", ("rac2",)),
    ]
    assert "eth2" in findings[0].title
    right = MissingRight("query firewalld")
    closed = replaced(healthy_host(), filters=PacketFilters(("firewalld",), Unknown("Authorization failed.", right)))
    built = asked(of_hosts(healthy_host(), closed), counters=counters(2))
    assert (Status.UNKNOWN, "IC-FILTER-006") in found(packet_filter, built)
