"""What the nodes of each profile are like: programs, kernel, files and networks, and the adaptors of older programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from racwire_lab import PROFILES, Lab, down, up
from racwire_lab.cluster import node_programs
from racwire_lab.cluster.processes import own_python
from racwire_lab.cluster.topology import Shape
from tests.lab.lab_support import lab_directory, needs_namespaces, run
from tests.lab_own.test_lab_roles import needs_users

Start = Callable[[str], Lab]


@pytest.fixture
def adapted(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run an adaptor before a program that prints its arguments and the given lines."""

    def call(name: str, *words: str, stdout: str = "", stderr: str = "") -> subprocess.CompletedProcess[str]:
        real = tmp_path / "real" / name
        real.parent.mkdir(exist_ok=True)
        (tmp_path / "stdout").write_text(stdout)
        (tmp_path / "stderr").write_text(stderr)
        real.write_text(f'#!/bin/sh\necho "[$*]"\ncat {tmp_path}/stdout\ncat {tmp_path}/stderr >&2\nexit 7\n')
        real.chmod(0o755)
        program = tmp_path / name
        text = (Path(node_programs.__file__).parents[1] / "adaptors" / name).read_text()
        program.write_text(text.replace("@REAL@", str(real)))
        program.chmod(0o755)
        return subprocess.run([str(program), *words], capture_output=True, text=True, timeout=30, check=False)

    return call


def test_ip_of_iproute2_4_11_lacks_what_later_releases_print(adapted) -> None:
    line = "    link/ether 52:54:00:a1:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 allmulti 0 minmtu 68 maxmtu 9978 \n"
    ran = adapted(
        "ip",
        "-d",
        "addr",
        "show",
        stdout=f"{line}    altname enp7s0\n    gso_max_segs 65535 parentbus pci parentdev 0:1 \n",
    )
    assert ran.returncode == 7
    assert ran.stdout.splitlines() == [
        "[-d addr show]",
        "    link/ether 52:54:00:a1:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 ",
        "    gso_max_segs 65535 ",
    ]
    refused = adapted("ip", "-j", "addr")
    assert (refused.returncode, refused.stdout) == (255, "")
    assert 'Option "-j" is unknown' in refused.stderr
    assert adapted("ip", "-V").stdout == "ip utility, iproute2-ss170501\n"


def test_ping_of_iputils_2016_has_its_own_options_rounding_and_messages(adapted) -> None:
    ran = adapted(
        *("ping", "-n", "-W", "0.7", "-c", "3", "-w1.5", "-i", "0.2", "10.0.0.1"),
        stdout="3 packets transmitted, 2 received, 33.3333% packet loss, time 400ms\n",
        stderr="ping: local error: message too long, mtu=1500\nping: connect: Network is unreachable\n",
    )
    assert ran.returncode == 7
    assert ran.stdout.splitlines() == [
        "[-n -W 0 -c 3 -w1 -i 0.2 10.0.0.1]",
        "3 packets transmitted, 2 received, 33% packet loss, time 400ms",
    ]
    assert ran.stderr.splitlines() == [
        "ping: local error: Message too long, mtu=1500",
        "connect: Network is unreachable",
    ]
    assert adapted("ping", "-V").stdout == "ping utility, iputils-s20160308\n"
    probe = adapted("ping", "-M", "probe", "10.0.0.1")
    assert (probe.returncode, probe.stdout) == (2, "")
    assert "do, dont, want are valid ones" in probe.stderr
    assert adapted("ping", "-e", "7", "10.0.0.1").returncode == 2


def test_the_nodes_keep_the_python_of_racwire_and_lack_hidden_programs(tmp_path: Path) -> None:
    node_programs.install(tmp_path, Shape(2, 9000, like="minimal"), "exec true")
    directories = dict(line.split(maxsplit=1) for line in (tmp_path / "program_directories").read_text().splitlines())
    assert "/usr/bin" in directories.values()
    for number, place in directories.items():
        there = os.listdir(tmp_path / "bins" / number)
        assert not {"timeout", "ss", "hostname"} & set(there)
        assert len(there) >= len(os.listdir(place)) - len(PROFILES["minimal"].hidden_programs)
    assert "nmcli" not in (tmp_path / "programs").read_text().split()
    assert not os.path.lexists(tmp_path / "sbin" / "nmcli")
    assert own_python()


@pytest.fixture
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    with lab_directory(tmp_path_factory.mktemp("profiles") / "lab"):
        yield lambda like: up(2, database=False, like=like)
        down()


@pytest.mark.lab
@needs_namespaces
def test_exadata_has_two_nics_in_one_subnet_and_no_haip(start: Start) -> None:
    lab = start("exadata-like")
    addresses = run(lab, "rac2", "ip", "-o", "-4", "address").stdout
    for expected in ("re0    inet 192.168.10.3/22", "re1    inet 192.168.10.4/22", "usb0    inet 169.254.182.77/24"):
        assert expected in addresses
    assert addresses.count("169.254.") == 2  # an address and its broadcast
    grid = f"{lab.directory}/nodes/rac1/grid/bin"
    assert run(lab, "rac1", f"{grid}/oifcfg", "getif").stdout.splitlines() == [
        "bondeth0  10.20.0.0  global  public",
        "re0  192.168.8.0  global  cluster_interconnect,asm",
        "re1  192.168.8.0  global  cluster_interconnect,asm",
    ]
    haip = run(lab, "rac1", f"{grid}/crsctl", "stat", "res", "ora.cluster_interconnect.haip", "-init").stdout
    assert "TARGET=OFFLINE\nSTATE=OFFLINE" in haip
    assert run(lab, "rac1", "test", "-d", "/opt/oracle.cellos").returncode == 0
    assert not Path("/opt/oracle.cellos").exists()


@pytest.mark.lab
@pytest.mark.beyond_sample
@needs_users
@needs_namespaces
def test_a_minimal_node_lacks_programs_and_hides_processes_and_files(start: Start) -> None:
    lab = start("minimal")
    assert run(lab, "rac1", "sh", "-c", "command -v timeout ss nmcli hostname").stdout == ""
    hidden = run(
        lab, "rac1", "sh", "-c", "setpriv --reuid 54401 --regid 54401 --clear-groups ls -d /proc/1 /etc/oratab"
    )
    assert hidden.stdout == "/etc/oratab\n"
    for file in ("/etc/oratab", "/etc/oracle/olr.loc"):
        read = run(lab, "rac1", "setpriv", "--reuid", "54401", "--regid", "54401", "--clear-groups", "cat", file)
        assert "Permission denied" in read.stderr
    assert shutil.which("timeout")
