"""Set how a node treats ssh logins: its keys, accounts and login profiles, and the configuration of sshd."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from racwire_lab.cluster.login_faults import NEW_KEY, RSA_KEY, SshLogin
from racwire_lab.cluster.networks import PUBLIC
from racwire_lab.cluster.processes import LabJob, Process, into
from racwire_lab.cluster.ssh_configuration import HEALTHY_CONFIG, NO_SERVER, USER_KEY, known_host, node_home

_KEY_TYPES = {NEW_KEY: ("ed25519", "256"), RSA_KEY: ("rsa", "2048")}
_NO_SUCH_HOST = PUBLIC.address(77)
_RESOLVER_FILES = {
    "resolv.conf": f"nameserver {_NO_SUCH_HOST}\noptions timeout:2 attempts:2\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: dns files\n",
}
_NOLOGIN = (
    "System is going down. Unprivileged users are not permitted to log in anymore. For technical details, see "
    "pam_nologin(8).\n"
)
PROFILE_OF_NODE = "login_profile"
"""The file among a node's files that the login profile of each user reads on that node; with `.csh` for csh."""
_PROFILES = {
    "profile-waits": (
        "printf 'Which database [PROD]? '; read -r sid",
        "echo -n 'Which database [PROD]? '; set s = \"$<\"",
    ),
    "profile-fails": (
        "cd /u01/scripts || exit 3",
        "exec sh -c 'echo /u01/scripts: No such file or directory. >&2; exit 3'",
    ),
    "profile-execs": ("exec bash", "exec bash"),
}
_RESTART = """\
if read -r pid <"$1/sshd.pid" 2>/dev/null; then
    kill "$pid"; kill -CONT "$pid"
    while kill -0 "$pid"; do sleep 0.02; done
fi 2>/dev/null
rm -f "$1/sshd.pid"
sh "$1/serve" || exit 1
if [ "$2" = stopped ]; then
    until read -r pid <"$1/sshd.pid"; do sleep 0.02; done 2>/dev/null
    kill -STOP "$pid"
fi
"""


def restarts(
    directory: Path,
    nodes: dict[str, Process],
    before: dict[str, SshLogin],
    after: dict[str, SshLogin],
    *,
    rootless: bool,
) -> Iterator[LabJob]:
    """Write the new sshd_config, and yield the jobs that restart sshd where it must change. Open logins continue."""
    for node, login in after.items():
        was = before[node]
        if (was.runs, was.stopped, was.directives, was.key) == (login.runs, login.stopped, login.directives, login.key):
            continue
        home = node_home(directory, node)
        healthy = (home / HEALTHY_CONFIG).read_text(encoding="ascii")
        text = "".join(f"{line}\n" for line in login.directives) + healthy
        text = text.replace(f"HostKey {home}/host_key\n", f"HostKey {home}/{login.key}\n")
        (home / "sshd_config").write_text(text, encoding="ascii")
        _set(home / NO_SERVER, None if login.runs else "")
        argv = ["sh", "-c", _RESTART, "sh", str(home), "stopped" if login.stopped and login.runs else ""]
        yield LabJob(
            [*into(nodes[node], "mount", "uts", "net", "pid", rootless=rootless), *argv], "", f"restart sshd on {node}"
        )


def missing_keys(directory: Path, logins: dict[str, SshLogin]) -> Iterator[LabJob]:
    """Yield the jobs that make the host keys that a fault needs and no earlier fault made."""
    for node, login in logins.items():
        path = node_home(directory, node) / login.key
        if login.key in _KEY_TYPES and not path.exists():
            kind, bits = _KEY_TYPES[login.key]
            argv = ["ssh-keygen", "-q", "-t", kind, "-b", bits, "-N", "", "-C", node, "-f", str(path)]
            yield LabJob(argv, "", "make another host key")


def set_login(directory: Path, node: str, login: SshLogin) -> None:
    """Write the files that decide about logins on a node, and what the other nodes know of its host key."""
    home = node_home(directory, node)
    try:
        key = (directory / "ssh" / "client_key.pub").read_text(encoding="ascii")
    except FileNotFoundError:
        key = "anyone\n"  # the stand-in for ssh checks only whether a line exists
    (home / "authorized_keys").write_text(key if login.accepted else "", encoding="ascii")
    for public in directory.glob(f"users/*/.ssh/{USER_KEY}.pub"):
        accepted = home / "keys" / public.parents[1].name
        accepted.parent.mkdir(exist_ok=True)
        accepted.write_text(public.read_text(encoding="ascii") if login.accepted else "", encoding="ascii")
    _set(home / "hangs", "" if login.hangs else None)
    _set(home / "etc" / "nologin", _NOLOGIN if login.nologin else None)
    for suffix, text in zip(("", ".csh"), _PROFILES.get(login.profile, (None, None)), strict=True):
        _set(home / f"{PROFILE_OF_NODE}{suffix}", None if text is None else f"{text}\n")
    _set_system(home, login.system)
    for name, text in _RESOLVER_FILES.items():
        _replace(home / "etc" / name, None if login.has_dns else text)
    _set_accounts(directory, home / "etc", login.shadow)
    _set_known(directory, node, is_known=login.is_known)


def _set(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink(missing_ok=True)
    else:
        path.write_text(text, encoding="ascii")


def _set_system(home: Path, system: str) -> None:
    """Write the `uname` of a node that answers as another system."""
    _set(home / "system", f"{system}\n" if system else None)
    if system:
        uname = home / "other_system" / "uname"
        uname.parent.mkdir(exist_ok=True)
        uname.write_text(f"#!/bin/sh\necho {system}\n", encoding="ascii")
        uname.chmod(0o755)


def _replace(path: Path, text: str | None) -> None:
    """Put a file in the place of a link, or the link back into its place."""
    aside = path.with_name(f".{path.name}.healthy")
    if text is not None:
        if not os.path.lexists(aside) and os.path.lexists(path):
            path.rename(aside)
        path.write_text(text, encoding="ascii")
    elif os.path.lexists(aside):
        aside.replace(path)


def _set_accounts(directory: Path, etc: Path, shadow: str) -> None:
    """Set the expiry of the accounts of all users: PAM reads it for users whose password is in /etc/shadow."""
    users = {path.name for path in directory.glob("users/*")}
    for name, fields in (("passwd", "x"), ("shadow", f"*:{shadow}")):
        if not users:
            return
        healthy = (directory / "etc" / name).read_text(encoding="utf-8", errors="surrogateescape")
        lines = []
        for line in healthy.splitlines(keepends=True):
            user, *rest = line.split(":")
            if shadow and user in users:
                line = ":".join([user, fields, *rest[1:]]) if name == "passwd" else f"{user}:{fields}\n"
            lines.append(line)
        if (text := "".join(lines)) != (etc / name).read_text(encoding="utf-8", errors="surrogateescape"):
            (etc / name).write_text(text, encoding="utf-8", errors="surrogateescape")


def _set_known(directory: Path, node: str, *, is_known: bool) -> None:
    """Write the healthy host key of a node into each known_hosts, or remove the lines of the node."""
    shared = directory / "ssh" / "known_hosts"
    if not shared.exists():
        return
    own = known_host(directory, node)
    for path in (shared, *directory.glob("users/*/.ssh/known_hosts")):
        before = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines(keepends=True)
        lines = [line for line in before if node not in line.partition(" ")[0].split(",")]
        after = [*lines, own] if is_known else lines
        if sorted(before) != sorted(after):
            path.write_text("".join(after), encoding="utf-8", errors="surrogateescape")
    for copy in directory.glob("users/*/.ssh/known_hosts.old"):
        copy.unlink()
