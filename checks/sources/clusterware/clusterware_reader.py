"""Query Grid Infrastructure on this node with oifcfg, olsnodes and crsctl, read-only."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from checks.model.facts import ActiveVersion, Clusterware, InterfaceConfiguration, Unknown
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

# Messages that come with a good answer: a wildcard name, a difference between OCR and GPnP profile.
_GETIF_WARNINGS = frozenset({"PRIF-29", "PRIF-30"})


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
    async with asyncio.TaskGroup() as tasks:
        members = tasks.create_task(tools.ask(grid_commands.MEMBERS, parse_olsnodes))
        local_node = tasks.create_task(tools.ask(grid_commands.LOCAL_NODE, parse_local_node))
        cluster_name = tasks.create_task(tools.ask(grid_commands.CLUSTER_NAME, parse_cluster_name))
        configuration = tasks.create_task(tools.ask(grid_commands.CONFIGURATION, _configuration))
        listed = tasks.create_task(tools.ask(grid_commands.LISTED, parse_iflist))
        version = tasks.create_task(_ask_version(tools))
        services = tasks.create_task(tools.ask(grid_commands.SERVICES, parse_check_crs))
        haip = tasks.create_task(tools.ask(grid_commands.HAIP, parse_haip))
        misscount = tasks.create_task(tools.ask(grid_commands.MISSCOUNT, parse_misscount))
    online = services.result()
    return Clusterware(
        grid_home=home,
        local_node=tools.with_one_cause(local_node.result(), online),
        cluster_name=tools.with_one_cause(cluster_name.result(), online),
        members=tools.with_one_cause(members.result(), online),
        configuration=tools.with_one_cause(configuration.result(), online),
        listed=tools.with_one_cause(listed.result(), online),
        version=tools.with_one_cause(version.result(), online),
        services=online,
        haip=tools.with_one_cause(haip.result(), online),
        misscount_s=tools.with_one_cause(misscount.result(), online),
    )


async def _ask_version(tools: GridTools) -> ActiveVersion | Unknown:
    """The active version; crsctl before 12.1 refuses `-f` and is queried without it."""
    version, printed = await tools.ask_with_text(grid_commands.VERSION, parse_active_version)
    if isinstance(version, Unknown) and is_usage_error(printed):
        version, _ = await tools.ask_with_text(grid_commands.VERSION_BEFORE_12, parse_active_version)
    return version


def _configuration(text: str) -> InterfaceConfiguration | Unknown:
    """The networks of getif; Unknown where getif only failed, which does not mean that none is configured."""
    configuration = parse_getif(text)
    failed = any(message.code not in _GETIF_WARNINGS for message in configuration.messages)
    if not configuration.interfaces and (failed or configuration.not_understood):
        return no_known_shape(grid_commands.CONFIGURATION.command, text)
    return configuration
