"""One node, read by netlink and by the peers' program: the facts must be the same.

Once in a network namespace of its own, with what the kernel here can make of bridges, veths and routes; once as a
peer in the practice cluster, over ssh.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import racwire_lab
from checks.model.facts import Address, KernelCounters, Node, Route, Unknown

pytestmark = pytest.mark.lab

ROOT = Path(__file__).parents[2]

SETUP = """
set -e
mount -t sysfs sysfs /sys
ip link set lo up
ip link add br0 type bridge
ip link add eth1 type veth peer name port1
ip link add eth2 type veth peer name port2
ip link set port1 master br0
ip link set port2 master br0
for name in br0 eth1 port1 port2; do ip link set "$name" up; done
ip link set eth1 mtu 9000
ip link set eth1 alias 'to the   switch'
ip addr add 192.168.10.1/24 dev eth1
ip addr add 169.254.3.4/17 dev eth1 label eth1:1
ip addr add 10.7.7.1 peer 10.7.7.2/32 dev eth1
ip addr add fd00::1/64 dev eth1 nodad
ip route add 10.5.0.0/16 via 192.168.10.2 mtu lock 1500
ip route add 10.6.0.0/16 via 192.168.10.2 mtu 1400 src 192.168.10.1
ip route add 10.8.0.5 dev eth1
ip route add 10.9.0.0/24 nexthop via 192.168.10.2 dev eth1 nexthop via 192.168.10.3 dev eth1
ip route add unreachable 10.98.0.0/16
ip route add 10.99.0.0/16 via 192.168.10.2 table 77
ip route add default via 192.168.10.9
ip -6 route add fd00:2::/64 dev eth1 mtu 1400
ip neigh add 192.168.10.2 lladdr 02:00:00:00:00:02 dev eth1
ip neigh add 192.168.10.3 lladdr 02:00:00:00:00:03 dev eth1 nud stale
for kind in dummy vlan macvlan bond; do
    case $kind in
        vlan) ip link add link eth1 name eth1.200 type vlan id 200 ;;
        macvlan) ip link add link eth1 name mac0 type macvlan ;;
        *) ip link add "$kind"9 type "$kind" ;;
    esac 2>/dev/null || true
done
exec "$@"
"""

READ_TWICE = """
import asyncio, sys
import msgspec
from checks.model.journal import Journal
from checks.sources.nodes.local import read_local_node
from checks.sources.nodes.remote import read_peer
from checks.sources.nodes.shell import Shell

async def main():
    shell = await Shell.open_local("rac1")
    nodes = [await read_local_node("rac1", Journal()), await read_peer(shell, Journal(), 20)]
    await shell.close()
    sys.stdout.buffer.write(msgspec.json.encode(nodes))

asyncio.run(main())
"""

READ_PEER = """
import asyncio, sys
import msgspec
from checks.model.journal import Journal
from checks.sources.nodes.remote import read_peer
from checks.sources.nodes.shell import Shell
from checks.model.settings import SshSettings

async def main():
    shell = await Shell.open_ssh("rac2", SshSettings())
    node = await read_peer(shell, Journal(), 20)
    await shell.close()
    sys.stdout.buffer.write(msgspec.json.encode(node))

asyncio.run(main())
"""

READ_SELF = """
import asyncio, sys
import msgspec
from checks.model.journal import Journal
from checks.sources.nodes.local import read_local_node

