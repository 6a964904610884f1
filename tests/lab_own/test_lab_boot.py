"""A practice node boots from its own files, with each network service; only this node reboots."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from racwire_lab import Lab, find, up
from racwire_lab.cluster.topology import NETWORK_SERVICES
from tests.lab.lab_support import (
    assert_healthy,
    grid,
    lab_directory,
    needs_namespaces,
    ping,
    run,
    settings,
    ssh,
    until,
)

pytestmark = [needs_namespaces, pytest.mark.beyond_sample]

NODES = dict(zip(NETWORK_SERVICES, ("rac1", "rac2", "rac3"), strict=True))
NETWORK_FILE = "/etc/systemd/network/10-eth1.network"
IFCFG = "/etc/sysconfig/network-scripts/ifcfg-eth1"

SET = {
    "keyfile": "nmcli connection modify 'eth1' 802-3-ethernet.mtu 4000 && nmcli connection up 'eth1'",
    "ifcfg": f"sed -i '/^MTU=/d' {IFCFG} && echo MTU=4000 >>{IFCFG} && ifdown eth1 && ifup eth1",
    "networkd": f"sed -i 's/^MTUBytes=.*/MTUBytes=4000/' {NETWORK_FILE} && networkctl reload && "
    "networkctl reconfigure eth1",
}
UNSET = {
    "keyfile": "nmcli connection modify 'eth1' 802-3-ethernet.mtu 0",
    "ifcfg": f"sed -i '/^MTU=/d' {IFCFG}",
    "networkd": f"sed -i '/^MTUBytes=/d' {NETWORK_FILE}",
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        yield up(3, database=False, keeper="mixed")


@pytest.fixture
def cluster(running: Lab) -> Iterator[Lab]:
    """The cluster; its nodes' files are restored afterwards."""
    etc = {node: running.directory / "nodes" / node / "etc" for node in running.nodes}
    before = {node: {path: path.read_bytes() for path in etc[node].glob("*/*/*eth*")} for node in running.nodes}
    yield running
    for node, files in before.items():
        changed = [path for path, content in files.items() if path.read_bytes() != content]
        for path in changed:
            path.write_bytes(files[path])
        if changed:
            reboot(running, node)


def reboot(cluster: Lab, node: str) -> None:
    """Reboot it from outside, and wait for its Clusterware as well."""
    cluster.reboot(node)
    until(lambda: cluster.is_running(node, "crsd"))


def mtu(cluster: Lab, node: str, nic: str = "eth1") -> int:
    return int(run(cluster, node, "cat", f"/sys/class/net/{nic}/mtu").stdout)


def boot_id(cluster: Lab, node: str) -> str:
    return run(cluster, node, "cat", "/proc/sys/kernel/random/boot_id").stdout


def without_haip(cluster: Lab, node: str) -> str:
    """A node's network without the addresses of Clusterware, which may not start on a broken network."""
    return "\n".join(line for line in settings(cluster, node).splitlines() if "169.254." not in line)


@pytest.mark.parametrize("keeper", NETWORK_SERVICES)
def test_a_node_boots_from_its_first_files_with_the_interfaces_of_the_lab(cluster: Lab, keeper: str) -> None:
    node = NODES[keeper]
    assert cluster.network_service_of(node) == keeper
    before, boot = settings(cluster, node), boot_id(cluster, node)
    reboot(cluster, node)
    assert settings(cluster, node) == before
    assert boot_id(cluster, node) != boot
    assert_healthy(cluster)


@pytest.mark.parametrize("keeper", NETWORK_SERVICES)
def test_an_mtu_in_no_file_is_lost(cluster: Lab, keeper: str) -> None:
    node = NODES[keeper]
    changes = "ip link set eth1 mtu 4000; ip address add 10.9.9.9/24 dev eth1; ip route add 10.8.0.0/16 dev eth1"
    run(cluster, node, "sh", "-c", changes)
    assert mtu(cluster, node) == 4000
    cluster.reboot(node)
    assert mtu(cluster, node) == 9000
    left = run(cluster, node, "sh", "-c", "ip address show eth1; ip route show dev eth1").stdout
    assert "192.168.10." in left
    assert "10.9.9.9" not in left
    assert "10.8.0.0" not in left


@pytest.mark.parametrize("keeper", NETWORK_SERVICES)
def test_a_command_of_the_network_service_applies_at_once_and_after_a_reboot(cluster: Lab, keeper: str) -> None:
    node = NODES[keeper]
    done = run(cluster, node, "sh", "-c", SET[keeper])
    assert (done.returncode, done.stderr) == (0, "")
    assert mtu(cluster, node) == 4000
    cluster.reboot(node)
    assert (mtu(cluster, node), mtu(cluster, node, "eth2"), mtu(cluster, node, "eth0")) == (4000, 9000, 1500)
    peer = "192.168.10.2" if node == "rac1" else "192.168.10.1"
    assert ping(cluster, node, peer, 4000 - 28) == ""
    assert "mtu=4000" in ping(cluster, node, peer, 4000 - 27)
    run(cluster, node, "sh", "-c", UNSET[keeper])
    cluster.reboot(node)
    assert mtu(cluster, node) == 1500


