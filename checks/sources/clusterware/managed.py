"""Query Clusterware on this node for its databases, their names and the last manual backup of its registry.

The Real Application Clusters Administration Guide, appendix on SRVCTL, documents the answers of srvctl.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from checks.model.facts import AsmListener, Managed, ManagedDatabase, OcrBackup, Unknown, VotingFile
from checks.model.shell_command import shell
from checks.sources.clusterware.grid_tools import GridTools
from checks.sources.clusterware.oracle_text import (
    no_answer_in,
    no_known_shape,
    printed_lines,
    quoted,
    read_message,
    read_messages,
)
from checks.sources.grid_commands import (
    ASM_LISTENERS,
    DATABASE_CONFIGURATION,
    DATABASE_STATUS,
    LIST_DATABASES,
    MANUAL_BACKUPS,
    VOTING_FILES,
)
from checks.sources.nodes.backup_files import parse_manual_backups

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_$#.]{0,63}")
_SERVICES = r"(?:[.,]? with online services? (?P<services>\S+?))?(?:[.,]? (?:with|Instance) .*)?\.?"
"""The end of a line with `-v`: ` with online services crm,web. Instance status: Open.`"""
_RUNS = re.compile(rf"Instance (\S+) is running on nodes? (\S+?){_SERVICES}")
_DOES_NOT = re.compile(r"Instance (\S+) is not running(?: on node (\S+?))?\.?")
_DATABASE = re.compile(rf"Database(?: \S+)? is (not )?running(?: on node (\S+?))?{_SERVICES}")


def parse_databases(text: str) -> tuple[str, ...] | Unknown:
    """The names that `srvctl config database` prints; an empty output means that Clusterware manages no database."""
    lines = printed_lines(text)
    names = tuple(dict.fromkeys(line for line in lines if _NAME.fullmatch(line)))
    failures = [line for line in lines if read_message(line)]
    if failures:
        return Unknown(f"`srvctl config database` printed {quoted(failures[0])}.")
    return names if len(names) == len(set(lines)) else no_known_shape("srvctl config database", text)


def parse_database_status(name: str, text: str) -> ManagedDatabase | Unknown:
    """The instances that `srvctl status database -v` prints, and the services that each offers.

    For a database with one instance srvctl prints `Database is running.`; its instance has the name of the database.
    """
    running: list[tuple[str, str]] = []
    stopped: list[tuple[str, str]] = []
    services: list[tuple[str, str]] = []
    for line in printed_lines(text):
        if found := _DOES_NOT.fullmatch(line):
            stopped.append((found[1], found[2] or ""))
        elif found := _RUNS.fullmatch(line):
            nodes = [node for node in found[2].split(",") if node]
            running += [(found[1], node) for node in nodes]
            services += [(service, node) for service in _named_services(found) for node in nodes]
        elif found := _DATABASE.fullmatch(line):
            (stopped if found[1] else running).append((name, found[2] or ""))
            services += [(service, found[2] or "") for service in _named_services(found)]
    if running or stopped:
        return ManagedDatabase(name, tuple(running), tuple(stopped), tuple(services))
    return no_answer_in(shell("srvctl status database -d {database}", database=name), text)


def _named_services(found: re.Match[str]) -> list[str]:
    return [service for service in (found["services"] or "").split(",") if service]


_VOTING_FILE = re.compile(r"\d+\.\s+([A-Z]+)\s+[0-9a-f]{32}\s+\((.*)\)\s+\[(.*)\]", re.IGNORECASE)


def parse_voting_files(text: str) -> tuple[VotingFile, ...] | Unknown:
    """The lines ` 1. ONLINE   <32 hex digits> (<device or path>) [<disk group>]` of `crsctl query css votedisk`.

    Source: Clusterware Administration and Deployment Guide, appendix on CRSCTL.
    """
    found = [match for line in printed_lines(text) if (match := _VOTING_FILE.fullmatch(line))]
    if not found:
        return no_known_shape(VOTING_FILES.command, text)
    return tuple(VotingFile(match[1], match[2], match[3]) for match in found)


_AT_ONCE = 4
"""Most databases that are queried at the same time."""


_NO_LISTENER = "PRCN-2044"


def parse_asm_listeners(text: str) -> tuple[AsmListener, ...] | Unknown:
    """The listeners that `srvctl config listener -asmlistener` prints, a block of `Label: value` lines each.

    PRCN-2044 means that there is none: ASM is not Flex ASM.
    """
    found: list[AsmListener] = []
    name = ""
    for line in printed_lines(text):
        label, colon, value = line.partition(":")
        if colon and label.strip() == "Name":
            name = value.strip()
        elif colon and label.strip() == "Subnet" and name and value.strip():
            found.append(AsmListener(name, value.strip()))
            name = ""
    if found:
        return tuple(found)
    if any(message.code == _NO_LISTENER for message in read_messages(text)):
        return ()
    return no_known_shape(ASM_LISTENERS.command, text)


async def read_managed(tools: GridTools) -> Managed:
    """Query srvctl, ocrconfig and crsctl of the Grid home, read-only. If one fails, only its own fact is Unknown."""
    databases, backup, voting, listeners = await asyncio.gather(
        _databases(tools),
        _backup(tools),
        tools.ask(VOTING_FILES, parse_voting_files),
        tools.ask(ASM_LISTENERS, parse_asm_listeners),
    )
    return Managed(databases, backup, voting, listeners)


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


# --- the databases of this node's instances ---------------------------------------------------------------------------

_SERVICE = re.compile(r"[\w.$#-]{1,250}", re.ASCII)
_MOST_QUERIES = 4
"""Most databases whose configuration is queried: each query starts a Java program on a node that may be busy."""


@dataclass(frozen=True)
class DatabaseConfiguration:
    """The names of a database in its configuration in Clusterware."""

    unique_name: str
    """DB_UNIQUE_NAME."""
    domain: str
    """DB_DOMAIN; empty where the database has none."""
    instances: tuple[str, ...]
    """Empty where Clusterware makes the names at the start: policy-managed databases and RAC One Node."""
    prefixes: frozenset[str]
    """The possible instance names without their numbers, in lower case."""
    type: str = ""
    """RAC, RACOneNode or SINGLE; empty where srvctl does not print it."""
    role: str = ""
    """PRIMARY, PHYSICAL_STANDBY ... as Clusterware has it, which can be out of date after a switchover."""
    home: str = ""
    """The ORACLE_HOME; empty where srvctl does not print it."""

    @property
    def is_single(self) -> bool:
        """Whether the database has one instance and uses no interconnect."""
        return self.type.upper() == "SINGLE"

    @property
    def is_standby(self) -> bool:
        """Whether Clusterware lists it as a standby."""
        return self.role.upper().endswith("STANDBY")

    @property
    def default_service(self) -> str:
        """The service that every open instance registers by itself: DB_UNIQUE_NAME, with DB_DOMAIN where it is set."""
        return f"{self.unique_name}.{self.domain}" if self.domain else self.unique_name

    def has_instance(self, sid: str) -> bool:
        """Whether the instance belongs to the database."""
        if self.instances:
            return sid.casefold() in map(str.casefold, self.instances)
        return sid.casefold() in self.prefixes or stem(sid) in self.prefixes


def stem(sid: str) -> str:
    """The instance name without its number, in lower case: `prod` for PROD1 and for prod_2."""
    return re.sub(r"_?\d+$", "", sid).casefold()


def parse_database_configuration(name: str, text: str) -> DatabaseConfiguration | Unknown:
    """The names that `srvctl config database -d` prints."""
    values: dict[str, str] = {}
    for line in printed_lines(text):
        label, colon, value = line.partition(":")
        if colon:
            values.setdefault(label.strip().casefold(), value.strip())
    unique_name, domain = values.get("database unique name", ""), values.get("domain", "")
    command = shell("srvctl config database -d {database}", database=name)
    if not unique_name:
        return no_answer_in(command, text)
    if not _SERVICE.fullmatch(unique_name) or (domain and not _SERVICE.fullmatch(domain)):
        return no_known_shape(command, text)
    listed = values.get("database instances") or values.get("database instance") or ""
    instances = tuple(instance.strip() for instance in listed.split(",") if instance.strip())
    names = (values.get("instance name prefix", ""), values.get("database name", ""), unique_name)
    prefixes = {form for name in names if name for form in (name, name[:8], re.sub(r"[^A-Za-z0-9]", "", name)[:8])}
    return DatabaseConfiguration(
        unique_name,
        domain,
        instances,
        frozenset(map(str.casefold, prefixes)),
        values.get("type", ""),
        values.get("database role", ""),
        values.get("oracle home", ""),
    )


@dataclass(frozen=True)
class KnownDatabases:
    """The databases of some instances, with their names and default services."""

    by_sid: Mapping[str, DatabaseConfiguration]
    """The database of each instance for which one was found."""
    reason: str = ""
    """Why the databases of the other instances are not known, as a sentence; empty where all are known."""


async def read_known_databases(tools: GridTools, sids: Collection[str]) -> KnownDatabases:
    """Query srvctl for the databases of these instances.

    The databases whose names resemble those of the instances are queried first, and no more than needed.
    """
    names = await tools.ask(LIST_DATABASES, parse_databases)
    if isinstance(names, Unknown):
        return KnownDatabases({}, names.reason)
    if not names:
        return KnownDatabases({}, "Clusterware manages no database.")
    found: dict[str, DatabaseConfiguration] = {}
    failure = ""
    ranked = _ranked(names, sids)
    for name in ranked[:_MOST_QUERIES]:
        if len(found) == len(sids):
            break
        configured = await _configuration(tools, name)
        if isinstance(configured, Unknown):
            failure = configured.reason
        else:
            found |= {sid: configured for sid in sids if configured.has_instance(sid)}
    if len(found) == len(sids):
        return KnownDatabases(found)
    if len(ranked) > _MOST_QUERIES:
        none = f"The first {_MOST_QUERIES} of {len(ranked)} databases in Clusterware have no such instance."
    else:
        none = "Clusterware manages no database with such an instance."
    return KnownDatabases(found, failure or none)


async def read_rac_databases(tools: GridTools) -> tuple[DatabaseConfiguration, ...] | Unknown:
    """Query srvctl for the first databases of the cluster, without those that have one instance."""
    names = await tools.ask(LIST_DATABASES, parse_databases)
    if isinstance(names, Unknown):
        return names
    found = []
    for name in names[:_MOST_QUERIES]:
        configured = await _configuration(tools, name)
        if isinstance(configured, DatabaseConfiguration) and not configured.is_single:
            found.append(configured)
    return tuple(found)


async def _configuration(tools: GridTools, name: str) -> DatabaseConfiguration | Unknown:
    return await tools.ask(DATABASE_CONFIGURATION.of(name), partial(parse_database_configuration, name))


def _ranked(names: Iterable[str], sids: Collection[str]) -> list[str]:
    """The databases, first those whose names start as those of the instances."""
    stems = {stem(sid) for sid in sids}

    def distance(name: str) -> int:
        folded = name.casefold()
        return 0 if folded in stems else 1 if any(folded.startswith(one) for one in stems) else 2

    return sorted(names, key=distance)
