"""The lines of sudoers that let a user run exactly the tools that refuse ordinary users."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from checks.model.facts import Unknown
from checks.model.settings import ClusterSettings
from checks.model.shell_command import shell
from checks.sources.clusterware.grid_home import find_grid_home, user_name
from checks.sources.entries import GridCommand
from checks.sources.node_setup import AUTOSTART_ARGUMENTS, LLDP_ARGUMENTS
from checks.sources.registry import sources

LLDPCTL = "/usr/sbin/lldpctl"
"""The place of lldpctl in the packages of Oracle Linux, Red Hat, SUSE and Debian."""
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.@\\-]{0,63}")
"""Names of local users and of directories: `dba1`, `dba1@example.com`, `EXAMPLE\\dba1`."""
_PATH = re.compile(r"/[A-Za-z0-9_./+-]+")
"""Paths without a character that has a meaning in sudoers."""


class SudoersError(ValueError):
    """The lines cannot be written: a sentence with the reason and the next step."""


def sudoers_here(user: str, settings: ClusterSettings, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the lines for the Grid home of this node; without a user, for the user who runs racwire.

    Raises SudoersError where the lines cannot be written.
    """
    own = user_name(os.geteuid())
    home = find_grid_home(settings.grid_home, environ)
    if isinstance(home, Unknown):
        again = shell("racwire plan --sudoers --for {user}", user=user or own)
        retry = f" As a user who may, run `{again}`." if home.right else ""
        raise SudoersError(f"{home.reason}{retry}")
    return list(sudoers_lines(user or own, home.path, home.owner))


def sudoers_lines(user: str, grid_home: str, grid_owner: str) -> Iterator[str]:
    """Yield the lines for this user of a node whose Grid home has this path and owner.

    Each command has its full path and exact arguments: no wildcard, no shell, no interpreter. The tools of the Grid
    home run as its owner and never as root, since the owner can replace them. Raises SudoersError where there is no
    owner to run them as, or where sudoers cannot hold a name.
    """
    for name, role in ((user, "user"), (grid_owner, "owner of the Grid home")):
        if not _USER.fullmatch(name):
            raise SudoersError(f"{name!r} is no name of a {role} that sudoers accepts.")
    if not _PATH.fullmatch(grid_home):
        raise SudoersError(
            f"The path of the Grid home, {grid_home!r}, has a character that has a meaning in sudoers. Run racwire as "
            f"{grid_owner} or root."
        )
    if grid_owner == "root":
        raise SudoersError(f"root owns the Grid home {grid_home}: no line lets {user} run its tools as root.")
    if user in ("root", grid_owner):
        raise SudoersError(f"{user} may run the tools of the Grid home without sudo: name another user with --for.")
    tools = [command.argv(grid_home) for command in sources("clusterware") if isinstance(command, GridCommand)]
    tools.append((f"{grid_home}/bin/crsctl", *AUTOSTART_ARGUMENTS))
    yield from (
        f"# The tools that racwire runs by `sudo -n` with --sudo, where they refuse {user}: all of them only read.",
        "# As root on each node whose Grid home has this path: `visudo -cf FILE`, then",
        "# `install -m 0440 FILE /etc/sudoers.d/racwire`. Without --sudo racwire never runs sudo.",
        "Cmnd_Alias RACWIRE_GRID = \\",
        *_joined(tools),
        "Cmnd_Alias RACWIRE_LLDP = \\",
        *_joined([(LLDPCTL, *LLDP_ARGUMENTS)]),
        f"Defaults:{_escaped(user)} !requiretty",
        f"{_escaped(user)} ALL=({_escaped(grid_owner)}) NOPASSWD: NOSETENV: RACWIRE_GRID",
        f"{_escaped(user)} ALL=(root) NOPASSWD: NOSETENV: RACWIRE_LLDP",
    )


def _joined(commands: list[tuple[str, ...]]) -> Iterator[str]:
    lines = list(dict.fromkeys(map(" ".join, commands)))
    yield from (f"    {line}, \\" for line in lines[:-1])
    yield f"    {lines[-1]}"


def _escaped(name: str) -> str:
    return re.sub(r"([@\\])", r"\\\1", name)