def test_networkmanager_restores_only_an_mtu_that_it_has_set_itself(cluster: Lab) -> None:
    script = (
        "nmcli connection modify eth1 802-3-ethernet.mtu 0; nmcli connection up eth1; cat /sys/class/net/eth1/mtu;"
        "ip link set eth1 mtu 3000; nmcli connection up eth1; cat /sys/class/net/eth1/mtu"
    )
    output = run(cluster, "rac1", "sh", "-c", script).stdout.splitlines()
    assert [line for line in output if line.isdigit()] == ["1500", "3000"]


def test_an_edited_keyfile_applies_once_networkmanager_has_read_it(cluster: Lab) -> None:
    file = "/etc/NetworkManager/system-connections/eth1.nmconnection"
    command = "nmcli -g 802-3-ethernet.mtu connection show eth1"
    script = f"sed -i s/mtu=9000/mtu=4000/ {file}; {command}; nmcli connection reload; {command}"
    assert run(cluster, "rac1", "sh", "-c", script).stdout == "9000\n4000\n"
    cluster.reboot("rac1")
    assert mtu(cluster, "rac1") == 4000


def test_a_boot_sets_what_the_files_of_sysctl_say_and_loses_the_rest(cluster: Lab) -> None:
    def settings_of(*keys: str) -> list[str]:
        return run(cluster, "rac1", "sysctl", "-n", *keys).stdout.split()

    keys = ("net.core.rmem_max", "net.ipv4.conf.eth1.rp_filter", "net.ipv4.conf.eth2.rp_filter")
    with open("/proc/sys/net/core/rmem_max", encoding="ascii") as file:
        of_the_machine = file.read()
    run(cluster, "rac1", "sysctl", "-w", *(f"{key}={value}" for key, value in zip(keys, (16777216, 2, 2), strict=True)))
    own = cluster.directory / "nodes" / "rac1" / "etc" / "sysctl.d" / "zz-own.conf"
    own.write_text("net.ipv4.conf.*.rp_filter = 1\nnet/ipv4/conf/eth1/rp_filter = 2\nkernel.sysrq = 0\n")
    assert settings_of(*keys) == ["16777216", "2", "2"]
    cluster.reboot("rac1")
    assert settings_of(*keys) == ["4194304", "2", "1"]
    own.unlink()
    cluster.reboot("rac1")
    assert settings_of(*keys) == ["4194304", "0", "0"]
    with open("/proc/sys/net/core/rmem_max", encoding="ascii") as file:
        assert file.read() == of_the_machine


@pytest.mark.parametrize("command", ["reboot", "shutdown -r now", "systemctl reboot", "init 6"])
def test_a_node_can_be_rebooted_from_within(cluster: Lab, command: str) -> None:
    before = boot_id(cluster, "rac2")
    mark = f"4242{os.getpid()}"
    ssh(cluster, "rac1", "rac2", f"sleep {mark} >/dev/null 2>&1 </dev/null & {command}; sleep 20")
    booted = cluster.directory / "nodes" / "rac2" / "booted"
    until(lambda: booted.read_text() not in ("", before))
    assert ssh(cluster, "rac1", "rac2", "uname -n").stdout == "rac2\n"
    assert mark not in run(cluster, "rac2", "ps", "-ef").stdout


def test_rc_local_runs_last_if_it_is_executable(cluster: Lab) -> None:
    script = "printf '#!/bin/sh\\nip link set eth2 mtu 3000\\n' >/etc/rc.d/rc.local; chmod {} /etc/rc.d/rc.local"
    for mode, expected in (("-x", 9000), ("+x", 3000)):
        run(cluster, "rac1", "sh", "-c", script.format(mode))
        cluster.reboot("rac1")
        assert mtu(cluster, "rac1", "eth2") == expected
    run(cluster, "rac1", "chmod", "-x", "/etc/rc.d/rc.local")
    reboot(cluster, "rac1")


def test_clusterware_starts_with_the_node_only_if_autostart_is_enabled(cluster: Lab) -> None:
    grid(cluster, "rac3", "crsctl", "disable", "crs")
    cluster.reboot("rac3")
    assert not cluster.is_running("rac3", "ohasd")
    assert "169.254" not in run(cluster, "rac3", "ip", "address").stdout
    grid(cluster, "rac3", "crsctl", "enable", "crs")
    reboot(cluster, "rac3")
    assert "169.254" in run(cluster, "rac3", "ip", "address").stdout


