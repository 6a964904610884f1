"""Read this node by netlink, /proc and /sys: starts no process and needs no privilege."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass

from checks.model.broken_dependency import named_dependency
from checks.model.facts import MissingRight, Node, Unknown
from checks.model.journal import Journal
from checks.model.system_limits import limit_reached
from checks.sources.kernel_files import COUNTER_FILES, PROC_SYS, SOCKETS_FILE, SPEED_FILES, SYS_CLASS_NET, THIS_NODE
from checks.sources.nodes import netlink
from checks.sources.nodes.assembly import interface_text, neighbour_text, route_text
from checks.sources.nodes.proc import lock_lines, parse_counters, parse_locks, with_speeds
from checks.sources.nodes.shell import ShellError
from checks.sources.nodes.sysctls import sysctl_paths, sysctls


async def read_local_node(name: str, journal: Journal) -> Node:
    """Read this node under the name `name`. Raises ShellError, as for a peer, where the kernel does not answer."""
    if (system := os.uname().sysname) != "Linux":
        raise ShellError(
            f"{name} runs {system}, which racwire does not support: run racwire on a node that runs Linux. "
            "`racwire open` reads saved files here too."
        )
    with ExitStack() as journalled:
        entries = {
            topic: journalled.enter_context(journal.entry(name, topic, THIS_NODE.action(topic)))
            for topic in ("interfaces", "routes", "neighbours")
        }
        try:
            dump = await asyncio.to_thread(netlink.dump)
        except OSError as error:
            limit = limit_reached(error)
            broken = "" if limit else named_dependency(error)
            why = broken or f"The kernel of {name} did not report its interfaces: {limit or error.strerror}"
            raise ShellError(f"{why}.") from error
        interfaces = netlink.interfaces_of(dump)
        speed_paths = [f"{interface.name}/{file}" for interface in interfaces for file in SPEED_FILES]
        speeds = await asyncio.to_thread(_read_files, SYS_CLASS_NET, speed_paths)
        interfaces = with_speeds(interfaces, speeds.one_line())
        routes, neighbours = netlink.routes_of(dump), netlink.neighbours_of(dump)
        entries["interfaces"].text = interface_text(interfaces)
        entries["routes"].text = route_text(routes)
        entries["neighbours"].text = neighbour_text(neighbours)

    with journal.entry(name, "counters", THIS_NODE.action("counters")) as entry:
        counter_files = await asyncio.to_thread(_read_files, "", COUNTER_FILES)
        entry.text = "".join(counter_files.values.values())

    with journal.entry(name, "racwires", THIS_NODE.action("racwires")) as lock_entry:
        sockets = await asyncio.to_thread(_read_files, "", (SOCKETS_FILE,))
        lock_entry.text = lock_lines(sockets.values.get(SOCKETS_FILE, ""))

    names = [interface.name for interface in interfaces]
    with journal.entry(name, "sysctls", THIS_NODE.action("sysctls")) as settings_entry:
        settings = await asyncio.to_thread(_read_files, PROC_SYS, sysctl_paths(names).values())
        values = settings.one_line()
        settings_entry.text = "\n".join(f"{path}:{text}" for path, text in values.items())

    return Node(
        name=name,
        read_by="netlink",
        kernel_release=os.uname().release,
        interfaces=interfaces,
        routes=routes,
        neighbours=neighbours,
        counters=parse_counters(entry.text),
        sysctls=sysctls(names, values),
        unread=tuple(_denied(path, name) for path in (*counter_files.denied, *settings.denied)),
        racwires=parse_locks(lock_entry.text),
    )


def _denied(path: str, node: str) -> Unknown:
    return Unknown(
        f"This user may not read {path} on {node}; root may.",
        MissingRight(f"read {path} on {node}", where=f"root on {node}"),
    )


@dataclass(frozen=True, slots=True)
class _Files:
    values: dict[str, str]
    """The contents of the files, by path below the directory."""
    denied: tuple[str, ...]
    """The whole paths of files that this user may not read."""

    def one_line(self) -> dict[str, str]:
        """The contents of the files, each on one line with single blanks."""
        return {path: " ".join(text.split()) for path, text in self.values.items()}


def _read_files(directory: str, paths: Iterable[str]) -> _Files:
    """Read small files of the kernel. A file that is missing or refused (no link: EINVAL) is left out."""
    values: dict[str, str] = {}
    denied: list[str] = []
    for path in paths:
        whole_path = f"{directory}/{path}" if directory else path
        try:
            with open(whole_path, encoding="utf-8", errors="replace") as file:
                values[path] = file.read()
        except PermissionError:
            denied.append(whole_path)
        except OSError:
            continue
    return _Files(values, tuple(denied))
