"""The Clusterware of the practice nodes: its files, its state, and its first start.

Afterwards `crsctl` of the Grid homes starts and stops it from within the nodes. Each running service holds a lock
(`grid/lib/stack.sh`). Two settings in the node's directory survive a reboot: autostart in `oracle`, and the target
state in `stack`. Clusterware adds and removes the HAIPs and the SCAN's address.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from racwire_lab.cluster.desired import Desired
from racwire_lab.cluster.files import write_lines
from racwire_lab.cluster.processes import LabJob, Process, into
from racwire_lab.cluster.profiles import profile_named
from racwire_lab.cluster.topology import SCAN_ADDRESS, SCAN_NAME, SECOND_DATABASE, SERVICE_PORT, Shape
from racwire_lab.programs.cache_fusion.stack_locks import DATABASE, INSTANCE, Lock

Service = Literal["ohasd", "cssd", "crsd", "evmd", "instance"]
SERVICES: tuple[Service, ...] = ("ohasd", "cssd", "crsd", "evmd", "instance")
_LEAVES_S = 15.0
GRID_OWNERS_FILES = ("registrations", "asm_listeners", "haip_slots")
"""What the Grid owner's tools change below `cluster`: the networks that oifcfg set or deleted since the installation,
and the listeners of Flex ASM. `haip_slots` has the networks with a HAIP, in the order of their subnets."""
_PIPES = ("idle", "reboot", "orders")


def install(directory: Path, shape: Shape) -> None:
    """Write the files of a cluster whose Clusterware is to run, at once and after each boot."""
    for node in shape.nodes:
        stack = _home(directory, node) / "stack"
        stack.mkdir()
        for service in SERVICES:
            lock(directory, node, service).touch(mode=0o644)
        for pipe in _PIPES:
            os.mkfifo(stack / pipe, mode=0o600)
        (stack / "target").write_text("ONLINE\n", encoding="ascii")
        autostart = _home(directory, node) / "oracle" / "scls_scr" / node / "root"
        autostart.mkdir(parents=True, exist_ok=True)
        (autostart / "ohasdstr").write_text("enable\n", encoding="ascii")
    for name in GRID_OWNERS_FILES:
        (directory / "cluster" / name).touch(mode=0o644)
    if profile_named(shape.like).has_asm_network:
        listeners = (f"ASMNET{network.number}LSNR_ASM {network.subnet} enabled" for network in shape.private_networks)
        write_lines(directory / "cluster" / "asm_listeners", listeners)
    if shape.database:
        (directory / DATABASE).write_text("ONLINE\n", encoding="ascii")
        for node in shape.nodes:
            (_home(directory, node) / INSTANCE).write_text("ONLINE\n", encoding="ascii")
        kind = shape.kind
        words = {
            "db_unique_name": shape.db_unique_name,
            "db_domain": shape.db_domain,
            "db_type": kind.type,
            "db_management": "policy" if kind.is_policy_managed else "administrator",
            "db_role": kind.role.replace(" ", "_"),
            "db_open_mode": kind.open_mode,
            "second": SECOND_DATABASE if shape.has_second else "",
            "misscount": f"{shape.misscount_s:g}",
            "scan": f"{SCAN_NAME} {SCAN_ADDRESS} {SERVICE_PORT}",
        }
        for name, value in words.items():
            (directory / "cluster" / name).write_text(f"{value}\n", encoding="ascii")
        instances = [f"{node} {shape.instance_of(node)}" for node in shape.nodes if shape.has_instance(node)]
        write_lines(directory / "cluster" / "instances", instances)


def write_haips(directory: Path, target: Desired) -> None:
    """Write the number and address of each NIC of a node, and which HAIP belongs to which address."""
    for node in target.logins:
        stack = _home(directory, node) / "stack"
        own = {port.network: nic for port, nic in target.nics.items() if port.node == node}
        write_lines(stack / "haips", (f"{nic.address} {nic.haip}" for nic in own.values() if nic.haip))
        write_lines(stack / "nics", (f"{nic.name} {number} {nic.address}" for number, nic in own.items()))


def start(directory: Path, nodes: Mapping[str, Process], *, rootless: bool) -> Iterator[LabJob]:
    """Yield the jobs that start Clusterware on every node, without a check whether the nodes reach each other."""
    for node, holder in nodes.items():
        script = _home(directory, node) / "grid" / "lib" / "all.sh"
        argv = [*into(holder, "mount", "uts", "net", "pid", rootless=rootless), "sh", str(script)]
        yield LabJob(argv, "", f"start Clusterware on {node}")


def is_running(directory: Path, node: str, service: Service) -> bool:
    """Whether a service of a node's Clusterware runs at this moment; for `instance`, whether the instance is open."""
    seen = Lock(lock(directory, node, service))
    try:
        return seen.is_held()
    finally:
        seen.close()


def wait_until_ended(directory: Path, node: str) -> None:
    """Wait until the node has left the cluster, for some seconds at most."""
    deadline = time.monotonic() + _LEAVES_S
    while time.monotonic() < deadline and any(is_running(directory, node, s) for s in ("cssd", "instance")):
        time.sleep(0.05)


def lock(directory: Path, node: str, service: Service) -> Path:
    """Return the file that a service locks while it runs."""
    return _home(directory, node) / "stack" / f"{service}.lock"


def _home(directory: Path, node: str) -> Path:
    return directory / "nodes" / node
