"""Ask Grid Infrastructure on this node: oifcfg, olsnodes and crsctl, by queries only."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import TypeVar

from checks.facts import (
    ActiveVersion,
    Clusterware,
    GridHome,
    InterfaceConfiguration,
    Unknown,
)
from checks.journal import Journal
from checks.nodes.command import CommandError, CommandOutput, NotPermittedError, TimedOutError, run_command
from checks.nodes.crsctl_text import HAIP_RESOURCE, parse_active_version, parse_check_crs, parse_haip, parse_misscount
from checks.nodes.grid_home import RunningProcess, find_grid_home, user_name
from checks.nodes.oifcfg_text import parse_getif, parse_iflist
from checks.nodes.olsnodes_text import parse_cluster_name, parse_local_node, parse_olsnodes
from checks.nodes.oracle_text import no_known_shape
from checks.nodes.tool_failure import Asker, explain_failure, is_usage_error
from checks.settings import ClusterSettings

TOOL_TIMEOUT_S = 10.0
"""Seconds that each tool has. They answer in well under one; on a hanging stack they wait for minutes."""
_OUTPUT_LIMIT_BYTES = 1_000_000
# Messages that come with a good answer: a wildcard name, a difference between OCR and GPnP profile.
_GETIF_WARNINGS = frozenset({"PRIF-29", "PRIF-30"})

T = TypeVar("T")


class Query(Enum):
    """Every command that is ever run in a Grid home: what it is about, the tool, its arguments. None changes anything.

    Nothing else can be run there: commands are built from these members only.
    """

    MEMBERS = ("olsnodes", "olsnodes", ("-n", "-i", "-s", "-t"))
    LOCAL_NODE = ("olsnodes -l", "olsnodes", ("-l",))
    CLUSTER_NAME = ("olsnodes -c", "olsnodes", ("-c",))
    CONFIGURATION = ("oifcfg getif", "oifcfg", ("getif",))
    LISTED = ("oifcfg iflist", "oifcfg", ("iflist", "-p", "-n"))
    VERSION = ("crsctl query crs activeversion", "crsctl", ("query", "crs", "activeversion", "-f"))
    VERSION_BEFORE_12 = ("crsctl query crs activeversion", "crsctl", ("query", "crs", "activeversion"))
    SERVICES = ("crsctl check crs", "crsctl", ("check", "crs"))
    HAIP = ("crsctl stat res haip", "crsctl", ("stat", "res", HAIP_RESOURCE, "-init"))
    MISSCOUNT = ("crsctl get css misscount", "crsctl", ("get", "css", "misscount"))

    def __init__(self, topic: str, tool: str, arguments: tuple[str, ...]) -> None:
        self.topic = topic
        self.tool = tool
        self.arguments = arguments

    @property
    def command(self) -> str:
        """The command as a person would type it with the Grid home in the PATH."""
        return " ".join((self.tool, *self.arguments))

    def argv(self, grid_home: str) -> tuple[str, ...]:
        """The command as it is run: a database home may hold tools of the same name, so by absolute path."""
        return (f"{grid_home}/bin/{self.tool}", *self.arguments)


def planned_commands(grid_home: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The topic and the argument list of every command that `read_clusterware` can run.

    The version is asked once more without `-f` only where crsctl is too old to have it.
    """
    return tuple((query.topic, query.argv(grid_home)) for query in Query)


async def read_clusterware(
    settings: ClusterSettings,
    journal: Journal,
    local_host: str,
    environ: Mapping[str, str] = os.environ,
    root: Path = Path("/"),
    *,
    processes: Callable[[], Iterable[RunningProcess]] | None = None,
    timeout_s: float = TOOL_TIMEOUT_S,
) -> Clusterware | Unknown:
    """Find the Grid home and ask its tools, all at once, each with `timeout_s` seconds.

    A tool that fails leaves only its own fact Unknown. Unknown as a whole means that there is no usable Grid home.
    Every command stands in the journal under `local_host` and its topic. `processes` is for `find_grid_home`.
    """
    with journal.entry(local_host, "grid home", "look where a Grid home is named") as entry:
        home = await asyncio.to_thread(find_grid_home, settings.grid_home, environ, root, processes)
        if isinstance(home, Unknown):
            entry.outcome = home.reason
            return home
        entry.text = "\n".join(
            [f"{home.path} named by {home.named_by}, owner {home.owner}"]
            + [f"stale: {stale.path} named by {stale.named_by}: {stale.reason}" for stale in home.stale]
        )
    tools = _Tools(home, journal, local_host, environ, timeout_s)
    async with asyncio.TaskGroup() as tasks:
        members = tasks.create_task(tools.ask(Query.MEMBERS, parse_olsnodes))
        local_node = tasks.create_task(tools.ask(Query.LOCAL_NODE, parse_local_node))
        cluster_name = tasks.create_task(tools.ask(Query.CLUSTER_NAME, parse_cluster_name))
        configuration = tasks.create_task(tools.ask(Query.CONFIGURATION, _configuration))
        listed = tasks.create_task(tools.ask(Query.LISTED, parse_iflist))
        version = tasks.create_task(tools.ask_version())
        services = tasks.create_task(tools.ask(Query.SERVICES, parse_check_crs))
        haip = tasks.create_task(tools.ask(Query.HAIP, parse_haip))
        misscount = tasks.create_task(tools.ask(Query.MISSCOUNT, parse_misscount))
    return Clusterware(
        grid_home=home,
        local_node=local_node.result(),
        cluster_name=cluster_name.result(),
        members=members.result(),
        configuration=configuration.result(),
        listed=listed.result(),
        version=version.result(),
        services=services.result(),
        haip=haip.result(),
        misscount_s=misscount.result(),
    )


