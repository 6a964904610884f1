"""What the nodes of a practice cluster are like: their users, groups and sshd, as data only (`lab up --like`)."""

from __future__ import annotations

from dataclasses import dataclass, field

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
            groups={**_ORACLE_GROUPS, "dba1": 54401},
            sshd=("PermitRootLogin no", "MaxSessions 1", "MaxAuthTries 3", "AllowTcpForwarding no"),
            ping_groups="1 0",
            banner="*** Authorised use only. All activity is recorded. ***\n",
            greeting="This host is under change control.",
        ),
    )
}


def profile_named(name: str) -> ClusterProfile:
    """Return the profile with this name. Raises LabUsageError when there is none."""
    if name not in PROFILES:
        raise LabUsageError(f"A practice cluster is like {', '.join(PROFILES)}, not {name}: choose with --like.")
    return PROFILES[name]
