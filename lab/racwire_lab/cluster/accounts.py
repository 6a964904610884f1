"""The accounts of the practice nodes: what the nodes see instead of the machine's files, and their homes and shells.

The machine's accounts are not changed.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable
from pathlib import Path

from racwire_lab.cluster.profiles import ClusterProfile, NodeAccount
from racwire_lab.cluster.topology import DATABASE, SCAN_ADDRESS, SCAN_NAME, Shape, index_of


def write(directory: Path, shape: Shape, profile: ClusterProfile, *, rootless: bool) -> None:
    """Write the passwd, shadow, group, hosts and oratab files that the nodes see instead of the machine's files.

    The login account has a plain shell, an empty home directory and a password that is not "locked": a login must not
    depend on how this machine configures its root and its users.
    """
    etc = directory / "etc"
    etc.mkdir()
    (directory / "home").mkdir(mode=0o700)
    home = f"{directory}/home"
    accounts = {"root": (0, 0, home, "/bin/sh")}
    if rootless:
        accounts[own_name()] = (os.getuid(), os.getgid(), home, "/bin/sh")
    for user in profile.accounts:
        accounts[user.name] = (user.uid, profile.groups[user.group], str(user_home(directory, user)), shell_of(user))
    lines = [
        f"{name}:*:{uid}:{gid}:practice account:{its_home}:{shell}\n"
        for name, (uid, gid, its_home, shell) in accounts.items()
    ]
    _with_the_machines("passwd", lines, accounts, etc)
    members = {group: [a.name for a in profile.accounts if group in a.groups] for group in profile.groups}
    lines = [f"{group}:x:{gid}:{','.join(members[group])}\n" for group, gid in profile.groups.items()]
    _with_the_machines("group", lines, profile.groups, etc)
    shadow = etc / "shadow"
    shadow.touch(mode=0o600)
    shadow.write_text("".join(f"{name}:*:19000:0:99999:7:::\n" for name in accounts), encoding="utf-8")
    hosts = ["127.0.0.1 localhost"]
    for node in shape.nodes:
        known = (shape.networks[0], *shape.private_networks)
        names = [node, *(f"{node}-priv{network.number}" for network in shape.private_networks)]
        hosts += [f"{net.address(index_of(node))} {name}" for net, name in zip(known, names, strict=True)]
    if shape.database:
        hosts.append(f"{SCAN_ADDRESS} {SCAN_NAME}")
    (etc / "hosts").write_text("\n".join(hosts) + "\n", encoding="ascii")
    # The machine's own oratab names databases that do not run on the nodes.
    others = [other for node in shape.nodes for other in shape.others_on(node)]
    databases = (DATABASE, *others) if shape.database else ()
    listed = "".join(f"{name}:{directory}/database:N\n" for name in databases)
    (etc / "oratab").write_text(f"# NAME:ORACLE_HOME:N\n{listed}", encoding="ascii")


def _with_the_machines(name: str, lines: list[str], own: Iterable[str], etc: Path) -> None:
    """Write the lines, then those of the machine's file for other names."""
    names = set(own)
    others = Path("/etc", name).read_text(encoding="utf-8", errors="surrogateescape").splitlines(keepends=True)
    lines += [line for line in others if line.partition(":")[0] not in names]
    (etc / name).write_text("".join(lines), encoding="utf-8", errors="surrogateescape")


def user_home(directory: Path, user: NodeAccount) -> Path:
    """Return the home directory of a user; the nodes share it."""
    return directory / "users" / user.name


def shell_of(user: NodeAccount) -> str:
    """Return the login shell of a user: the first of its shells that this machine has."""
    return next((shell for shell in user.shells if os.access(shell, os.X_OK)), user.shells[-1])


def own_name() -> str:
    """Return the name of the caller's account, which a node has when the caller is an ordinary user."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return "grid"
