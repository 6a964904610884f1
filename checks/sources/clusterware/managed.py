"""Query Clusterware on this node for its databases and the last manual backup of its registry.

The Real Application Clusters Administration Guide, appendix on SRVCTL, documents the answers of srvctl.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping

from checks.model.facts import GridHome, Managed, ManagedDatabase, OcrBackup, Unknown
from checks.model.journal import Journal
from checks.sources.clusterware.grid_tools import GridTools
from checks.sources.clusterware.oracle_text import no_known_shape, printed_lines, quoted, read_message, read_messages
from checks.sources.grid_commands import DATABASE_STATUS, LIST_DATABASES, MANUAL_BACKUPS
from checks.sources.nodes.backup_files import parse_manual_backups

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_$#.]{0,63}")
_RUNS = re.compile(r"Instance (\S+) is running on nodes? (\S+?)(?:[.,]? (?:with|Instance) .*)?\.?")
_DOES_NOT = re.compile(r"Instance (\S+) is not running(?: on node (\S+?))?\.?")
_DATABASE = re.compile(r"Database(?: \S+)? is (not )?running(?: on node (\S+?))?\.?")


def parse_databases(text: str) -> tuple[str, ...] | Unknown:
    """The names that `srvctl config database` prints; an empty output means that Clusterware manages no database."""
    lines = printed_lines(text)
    names = tuple(dict.fromkeys(line for line in lines if _NAME.fullmatch(line)))
    failures = [line for line in lines if read_message(line)]
    if failures:
        return Unknown(f"`srvctl config database` printed {quoted(failures[0])}.")
    return names if len(names) == len(set(lines)) else no_known_shape("srvctl config database", text)


def parse_database_status(name: str, text: str) -> ManagedDatabase | Unknown:
    """The instances that `srvctl status database` prints.

    For a database with one instance srvctl prints `Database is running.`; its instance has the name of the database.
    """
    running: list[tuple[str, str]] = []
    stopped: list[tuple[str, str]] = []
    for line in printed_lines(text):
        if found := _DOES_NOT.fullmatch(line):
            stopped.append((found[1], found[2] or ""))
        elif found := _RUNS.fullmatch(line):
            running += [(found[1], node) for node in found[2].split(",") if node]
        elif found := _DATABASE.fullmatch(line):
            (stopped if found[1] else running).append((name, found[2] or ""))
    if running or stopped:
        return ManagedDatabase(name, tuple(running), tuple(stopped))
    messages = read_messages(text)
    if messages:
        first = f"{messages[0].code}: {messages[0].text}"
        return Unknown(f"`srvctl status database -d {name}` printed {quoted(first)}.")
    return no_known_shape(f"srvctl status database -d {name}", text)


_AT_ONCE = 4
"""Most databases that are queried at the same time."""


async def read_managed(
    home: GridHome,
    journal: Journal,
    local_host: str,
    environ: Mapping[str, str] = os.environ,
    *,
    timeout_s: float | None = None,
) -> Managed:
    """Query srvctl and ocrconfig of the Grid home, read-only. If one fails, only its own fact is Unknown."""
    tools = GridTools(home, journal, local_host, environ, timeout_s)
    databases, backup = await asyncio.gather(_databases(tools), _backup(tools))
    return Managed(databases, backup)


async def _databases(tools: GridTools) -> tuple[ManagedDatabase, ...] | Unknown:
    names = await tools.ask(LIST_DATABASES, parse_databases)
    if isinstance(names, Unknown):
        return names
    turns = asyncio.Semaphore(_AT_ONCE)

    async def status(name: str) -> ManagedDatabase:
        async with turns:
            answer = await tools.ask(DATABASE_STATUS.of(name), lambda text: parse_database_status(name, text))
        return ManagedDatabase(name, answer) if isinstance(answer, Unknown) else answer

    return tuple(await asyncio.gather(*(status(name) for name in names)))


async def _backup(tools: GridTools) -> OcrBackup | Unknown | None:
    return await tools.ask(MANUAL_BACKUPS, parse_manual_backups)
