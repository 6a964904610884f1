"""The configuration of sshd and ssh between the practice nodes, with keys and accounts of their own.

The user's own ~/.ssh and the machine's accounts and sshd are neither read nor changed.
"""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from racwire_lab.cluster.desired import SshLogin
from racwire_lab.cluster.processes import LabJob
from racwire_lab.cluster.topology import DATABASE, NETWORKS, PUBLIC, SCAN_ADDRESS, SCAN_NAME, Shape, index_of

_SBIN = "/usr/sbin:/sbin:/usr/local/sbin:/usr/bin:/bin"

_SSHD_CONFIG = """\
Port 22
ListenAddress {address}
HostKey {home}/host_key
AuthorizedKeysFile {home}/authorized_keys
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


def keygen_jobs(directory: Path, shape: Shape) -> Iterator[LabJob]:
    """Yield the jobs that make the keys: one key for all clients, and one for each node."""
    (directory / "ssh").mkdir()
    keys = [(directory / "ssh" / "client_key", "racwire-lab")]
    keys += [(node_home(directory, node) / "host_key", node) for node in shape.nodes]
    for path, comment in keys:
        argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)]
        yield LabJob(argv, "", "make the practice cluster's ssh keys")


def configure(directory: Path, shape: Shape, *, rootless: bool) -> None:
    """Write the configuration of sshd and ssh. The keys must exist."""
    known = []
    for node in shape.nodes:
        home = node_home(directory, node)
        address = PUBLIC.address(index_of(node))
        login = shlex.join(["/bin/sh", str(directory / "scripts" / "login.sh"), str(home)])
        (home / "sshd_config").write_text(
            _SSHD_CONFIG.format(home=home, address=address, login=login), encoding="ascii"
        )
        known.append(f"{node},{address} {(home / 'host_key.pub').read_text(encoding='ascii')}")
    (directory / "ssh" / "known_hosts").write_text("".join(known), encoding="ascii")
    user = account() if rootless else "root"
    text = _SSH_CONFIG.format(nodes=" ".join(shape.nodes), user=user, directory=directory)
    text += "".join(f"Host {node}\n    HostName {PUBLIC.address(index_of(node))}\n" for node in shape.nodes)
    (directory / "ssh_config").write_text(text, encoding="ascii")


def write_accounts(directory: Path, shape: Shape, *, rootless: bool) -> None:
    """Write the passwd, shadow, hosts and oratab files that the nodes see instead of the machine's files.

    The login account has a plain shell, an empty home directory and a password that is not "locked": a login must not
    depend on how this machine configures its root and its users.
    """
    etc = directory / "etc"
    etc.mkdir()
    (directory / "home").mkdir(mode=0o700)
    accounts = {"root": (0, 0)}
    if rootless:
        accounts[account()] = (os.getuid(), os.getgid())
    lines = [
        f"{name}:*:{uid}:{gid}:practice account:{directory}/home:/bin/sh\n" for name, (uid, gid) in accounts.items()
    ]
    others = Path("/etc/passwd").read_text(encoding="utf-8", errors="surrogateescape").splitlines(keepends=True)
    lines += [line for line in others if line.partition(":")[0] not in accounts]
    (etc / "passwd").write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    shadow = etc / "shadow"
    shadow.touch(mode=0o600)
    shadow.write_text("".join(f"{name}:*:19000:0:99999:7:::\n" for name in accounts), encoding="utf-8")
    hosts = ["127.0.0.1 localhost"]
    for node in shape.nodes:
        names = [node, *(f"{node}-priv{network.number}" for network in NETWORKS if network.private)]
        hosts += [f"{net.address(index_of(node))} {name}" for net, name in zip(NETWORKS, names, strict=True)]
    if shape.database:
        hosts.append(f"{SCAN_ADDRESS} {SCAN_NAME}")
    (etc / "hosts").write_text("\n".join(hosts) + "\n", encoding="ascii")
    # The machine's own oratab names databases that do not run on the nodes.
    listed = f"{DATABASE}:{directory}/database:N\n" if shape.database else ""
    (etc / "oratab").write_text(f"# NAME:ORACLE_HOME:N\n{listed}", encoding="ascii")


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
    if login.hangs:
        (home / "hangs").touch()
    else:
        (home / "hangs").unlink(missing_ok=True)


def node_home(directory: Path, node: str) -> Path:
    """Return the directory with a node's own files."""
    return directory / "nodes" / node


def account() -> str:
    """Return the name of an ordinary user's account on the practice nodes."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return "grid"
