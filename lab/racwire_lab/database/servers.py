"""Become the servers of the practice database: `python -m racwire_lab.database.servers DIRECTORY`, nodes on stdin.

The program loads everything once, and then forks into the namespaces of every node: that is quick, and the servers
share their memory. It prints `ready` when all of them listen.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from racwire_lab.cluster.databases import ADMINISTRATOR, USER, password_file
from racwire_lab.cluster.processes import Process
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.database.instance_server import InstanceServer
from racwire_lab.oracle_net.verifier import Verifier

_NAMESPACES = ("user", "mnt", "uts", "net", "pid")
"""Ordered so that each namespace permits to enter the next one."""

_libc = ctypes.CDLL(None, use_errno=True)


def join_namespaces(holder: Process) -> None:
    """Enter the namespaces of a process. Only later children are in its PID namespace.

    Raises OSError when the process has ended, or when this process has threads and is not root.
    """
    handles = [
        os.open(f"/proc/{holder.pid}/ns/{name}", os.O_RDONLY) for name in _NAMESPACES if not _shared(holder, name)
    ]
    if not holder.alive():
        raise ProcessLookupError(0, "the process has ended")
    for handle in handles:
        if _libc.setns(handle, 0):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        os.close(handle)
    os.chdir("/")


def _shared(holder: Process, name: str) -> bool:
    """Whether this process is in the namespace already; joining one's own user namespace is an error."""
    return os.stat(f"/proc/{holder.pid}/ns/{name}").st_ino == os.stat(f"/proc/self/ns/{name}").st_ino


def main() -> int:
    """Fork into every node, and return when all servers listen or one has failed."""
    directory = Path(sys.argv[1])
    request = sys.stdin.buffer.read()
    if not request:
        return 1  # the start of the cluster has failed
    nodes = msgspec.json.decode(request, type=dict[str, Process])
    password = password_file(directory).read_text(encoding="ascii").strip()
    verifier = Verifier.of(password)
    del password
    history_ends = datetime.now().replace(minute=0, second=0, microsecond=0)
    gc.collect()
    gc.freeze()  # the servers continue to share these objects
    reports, report = os.pipe()
    for node in nodes:
        if os.fork() == 0:
            os.close(reports)
            _enter_and_serve(directory, node, nodes, verifier, history_ends, report)
    os.close(report)
    failed = _wait(reports, len(nodes))
    for _ in nodes:
        os.wait()
    print(failed or "ready", flush=True)
    return 1 if failed else 0


def _enter_and_serve(
    directory: Path,
    node: str,
    nodes: Mapping[str, Process],
    verifier: Verifier,
    history_ends: datetime,
    report: int,
) -> None:
    """Run one node's server in a process of its own; do not return."""
    try:
        join_namespaces(nodes[node])
        # Only a child of this process is in the node's PID namespace. Its own child, once orphaned, belongs to the
        # node's first process; an orphan of this process would belong to the machine's first process, which may be slow
        # to reap it.
        if child := os.fork():
            os.waitpid(child, 0)
            os._exit(0)
        if os.fork():
            os._exit(0)
        os.setsid()
        _detach_from_caller(node_home(directory, node) / "server.log")
        homes = [node_home(directory, other) for other in nodes]
        users = dict.fromkeys((USER, ADMINISTRATOR), verifier)
        server = InstanceServer(node_home(directory, node), homes, users, history_ends)
        asyncio.run(server.run(lambda: _report(report, "")))
    except BaseException as error:
        _report(report, f"{node}: {type(error).__name__}: {error}".replace("\n", " "))
    os._exit(1)


def _detach_from_caller(log: Path) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for descriptor, target in ((0, nowhere), (1, output), (2, output)):
        os.dup2(target, descriptor)


def _report(pipe: int, failure: str) -> None:
    try:
        os.write(pipe, f"{failure}\n".encode())
        os.close(pipe)
    except OSError:
        return  # an earlier failure was reported


def _wait(reports: int, count: int) -> str:
    """The message of the first server that failed; empty when all listen."""
    with os.fdopen(reports, encoding="utf-8", errors="replace") as lines:
        for _ in range(count):
            line = lines.readline()
            if line != "\n":
                return line.strip() or "a server ended before it listened"
    return ""


if __name__ == "__main__":
    sys.exit(main())
