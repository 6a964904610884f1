"""oifcfg setif and delif on practice nodes, and the networks that Clusterware takes when it starts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from racwire_lab import Lab, LabUsageError, up
from tests.lab.lab_support import grid, lab_directory, needs_namespaces, run

pytestmark = [needs_namespaces, pytest.mark.beyond_sample]

NEW = "eth3/192.168.12.0:cluster_interconnect,asm"


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        yield up(database=False, has_spare=True)


def getif(cluster: Lab) -> list[list[str]]:
    return [line.split() for line in grid(cluster, "rac2", "oifcfg", "getif").stdout.splitlines()]


def restart(cluster: Lab) -> None:
    for node in cluster.nodes:
        assert grid(cluster, node, "crsctl", "stop", "crs").returncode == 0
    for node in cluster.nodes:
        assert grid(cluster, node, "crsctl", "start", "crs").returncode == 0


def haips(cluster: Lab, node: str) -> dict[str, str]:
    """Return the prefix length of the HAIP of each interface of a node."""
    rows = [line.split() for line in run(cluster, node, "ip", "-o", "-4", "address").stdout.splitlines()]
    return {row[1]: row[3].partition("/")[2] for row in rows if row[3].startswith("169.254.")}


def test_a_registered_network_is_used_after_the_restart(cluster: Lab) -> None:
    assert haips(cluster, "rac1") == {"eth1": "17", "eth2": "17"}
    done = grid(cluster, "rac1", "oifcfg", "setif", "-global", NEW)
    assert (done.stdout, done.returncode) == ("", 0)
    assert getif(cluster)[-1] == ["eth3", "192.168.12.0", "global", "cluster_interconnect,asm"]
    profile = f"{cluster.environment('rac2')['GRID_HOME']}/gpnp/rac2/profiles/peer/profile.xml"
    assert 'IP="192.168.12.0" Adapter="eth3"' in run(cluster, "rac2", "cat", profile).stdout
    assert "eth3" not in haips(cluster, "rac1")
    restart(cluster)
    assert haips(cluster, "rac1") == haips(cluster, "rac2") == dict.fromkeys(("eth1", "eth2", "eth3"), "18")

    # A registered network whose interface is down on a node: its HAIP is on another NIC there.
    run(cluster, "rac2", "ip", "link", "set", "eth3", "down")
    restart(cluster)
    assert haips(cluster, "rac2").keys() == {"eth1", "eth2"}

    for name in ("eth2", "eth3/192.168.12.0"):
        assert grid(cluster, "rac1", "oifcfg", "delif", "-global", name).returncode == 0
    last = grid(cluster, "rac1", "oifcfg", "delif", "-global", "eth1")
    assert last.stdout.startswith("PRIF-31: ")
    restart(cluster)
    assert haips(cluster, "rac1") == {"eth1": "16"}


def test_setif_needs_every_node_and_a_right_form(cluster: Lab) -> None:
    assert grid(cluster, "rac2", "crsctl", "stop", "crs").returncode == 0
    refused = grid(cluster, "rac1", "oifcfg", "setif", "-global", NEW)
    assert refused.returncode == 1
    assert refused.stdout.startswith("PRIF-33: ")
    assert 'GPnP service on host "rac2" not found.' in refused.stdout
    for words, code in (
        (("setif", "eth3/192.168.12.0:asm"), "PRIF-5"),
        (("setif", "-global", "eth3:asm"), "PRIF-1"),
        (("setif", "-global", "eth3/192.168.12.0:storage"), "PRIF-2"),
        (("delif", "-global", "eth9"), "PRIF-3"),
    ):
        assert grid(cluster, "rac1", "oifcfg", *words).stdout.startswith(f"{code}: ")


def test_a_node_without_any_registered_network_does_not_start(cluster: Lab) -> None:
    assert grid(cluster, "rac2", "crsctl", "stop", "crs").returncode == 0
    for nic in ("eth1", "eth2"):
        run(cluster, "rac2", "ip", "link", "set", nic, "down")
    assert grid(cluster, "rac2", "crsctl", "start", "crs").returncode == 1
    assert not cluster.is_running("rac2", "cssd")


def test_listeners_of_flex_asm(cluster: Lab) -> None:
    words = ("-listener", "ASMNET3LSNR_ASM")
    assert (
        grid(cluster, "rac1", "srvctl", "add", "listener", *words, "-asmlistener", "-subnet", "192.168.12.0").returncode
        == 0
    )
    shown = grid(cluster, "rac2", "srvctl", "config", "listener", "-asmlistener").stdout
    assert shown.count("Type: ASM Listener") == 3
    assert grid(cluster, "rac1", "srvctl", "update", "listener", *words, "-asm", "-remove", "-force").returncode == 0
    assert grid(cluster, "rac1", "srvctl", "config", "listener", *words).stdout == "PRCN-2044 : No listener exists\n"


def test_a_profile_with_other_networks_has_no_spare_one() -> None:
    with pytest.raises(LabUsageError, match="another network"):
        up(like="exadata-like", has_spare=True)
