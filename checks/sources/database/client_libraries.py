"""Find Oracle's client libraries for thick mode, the instance and home for `/ as sysdba`, and tnsnames.ora."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from checks.model.settings import DatabaseSettings
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.local_instances import (
    LocalInstance,
    home_of,
    is_no_database,
    listed_instances,
    local_instances,
    other_user_can_replace,
)

_LIBRARY = "libclntsh.so"
_LOADER_CACHE = Path("/etc/ld.so.cache")
LOADER = ""
"""Returned instead of a directory where the system's own loader finds the libraries."""


def find_libraries(settings: DatabaseSettings, environ: Mapping[str, str] = os.environ) -> str | None:
    """The directory of libclntsh.so; LOADER where the system's loader finds it, None where it is not installed."""
    for directory in _directories(settings, environ):
        if _holds_library(directory):
            return str(directory)
    ways = [Path(way) for way in environ.get("LD_LIBRARY_PATH", "").split(":") if way]
    try:
        known_to_loader = _LIBRARY.encode() in _LOADER_CACHE.read_bytes()
    except OSError:
        known_to_loader = False
    return LOADER if known_to_loader or any(_holds_library(way) for way in ways) else None


def libraries_advice(settings: DatabaseSettings, environ: Mapping[str, str] = os.environ) -> str:
    """What the operator can do where racwire found no client libraries."""
    if settings.oracle_home:
        return f"{settings.oracle_home} has no lib/{_LIBRARY}: name another home with --oracle-home."
    home = environ.get("ORACLE_HOME", "")
    if not home and settings.os_authentication:
        home = local_instance(settings, environ).home
    if home:
        return (
            f"{home} has no lib/{_LIBRARY} that this user can read. Set ORACLE_HOME to another database home, name one "
            "or an Instant Client with --oracle-home, or run racwire as the owner of the home."
        )
    return (
        "set ORACLE_HOME and LD_LIBRARY_PATH=$ORACLE_HOME/lib, or name a database home or an Instant Client with "
        "--oracle-home."
    )


def local_instance(settings: DatabaseSettings, environ: Mapping[str, str] = os.environ) -> LocalInstance:
    """The instance that `/ as sysdba` logs in to: from the settings, from ORACLE_SID and ORACLE_HOME, else the only
    running one.

    Raises DatabaseError where the instance or its home is not known, and where root would load libraries from a home
    that is not root's and that the operator did not name.
    """
    sid = settings.oracle_sid or environ.get("ORACLE_SID", "")
    running = local_instances()
    if not sid:
        if len(running) != 1:
            names = ", ".join(instance.sid for instance in running) or "none"
            raise DatabaseError(
                f"racwire cannot choose an instance of this node (running: {names}): set ORACLE_SID, or oracle_sid in "
                "the settings.",
                ErrorKind.CANNOT_CONNECT,
            )
        sid = running[0].sid
    if is_no_database(sid):
        names = ", ".join(f"{i.sid} ({i.home or 'home not known'})" for i in running) or "none"
        raise DatabaseError(
            f"{sid} is an instance of ASM or of the management repository, not of a database (ORACLE_SID): set "
            f"ORACLE_SID and ORACLE_HOME to those of a database instance (running: {names}).",
            ErrorKind.CANNOT_CONNECT,
        )
    configured = settings.oracle_home or environ.get("ORACLE_HOME", "")
    if configured:
        return LocalInstance(sid, configured)
    home = next((i.home for i in running if i.sid == sid), "")
    home = home or home_of(sid, {i.sid: i.home for i in listed_instances()})
    if not home:
        raise DatabaseError(
            f"racwire does not know the home of the instance {sid}: set ORACLE_HOME, or name it with --oracle-home.",
            ErrorKind.CANNOT_CONNECT,
        )
    if other_user_can_replace(home):
        raise DatabaseError(
            f"The home of the instance {sid}, {home}, does not belong to root, and root loads no library from there by "
            "default: run racwire as the owner of the home, or name the home with --oracle-home.",
            ErrorKind.CANNOT_CONNECT,
        )
    return LocalInstance(sid, home)


def tns_directory(settings: DatabaseSettings, environ: Mapping[str, str] = os.environ) -> str:
    """The directory in which to search for tnsnames.ora and sqlnet.ora; empty where none is set."""
    home = settings.oracle_home or environ.get("ORACLE_HOME", "")
    return settings.tns_admin or environ.get("TNS_ADMIN", "") or (f"{home}/network/admin" if home else "")


def _directories(settings: DatabaseSettings, environ: Mapping[str, str]) -> Iterator[Path]:
    if settings.oracle_home:  # the operator's choice: no other place is searched
        yield Path(settings.oracle_home, "lib")
        yield Path(settings.oracle_home)
        return
    if environ.get("ORACLE_HOME"):
        yield Path(environ["ORACLE_HOME"], "lib")
        yield Path(environ["ORACLE_HOME"])
    if settings.os_authentication:
        yield Path(local_instance(settings, environ).home, "lib")


def _holds_library(directory: Path) -> bool:
    try:
        return any(directory.glob(f"{_LIBRARY}*"))
    except OSError:
        return False
