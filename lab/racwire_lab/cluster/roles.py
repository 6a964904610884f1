"""The rights of the users of practice nodes: whether the machine can have them, the files that they own, and the
directories of the machine that they must see.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from racwire_lab.cluster import alert_logs, databases, stack
from racwire_lab.cluster.accounts import shell_of, user_home
from racwire_lab.cluster.directory import grid_home, settings_file
from racwire_lab.cluster.processes import program
from racwire_lab.cluster.profiles import DATABASE_OWNER, GRID_OWNER, INVENTORY_GROUP, ClusterProfile, NodeAccount
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.cluster.ssh_logins import PROFILE_OF_NODE
from racwire_lab.cluster.topology import Shape
from racwire_lab.lab_errors import LabError

_GREETED = (".bashrc", ".bash_profile", ".profile", ".cshrc", ".login")
"""The files that shells read at a login; bash reads .bashrc also for one command of an ssh login."""
_OF_CSH = (".cshrc", ".login")
_PROFILE = f"""\
stty erase '^H'
mesg n
tty
umask 027
readonly TMOUT=600; export TMOUT
export LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8
alias grep='grep --color=always'
set -o vi
if [ -r /run/racwire/home/{PROFILE_OF_NODE} ]; then . /run/racwire/home/{PROFILE_OF_NODE}; fi
"""
"""As on many hardened nodes, written for a terminal: some commands complain where there is none."""
_CSH_PROFILE = f"""\
stty erase '^H'
mesg n
tty
umask 027
set autologout = 10
setenv LC_ALL de_DE.UTF-8
alias grep 'grep --color=always'
if (-r /run/racwire/home/{PROFILE_OF_NODE}.csh) source /run/racwire/home/{PROFILE_OF_NODE}.csh
"""
_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin"
_PACKAGES = ("tui", "checks", "racwire_lab")
_SUDOERS = """\
Defaults env_reset
Defaults secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
root ALL=(ALL:ALL) ALL
@includedir /etc/sudoers.d
"""
"""The sudoers of a node. As in a hardened cluster, only root may use sudo until root installs a file in sudoers.d."""
_SEEN_BY_ALL = 0o711
_FOR_OTHERS = 0o005


def why_unavailable(profile: ClusterProfile, *, rootless: bool, uid_map: str) -> str:
    """Return why the nodes cannot have the users of the profile; empty when they can.

    `uid_map` is the text of /proc/self/uid_map.
    """
    if not profile.accounts:
        return ""
    if rootless:
        return "an ordinary user's namespace has only one user: run racwire as root"
    ranges = [tuple(map(int, line.split())) for line in uid_map.splitlines()]
    missing = [user.uid for user in profile.accounts if not any(a <= user.uid < a + n for a, _, n in ranges)]
    if missing:
        return f"this container has no user id {missing[0]}: start it with more user ids"
    return ""


@contextlib.contextmanager
def readable_files(profile: ClusterProfile) -> Iterator[None]:
    """Let other users read the files that this process makes meanwhile, where the profile has users."""
    if not profile.accounts:
        yield
        return
    before = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(before)


def install(directory: Path, shape: Shape, profile: ClusterProfile) -> None:
    """Make the users own their files, and open the lab's directory to them; each private file keeps its mode.

    Raises LabError when the users cannot run this racwire.
    """
    if not profile.accounts:
        return
    program("setpriv")
    make_homes(directory, shape, profile)
    directory.chmod(_SEEN_BY_ALL)
    (directory / "opened").write_text("".join(f"{a} {b}\n" for a, b in _opened(directory)), encoding="utf-8")
    (directory / "cluster" / "grid_owner").write_text(f"{GRID_OWNER} {INVENTORY_GROUP}\n", encoding="ascii")
    users = {user.name: user.uid for user in profile.accounts}
    group = profile.groups[INVENTORY_GROUP]
    for name in stack.GRID_OWNERS_FILES:
        os.chown(directory / "cluster" / name, users[GRID_OWNER], group)
    alert_logs.give_to_owners(directory, shape, profile)
    for node in shape.nodes:
        home = grid_home(directory, node)
        # As after root.sh: the top directory belongs to root.
        for part in ("bin", "cdata", "gpnp", "perl"):
            for path in (home / part, *(home / part).rglob("*")):
                os.chown(path, users[GRID_OWNER], group)
        wallet = home / "gpnp" / node / "wallets" / "peer"
        wallet.chmod(0o750)
        autostart = node_home(directory, node) / "oracle" / "scls_scr" / node
        os.chown(autostart, 0, group)
        autostart.chmod(0o750)
        _install_sudoers(node_home(directory, node) / "etc")
        programs = node_home(directory, node) / "bin"
        for path in programs.iterdir() if programs.exists() else ():
            os.chown(path, users[DATABASE_OWNER], group)
        for name, mode, owner, its_group in profile.closed_files:
            path = node_home(directory, node) / "etc" / name
            path.chmod(mode)
            os.chown(path, users.get(owner, 0), profile.groups.get(its_group, 0))


def _install_sudoers(etc: Path) -> None:
    """Give a node its own sudoers; the machine's do not apply there."""
    for name in ("sudoers", "sudoers.d"):
        (etc / name).unlink(missing_ok=True)
    (etc / "sudoers").write_text(_SUDOERS, encoding="ascii")
    (etc / "sudoers").chmod(0o440)
    (etc / "sudoers.d").mkdir(mode=0o750)


