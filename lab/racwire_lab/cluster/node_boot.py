"""The files and programs from which a practice node boots, and the order to reboot it.

The /etc of a node is a directory among the lab's files. It holds the files of the node's network service
(`network_services.py`), of Oracle and of the accounts. Every other entry is a link to a file of the machine, which the
node sees under another path and cannot change. The machine's own files of these kinds are left out. The programs of a
node are links of this kind too (`node_programs.py`), with some of its own: a reboot or a change of the network stays
inside the node.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import sys
import time
import uuid
from dataclasses import replace
from pathlib import Path

from racwire_lab.cluster import boot_faults, network_services, node_programs, wiring
from racwire_lab.cluster.desired import Desired
from racwire_lab.cluster.networks import Network
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.processes import Process
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.cluster.topology import STANDARD_MTU, PortId, Shape
from racwire_lab.lab_errors import LabError

_START = Path(__file__).parents[1] / "programs" / "start_node_system.py"
_ACCOUNTS = ("passwd", "shadow", "group", "hosts", "oratab")
_NOT_THE_MACHINES = frozenset(
    {
        *_ACCOUNTS,
        *("hostname", "NetworkManager", "sysconfig/network-scripts", "sysconfig/network", "systemd/network"),
        *("network", "netplan", "wicked", "udev/rules.d", "rc.d", "rc.local", "crontab", "cron.d"),
        *("oracle", "oraInst.loc"),
        *("sysctl.conf", "sysctl.d", "tuned"),
    }
)
"""Files of the machine that a node must not see: files from which a node boots, and files that name its Oracle
software."""
_OWN_DIRECTORIES = (*network_services.DIRECTORIES, "rc.d", "udev/rules.d", "sysctl.d")
_SYSCTL_FILE = "sysctl.d/97-oracle-database-sysctl.conf"
"""The name in the Database Installation Guide for Linux, displaying and changing kernel parameter values."""
_BUFFERS = {
    "net/core/rmem_default": 262_144,
    "net/core/rmem_max": 4_194_304,
    "net/core/wmem_default": 262_144,
    "net/core/wmem_max": 1_048_576,
}
"""Bytes: Oracle's minimums, by the path below /proc/sys."""
_RC_LOCAL = """\
#!/bin/sh
# Run at the end of each boot of this node, if it is executable: chmod +x /etc/rc.d/rc.local
touch /var/lock/subsys/local 2>/dev/null || true
"""
_REBOOT_S = 30.0


def install(directory: Path, shape: Shape, nics: dict[PortId, Nic]) -> None:
    """Write the files from which the nodes boot. The accounts and the Grid homes must exist."""
    starting = f"exec {shlex.join([sys.executable, '-I', '-S', str(_START)])}"
    node_programs.install(directory, shape, starting)
    _write(directory / "scripts" / "boot.sh", f"{starting} boot\n")
    own_values = _own_sysctls()
    _write(directory / "own_sysctls", "".join(f"{path}\n" for path in own_values))
    machine = list(node_programs.links(Path("/etc"), f"{node_programs.MACHINE}/etc", _NOT_THE_MACHINES))
    first = None
    for node in shape.nodes:
        home = node_home(directory, node)
        _write(home / "network_service", f"{shape.network_service_of(node)}\n")
        _write(home / "boot_id", f"{uuid.uuid4()}\n")
        for setting, value in own_values.items():
            (home / "sysctl" / setting).parent.mkdir(parents=True, exist_ok=True)
            _write(home / "sysctl" / setting, f"{value}\n")
        os.mkfifo(home / "orders", 0o600)
        own = [nic for port, nic in nics.items() if port.node == node]
        etc = home / "etc"
        etc.mkdir()
        node_programs.lay(machine, etc, first)
        first = first or etc
        _make_etc(directory, node, network_services.files(shape.network_service_of(node), node, own))
        if shape.network_service_of(node) == "keyfile":
            loaded = home / "connections"
            loaded.mkdir()
            for path in (home / "etc" / network_services.DIRECTORIES[0]).iterdir():
                shutil.copyfile(path, loaded / path.name)
            _write(home / "mtu_set", "".join(f"{nic.name}\n" for nic in own if nic.mtu != STANDARD_MTU))


def _own_sysctls() -> dict[str, int]:
    """The settings of an installed node that the machine shares: Oracle's minimums, by the path below /proc/sys."""
    with open("/proc/meminfo", encoding="ascii") as file:
        total_kb = int(file.readline().split()[1])
    numa_nodes = len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))) or 1
    return {
        **_BUFFERS,
        "vm/min_free_kbytes": total_kb * numa_nodes // 200,
    }


