"""Start a practice cluster: write its files, start its processes, connect its nodes, and save its state."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from racwire_lab.cluster import (
    accounts,
    alert_logs,
    apply,
    clusterware,
    databases,
    holders,
    node_boot,
    roles,
    ssh_configuration,
    ssh_servers,
    stack,
)
from racwire_lab.cluster.desired import desired
from racwire_lab.cluster.files import write_lines
from racwire_lab.cluster.processes import missing_tool, run_all
from racwire_lab.cluster.profiles import ClusterProfile, profile_named
from racwire_lab.cluster.state import State, boot_id, save
from racwire_lab.cluster.topology import Shape
from racwire_lab.lab_errors import LabError

_SCRIPTS = Path(__file__).parents[1] / "scripts"


def bring_up(path: Path, shape: Shape, progress: Callable[[str], None]) -> State:
    """Start a cluster in an empty directory, and save its state. Raises LabError when it does not start."""
    rootless = holders.needs_user_namespace()
    sshd = ssh_configuration.find_sshd()
    profile, reason = _profile(shape.like, rootless=rootless)
    if reason:
        progress(f"The nodes have no user but root, because {reason}.")
    with roles.readable_files(profile):
        return _start(path, shape, profile, reason, sshd, rootless=rootless, progress=progress)


def _profile(like: str, *, rootless: bool) -> tuple[ClusterProfile, str]:
    """The profile, and why this machine cannot have its users; it has none then."""
    profile = profile_named(like)
    uid_map = Path("/proc/self/uid_map").read_text(encoding="ascii")
    reason = roles.why_unavailable(profile, rootless=rootless, uid_map=uid_map)
    return (replace(profile, accounts=()) if reason else profile), reason


def _start(
    path: Path,
    shape: Shape,
    profile: ClusterProfile,
    no_users_reason: str,
    sshd: str | None,
    *,
    rootless: bool,
    progress: Callable[[str], None],
) -> State:
    if profile.accounts and sshd is None:
        raise LabError("The users of the practice nodes need ssh: install openssh-server.")
    progress(f"Making {shape.size} nodes in {path}{' without root' if rootless else ''}.")
    _prepare(path, shape, profile, rootless=rootless, with_ssh=sshd is not None)
    with databases.servers(path, shape) as servers, holders.booted(path, shape, rootless=rootless) as held:
        progress("Connecting the nodes to one public and two private networks.")
        hypervisors = {
            node: holders.spawn(path, held.init, "hypervisor", rootless=rootless) for node in shape.hypervisor
        }
        running = apply.RunningCluster(path, rootless, held.init, held.nodes, {}, hypervisors)
        healthy = desired(shape, ())
        apply.build(running, healthy)
        node_boot.record_next_boot(path, healthy, healthy, healthy)
        progress("Starting Clusterware and the remote shell on each node.")
        run_all(stack.start(path, held.nodes, rootless=rootless))
        if servers:
            servers.start(held.nodes)
        remote_shell, reason = ssh_servers.serve(path, held.nodes, profile, sshd=sshd, rootless=rootless)
        if reason:
            progress(f"The nodes use a stand-in for ssh, because {reason}.")
        if servers:
            progress("Starting an instance of the practice database on each node.")
            databases.start_daemons(path, held.nodes, rootless=rootless)
            servers.wait()
        state = State(
            *(shape, boot_id(), rootless, remote_shell, reason, held.init, held.nodes),
            routers={},
            faults=(),
            no_users_reason=no_users_reason,
            hypervisors=hypervisors,
        )
        save(path, state)
    return state


def _prepare(path: Path, shape: Shape, profile: ClusterProfile, *, rootless: bool, with_ssh: bool) -> None:
    """Write all files that the nodes will read."""
    for tool in ("ip", "nsenter", "unshare"):
        if shutil.which(tool) is None:
            raise LabError(missing_tool(tool))
    shutil.copytree(_SCRIPTS, path / "scripts")
    write_lines(path / "ping_groups", [profile.ping_groups])
    write_lines(path / "fragment_time", [str(shape.fragment_time_s)])
    write_lines(path / "nic_sysctls", (f"{name} {value}" for name, value in profile.nic_sysctls))
    write_lines(path / "vendor_directories", profile.vendor_directories)
    write_lines(path / "proc_options", ["hidepid=2" if profile.hides_processes else "rw"])
    clusterware.install(path, shape)
    stack.install(path, shape)
    databases.install(path, shape)
    alert_logs.install(path, shape)
    for node in shape.nodes:
        (ssh_configuration.node_home(path, node) / "run").mkdir()
    accounts.write(path, shape, profile, rootless=rootless)
    node_boot.install(path, shape, desired(shape, ()).nics)
    if with_ssh:
        run_all(ssh_configuration.keygen_jobs(path, shape, profile))
        ssh_configuration.configure(path, shape, profile, rootless=rootless)
    roles.install(path, shape, profile)