sys.stdout.buffer.write(msgspec.json.encode(asyncio.run(read_local_node("rac2", Journal()))))
"""


@pytest.fixture(scope="module")
def nodes() -> tuple[Node, Node]:
    """The same node, by netlink and by `sh`."""
    enter = ["unshare", "--user", "--map-root-user", "--net", "--mount", "sh", "-c"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*enter, "mount -t sysfs s /sys"], capture_output=True).returncode
    ):
        pytest.skip("no network namespaces here: reading a node in two ways is not compared")
    done = subprocess.run(
        [*enter, SETUP, "setup", sys.executable, "-c", READ_TWICE], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return msgspec.json.decode(done.stdout, type=tuple[Node, Node])


def test_both_ways_of_reading_a_node_give_the_same_facts(nodes: tuple[Node, Node]) -> None:
    by_netlink, by_sh = nodes
    _assert_same_facts(by_netlink, by_sh)
    assert {(n.ip, n.interface, n.mac_address) for n in by_netlink.neighbours} == {
        (n.ip, n.interface, n.mac_address) for n in by_sh.neighbours
    }


def test_a_peer_gives_the_same_facts_over_ssh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RACWIRE_LAB_DIR", str(tmp_path / "lab"))
    try:
        practice = racwire_lab.up(nodes=2, database=False)
    except racwire_lab.LabError as error:
        pytest.skip(f"no practice cluster here: {error}")
    try:
        by_sh = msgspec.json.decode(_python_in(practice, "rac1", READ_PEER), type=Node)
        by_netlink = msgspec.json.decode(_python_in(practice, "rac2", READ_SELF), type=Node)
    finally:
        racwire_lab.down()
    assert len(by_sh.interfaces) > 2
    _assert_same_facts(by_netlink, by_sh)


def _python_in(practice: racwire_lab.Lab, node: str, program: str) -> bytes:
    argv = practice.enter(node, [sys.executable, "-c", program])
    environment = {**os.environ, **practice.environment(node)}
    done = subprocess.run(argv, env=environment, cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def _assert_same_facts(by_netlink: Node, by_sh: Node) -> None:
    assert (by_netlink.read_by, by_sh.read_by) == ("netlink", "ssh")
    assert by_netlink.interfaces == by_sh.interfaces
    assert by_netlink.routes == by_sh.routes
    assert by_netlink.sysctls == by_sh.sysctls
    assert by_netlink.kernel_release == by_sh.kernel_release
    assert _counter_names(by_netlink) == _counter_names(by_sh)


def test_the_facts_are_those_that_were_configured(nodes: tuple[Node, Node]) -> None:
    node = nodes[0]
    eth1, eth2, bridge = node.interface("eth1"), node.interface("eth2"), node.interface("br0")
    assert eth1 is not None
    assert eth2 is not None
    assert bridge is not None
    assert (eth1.mtu, eth1.kind, eth1.is_up, eth1.parent) == (9000, "veth", True, "")
    assert Address("169.254.3.4", 17, "eth1:1") in eth1.addresses
    assert Address("10.7.7.1", 32) in eth1.addresses
    assert Address("fd00::1", 64) in eth1.addresses
    assert (eth1.speed_mbps, eth1.duplex) == (10000, "full")
    assert not eth2.administratively_up
    assert isinstance(eth2.duplex, str | Unknown)
    assert (bridge.kind, bridge.members) == ("bridge", ("port1", "port2"))
    assert Route("10.5.0.0/16", "eth1", "192.168.10.2", 1500, True) in node.routes
    assert Route("10.6.0.0/16", "eth1", "192.168.10.2", 1400, False, "192.168.10.1") in node.routes
    assert Route("10.8.0.5/32", "eth1") in node.routes
    assert Route("10.9.0.0/24", "eth1", "192.168.10.3") in node.routes
    assert Route("default", "eth1", "192.168.10.9") in node.routes
    assert Route("fd00:2::/64", "eth1", mtu=1400, metric=1024) in node.routes
    assert not {"10.98.0.0/16", "10.99.0.0/16"} & {route.destination for route in node.routes}
    assert {n.ip: n.state for n in node.neighbours if n.state == "permanent"} == {"192.168.10.2": "permanent"}


def _counter_names(node: Node) -> dict[str, set[str]]:
    assert isinstance(node.counters, KernelCounters)
    return {group: set(values) for group, values in node.counters.groups.items()}
