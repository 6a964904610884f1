"""Find the Grid Infrastructure home: the places that name a home, the home in use, and stale homes."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from checks.model.facts import GridHome, MissingRight, StaleHome, Unknown
from checks.model.shell_command import shell
from checks.model.wording import listed
from checks.sources.clusterware.home_files import (
    parse_asm_homes,
    parse_crs_home,
    parse_inventory,
    parse_inventory_location,
)
from checks.sources.grid_commands import INVENTORY_POINTERS, OLR_FILES, ORATAB_FILES
from checks.sources.nodes.container_processes import is_contained

FILE_LIMIT_BYTES = 1_000_000
"""Bytes of a file that are read; a central inventory has about 10 KB."""

_CSS_DAEMON = "ocssd.bin"
_RUNNING = f"running {_CSS_DAEMON}"
_GRID_VARIABLES = ("GRID_HOME", "CRS_HOME", "ORA_CRS_HOME")
_HOW_TO_NAME_IT = "`--grid-home`, or `grid_home` under [cluster] in the settings"
_NO_HOME = (
    "No Grid Infrastructure home was found in the settings, the environment, the running ocssd.bin, olr.loc, oratab "
    f"and the central inventory. Name the home with {_HOW_TO_NAME_IT}; on a node without Clusterware use --network "
    "and --peer."
)


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """A process, with the attributes that this user may see."""

    executable: str
    """Its binary; empty where this user may not read /proc/<pid>/exe, as is usual for root's daemons."""
    argv0: str
    """The first argument of its command line, which every user may read."""


@dataclass(frozen=True, slots=True)
class _Named:
    """A home, and the place that names it."""

    path: str
    named_by: str
    is_root_word: bool = True
    """Whether only root or the operator could have named it. Every user can start a program called ocssd.bin."""


@dataclass(frozen=True, slots=True)
class _Fault:
    """The fault of a home: a clause that follows its path, and whether another user could use the home."""

    text: str
    is_permission: bool = False


def find_grid_home(
    setting: str,
    environ: Mapping[str, str],
    root: Path = Path("/"),
    processes: Callable[[], Iterable[RunningProcess]] | None = None,
) -> GridHome | Unknown:
    """Find the Grid home and every place that contradicts it.

    A home that the operator names (the setting, else GRID_HOME, CRS_HOME or ORA_CRS_HOME) is used or refused, never
    replaced. Otherwise the first usable home counts, in this order: the running ocssd.bin, ORACLE_HOME where it is a
    Grid home, olr.loc, oratab, the central inventory. The daemon is first, because olr.loc can still name the old home
    after the rollback of an out-of-place patch. The files that name homes are below `root`; the paths of the homes are
    absolute. `processes` returns the running ocssd.bin, by default those of this node. Unknown where no home is usable.
    """
    configured = list(_configured(setting, environ))
    running = list(_running((processes or css_daemons)()))
    found = [*running, *_oracle_home(environ), *_recorded(root)]
    chosen = configured[0] if configured else next((named for named in found if _fault(named) is None), None)
    if chosen is None and not found:
        return Unknown(_no_home(root))
    chosen = chosen or found[0]
    if fault := _fault(chosen):
        return _refusal(chosen, fault)
    in_use = next((named for named in running if _fault(named) is None), chosen)
    return GridHome(
        path=os.path.normpath(chosen.path),
        named_by=chosen.named_by,
        owner=_owner(Path(chosen.path)),
        stale=tuple(_stale([*configured, *found], in_use)),
    )


def _no_home(root: Path) -> str:
    """Why no home was found: this user may not read what names it, or nothing names one."""
    files = [file for file in (*OLR_FILES, *ORATAB_FILES, *INVENTORY_POINTERS) if _is_denied(root / file.lstrip("/"))]
    if not files:
        return _NO_HOME
    user = user_name(os.geteuid())
    # With hidepid, the processes of other users have no directory in /proc.
    unseen = "" if (root / "proc/1/cmdline").exists() else ", and sees no processes of other users (hidepid of /proc)"
    return (
        f"No Grid Infrastructure home was found: {user} may not read {listed(files)}, which can name it{unseen}. "
        f"Run racwire as the Grid owner or as root, or name the home with {_HOW_TO_NAME_IT}."
    )


def _is_denied(path: Path) -> bool:
    """Whether the file may exist and this user may not read it."""
    try:
        path.stat()
    except PermissionError:
        return True
    except OSError:
        return False
    return not os.access(path, os.R_OK)


def css_daemons() -> Iterator[RunningProcess]:
    """Yield the ocssd.bin processes of this node, without those of containers or of a practice cluster on it."""
    for process in psutil.process_iter(["name"]):
        if process.info["name"] != _CSS_DAEMON or is_contained(process.pid):
            continue
        try:
            argv0 = next(iter(process.cmdline()), "")
        except psutil.Error:
            continue
        try:
            executable = process.exe()
        except psutil.Error:
            executable = ""
        yield RunningProcess(executable, argv0)


# --- the places that name a home --------------------------------------------------------------------------------------


def _configured(setting: str, environ: Mapping[str, str]) -> Iterator[_Named]:
    if setting:
        yield _Named(setting, "settings")
    for variable in _GRID_VARIABLES:
        if environ.get(variable):
            yield _Named(environ[variable], f"environment {variable}")


def _running(processes: Iterable[RunningProcess]) -> Iterator[_Named]:
    for process in processes:
        program = Path((process.executable or process.argv0).removesuffix(" (deleted)"))
        if program.is_absolute() and program.parts[-2:] == ("bin", _CSS_DAEMON):
            yield _untrusted(str(program.parent.parent), _RUNNING)


