"""The output of oifcfg, olsnodes and crsctl on practice nodes equals that of a real cluster, byte by byte."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from racwire_lab import Lab, up
from tests.lab.lab_support import grid, lab_directory, needs_namespaces, run

pytestmark = needs_namespaces

GETIF = """\
eth0  10.20.0.0  global  public
eth1  192.168.10.0  global  cluster_interconnect,asm
eth2  192.168.11.0  global  cluster_interconnect,asm
"""
IFLIST = """\
eth0  10.20.0.0  PRIVATE  255.255.255.0
eth1  192.168.10.0  PRIVATE  255.255.255.0
eth1  169.254.0.0  UNKNOWN  255.255.128.0
eth2  192.168.11.0  PRIVATE  255.255.255.0
eth2  169.254.128.0  UNKNOWN  255.255.128.0
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        yield up(database=False)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("oifcfg getif", GETIF),
        ("oifcfg getif -global", GETIF),
        ("oifcfg getif -node rac1", ""),
        ("oifcfg getif -if eth1", "eth1  192.168.10.0  global  cluster_interconnect,asm\n"),
        ("oifcfg getif -type public", "eth0  10.20.0.0  global  public\n"),
        ("oifcfg iflist", "".join("  ".join(line.split()[:2]) + "\n" for line in IFLIST.splitlines())),
        ("oifcfg iflist -p", "".join("  ".join(line.split()[:3]) + "\n" for line in IFLIST.splitlines())),
        ("oifcfg iflist -p -n", IFLIST),
        ("olsnodes", "rac1\nrac2\n"),
        ("olsnodes -n", "rac1\t1\nrac2\t2\n"),
        ("olsnodes -n -i -s -t", "rac1\t1\trac1-vip\tActive\tUnpinned\nrac2\t2\trac2-vip\tActive\tUnpinned\n"),
        ("olsnodes -t -s", "rac1\tActive\tUnpinned\nrac2\tActive\tUnpinned\n"),
        ("olsnodes -n rac2", "rac2\t2\n"),
        ("olsnodes -l", "rac1\n"),
        ("olsnodes -l -p", "rac1\t192.168.10.1\n"),
        ("olsnodes -c", "practice\n"),
        (
            "crsctl check crs",
            "CRS-4638: Oracle High Availability Services is online\nCRS-4537: Cluster Ready Services is online\n"
            "CRS-4529: Cluster Synchronization Services is online\nCRS-4533: Event Manager is online\n",
        ),
        ("crsctl query crs activeversion", "Oracle Clusterware active version on the cluster is [19.0.0.0.0]\n"),
        (
            "crsctl query crs activeversion -f",
            "Oracle Clusterware active version on the cluster is [19.0.0.0.0]. The cluster upgrade state is [NORMAL]. "
            "The cluster active patch level is [3976270074].\n",
        ),
        ("crsctl query crs softwareversion", "Oracle Clusterware version on node [rac1] is [19.0.0.0.0]\n"),
        (
            "crsctl stat res ora.cluster_interconnect.haip -init",
            "NAME=ora.cluster_interconnect.haip\nTYPE=ora.haip.type\nTARGET=ONLINE\nSTATE=ONLINE on rac1\n\n",
        ),
        (
            "crsctl get css misscount",
            "CRS-4678: Successful get misscount 30 for Cluster Synchronization Services.\n",
        ),
    ],
)
def test_answer(cluster: Lab, command: str, expected: str) -> None:
    done = grid(cluster, "rac1", *command.split())
    assert (done.stdout, done.stderr, done.returncode) == (expected, "", 0)


@pytest.mark.parametrize(
    ("command", "start"),
    [
        ("oifcfg getif -global rac1", "PRIF-6: invalid syntax for the getif command option\n"),
        ("oifcfg nonsense", "PRIF-9: incorrect usage\n"),
        ("olsnodes -p", "Usage: olsnodes "),
        ("olsnodes --help", "Usage: olsnodes "),
        ("olsnodes rac7", "PRCO-19: Failure retrieving list of nodes in the cluster\n"),
        ("crsctl nonsense", "Usage: crsctl "),
        (
            "crsctl stat res ora.x -init",
            "CRS-2613: Could not find resource 'ora.x'.\nCRS-4000: Command Status failed, or completed with errors.\n",
        ),
    ],
)
def test_refusal(cluster: Lab, command: str, start: str) -> None:
    done = grid(cluster, "rac1", *command.split())
    assert done.stdout.startswith(start)
    assert done.returncode == 1


def test_ocssd_is_a_process_of_the_grid_home(cluster: Lab) -> None:
    for node in cluster.nodes:
        home = cluster.environment(node)["GRID_HOME"]
        script = 'for p in /proc/[0-9]*; do echo "$(readlink $p/exe) $(tr "\\0" " " <$p/cmdline)"; done'
        assert f"{home}/bin/ocssd.bin {home}/bin/ocssd.bin " in run(cluster, node, "sh", "-c", script).stdout


def test_a_node_is_a_machine_of_its_own(cluster: Lab) -> None:
    script = (
        "uname -n; ls /sys/class/net /sys/class/net/eth1/mtu; cat /sys/class/net/eth1/mtu; cut -d: -f1 /proc/net/dev"
    )
    output = run(cluster, "rac2", "sh", "-c", script).stdout.split()
    assert output[0] == "rac2"
    assert {"eth0", "eth1", "eth2", "lo", "9000"} <= set(output)
