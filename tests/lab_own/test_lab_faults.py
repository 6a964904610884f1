"""Every fault exists in the real network, and its fix restores the exact state from before."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from racwire_lab import FAULTS, Lab, LabError, find, up
from racwire_lab.cluster.far_end import why_not
from racwire_lab.cluster.networks import PRIVATE
from tests.lab.lab_support import (
    LARGE,
    SMALL,
    assert_healthy,
    grid,
    lab_directory,
    needs_namespaces,
    needs_nft,
    ping,
    run,
    settings,
    ssh,
)

pytestmark = [needs_namespaces, needs_nft]

TO_RAC1, TO_RAC2 = PRIVATE[1].address(1), PRIVATE[1].address(2)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        yield up(database=False, rate="10g", hypervisor=["rac2"])


@pytest.fixture
def cluster(running: Lab) -> Iterator[Lab]:
    before = {node: settings(running, node) for node in running.nodes}
    yield running
    running.mend()
    assert {node: settings(running, node) for node in running.nodes} == before
    assert_healthy(running)


def echoes_received(cluster: Lab, node: str) -> int:
    header, values = run(cluster, node, "grep", "^Icmp:", "/proc/net/snmp").stdout.splitlines()
    return int(values.split()[header.split().index("InEchos")])


@pytest.mark.beyond_sample
def test_node_mtu(cluster: Lab) -> None:
    cluster.break_("node-mtu")
    assert "message too long, mtu=1500" in ping(cluster, "rac2", TO_RAC1, LARGE)
    assert "100% packet loss" in ping(cluster, "rac1", TO_RAC2, LARGE)
    assert ping(cluster, "rac1", TO_RAC2, SMALL) == ""


@pytest.mark.beyond_sample
def test_switch_mtu_drops_silently_in_both_directions(cluster: Lab) -> None:
    cluster.break_("switch-mtu", "2", "eth2")
    for node, address in (("rac1", TO_RAC2), ("rac2", TO_RAC1)):
        assert ping(cluster, node, address, SMALL) == ""
        result = ping(cluster, node, address, LARGE)
        assert "100% packet loss" in result
        assert not re.search("error|Frag|long|buffer", result)
        assert "mtu 9000" in run(cluster, node, "ip", "link", "show", "eth2").stdout


def test_switch_mtu_stops_tcp_too(cluster: Lab) -> None:
    cluster.break_("switch-mtu")
    server = (
        "import socket; s = socket.create_server(('', 5000)); print('up', flush=True); c, _ = s.accept();"
        "c.settimeout(1); print(len(c.recv(100000)))"
    )
    script = (
        f'/usr/bin/env python3 -c "{server}" | {{ read -r up; '
        "ssh -F $0/ssh_config rac1 'python3 -c \"import socket; "
        f'c = socket.create_connection((\\"{TO_RAC2}\\", 5000)); c.send(bytes(60000)); c.recv(1)"\'; }}'
    )
    if cluster.remote_shell != "ssh":
        pytest.skip("TCP OVER A SMALL SWITCH WAS NOT TESTED: there is no sshd on this machine")
    result = run(cluster, "rac2", "sh", "-c", script, str(cluster.directory))
    assert "TimeoutError" in result.stderr


@pytest.mark.beyond_sample
def test_switch_mtu_in_one_direction(cluster: Lab) -> None:
    cluster.break_("switch-mtu-one-way")
    before = echoes_received(cluster, "rac1"), echoes_received(cluster, "rac2")
    assert ping(cluster, "rac2", TO_RAC1, LARGE) != ""  # its answer is large too
    assert ping(cluster, "rac1", TO_RAC2, LARGE) != ""
    assert echoes_received(cluster, "rac1") == before[0] + 2
    assert echoes_received(cluster, "rac2") == before[1]
    assert ping(cluster, "rac1", TO_RAC2, SMALL) == ping(cluster, "rac2", TO_RAC1, SMALL) == ""


@pytest.mark.beyond_sample
def test_loss(cluster: Lab) -> None:
    cluster.break_("loss")
    output = run(cluster, "rac1", "ping", "-q", "-i", "0.002", "-c", "800", "-W", "0.4", TO_RAC2).stdout
    lost = float(re.search(r"([\d.]+)% packet loss", output)[1])  # type: ignore[index]
    assert 5 < lost < 16  # twice 5 %, with five standard deviations to either side
    quiet = run(cluster, "rac1", "ping", "-q", "-i", "0.002", "-c", "200", PRIVATE[0].address(2)).stdout
    assert " 0% packet loss" in quiet


@pytest.mark.beyond_sample
def test_peer_down(cluster: Lab) -> None:
    cluster.break_("peer-down")
    for address in (TO_RAC2, PRIVATE[0].address(2), "10.20.0.2"):
        assert "100% packet loss" in ping(cluster, "rac1", address)
    assert grid(cluster, "rac1", "olsnodes", "-s").stdout == "rac1\tActive\nrac2\tInactive\n"


@pytest.mark.beyond_sample
def test_link_down(cluster: Lab) -> None:
    cluster.break_("link-down", "rac1", "1")
    link = run(cluster, "rac1", "ip", "link", "show", "eth1").stdout
    assert "NO-CARRIER" in link
    assert re.search("state (LOWERLAYER)?DOWN", link)
    assert ping(cluster, "rac1", PRIVATE[0].address(2)) != ""
    assert ping(cluster, "rac1", TO_RAC2) == ""


@pytest.mark.beyond_sample
def test_no_ssh(cluster: Lab) -> None:
    cluster.break_("no-ssh")
    refused = ssh(cluster, "rac1", "rac2", "true")
    assert refused.returncode == 255
    assert "Permission denied" in refused.stderr
    assert ssh(cluster, "rac2", "rac1", "true").returncode == 0
    cluster.mend("no-ssh")
    assert ssh(cluster, "rac1", "rac2", "uname -n").stdout == "rac2\n"


def test_slow_ssh(cluster: Lab) -> None:
    cluster.break_("slow-ssh")
    hung = run(cluster, "rac1", "timeout", "1", "ssh", "-F", str(cluster.directory / "ssh_config"), "rac2", "true")
    assert hung.returncode == 124
    assert hung.stderr == ""
    cluster.mend()
    assert ssh(cluster, "rac1", "rac2", "true").returncode == 0


def test_wrong_subnet(cluster: Lab) -> None:
    cluster.break_("wrong-subnet")
    for node in cluster.nodes:
        assert "eth2  192.168.77.0  global  cluster_interconnect,asm\n" in grid(cluster, node, "oifcfg", "getif").stdout
    assert "192.168.77" not in run(cluster, "rac1", "ip", "address").stdout


def test_names_differ(cluster: Lab) -> None:
    cluster.break_("names-differ")
    addresses = run(cluster, "rac2", "ip", "-o", "address", "show", "ens2f1").stdout
    assert "192.168.11.2/24" in addresses
    assert "ens2f1:1" in addresses
    assert "ens2f1  192.168.11.0\n" in grid(cluster, "rac2", "oifcfg", "iflist").stdout
    assert_healthy(cluster)


@pytest.mark.beyond_sample
def test_icmp_filtered(cluster: Lab) -> None:
    cluster.break_("icmp-filtered")
    assert "100% packet loss" in ping(cluster, "rac1", TO_RAC2)
    assert ssh(cluster, "rac1", "rac2", "true").returncode == 0
    assert TO_RAC2 in run(cluster, "rac1", "ip", "neigh", "show", "nud", "reachable", "nud", "stale").stdout


@pytest.mark.beyond_sample
def test_routed(cluster: Lab) -> None:
    cluster.break_("routed")
    for node, address in (("rac1", TO_RAC2), ("rac2", TO_RAC1)):
        output = run(cluster, node, "ping", "-M", "do", "-c1", "-W1", "-s", str(LARGE), address).stdout
        assert "From 192.168.11.254" in output
        assert "Frag needed and DF set (mtu = 1500)" in output
        assert "ttl=63" in run(cluster, node, "ping", "-c1", "-W1", address).stdout
    haip = PRIVATE[1].haip(2)
    assert haip
    assert ping(cluster, "rac1", haip.partition("/")[0]) == ""


@pytest.mark.beyond_sample
def test_duplicate_subnet(cluster: Lab) -> None:
    cluster.break_("duplicate-subnet")
    assert "inet 192.168.10.102/24" in run(cluster, "rac2", "ip", "address", "show", "eth2").stdout
    assert grid(cluster, "rac1", "oifcfg", "getif").stdout.count("  192.168.10.0  ") == 2
    assert "192.168.11" not in run(cluster, "rac1", "ip", "route").stdout


def test_several_faults_at_one_place_are_fixed_in_another_order(cluster: Lab) -> None:
    for fault in ("node-mtu", "names-differ", "switch-mtu", "loss", "routed", "node-mtu", "duplicate-subnet"):
        broken = cluster.break_(fault)
    assert len(broken.faults) == 6
    assert "mtu 1500" in run(cluster, "rac2", "ip", "link", "show", "ens2f1").stdout
    for fault in ("names-differ", "duplicate-subnet", "node-mtu", "routed"):
        cluster.mend(fault)
    assert [fault.fault for fault in find().faults] == ["switch-mtu", "loss"]  # type: ignore[union-attr]
    assert ping(cluster, "rac1", TO_RAC2, LARGE) != ""
    cluster.mend("switch-mtu")


def test_one_fault_at_two_places(cluster: Lab) -> None:
    cluster.break_("routed", "rac1")
    cluster.break_("routed", "rac2")
    assert "ttl=62" in run(cluster, "rac1", "ping", "-c3", "-i0.1", "-W1", TO_RAC2).stdout
    assert len(cluster.mend("routed").faults) == 0


@pytest.mark.beyond_sample
def test_all_at_once(cluster: Lab) -> None:
    for fault in FAULTS.values():
        impossible = fault.needs_fragments or fault.needs_database or fault.needs_users or fault.needs_storage
        if not (impossible or why_not(fault.name)):
            cluster.break_(fault.name)
    assert len(cluster.mend().faults) == 0


def test_every_invalid_place_is_one_sentence(cluster: Lab) -> None:
    for arguments in (("nonsense",), ("loss", "rac1"), ("no-ssh", None, "2"), ("node-mtu", "rac9"), ("node-mtu", "x")):
        with pytest.raises(LabError, match=r"^[A-Z][^\n]*\.$"):
            cluster.break_(*arguments)
    with pytest.raises(LabError, match="There is no private network 'eth0'"):
        cluster.break_("link-down", network="eth0")
    with pytest.raises(LabError, match="has no database"):
        cluster.break_("hung-instance")
    with pytest.raises(LabError, match="--mtu 1500"):
        cluster.break_("drop-fragments")