def _configuration(text: str) -> InterfaceConfiguration | Unknown:
    """What getif printed, unless that is only a failure: then no network was named, rather than none configured."""
    configuration = parse_getif(text)
    failed = any(message.code not in _GETIF_WARNINGS for message in configuration.messages)
    if not configuration.interfaces and (failed or configuration.not_understood):
        return no_known_shape(Query.CONFIGURATION.command, text)
    return configuration


class _Tools:
    """The tools of one Grid home, each answer recorded."""

    def __init__(
        self, home: GridHome, journal: Journal, local_host: str, environ: Mapping[str, str], timeout_s: float
    ) -> None:
        self._home = home
        self._journal = journal
        self._local_host = local_host
        self._timeout_s = timeout_s
        self._asker = Asker(user_name(os.geteuid()), home.owner, _is_outsider(home))
        # A session set up for a database home must not lend its libraries and messages to the Grid tools.
        self._environ = {name: value for name, value in environ.items() if not name.startswith("ORA_NLS")} | {
            "ORACLE_HOME": home.path,
            "LD_LIBRARY_PATH": f"{home.path}/lib",
        }

    async def ask(self, query: Query, parse: Callable[[str], T | Unknown]) -> T | Unknown:
        """The fact that the command's answer holds, or why there is none."""
        answer, _ = await self._ask(query, parse)
        return answer

    async def ask_version(self) -> ActiveVersion | Unknown:
        """The active version; crsctl before 12.1 refuses `-f` and is asked without it."""
        version, printed = await self._ask(Query.VERSION, parse_active_version)
        if isinstance(version, Unknown) and is_usage_error(printed):
            version, _ = await self._ask(Query.VERSION_BEFORE_12, parse_active_version)
        return version

    async def _ask(self, query: Query, parse: Callable[[str], T | Unknown]) -> tuple[T | Unknown, str]:
        """The fact and all that the command printed."""
        argv = query.argv(self._home.path)
        with self._journal.entry(self._local_host, query.topic, shlex.join(argv)) as entry:
            try:
                output = await run_command(
                    argv, timeout_s=self._timeout_s, env=self._environ, limit_bytes=_OUTPUT_LIMIT_BYTES
                )
            except NotPermittedError:
                entry.outcome = self._asker.not_permitted(query.command)
                return Unknown(entry.outcome), ""
            except TimedOutError:
                entry.outcome = (
                    f"`{query.command}` timed out after {self._timeout_s:g} s and was killed: Clusterware may hang "
                    "on this node; its alert.log says since when."
                )
                return Unknown(entry.outcome), ""
            except CommandError as error:
                entry.outcome = f"{error}."
                return Unknown(entry.outcome), ""
            entry.text = output.text
            answer = parse(output.text)
            if isinstance(answer, Unknown) and output.stderr.strip() and output.stdout.strip():
                # Noise on stderr, such as a library's warning, spoils no answer that is whole without it.
                answer = parse(output.stdout)
            answer = self._judge(query, output, answer)
            if isinstance(answer, Unknown):
                entry.outcome = answer.reason
            return answer, output.text

    def _judge(self, query: Query, output: CommandOutput, answer: T | Unknown) -> T | Unknown:
        """The answer, unless the command was cut off in the midst of it; for an Unknown one, the better reason."""
        silent_failure = output.exit_status > 0 and not output.text.strip()
        if isinstance(answer, Unknown) or output.exit_status < 0 or silent_failure:
            reason = explain_failure(query.command, output, self._asker)
            return Unknown(reason) if reason else answer
        return answer


def _is_outsider(home: GridHome) -> bool:
    """Whether this user is neither root nor the Grid owner nor in the group of oifcfg."""
    user = os.geteuid()
    if user == 0 or user_name(user) == home.owner:
        return False
    try:
        group = Path(home.path, "bin", "oifcfg").stat().st_gid
    except OSError:
        return True
    return group not in (os.getegid(), *os.getgroups())
