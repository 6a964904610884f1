"""The configuration of sshd and ssh between the practice nodes, with keys of their own.

The user's own ~/.ssh and the machine's sshd are neither read nor changed.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from racwire_lab.cluster.accounts import own_name, user_home
from racwire_lab.cluster.desired import SshLogin
from racwire_lab.cluster.processes import LabJob
from racwire_lab.cluster.profiles import ClusterProfile
from racwire_lab.cluster.topology import PUBLIC, Shape, index_of

_SBIN = "/usr/sbin:/sbin:/usr/local/sbin:/usr/bin:/bin"

_USER_KEY = "id_ed25519"
"""The name of a user's private key, which ssh finds in ~/.ssh by itself."""

_SSHD_CONFIG = """\
{profile}Port 22
ListenAddress {address}
HostKey {home}/host_key
AuthorizedKeysFile {home}/authorized_keys {home}/keys/%u
PidFile {home}/sshd.pid
ForceCommand {login}
AuthenticationMethods publickey
PasswordAuthentication no
PermitRootLogin prohibit-password
PermitUserRC no
PermitUserEnvironment no
StrictModes no
UsePAM no
UseDNS no
PrintMotd no
PrintLastLog no
X11Forwarding no
MaxStartups 100:30:200
Ciphers aes128-gcm@openssh.com,aes128-ctr
KexAlgorithms curve25519-sha256,curve25519-sha256@libssh.org
LogLevel INFO
"""

_SSH_CONFIG = """\
Host {nodes}
    User {user}
    IdentityFile {directory}/ssh/client_key
    IdentitiesOnly yes
    IdentityAgent none
    BatchMode yes
    StrictHostKeyChecking yes
    UserKnownHostsFile {directory}/ssh/known_hosts
    GlobalKnownHostsFile /dev/null
    UpdateHostKeys no
    PreferredAuthentications publickey
    HostKeyAlgorithms ssh-ed25519
    Ciphers aes128-gcm@openssh.com,aes128-ctr
    KexAlgorithms curve25519-sha256,curve25519-sha256@libssh.org
    ConnectTimeout 5
    LogLevel ERROR

"""


def find_sshd() -> str | None:
    """Return the absolute path of sshd, which sshd requires; None when sshd, ssh or ssh-keygen is not installed."""
    if shutil.which("ssh") and shutil.which("ssh-keygen"):
        return shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:{_SBIN}")
    return None


def keygen_jobs(directory: Path, shape: Shape, profile: ClusterProfile) -> Iterator[LabJob]:
    """Yield the jobs that make the keys: one key for all clients, one for each node, and one for each user with user
    equivalence."""
    (directory / "ssh").mkdir()
    keys = [(directory / "ssh" / "client_key", "racwire-lab")]
    for user in profile.accounts:
        if user.has_equivalence:
            (user_home(directory, user) / ".ssh").mkdir(mode=0o700, parents=True)
            keys.append((user_home(directory, user) / ".ssh" / _USER_KEY, user.name))
    keys += [(node_home(directory, node) / "host_key", node) for node in shape.nodes]
    for path, comment in keys:
        argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)]
        yield LabJob(argv, "", "make the practice cluster's ssh keys")


def configure(directory: Path, shape: Shape, profile: ClusterProfile, *, rootless: bool) -> None:
    """Write the configuration of sshd and ssh. The keys must exist."""
    known = []
    lines = [f"{line}\n" for line in profile.sshd]
    if profile.banner:
        (directory / "ssh" / "banner").write_text(profile.banner, encoding="ascii")
        lines.append(f"Banner {directory}/ssh/banner\n")
    for node in shape.nodes:
        home = node_home(directory, node)
        address = PUBLIC.address(index_of(node))
        login = shlex.join(["/bin/sh", str(directory / "scripts" / "login.sh"), str(home)])
        (home / "sshd_config").write_text(
            _SSHD_CONFIG.format(profile="".join(lines), home=home, address=address, login=login), encoding="ascii"
        )
        known.append(f"{node},{address} {(home / 'host_key.pub').read_text(encoding='ascii')}")
    (directory / "ssh" / "known_hosts").write_text("".join(known), encoding="ascii")
    user = own_name() if rootless else "root"
    text = _SSH_CONFIG.format(nodes=" ".join(shape.nodes), user=user, directory=directory)
    text += "".join(f"Host {node}\n    HostName {PUBLIC.address(index_of(node))}\n" for node in shape.nodes)
    (directory / "ssh_config").write_text(text, encoding="ascii")


def serve_command(directory: Path, node: str, sshd: str, *, rootless: bool) -> list[str]:
    """Return the command that starts a node's sshd, to run in the node; it ends when sshd listens."""
    home = node_home(directory, node)
    command = [sshd, "-f", str(home / "sshd_config"), "-E", str(home / "sshd.log")]
    if rootless:
        # In a namespace with one user, an sshd that runs as root fails: it cannot give up its privileges. As that user
        # it has no privileges to give up.
        return ["unshare", "--user", f"--map-user={os.getuid()}", f"--map-group={os.getgid()}", *command]
    return command


def set_login(directory: Path, node: str, login: SshLogin) -> None:
    """Set how a node treats ssh logins."""
    home = node_home(directory, node)
    try:
        key = (directory / "ssh" / "client_key.pub").read_text(encoding="ascii")
    except FileNotFoundError:
        key = "anyone\n"  # the stand-in for ssh checks only whether a line exists
    (home / "authorized_keys").write_text(key if login.accepted else "", encoding="ascii")
    for public in directory.glob(f"users/*/.ssh/{_USER_KEY}.pub"):
        accepted = home / "keys" / public.parents[1].name
        accepted.parent.mkdir(exist_ok=True)
        accepted.write_text(public.read_text(encoding="ascii") if login.accepted else "", encoding="ascii")
    if login.hangs:
        (home / "hangs").touch()
    else:
        (home / "hangs").unlink(missing_ok=True)


def node_home(directory: Path, node: str) -> Path:
    """Return the directory with a node's own files."""
    return directory / "nodes" / node