def _make_etc(directory: Path, node: str, files: dict[str, str]) -> None:
    home = node_home(directory, node)
    etc = home / "etc"
    for name in _OWN_DIRECTORIES:
        (etc / name).mkdir(parents=True, exist_ok=True)
    for name in _ACCOUNTS:
        shutil.copy2(directory / "etc" / name, etc / name)
    _write(etc / "hostname", f"{node}\n")
    _write(etc / _SYSCTL_FILE, "".join(f"{path.replace('/', '.')} = {size}\n" for path, size in _BUFFERS.items()))
    for path, text in files.items():
        _write(etc / path, text, 0o600 if path.startswith(network_services.DIRECTORIES[0]) else 0o644)
    _write(etc / "rc.d" / "rc.local", _RC_LOCAL)
    (etc / "rc.local").symlink_to("rc.d/rc.local")
    # The Grid home's programs also change the files there, and run outside the node as well.
    oracle = home / "oracle"
    (etc / "oracle").symlink_to(oracle)
    grid = home / "grid"
    oracle.mkdir(exist_ok=True)
    _write(oracle / "olr.loc", f"olrconfig_loc={grid}/cdata/{node}.olr\ncrs_home={grid}\n")


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def record_next_boot(directory: Path, healthy: Desired, before: Desired, after: Desired) -> None:
    """Record the active faults for the next boot of each node: a reboot fixes no fault.

    The network files of a node use the name of a renamed interface too, as on a node that always had that name. All
    other changes are made after the boot has applied the files.
    """
    steps: dict[str, list[str]] = {port.node: [] for port in after.nics}
    for node in steps:
        names = {port: before.nics[port].name for port in before.next_boots if port.node == node}
        service = (node_home(directory, node) / "network_service").read_text(encoding="ascii").strip()
        boot_faults.write(node_home(directory, node), service, names, before.next_boots, after.next_boots)
    for port, nic in after.nics.items():
        if nic.name != before.nics[port].name:
            _rename(node_home(directory, port.node), before.nics[port].name, nic.name)
        steps[port.node] += _after_boot(after.networks[port.network], healthy.nics[port], nic)
    for node, lines in steps.items():
        made = after.hosts[node].routes
        # Rules and bridges remain; routes do not.
        lines += [*(off for _, off in reversed(made) if off), *(on for on, _ in made)]
        _write(node_home(directory, node) / "after_boot", "".join(f"{line}\n" for line in lines))


def _after_boot(network: Network, healthy: Nic, nic: Nic) -> list[str]:
    # Clusterware adds its own addresses when it starts.
    steps = wiring.changed_nic(replace(healthy, name=nic.name), nic, has_haip=False)
    return steps if network.private or not network.bridge else [*steps, *wiring.quick_answers(network, nic)]


def _rename(home: Path, before: str, after: str) -> None:
    directories = [*(home / "etc" / name for name in network_services.DIRECTORIES), home / "connections"]
    files = [path for directory in directories if directory.exists() for path in directory.iterdir()]
    for path in [*files, home / "mtu_set"]:
        if not path.is_file() or path.is_symlink():
            continue
        was = path.read_text(encoding="utf-8", errors="surrogateescape")
        text, target = (
            network_services.renamed(was, before, after),
            path.with_name(network_services.renamed(path.name, before, after)),
        )
        if (text, target) != (was, path):
            new_path = path.with_name(f".{path.name}.new")
            new_path.touch(path.stat().st_mode & 0o777)
            new_path.write_text(text, encoding="utf-8", errors="surrogateescape")
            path.unlink()
            os.replace(new_path, target)


def reboot(directory: Path, node: str, holder: Process) -> None:
    """Reboot a node, and wait until it runs again. Raises LabError when it does not boot.

    Programs that it starts in the background, such as Clusterware, may still be starting.
    """
    try:
        _reboot(directory, node, holder)
    except FileNotFoundError as error:
        raise LabError("The practice cluster was stopped in the meantime: run `racwire lab up`.") from error


def _reboot(directory: Path, node: str, holder: Process) -> None:
    home = node_home(directory, node)
    deadline = time.monotonic() + _REBOOT_S
    was, ordered = "", False
    while True:
        if not ordered:
            was = (home / "boot_id").read_text(encoding="ascii")
            ordered = _order(home / "orders")
        elif _booted(home) not in ("", was):
            return
        if not holder.alive():
            raise LabError(f"The practice node {node} has ended: run `racwire lab down` and `racwire lab up` again.")
        if time.monotonic() > deadline:
            raise LabError(
                f"The practice node {node} did not boot within {_REBOOT_S:g} s: see {home / 'boot.log'}, or "
                "run `racwire lab down` and `racwire lab up` again."
            )
        time.sleep(0.01)


def _order(orders: Path) -> bool:
    """Order the node's first process to reboot. Return False while it does not listen, as during a reboot."""
    try:
        pipe = os.open(orders, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return False
        raise
    try:
        os.write(pipe, b"reboot\n")
    except BrokenPipeError:
        return False
    finally:
        os.close(pipe)
    return True


def _booted(home: Path) -> str:
    """The name of the last completed boot; empty before the first."""
    try:
        return (home / "booted").read_text(encoding="ascii")
    except FileNotFoundError:
        return ""
