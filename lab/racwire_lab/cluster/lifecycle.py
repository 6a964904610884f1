"""Start, find and remove the practice cluster of this user and environment."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace

from racwire_lab.cluster import databases, directory, topology
from racwire_lab.cluster.cluster import Lab, refuse_inside
from racwire_lab.cluster.database_kinds import DEFAULT_KIND, kind_named
from racwire_lab.cluster.hypervisors import behind
from racwire_lab.cluster.port_queues import checked_rate
from racwire_lab.cluster.processes import missing_tool
from racwire_lab.cluster.profiles import DEFAULT_PROFILE, profile_named
from racwire_lab.cluster.starting import bring_up
from racwire_lab.cluster.state import load
from racwire_lab.cluster.topology import (
    DATABASE,
    DATABASE_VERSIONS,
    LLDP,
    MAX_MTU,
    MAX_NODES,
    MIN_MTU,
    MIN_NODES,
    MIXED,
    NETWORK_SERVICES,
    NO_LLDP,
    SWITCH_MTU,
    Shape,
)
from racwire_lab.lab_errors import LabError, LabUsageError


def up(
    nodes: int = 2,
    mtu: int | None = None,
    progress: Callable[[str], None] | None = None,
    database: bool = True,
    database_version: str | None = None,
    keeper: str | None = None,
    switch_mtu: int = SWITCH_MTU,
    db_unique_name: str = DATABASE,
    db_domain: str = "",
    like: str = DEFAULT_PROFILE,
    lldp: str = NO_LLDP,
    db_kind: str = DEFAULT_KIND,
    has_second: bool = False,
    ping_every_s: float = topology.PING_EVERY_S,
    misscount_s: float = topology.MISSCOUNT_S,
    haip_after_s: float = topology.HAIP_AFTER_S,
    ipc_timeout_s: float = topology.IPC_TIMEOUT_S,
    has_spare: bool = False,
    has_storage: bool = False,
    rate: str = "",
    fragment_time_s: int = topology.FRAGMENT_S,
    hypervisor: Iterable[str] = (),
) -> Lab:
    """Start a cluster, or find a running one of the same shape. Report each step to `progress`.

    None stands for the value of the profile. The cluster has a database unless `database` is False or a package is
    missing; `progress` receives the reason. `ping_every_s` is for tests that cannot wait for pings at a real pace.
    Raises LabUsageError when an argument is out of range, and LabError when the cluster cannot start or one of another
    shape runs.
    """
    if not MIN_NODES <= nodes <= MAX_NODES:
        raise LabUsageError(
            f"The practice cluster has {MIN_NODES} to {MAX_NODES} nodes, not {nodes}: choose with --nodes."
        )
    profile = profile_named(like)
    mtu = profile.mtu if mtu is None else mtu
    database_version = profile.database_version if database_version is None else database_version
    keeper = profile.network_service if keeper is None else keeper
    if not MIN_MTU <= mtu <= MAX_MTU:
        raise LabUsageError(
            f"The practice cluster's MTU is {MIN_MTU} to {MAX_MTU} bytes, not {mtu}: choose with --mtu."
        )
    if database_version not in DATABASE_VERSIONS:
        raise LabUsageError(
            f"The practice database is of version {', '.join(DATABASE_VERSIONS)}, not {database_version}: choose "
            "with --database-version."
        )
    if keeper not in (*NETWORK_SERVICES, MIXED):
        raise LabUsageError(
            f"The network service of the nodes is {', '.join(NETWORK_SERVICES)} or {MIXED}, not {keeper}: choose with "
            "--keeper."
        )
    if lldp not in LLDP:
        raise LabUsageError(f"lldpd of the nodes is {', '.join(LLDP)}, not {lldp}: choose with --lldp.")
    topology.checked_mtu(switch_mtu)
    topology.checked_names(db_unique_name, db_domain)
    topology.checked_spare(like, has_spare, has_storage)
    kind_named(db_kind)
    refuse_inside()
    progress = progress or (lambda _: None)
    version = _database(database, database_version, progress)
    for option, seconds in {
        "misscount": misscount_s,
        "haip-after": haip_after_s,
        "ipc-timeout": ipc_timeout_s,
        "fragment-time": fragment_time_s,
    }.items():
        if not topology.SHORTEST_S <= seconds <= topology.LONGEST_S:
            raise LabUsageError(
                f"--{option} is {topology.SHORTEST_S:g} to {topology.LONGEST_S:g} seconds, not {seconds:g}."
            )
    rate_mbps = checked_rate(rate) if rate else 0
    if rate and shutil.which("tc") is None:
        raise LabError(f"For --rate: {missing_tool('tc')}")
    rest = (lldp, db_kind, has_second, ping_every_s, misscount_s, haip_after_s, ipc_timeout_s, has_spare, has_storage)
    shape = Shape(
        nodes, mtu, version, switch_mtu, keeper, db_unique_name, db_domain, like, *rest, rate_mbps, fragment_time_s
    )
    shape = replace(shape, hypervisor=behind(hypervisor, shape))
    path = directory.lab_directory()
    with directory.locked(path, create=True):
        state = load(path)
        if state is not None and state.alive():
            if state.shape != shape:
                raise LabError(
                    f"A practice cluster like {state.shape.like} of {state.shape.size} nodes with MTU "
                    f"{state.shape.mtu}, MTU {state.shape.switch_mtu} at the switch, and "
                    f"{f'database {state.shape.database}' if state.shape.database else 'no database'} is already "
                    "running: run `racwire lab down` first."
                )
            return Lab(path, state)
        directory.clear(path)
        path.chmod(0o700)
        try:
            return Lab(path, bring_up(path, shape, progress))
        except BaseException:
            directory.remove(path)
            raise


def down() -> bool:
    """Stop the cluster and remove its files. Return False when there was no cluster.

    Raises LabError when a process or a file remains.
    """
    refuse_inside()
    path = directory.lab_directory()
    with directory.locked(path, create=False) as there:
        if not there:
            return False
        state = load(path)
        if state is not None and state.alive() and not state.init.kill():
            raise LabError(
                f"The first process of the practice cluster, {state.init.pid}, does not end because a program hangs in "
                "the kernel: run `racwire lab down` again."
            )
        directory.remove(path)
        return True


def find() -> Lab | None:
    """Return the running cluster of this user and environment; None when no cluster runs, even if files of an old one
    remain.

    Raises LabError when the directory belongs to another user.
    """
    path = directory.lab_directory()
    if not directory.exists(path):
        return None
    state = load(path)
    return Lab(path, state) if state is not None and state.alive() else None


def _database(wanted: bool, version: str, progress: Callable[[str], None]) -> str:
    """The version of the database; empty for none."""
    if not wanted:
        return ""
    if not databases.can_start():
        progress("The cluster starts without a database: run `pip install ./lab` in a checkout of racwire to add one.")
        return ""
    return DATABASE_VERSIONS[version]
