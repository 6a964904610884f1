"""Query Grid Infrastructure on this node with oifcfg, olsnodes and crsctl, read-only."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from checks.model.facts import Clusterware, InterfaceConfiguration, Unknown
from checks.model.journal import Journal
from checks.model.settings import ClusterSettings
from checks.sources import grid_commands
from checks.sources.clusterware.cluster_text import (
    parse_active_version,
    parse_check_crs,
    parse_cluster_name,
    parse_haip,
    parse_local_node,
    parse_misscount,
    parse_olsnodes,
)
from checks.sources.clusterware.grid_home import RunningProcess, find_grid_home
from checks.sources.clusterware.grid_tools import GridTools
from checks.sources.clusterware.oifcfg_text import parse_getif, parse_iflist
from checks.sources.clusterware.oracle_text import no_known_shape
from checks.sources.clusterware.tool_failure import is_usage_error
from checks.sources.entries import GridCommand

# Messages that come with a good answer: a wildcard name, a difference between OCR and GPnP profile.
_GETIF_WARNINGS = frozenset({"PRIF-29", "PRIF-30"})


def _configuration(text: str) -> InterfaceConfiguration | Unknown:
    """The networks of getif; Unknown where getif only failed, which does not mean that none is configured."""
    configuration = parse_getif(text)
    failed = any(message.code not in _GETIF_WARNINGS for message in configuration.messages)
    if not configuration.interfaces and (failed or configuration.not_understood):
        return no_known_shape(grid_commands.CONFIGURATION.command, text)
    return configuration


FACTS: dict[str, tuple[GridCommand, Callable[[str], Any]]] = {
    "members": (grid_commands.MEMBERS, parse_olsnodes),
    "local_node": (grid_commands.LOCAL_NODE, parse_local_node),
    "cluster_name": (grid_commands.CLUSTER_NAME, parse_cluster_name),
    "configuration": (grid_commands.CONFIGURATION, _configuration),
    "listed": (grid_commands.LISTED, parse_iflist),
    "version": (grid_commands.VERSION, parse_active_version),
    "services": (grid_commands.SERVICES, parse_check_crs),
    "haip": (grid_commands.HAIP, parse_haip),
    "misscount_s": (grid_commands.MISSCOUNT, parse_misscount),
}
"""The query and the parser of each field of Clusterware that a tool answers."""


async def read_clusterware(
    settings: ClusterSettings,
    journal: Journal,
    local_host: str,
    environ: Mapping[str, str] = os.environ,
    root: Path = Path("/"),
    *,
    processes: Callable[[], Iterable[RunningProcess]] | None = None,
    timeout_s: float | None = None,
) -> Clusterware | Unknown:
    """Find the Grid home and query all its tools at the same time; `timeout_s` replaces the limit of each tool.

    If a tool fails, only its own fact is Unknown. The whole result is Unknown where there is no usable Grid home. The
    journal has every command under `local_host` and its topic. `processes` is for `find_grid_home`.
    """
    (topic,) = grid_commands.GRID_HOME.topics
    with journal.entry(local_host, topic, "find the Grid home") as entry:
        home = await asyncio.to_thread(find_grid_home, settings.grid_home, environ, root, processes)
        if isinstance(home, Unknown):
            entry.outcome = home.reason
            return home
        entry.text = "\n".join(
            [f"{home.path} named by {home.named_by}, owner {home.owner}"]
            + [f"stale: {stale.path} named by {stale.named_by}: {stale.reason}" for stale in home.stale]
        )
    tools = GridTools(home, journal, local_host, environ, timeout_s, sudo=settings.sudo)
    async with asyncio.TaskGroup() as tasks:  # after a cancellation it waits until every tool has ended
        asked = {name: tasks.create_task(_ask(tools, name)) for name in FACTS}
    found: dict[str, Any] = {name: task.result() for name, task in asked.items()}
    online = found.pop("services")
    with_causes = {name: tools.with_one_cause(answer, online) for name, answer in found.items()}
    return Clusterware(grid_home=home, services=online, **with_causes)


async def _ask(tools: GridTools, name: str) -> object:
    """A fact; crsctl before 12.1 refuses `-f` and is queried for its version without it."""
    query, parse = FACTS[name]
    answer, printed = await tools.ask_with_text(query, parse)
    if query is grid_commands.VERSION and isinstance(answer, Unknown) and is_usage_error(printed):
        return await tools.ask(grid_commands.VERSION_BEFORE_12, parse)
    return answer
