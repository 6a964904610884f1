"""HAIPs that leave a NIC without a link, neighbour entries that linger, and nodes that are evicted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from racwire_lab import Lab, up
from racwire_lab.cluster.desired import desired
from racwire_lab.cluster.fault_kind import ActiveFault
from racwire_lab.cluster.networks import PRIVATE
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.cluster.topology import Shape
from racwire_lab.programs.cache_fusion.alert_log import BASE, crs_log
from tests.lab.lab_support import grid, lab_directory, needs_namespaces, run, until

pytestmark = [
    needs_namespaces,
    pytest.mark.beyond_sample,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("duckdb", "sqlglot", "cryptography", "msgspec")),
        reason="HAIP AND EVICTION WERE NOT TESTED: the extra `lab` is not installed",
    ),
]

MOVED = str(PRIVATE[1].haip(2)).partition("/")[0]
"""The HAIP of rac2 on eth2."""
LISTEN = """
import socket, sys
with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM) as opened:
    opened.bind((sys.argv[1], 0x0806))
    opened.settimeout(60)
    print("ready", flush=True)
    wanted = socket.inet_aton(sys.argv[2])
    while True:
        packet = opened.recv(64)
        if packet[14:18] == packet[24:28] == wanted:
            print(packet[8:14].hex(":"), flush=True)
            break
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        yield up(haip_after_s=1.0, misscount_s=3.0, ipc_timeout_s=900.0)


@pytest.fixture
def cluster(running: Lab) -> Iterator[Lab]:
    yield running
    running.mend()
    until(lambda: all(running.is_running(node, "instance") for node in running.nodes), "an instance stays down")
    until(lambda: nic_of(running) == "eth2", "the HAIP does not come back")


def nic_of(cluster: Lab, address: str = MOVED) -> str:
    """The NIC of rac2 with an address; empty where it has none."""
    lines = run(cluster, "rac2", "ip", "-o", "-4", "address").stdout.splitlines()
    return next((line.split()[1] for line in lines if f" {address}/" in line), "")


def mac_of(cluster: Lab, nic: str) -> str:
    return run(cluster, "rac2", "cat", f"/sys/class/net/{nic}/address").stdout.strip()


def neighbour(cluster: Lab) -> str:
    """What rac1 knows of the HAIP that moved."""
    return run(cluster, "rac1", "ip", "neigh", "show", MOVED, "dev", "eth1").stdout


def interconnects(cluster: Lab) -> dict[str, str]:
    """The interfaces of rac2's addresses, as GV$CLUSTER_INTERCONNECTS on rac1 shows them."""
    login = cluster.database
    assert login
    script = (
        "import oracledb, sys\n"
        "with oracledb.connect(user=sys.argv[1], password=open(sys.argv[2]).read().strip(), dsn=sys.argv[3]) as on:\n"
        "    for row in on.cursor().execute("
        "'SELECT ip_address, name FROM gv$cluster_interconnects WHERE inst_id = 2'):\n"
        "        print(*row)\n"
    )
    words = (sys.executable, "-c", script, login.user, str(login.password_file), login.connect)
    lines = run(cluster, "rac1", *words).stdout.splitlines()
    return dict(line.split() for line in lines)


def test_a_haip_moves_is_announced_and_comes_back(cluster: Lab) -> None:
    argv = cluster.enter("rac1", ["python3", "-c", LISTEN, "eth1", MOVED])
    environment = {**os.environ, **cluster.environment("rac1")}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=environment) as listener:
        assert listener.stdout
        assert listener.stdout.readline() == "ready\n"
        cluster.break_("link-down", "rac2", 2)
        assert listener.stdout.readline().strip() == mac_of(cluster, "eth1")
    until(lambda: nic_of(cluster) == "eth1", "the HAIP stays on the NIC without a link")
    until(lambda: interconnects(cluster).get(MOVED) == "eth1:2", "the view does not follow")
    # The other node moves its HAIP of that network too, and the instances exchange blocks over it.
    until(lambda: run(cluster, "rac1", "ping", "-c1", "-W1", MOVED).returncode == 0, "the moved HAIP does not answer")
    cluster.mend()
    until(lambda: nic_of(cluster) == "eth2", "the HAIP does not come back")
    until(lambda: interconnects(cluster).get(MOVED) == "eth2:1", "the view does not follow")


def test_other_nodes_keep_the_mac_address_of_a_haip_that_moved(cluster: Lab) -> None:
    cluster.break_("stale-arp-after-move")
    cluster.break_("link-down", "rac2", 2)
    until(lambda: nic_of(cluster) == "eth1", "the HAIP stays on the NIC without a link")
    until(lambda: neighbour(cluster) == f"{MOVED} lladdr {mac_of(cluster, 'eth2')} PERMANENT \n", "no entry lingers")
    assert run(cluster, "rac1", "ping", "-c1", "-W0.3", MOVED).returncode == 1
    until(lambda: "PERMANENT" not in neighbour(cluster), "the entry lingers for ever")
    until(lambda: run(cluster, "rac1", "ping", "-c1", "-W1", MOVED).returncode == 0, "the moved HAIP does not answer")
    until(lambda: mac_of(cluster, "eth1") in neighbour(cluster), "the new MAC address is not learnt")


def test_without_the_fault_no_entry_lingers(cluster: Lab) -> None:
    cluster.break_("stale-arp-after-move")
    cluster.break_("link-down", "rac2", 2)
    until(lambda: "PERMANENT" in neighbour(cluster), "no entry lingers")
    cluster.mend("stale-arp-after-move")
    until(lambda: "PERMANENT" not in neighbour(cluster), "the entry outlives the fault")


def test_a_node_without_private_networks_for_misscount_is_evicted_and_joins_again(cluster: Lab) -> None:
    shown = "Successful get misscount 3 for Cluster Synchronization Services."
    assert shown in grid(cluster, "rac1", "crsctl", "get", "css", "misscount").stdout
    cluster.break_("link-down", "rac2", 1)
    cluster.break_("link-down", "rac2", 2)
    until(lambda: not cluster.is_running("rac2", "cssd") and not cluster.is_running("rac2", "instance"), "not evicted")
    assert cluster.is_running("rac1", "instance")
    until(
        lambda: grid(cluster, "rac1", "olsnodes", "-s").stdout == "rac1\tActive\nrac2\tInactive\n",
        "olsnodes shows the evicted node",
    )
    assert "CRS-4530: Communications failure" in grid(cluster, "rac2", "crsctl", "check", "cluster").stdout
    log = node_home(cluster.directory, "rac1") / BASE / crs_log("rac1")
    until(lambda: "Active nodes are rac1 ." in log.read_text(), "no reconfiguration is logged")
    # Whichever side decides first: the other one sees on the voting disk that the node has left.
    assert "CRS-1632: Node rac2 is being removed" in log.read_text()
    assert not interconnects(cluster)
    cluster.mend()
    until(lambda: cluster.is_running("rac2", "instance"), "the node does not join again")
    until(lambda: interconnects(cluster), "the view does not follow")


def test_a_slow_failover_takes_longer_than_misscount() -> None:
    shape = Shape(2, 9000, misscount_s=4.0, haip_after_s=1.0)
    broken = desired(shape, [ActiveFault("failover-slow", None, None)])
    assert {(i.haip_after_s, i.misscount_s) for i in broken.instances.values()} == {(6.0, 4.0)}
