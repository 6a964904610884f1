"""What the nodes of a practice cluster are like: their users, groups and sshd, as data only (`lab up --like`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from racwire_lab.cluster.networks import EXADATA_NETWORKS, NETWORKS, ROCE_MTU, Network
from racwire_lab.lab_errors import LabUsageError


@dataclass(frozen=True)
class NodeAccount:
    """A user of every node other than root."""

    name: str
    uid: int
    group: str
    """The primary group; `groups` are the others."""
    groups: tuple[str, ...] = ()
    shells: tuple[str, ...] = ("/bin/bash", "/bin/sh")
    """The login shell: the first of these that the machine has."""
    has_equivalence: bool = True
    """Whether the user logs in by ssh from each node to each other one without a password."""


@dataclass(frozen=True)
class ClusterProfile:
    """What a practice cluster is like."""

    name: str
    summary: str
    accounts: tuple[NodeAccount, ...] = ()
    groups: dict[str, int] = field(default_factory=dict)
    """The groups of the nodes and their numbers."""
    sshd: tuple[str, ...] = ()
    """Lines of sshd_config that precede the lab's own: sshd uses the first value of a keyword."""
    banner: str = ""
    """The text that sshd sends before each login."""
    ping_groups: str = "0 2147483647"
    """The kernel's ping_group_range: which groups may send pings through a socket, without the program ping."""
    greeting: str = ""
    """The text that the login profile of each user prints, also for a login that runs one command."""
    networks: tuple[Network, ...] = NETWORKS
    mtu: int = 9000
    """The MTU of the private NICs, unless `lab up` names another one."""
    network_service: str = "keyfile"
    """The network service of the nodes, unless `lab up` names another one."""
    clusterware_release: str = "19.0.0.0.0 3976270074"
    """The active version of Clusterware and its patch level."""
    has_asm_network: bool = True
    """Whether the private networks also carry the traffic of ASM, as with Flex ASM."""
    database_version: str = "19c"
    """The version of the database, unless `lab up` names another one."""
    cluster_interconnects_set: bool = False
    """Whether each instance has the addresses of its node in the parameter cluster_interconnects."""
    nic_sysctls: tuple[tuple[str, int], ...] = ()
    """Values of net.ipv4.conf for every NIC."""
    hidden_programs: tuple[str, ...] = ()
    """Programs of the machine that the nodes do not have."""
    adapted_programs: tuple[str, ...] = ()
    """Programs before which the nodes have an adaptor, which makes them like an older release."""
    hides_processes: bool = False
    """Whether users see no processes of other users (hidepid=2 of /proc)."""
    closed_files: tuple[tuple[str, int, str, str], ...] = ()
    """Files and directories below /etc with their mode, owner and group."""
    vendor_directories: tuple[str, ...] = ()
    """Directories below /opt that the nodes have in addition to the machine's own: those of vendor software."""

    def account(self, name: str) -> NodeAccount | None:
        """Return the account of a user; None when the nodes have no such user."""
        return next((account for account in self.accounts if account.name == name), None)


GRID_OWNER, DATABASE_OWNER, INVENTORY_GROUP = "grid", "oracle", "oinstall"
DEFAULT_PROFILE = "plain"
_ORACLE_GROUPS = {
    INVENTORY_GROUP: 54321,
    "dba": 54322,
    "oper": 54323,
    "backupdba": 54324,
    "dgdba": 54325,
    "kmdba": 54326,
    "asmdba": 54327,
    "asmoper": 54328,
    "asmadmin": 54329,
    "racdba": 54330,
}
"""The groups and numbers of the Grid Infrastructure Installation Guide."""
_GROUPS = {**_ORACLE_GROUPS, "dba1": 54401}
_PYTHON_3 = ("python3", *(f"python3.{minor}" for minor in range(6, 16)))
_NO_PING_SOCKET = "1 0"
"""The kernel's own default of ping_group_range: no group."""
_OWNERS = (
    # The Grid owner is not in dba (OSDBA): it cannot log in to the database as SYSDBA.
    NodeAccount(GRID_OWNER, 54331, INVENTORY_GROUP, ("asmadmin", "asmdba", "asmoper", "racdba")),
    NodeAccount(
        DATABASE_OWNER,
        54321,
        INVENTORY_GROUP,
        ("dba", "oper", "backupdba", "dgdba", "kmdba", "racdba", "asmdba"),
        shells=("/bin/csh", "/bin/tcsh", "/bin/bash", "/bin/sh"),
    ),
    NodeAccount("dba1", 54401, "dba1", has_equivalence=False),
)

