"""Query the listeners of this node for the services that they serve, and Clusterware for the SCAN, read-only.

The Net Services Reference, "Listener Control Utility", documents the answer of `lsnrctl status`; the appendix on SRVCTL
of the Real Application Clusters Administration Guide those of `srvctl config scan` and `srvctl config scan_listener`.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from checks.model.facts import Unknown
from checks.sources.clusterware.grid_tools import GridTools
from checks.sources.clusterware.oracle_text import no_answer_in, no_known_shape, printed_lines, quoted
from checks.sources.grid_commands import LISTENER_STATUS, SCAN, SCAN_LISTENER
from checks.sources.nodes.container_processes import is_contained

READY = "READY"
DEFAULT_LISTENER = "LISTENER"
_MOST_LISTENERS = 4
_PROGRAM = "tnslsnr"
_LISTENER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_OF_CLUSTERWARE = re.compile(r"ASMNET\d+LSNR_ASM|MGMTLSNR|ASMLSNR\w*", re.IGNORECASE)
"""The listeners of ASM and of the management repository: no database for clients registers there."""
_SERVICE = re.compile(r'Service "([^"]+)" has \d+ instance\(s\)\.?')
_INSTANCE = re.compile(r'Instance "([^"]+)", status ([A-Z/]+),.*')
_ENDPOINT = re.compile(r"\(PROTOCOL=(tcps?)\)\(HOST=([^()]+)\)\(PORT=(\d{1,5})\)", re.IGNORECASE)
_NO_SERVICES = "the listener supports no services"
_INTERNAL = re.compile(
    r"[+-].*|_mgmtdb|gimr_.*|.*XDB|.*_(?:CFG|XPT|DGB|DGMGRL)|[0-9a-f]{32}|(?:PLS|CLR)ExtProc|SYS\$.*"
)
"""Services without domain that no client uses: of ASM, of the management repository, XDB (web access), those that
Clusterware and Data Guard use, the GUIDs of pluggable databases, external procedures."""
_SCAN_NAME = re.compile(r"SCAN name\s*:\s*([A-Za-z0-9][A-Za-z0-9._-]*)", re.IGNORECASE)
_ENDPOINTS = re.compile(r"(?:Endpoints|Port)\s*:\s*(\S+)", re.IGNORECASE)


@dataclass(frozen=True)
class ServedService:
    """A service that a listener serves by one instance."""

    name: str
    """With its domain, as clients use it."""
    instance: str
    status: str
    """READY, BLOCKED, RESTRICTED, READY/SECONDARY; UNKNOWN for a service from listener.ora."""

    @property
    def is_for_clients(self) -> bool:
        """Whether clients use the service; not those of ASM, Clusterware, Data Guard and the database's own parts."""
        name = self.name.partition(".")[0]
        return not (_INTERNAL.fullmatch(name) or self.instance.startswith(("+", "-")))


@dataclass(frozen=True)
class ClientAddress:
    """A host and a port at which clients connect."""

    host: str
    port: int
    is_tls: bool = False

    def __str__(self) -> str:
        """The start of an EZConnect string: `rac-scan:1521`, `tcps://rac-scan:2484`."""
        return f"{'tcps://' if self.is_tls else ''}{self.host}:{self.port}"


@dataclass(frozen=True)
class ListenerStatus:
    """The output of `lsnrctl status`."""

    name: str
    endpoints: tuple[ClientAddress, ...]
    services: tuple[ServedService, ...]


def parse_listener(name: str, text: str) -> ListenerStatus | Unknown:
    """The endpoints and the services that `lsnrctl status` prints."""
    lines = printed_lines(text)
    services: list[ServedService] = []
    service = ""
    for line in lines:
        if found := _SERVICE.fullmatch(line):
            service = found[1]
        elif service and (found := _INSTANCE.fullmatch(line)):
            services.append(ServedService(service, found[1], found[2]))
    endpoints = tuple(
        ClientAddress(host, int(port), protocol.casefold() == "tcps")
        for protocol, host, port in _ENDPOINT.findall(text)
    )
    if services or any(line.casefold().rstrip(".") == _NO_SERVICES for line in lines):
        return ListenerStatus(name, tuple(dict.fromkeys(endpoints)), tuple(dict.fromkeys(services)))
    command = LISTENER_STATUS.of(name).command
    if message := next((line for line in lines if line.startswith("TNS-")), None):
        return Unknown(f"`{command}` printed {quoted(message)}.")
    return no_known_shape(command, text)


def parse_scan_name(text: str) -> str | Unknown:
    """The SCAN of the first network that `srvctl config scan` prints."""
    if found := _SCAN_NAME.search(text):
        return found[1]
    return no_answer_in(SCAN.command, text)


def parse_scan_port(text: str) -> tuple[int, bool] | Unknown:
    """The first port that `srvctl config scan_listener` prints, and whether it is a port of TCPS only."""
    for found in _ENDPOINTS.findall(text):
        for protocol in ("TCP", "TCPS"):
            if port := re.search(rf"(?<![A-Z]){protocol}:(\d{{1,5}})", found, re.IGNORECASE):
                return int(port[1]), protocol == "TCPS"
    return no_known_shape(SCAN_LISTENER.command, text)


def running_listeners(home: str) -> tuple[str, ...]:
    """The names of the listeners of this Grid home that run on this node, without those of Clusterware itself.

    The default listener where this user sees no process of a listener.
    """
    return listener_names(home, _listener_processes())


def listener_names(home: str, processes: Iterable[list[str]]) -> tuple[str, ...]:
    """The names in command lines such as `/u01/grid/bin/tnslsnr LISTENER_SCAN1 -no_crs_notify -inherit`."""
    names = set()
    for program, name, *_ in (words for words in processes if len(words) > 1):
        is_ours = Path(program).parts[-2:] == ("bin", _PROGRAM) and _same(str(Path(program).parent.parent), home)
        if is_ours and _LISTENER.fullmatch(name) and not _OF_CLUSTERWARE.fullmatch(name):
            names.add(name)
    ordered = sorted(names, key=lambda name: (name != DEFAULT_LISTENER, name))
    return tuple(ordered[:_MOST_LISTENERS]) or (DEFAULT_LISTENER,)


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _listener_processes() -> Iterator[list[str]]:
    for process in psutil.process_iter(["name"]):
        if process.info["name"] != _PROGRAM or is_contained(process.pid):
            continue
        try:
            yield process.cmdline()
        except (psutil.Error, OSError):
            continue


async def read_listeners(
    tools: GridTools, names: Callable[[str], tuple[str, ...]] = running_listeners
) -> tuple[ListenerStatus, ...] | Unknown:
    """Query each running listener of this node; Unknown, with the reason of the first, where none answers."""
    found = await asyncio.to_thread(names, tools.home.path)
    answers = await asyncio.gather(*(tools.ask(LISTENER_STATUS.of(n), partial(parse_listener, n)) for n in found))
    known = tuple(answer for answer in answers if isinstance(answer, ListenerStatus))
    return known or next(answer for answer in answers if isinstance(answer, Unknown))


async def read_scan(tools: GridTools) -> ClientAddress | Unknown:
    """Query srvctl for the SCAN and its port; port 1521 where srvctl does not answer that question."""
    name, port = await asyncio.gather(tools.ask(SCAN, parse_scan_name), tools.ask(SCAN_LISTENER, parse_scan_port))
    if isinstance(name, Unknown):
        return name
    return ClientAddress(name, 1521) if isinstance(port, Unknown) else ClientAddress(name, *port)