def test_a_boot_killed_in_the_middle_starts_again(cluster: Lab) -> None:
    mark = cluster.directory / "killed"
    script = f"#!/bin/sh\n[ -e {mark} ] || {{ touch {mark}; ip link set eth1 mtu 2000; kill -9 $PPID; }}\n"
    rc_local = cluster.directory / "nodes/rac1/etc/rc.d/rc.local"
    rc_local.write_text(script)
    rc_local.chmod(0o755)
    reboot(cluster, "rac1")
    assert mark.exists()
    assert mtu(cluster, "rac1") == 9000
    rc_local.chmod(0o644)
    mark.unlink()


def test_a_reboot_does_not_fix_a_network_fault(cluster: Lab) -> None:
    before = {node: settings(cluster, node) for node in cluster.nodes}
    cluster.break_("node-mtu", "rac2", 1)
    cluster.break_("names-differ", "rac2", 2)
    cluster.break_("duplicate-subnet")
    broken = without_haip(cluster, "rac2")
    assert "ens2f1" in broken
    assert "192.168.10.102/24" in broken
    cluster.reboot("rac2")
    assert without_haip(cluster, "rac2") == broken
    assert run(cluster, "rac2", "cat", "/etc/sysconfig/network-scripts/ifcfg-ens2f1").stdout.count("ens2f1") == 2
    cluster.mend()
    reboot(cluster, "rac2")
    assert {node: settings(cluster, node) for node in cluster.nodes} == before
    assert_healthy(cluster)


def test_concurrent_reboots_and_network_changes_do_not_mix(cluster: Lab) -> None:
    with ThreadPoolExecutor() as pool:
        reboots = [pool.submit(cluster.reboot, node) for node in cluster.nodes]
        for _ in range(2):
            cluster.break_("node-mtu").break_("routed").mend()
        for done in reboots:
            done.result()
    for node in cluster.nodes:
        until(lambda node=node: cluster.is_running(node, "crsd"))  # type: ignore[misc]
    assert_healthy(cluster)
    again = find()
    assert again
    assert again.state.nodes == cluster.state.nodes


class TestHost:
    def test_a_node_cannot_reboot_the_kernel_of_the_host(self, cluster: Lab) -> None:
        """Request a harmless value: only a kernel that would reboot this namespace alone rejects it."""
        ctrl_alt_del_on = 0x89ABCDEF
        program = (
            "import ctypes; libc = ctypes.CDLL(None, use_errno=True); "
            f"libc.reboot(ctypes.c_int({ctypes.c_int(ctrl_alt_del_on).value})); print(ctypes.get_errno())"
        )
        done = run(cluster, "rac1", sys.executable, "-c", program)
        assert done.stdout.strip() == str(errno.EINVAL), done.stderr

    def test_a_node_cannot_reach_the_reboot_programs_of_the_host(self, cluster: Lab) -> None:
        names = ["systemctl", "reboot", "shutdown", "poweroff", "halt", "init", "telinit", "networkctl", "nmcli"]
        script = 'for name; do for place in /usr/sbin /usr/bin /sbin /bin; do head -n 1 "$place/$name"; done; done'
        found = run(cluster, "rac1", "sh", "-c", script, "sh", *names).stdout
        assert set(found.splitlines()) == {"#!/bin/sh"}
        refused = run(cluster, "rac1", "sh", "-c", "poweroff; shutdown -h now; systemctl halt; init 0; reboot -p")
        assert refused.stderr.count("can be rebooted but not switched off") == 5

    def test_the_files_of_the_host_are_unchanged(self, cluster: Lab) -> None:
        run(cluster, "rac1", "sh", "-c", "echo x >/etc/racwire-was-here; echo x >>/etc/passwd; mkdir /etc/racwire.d")
        assert not os.path.exists("/etc/racwire-was-here")
        assert not os.path.exists("/etc/racwire.d")
        assert not Path("/etc/passwd").read_bytes().endswith(b"\nx\n")

    def test_the_boot_files_of_the_host_are_not_those_of_the_nodes(self, cluster: Lab) -> None:
        script = "cd /etc; ls NetworkManager/system-connections sysconfig/network-scripts systemd/network udev/rules.d"
        expected = "NetworkManager/system-connections:\n\nsysconfig/network-scripts:\n\n"
        expected += "systemd/network:\n10-eth0.network\n10-eth1.network\n10-eth2.network\n\nudev/rules.d:\n"
        assert run(cluster, "rac3", "sh", "-c", script).stdout == expected
        assert run(cluster, "rac3", "cat", "/etc/oracle/olr.loc").stdout.splitlines()[1] == (
            f"crs_home={cluster.environment('rac3')['GRID_HOME']}"
        )
