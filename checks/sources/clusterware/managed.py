"""Ask Clusterware on this node which databases it manages and when its registry was last saved by hand."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from checks.model.facts import GridHome, Managed, ManagedDatabase, OcrBackup, Unknown
from checks.model.journal import Journal
from checks.sources.clusterware.databases_text import parse_database_status, parse_databases
from checks.sources.clusterware.grid_tools import GridTools
from checks.sources.grid_commands import DATABASE_STATUS, LIST_DATABASES, MANUAL_BACKUPS
from checks.sources.nodes.backups_text import parse_manual_backups

_AT_ONCE = 4
"""So many databases are asked about at the same time."""


async def read_managed(
    home: GridHome,
    journal: Journal,
    local_host: str,
    environ: Mapping[str, str] = os.environ,
    *,
    timeout_s: float | None = None,
) -> Managed:
    """Ask srvctl and ocrconfig of the Grid home, by queries only. What one of them does not tell is Unknown alone."""
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
            told = await tools.ask(DATABASE_STATUS.of(name), lambda text: parse_database_status(name, text))
        return ManagedDatabase(name, told) if isinstance(told, Unknown) else told

    return tuple(await asyncio.gather(*(status(name) for name in names)))


async def _backup(tools: GridTools) -> OcrBackup | Unknown | None:
    return await tools.ask(MANUAL_BACKUPS, parse_manual_backups)