def make_homes(directory: Path, shape: Shape, profile: ClusterProfile) -> None:
    """Make the home of each user, with its login files, settings, password file and known hosts."""
    known = directory / "ssh" / "known_hosts"
    for user in profile.accounts:
        home = user_home(directory, user)
        ssh = home / ".ssh"
        ssh.mkdir(mode=0o700, parents=True, exist_ok=True)
        home.chmod(0o700)
        shutil.copyfile(known, ssh / "known_hosts")
        if profile.greeting:
            for name in _GREETED:
                own = _CSH_PROFILE if name in _OF_CSH else _PROFILE
                (home / name).write_text(f"echo '{profile.greeting}'\n{own}", encoding="ascii")
        databases.write_settings(directory, home, shape)
        for path in (home, *home.rglob("*")):
            os.chown(path, user.uid, profile.groups[user.group])


def login_environment(directory: Path, user: NodeAccount) -> dict[str, str]:
    """Return the variables of a login of the user; the XDG variables of the caller do not apply."""
    home = str(user_home(directory, user))
    names = ("CONFIG", "STATE", "CACHE", "DATA")
    return {
        **dict.fromkeys((f"XDG_{name}_HOME" for name in names), ""),
        "XDG_RUNTIME_DIR": "",
        "HOME": home,
        "USER": user.name,
        "LOGNAME": user.name,
        "SHELL": shell_of(user),
        "PATH": _PATH,
        "RACWIRE_SETTINGS": str(settings_file(Path(home))),
    }


def _opened(directory: Path) -> Iterator[tuple[str, str]]:
    """Yield each directory that other users may not enter, and the directory below it that they need.

    A node shows its users only the second one (`scripts/node.sh`). Raises LabError when a needed directory is itself
    closed.
    """
    packages = [place for place in sys.path if any(Path(place, name).is_dir() for name in _PACKAGES)]
    needed = sorted({Path(place).resolve() for place in (sys.prefix, sys.base_prefix, *packages)} | {directory})
    outer = [path for path in needed if not any(other in path.parents for other in needed)]
    for path in outer:
        if path != directory and path.stat().st_mode & _FOR_OTHERS != _FOR_OTHERS:
            raise LabError(
                f"The users of the practice nodes cannot read {path}, which racwire runs from: run `chmod o+rx {path}`."
            )
        closed = next((up for up in reversed(path.parents) if not up.stat().st_mode & stat.S_IXOTH), None)
        if closed is None:
            continue
        if " " in f"{closed}{path}":
            raise LabError(
                f"The users of the practice nodes cannot reach {path}: install racwire in a directory without blanks "
                "in its path."
            )
        yield str(closed), str(path)