PROFILES = {
    profile.name: profile
    for profile in (
        ClusterProfile(DEFAULT_PROFILE, "one user, root, owns all and logs in everywhere"),
        ClusterProfile(
            "hardened",
            "users grid, oracle and dba1 with their own rights, and a strict sshd",
            accounts=_OWNERS,
            groups=_GROUPS,
            sshd=(
                "PermitRootLogin no",
                "MaxSessions 1",
                "MaxAuthTries 3",
                "AllowTcpForwarding no",
                "AcceptEnv LANG LC_*",
            ),
            ping_groups=_NO_PING_SOCKET,
            banner="*** Authorised use only. All activity is recorded. ***\n",
            greeting="This host is under change control.",
        ),
        ClusterProfile(
            "exadata-like",
            "NICs, addresses and MTU of Exadata with RoCE, no HAIP; users grid, oracle and dba1",
            accounts=_OWNERS,
            groups=_GROUPS,
            ping_groups=_NO_PING_SOCKET,
            networks=EXADATA_NETWORKS,
            mtu=ROCE_MTU,
            cluster_interconnects_set=True,
            network_service="ifcfg",
            # As in the sysctl.conf of Exadata's image for its private interfaces.
            nic_sysctls=(("arp_ignore", 1), ("arp_accept", 1), ("accept_local", 1)),
            vendor_directories=("/opt/oracle.cellos",),
        ),
        ClusterProfile(
            "old-ol7",
            "programs, network files and Clusterware of Oracle Linux 7 with 12.1; users grid, oracle and dba1",
            accounts=_OWNERS,
            groups=_GROUPS,
            ping_groups=_NO_PING_SOCKET,
            network_service="ifcfg",
            clusterware_release="12.1.0.2.0 0",
            has_asm_network=False,
            database_version="12.1",
            hidden_programs=(*_PYTHON_3, "lldpctl", "lldpcli", "networkctl"),
            adapted_programs=("ip", "ping"),
        ),
        ClusterProfile(
            "minimal",
            "few programs, files that only their owners read, no processes of others; users grid, oracle and dba1",
            accounts=_OWNERS,
            groups=_GROUPS,
            ping_groups=_NO_PING_SOCKET,
            network_service="ifcfg",
            hidden_programs=(
                *_PYTHON_3,
                *("nmcli", "lldpctl", "lldpcli", "ethtool", "ss", "netstat", "timeout", "hostname", "tracepath"),
                *("traceroute", "lsof", "ifconfig", "bc", "perl", "nft", "tcpdump"),
            ),
            hides_processes=True,
            closed_files=(
                ("NetworkManager", 0o700, "root", "root"),
                ("sysconfig/network-scripts", 0o700, "root", "root"),
                ("oratab", 0o640, DATABASE_OWNER, INVENTORY_GROUP),
                ("oracle/olr.loc", 0o640, "root", INVENTORY_GROUP),
            ),
        ),
    )
}


def profile_named(name: str) -> ClusterProfile:
    """Return the profile with this name. Raises LabUsageError when there is none."""
    if name not in PROFILES:
        raise LabUsageError(f"A practice cluster is like {', '.join(PROFILES)}, not {name}: choose with --like.")
    return PROFILES[name]
