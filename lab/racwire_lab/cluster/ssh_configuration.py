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
from racwire_lab.cluster.networks import PUBLIC
from racwire_lab.cluster.processes import LabJob
from racwire_lab.cluster.profiles import ClusterProfile
from racwire_lab.cluster.topology import Shape, index_of

_SBIN = "/usr/sbin:/sbin:/usr/local/sbin:/usr/bin:/bin"

USER_KEY = "id_ed25519"
"""The name of a user's private key, which ssh finds in ~/.ssh by itself."""

NO_SERVER = "sshd_down"
"""The file among a node's files that prevents the start of its server, also at a boot."""
HEALTHY_CONFIG = "sshd_config.healthy"
"""The configuration of a node's sshd without faults."""

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
            keys.append((user_home(directory, user) / ".ssh" / USER_KEY, user.name))
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
        text = _SSHD_CONFIG.format(profile="".join(lines), home=home, address=address, login=login)
        for name in ("sshd_config", HEALTHY_CONFIG):
            (home / name).write_text(text, encoding="ascii")
        known.append(known_host(directory, node))
    (directory / "ssh" / "known_hosts").write_text("".join(known), encoding="ascii")
    user = own_name() if rootless else "root"
    text = _SSH_CONFIG.format(nodes=" ".join(shape.nodes), user=user, directory=directory)
    text += "".join(f"Host {node}\n    HostName {PUBLIC.address(index_of(node))}\n" for node in shape.nodes)
    (directory / "ssh_config").write_text(text, encoding="ascii")


def known_host(directory: Path, node: str) -> str:
    """Return the line of known_hosts for a healthy node."""
    key = (node_home(directory, node) / "host_key.pub").read_text(encoding="ascii")
    return f"{node},{PUBLIC.address(index_of(node))} {key}"


def serve_command(directory: Path, node: str, sshd: str, *, rootless: bool) -> list[str]:
    """Return the command that starts a node's sshd, to run in the node; it ends when sshd listens."""
    home = node_home(directory, node)
    command = [sshd, "-f", str(home / "sshd_config"), "-E", str(home / "sshd.log")]
    if rootless:
        # In a namespace with one user, an sshd that runs as root fails: it cannot give up its privileges. As that user
        # it has no privileges to give up.
        return ["unshare", "--user", f"--map-user={os.getuid()}", f"--map-group={os.getgid()}", *command]
    return command


def node_home(directory: Path, node: str) -> Path:
    """Return the directory with a node's own files."""
    return directory / "nodes" / node
