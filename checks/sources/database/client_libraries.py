"""Oracle's client libraries, for thick mode; the instance and home for `/ as sysdba`; where tnsnames.ora lies."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from checks.model.settings import DatabaseSettings
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.local_instances import (
    LocalInstance,
    home_of,
    is_other_users_word,
    listed_instances,
    local_instances,
)

_LIBRARY = "libclntsh.so"
_LOADER_CACHE = Path("/etc/ld.so.cache")
LOADER = ""
"""In place of a directory: the system's own loader finds the libraries."""


def find_libraries(settings: DatabaseSettings, environ: Mapping[str, str] = os.environ) -> str | None:
    """The directory of libclntsh.so, LOADER where the system finds it by itself, None where it is not to be had."""
    for directory in _directories(settings, environ):
        if _holds_library(directory):
            return str(directory)
    ways = [Path(way) for way in environ.get("LD_LIBRARY_PATH", "").split(":") if way]
    try:
        known_to_loader = _LIBRARY.encode() in _LOADER_CACHE.read_bytes()
    except OSError:
        known_to_loader = False
    return LOADER if known_to_loader or any(_holds_library(way) for way in ways) else None


def how_to_have_libraries(settings: DatabaseSettings) -> str:
    """What the operator can do where none are found."""
    if settings.oracle_home:
        return f"{settings.oracle_home} has no lib/{_LIBRARY}; name another home with --oracle-home."
    return "set ORACLE_HOME, or name a database home or an Instant Client with --oracle-home."


def local_instance(settings: DatabaseSettings, environ: Mapping[str, str] = os.environ) -> LocalInstance:
    """The instance that `/ as sysdba` logs in to: as set, by ORACLE_SID and ORACLE_HOME, else the only one that runs.
    Raises DatabaseError."""
    sid = settings.oracle_sid or environ.get("ORACLE_SID", "")
    running = local_instances()
    if not sid:
        if len(running) != 1:
            names = ", ".join(instance.sid for instance in running) or "none"
            raise DatabaseError(
                f"Which instance is meant is not clear (running here: {names}): set ORACLE_SID, or oracle_sid in the "
                "settings.",
                ErrorKind.CANNOT_CONNECT,
            )
        sid = running[0].sid
    told = settings.oracle_home or environ.get("ORACLE_HOME", "")
    if told:
        return LocalInstance(sid, told)
    home = next((i.home for i in running if i.sid == sid), "")
    home = home or home_of(sid, {i.sid: i.home for i in listed_instances()})
    if not home:
        raise DatabaseError(
            f"The home of the instance {sid} is not known: set ORACLE_HOME, or name it with --oracle-home.",
            ErrorKind.CANNOT_CONNECT,
        )
    if is_other_users_word(home):
        raise DatabaseError(
            f"The home of the instance {sid}, {home}, is not root's, and root loads no library from there unasked: run "
            "racwire as the owner of the home, or name it with --oracle-home.",
            ErrorKind.CANNOT_CONNECT,
        )
    return LocalInstance(sid, home)


def tns_directory(settings: DatabaseSettings, environ: Mapping[str, str] = os.environ) -> str:
    """Where tnsnames.ora and sqlnet.ora are looked for; nothing where no directory is known."""
    home = settings.oracle_home or environ.get("ORACLE_HOME", "")
    return settings.tns_admin or environ.get("TNS_ADMIN", "") or (f"{home}/network/admin" if home else "")


def _directories(settings: DatabaseSettings, environ: Mapping[str, str]) -> Iterator[Path]:
    if settings.oracle_home:  # as named, or not at all
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