def _oracle_home(environ: Mapping[str, str]) -> Iterator[_Named]:
    """ORACLE_HOME where it is a Grid home: usually it is a database home, without crsctl and ocssd.bin."""
    home = environ.get("ORACLE_HOME", "")
    if home and all(_is_file(Path(home, "bin", name)) for name in ("crsctl", _CSS_DAEMON)):
        yield _Named(home, "environment ORACLE_HOME")


def _recorded(root: Path) -> Iterator[_Named]:
    for file in OLR_FILES:
        if home := parse_crs_home(_read(root, file)):
            yield _Named(home, file)
    for file in ORATAB_FILES:
        for home in parse_asm_homes(_read(root, file)):
            yield _untrusted(home, file)
    for pointer in INVENTORY_POINTERS:
        if location := parse_inventory_location(_read(root, pointer)):
            for home in parse_inventory(_read(root, f"{location}/ContentsXML/inventory.xml")):
                yield _untrusted(home, "inventory")


def _untrusted(home: str, named_by: str) -> _Named:
    """A home that users other than root could have named, with symbolic links resolved: links could change later."""
    if home.startswith("/") and "\0" not in home:
        home = os.path.realpath(home)
    return _Named(home, named_by, is_root_word=False)


def _read(root: Path, file: str) -> str:
    """The text of a regular file; empty where the file is missing or cannot be read."""
    path = root / file.lstrip("/")
    try:
        if not _is_file(path):
            return ""
        with path.open("rb") as stream:
            return stream.read(FILE_LIMIT_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""


# --- whether a home is right ------------------------------------------------------------------------------------------


def _stale(all_named: Iterable[_Named], in_use: _Named) -> Iterator[StaleHome]:
    """Yield the places that name another home than the one in use, each place once."""
    right = f"ocssd.bin runs from {in_use.path}" if in_use.named_by == _RUNNING else f"{in_use.path} is in use"
    for named in dict.fromkeys(all_named):
        if _same(named.path, in_use.path):
            continue
        fault = _fault(named)
        yield StaleHome(named.path, named.named_by, f"{named.path} {fault.text}" if fault else right)


def _same(one: str, other: str) -> bool:
    """Whether two paths lead to the same directory; a home is often named through a symbolic link."""
    try:
        return os.path.realpath(one) == os.path.realpath(other)
    except (OSError, ValueError):
        return one == other


def _fault(named: _Named) -> _Fault | None:
    """The fault of a home; None for a usable home.

    As root, racwire runs the tools of a home only where root or the operator named it, or root owns it. Otherwise other
    users could run programs as root by creating a home. (root.sh makes root the owner of a cluster's home.)
    """
    path = Path(named.path)
    user = user_name(os.geteuid())
    if not path.is_absolute() or "\0" in named.path:
        return _Fault("is not an absolute path")
    try:
        home = path.stat()
        if not stat.S_ISDIR(home.st_mode):
            return _Fault("is not a directory")
        if os.geteuid() == 0 and home.st_uid != 0 and not named.is_root_word:
            return _Fault(f"belongs to {user_name(home.st_uid)}, and root runs programs there only if you name it")
        mode = (path / "bin" / "oifcfg").stat().st_mode
    except FileNotFoundError:
        return _Fault("has no bin/oifcfg" if path.is_dir() else "does not exist")
    except PermissionError:
        return _Fault(f"is not readable by {user}", is_permission=True)
    except OSError as error:
        return _Fault(f"cannot be read ({error.strerror})")
    if not stat.S_ISREG(mode) or not mode & 0o111:
        return _Fault("has a bin/oifcfg that is not executable")
    if not os.access(path / "bin" / "oifcfg", os.X_OK):
        return _Fault(f"has a bin/oifcfg that {user} may not execute", is_permission=True)
    return None


def _refusal(named: _Named, fault: _Fault) -> Unknown:
    """Why the home cannot be used, and what to do."""
    remedy, right = f"name the right home with {_HOW_TO_NAME_IT}", None
    if fault.is_permission:
        owner = _owner(Path(named.path))
        remedy, right = how_to_run_as_owner(owner), right_to_the_tools(owner)
    return Unknown(f"The Grid home {named.path} (named by {named.named_by}) {fault.text}: {remedy}.", right)


def _owner(home: Path) -> str:
    """The owner of the installation: of bin/oracle where it exists, because root's scripts make root own some tools."""
    for path in (home / "bin" / "oracle", home / "bin" / "oifcfg", home):
        try:
            return user_name(path.stat().st_uid)
        except OSError:
            continue
    return ""


def user_name(uid: int) -> str:
    """The name of a user, or the number as text where the node has no name for it."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


SUDOERS_SCRIPT = "racwire plan --sudoers"
"""The command that prints the lines of sudoers for tools that refuse this user."""


def right_to_the_tools(owner: str) -> MissingRight:
    """The right to run the tools of a Grid home with this owner, as a user who may query Clusterware."""
    if owner in ("", "root"):
        return MissingRight("run the tools of the Grid home as root or as its owner")
    return MissingRight(
        f"run the tools of the Grid home as {owner} or root",
        (_as_owner(owner),),
        script=SUDOERS_SCRIPT,
    )


def _as_owner(owner: str) -> str:
    return shell("sudo -u {owner} racwire check", owner=owner)


def how_to_run_as_owner(owner: str, *, by_sudo: bool = True) -> str:
    """How to run racwire as a user who may run the tools of the home; without `by_sudo`, by a login of that user."""
    if owner not in ("", "root") and not by_sudo:
        return f"log in as {owner} or root to run racwire"
    if owner in ("", "root"):
        return "run racwire as root or as the owner of the Grid home"
    return f"run `{_as_owner(owner)}`, or racwire as root"


def _is_file(path: Path) -> bool:
    """Whether it is a regular file that this user can see."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False
