"""The setup that racwire reads from a practice node matches the node now and after its next boot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checks.model.facts import NetworkService, NodeSetup
from checks.sources.node_setup import SETUP
from checks.sources.nodes.sections import sections
from checks.sources.nodes.setup_text import parse_setup
from racwire_lab import Lab, up
from tests.lab.lab_support import grid, lab_directory, needs_namespaces, run, until

pytestmark = [needs_namespaces, pytest.mark.beyond_sample]

PERSIST = {
    "rac1": (NetworkService.NETWORK_MANAGER, "nmcli connection modify eth1 802-3-ethernet.mtu 4000"),
    "rac2": (NetworkService.IFCFG, "sed -i s/^MTU=.*/MTU=4000/ /etc/sysconfig/network-scripts/ifcfg-eth1"),
    "rac3": (NetworkService.NETWORKD, "sed -i s/^MTUBytes=.*/MTUBytes=4000/ /etc/systemd/network/10-eth1.network"),
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        yield up(3, database=False, keeper="mixed")


def setup(cluster: Lab, node: str) -> NodeSetup:
    return parse_setup(node, sections(run(cluster, node, "sh", "-c", SETUP.text).stdout))


def mtus(cluster: Lab, node: str) -> dict[str, int]:
    return {nic: int(run(cluster, node, "cat", f"/sys/class/net/{nic}/mtu").stdout) for nic in ("eth0", "eth1", "eth2")}


@pytest.mark.parametrize("node", PERSIST)
def test_the_files_of_a_node_are_read_as_the_mtus_after_its_boot(cluster: Lab, node: str) -> None:
    keeper, persist = PERSIST[node]
    assert run(cluster, node, "sh", "-c", f"{persist}; ip link set eth2 mtu 1500").returncode == 0
    before = setup(cluster, node)
    assert before.network_services == (keeper,)
    # No file sets an MTU for eth0: then it is 1500.
    boot_mtus = {boot.interface: (boot.mtu or 1500, boot.network_service) for boot in before.kept}
    assert boot_mtus == {"eth0": (1500, keeper), "eth1": (4000, keeper), "eth2": (9000, keeper)}
    assert mtus(cluster, node) == {"eth0": 1500, "eth1": 9000, "eth2": 1500}
    cluster.reboot(node)
    assert mtus(cluster, node) == {nic: mtu for nic, (mtu, _) in boot_mtus.items()}
    assert setup(cluster, node).boot_id != before.boot_id


def test_clusterware_and_its_autostart_are_read_from_the_node(cluster: Lab) -> None:
    for node in ("rac1", "rac2"):  # rebooted by another test, it may still be starting Clusterware
        until(lambda node=node: grid(cluster, node, "crsctl", "check", "crs").stdout.count(" is online") == 4)
    assert grid(cluster, "rac1", "crsctl", "disable", "crs").returncode == 0
    assert grid(cluster, "rac1", "crsctl", "stop", "crs", "-f").returncode == 0
    until(lambda: setup(cluster, "rac1").is_down)
    down = setup(cluster, "rac1")
    assert (down.daemons, down.instances, down.autostart) == ((), (), False)
    assert down.services[0].startswith("CRS-4639: ")
    other = setup(cluster, "rac2")
    assert {"ocssd.bin", "ohasd.bin", "crsd.bin"} <= set(other.daemons)
    assert (other.instances, other.autostart, other.is_down) == (("+ASM2",), True, False)
    assert Path(other.grid_home) == Path(cluster.environment("rac2")["GRID_HOME"])
