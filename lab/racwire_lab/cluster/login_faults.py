"""The faults of ssh logins: the catalogue, and how a node with active faults treats logins."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from racwire_lab.cluster.fault_kind import ActiveFault, Fault


def _login(name: str, summary: str, effect: str, *, sshd: bool = False, users: bool = False) -> Fault:
    return Fault(name, summary, effect, "node", default_network=None, needs_sshd=sshd or users, needs_users=users)


LOGIN_FAULTS = (
    _login(
        "no-ssh",
        "One node refuses the ssh key of the other nodes.",
        "Empties the node's authorized_keys: logins end with 'Permission denied'.",
    ),
    _login(
        "slow-ssh",
        "One node accepts ssh logins, and then its shell hangs.",
        "Stops every new login on the node before its command starts, until the fault is fixed.",
    ),
    _login(
        "ssh-down",
        "sshd does not run on one node.",
        "Ends sshd: the node refuses connections. Open logins continue.",
        sshd=True,
    ),
    _login(
        "ssh-hung",
        "sshd of one node accepts connections and answers nothing.",
        "Stops sshd with SIGSTOP: the kernel accepts connections, and ssh waits for the first line of sshd.",
        sshd=True,
    ),
    _login(
        "ssh-crowded",
        "sshd of one node has as many logins in progress as it permits.",
        "Sets PerSourceMaxStartups to 0: sshd closes each connection at once, as it does above MaxStartups.",
        sshd=True,
    ),
    _login(
        "ssh-no-session",
        "sshd of one node accepts logins and refuses sessions.",
        "Sets MaxSessions to 0.",
        sshd=True,
    ),
    _login(
        "ssh-weak-crypto",
        "sshd of one node has only algorithms that newer releases of ssh refuse.",
        "Gives sshd an RSA key and the signature ssh-rsa (SHA-1) only, as on a node with an old crypto policy.",
        sshd=True,
    ),
    _login(
        "ssh-slow-dns",
        "sshd of one node waits for a DNS server that does not answer.",
        "Sets UseDNS, and names a DNS server in resolv.conf that does not exist: a login takes seconds.",
        sshd=True,
    ),
    _login(
        "host-key-changed",
        "One node has another ssh host key than the other nodes know.",
        "Gives sshd a new host key, as a new installation does; known_hosts has the old key.",
        sshd=True,
    ),
    _login(
        "host-key-unknown",
        "The other nodes do not know the ssh host key of one node.",
        "Removes the node's lines from each known_hosts.",
        sshd=True,
    ),
    _login(
        "password-expired",
        "The passwords of the users of one node have expired.",
        "Sets a maximum age in /etc/shadow, and UsePAM: sshd accepts the key, and runs no command.",
        users=True,
    ),
    _login(
        "account-expired",
        "The accounts of the users of one node have expired.",
        "Sets an expiry date in /etc/shadow, and UsePAM: PAM refuses the users after sshd has accepted the key.",
        users=True,
    ),
    _login(
        "nologin",
        "One node accepts no login but that of root.",
        "Writes /etc/nologin as systemd does while a node stops, and sets UsePAM.",
        users=True,
    ),
    _login(
        "profile-waits",
        "The login profile of the users of one node asks a question.",
        "Appends a prompt and `read` to the login profile, also for a login that runs one command.",
        users=True,
    ),
    _login(
        "profile-fails",
        "The login profile of the users of one node ends the login.",
        "Appends `cd /u01/scripts || exit 3` to the login profile; the directory does not exist.",
        users=True,
    ),
    _login(
        "profile-execs",
        "The login profile of the users of one node starts another shell.",
        "Appends `exec bash` to the login profile: bash reads its commands from the login's input, which is empty.",
        users=True,
    ),
    _login(
        "other-system",
        "One node runs AIX.",
        "Puts a `uname` that answers AIX first in the PATH of each login, as on a node of another cluster.",
    ),
)
"""In the order of `racwire lab faults`."""


@dataclass(frozen=True)
class SshLogin:
    """A node's treatment of ssh logins."""

    accepted: bool = True
    hangs: bool = False
    runs: bool = True
    """Whether sshd runs."""
    stopped: bool = False
    """Whether sshd is stopped, and answers nothing."""
    directives: tuple[str, ...] = ()
    """Lines that precede the other lines of sshd_config."""
    key: str = "host_key"
    """The file of the node's host key, among the node's files."""
    is_known: bool = True
    """Whether the other nodes know the host key."""
    has_dns: bool = True
    shadow: str = ""
    """The fields of /etc/shadow after the password of each user; empty for those of a healthy node."""
    nologin: bool = False
    profile: str = ""
    """The fault of the login profile; empty for none."""
    system: str = ""
    """The answer of `uname`; empty for that of the machine."""


NEW_KEY, RSA_KEY = "new_host_key", "rsa_host_key"
_PAM = "UsePAM yes"
_OF_SERVER = {
    "ssh-crowded": ("PerSourceMaxStartups 0",),
    "ssh-no-session": ("MaxSessions 0",),
    "ssh-weak-crypto": ("HostKeyAlgorithms ssh-rsa",),
    "ssh-slow-dns": ("UseDNS yes",),
    "password-expired": (_PAM,),
    "account-expired": (_PAM,),
    "nologin": (_PAM,),
}
_PROFILES = ("profile-waits", "profile-fails", "profile-execs")


def login_of(node: str, broken: Collection[ActiveFault]) -> SshLogin:
    """Return how a node with these active faults treats logins."""
    names = {fault.fault for fault in broken if fault.node == node}
    login = SshLogin(
        accepted="no-ssh" not in names,
        hangs="slow-ssh" in names,
        runs="ssh-down" not in names,
        stopped="ssh-hung" in names,
        directives=tuple(dict.fromkeys(line for name in _OF_SERVER if name in names for line in _OF_SERVER[name])),
        is_known="host-key-unknown" not in names,
        has_dns="ssh-slow-dns" not in names,
        nologin="nologin" in names,
        system="AIX" if "other-system" in names else "",
        profile=next((name for name in _PROFILES if name in names), ""),
    )
    if "ssh-weak-crypto" in names:
        login = replace(login, key=RSA_KEY)
    elif "host-key-changed" in names:
        login = replace(login, key=NEW_KEY)
    if "account-expired" in names:
        return replace(login, shadow="19000:0:99999:7::19001:")
    return replace(login, shadow="19000:0:60:7:::") if "password-expired" in names else login
