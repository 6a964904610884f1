"""Becomes the servers of the practice database: `python -m racwire_lab.database.servers DIRECTORY`, nodes on stdin.

Everything is loaded once, and then this program forks into the namespaces of every node: that is quick, and the
servers share their memory. Says `ready` when all of them listen.
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

from racwire_lab.cluster.databases import USER, access
from racwire_lab.cluster.peers import node_home
from racwire_lab.cluster.processes import Process
from racwire_lab.database.instance_server import InstanceServer
from racwire_lab.oracle_net.verifier import Verifier

_NAMESPACES = ("user", "mnt", "uts", "net", "pid")
"""In an order in which each permits to enter the next."""

_libc = ctypes.CDLL(None, use_errno=True)


def join_namespaces(holder: Process) -> None:
    """Enter the namespaces of a process; as for its PID namespace, only our children are in it.

    Raises OSError, as when the process has ended, or when we have threads and are no root.
    """
    handles = [
        os.open(f"/proc/{holder.pid}/ns/{name}", os.O_RDONLY) for name in _NAMESPACES if not _shared(holder, name)
    ]
    if not holder.alive():
        raise ProcessLookupError(0, "it is no longer running")
    for handle in handles:
        if _libc.setns(handle, 0):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        os.close(handle)
    os.chdir("/")


def _shared(holder: Process, name: str) -> bool:
    """Whether we are in that namespace already; joining one's own user namespace is an error."""
    return os.stat(f"/proc/{holder.pid}/ns/{name}").st_ino == os.stat(f"/proc/self/ns/{name}").st_ino


def main() -> int:
    """Fork into every node, and end when all servers listen, or when one has failed."""
    directory = Path(sys.argv[1])
    said = sys.stdin.buffer.read()
    if not said:
        return 1  # the cluster was not brought up after all
    nodes = msgspec.json.decode(said, type=dict[str, Process])
    password = access(directory).password_file.read_text(encoding="ascii").strip()
    verifier = Verifier.of(password)
    del password
    history_ends = datetime.now().replace(minute=0, second=0, microsecond=0)
    gc.collect()
    gc.freeze()  # what the servers share stays shared
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
    """In a process of its own; does not return."""
    try:
        join_namespaces(nodes[node])
        # Only our child is in the node's PID namespace, and only its own child belongs to the node's first process
        # when it is left alone: ours would belong to the machine's, which may be slow to clear it away.
        if child := os.fork():
            os.waitpid(child, 0)
            os._exit(0)
        if os.fork():
            os._exit(0)
        os.setsid()
        _let_go_of_the_caller(node_home(directory, node) / "server.log")
        homes = [node_home(directory, other) for other in nodes]
        server = InstanceServer(node_home(directory, node), homes, {USER: verifier}, history_ends)
        asyncio.run(server.run(lambda: _report(report, "")))
    except BaseException as error:
        _report(report, f"{node}: {type(error).__name__}: {error}".replace("\n", " "))
    os._exit(1)


def _let_go_of_the_caller(log: Path) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for descriptor, target in ((0, nowhere), (1, output), (2, output)):
        os.dup2(target, descriptor)


def _report(pipe: int, failure: str) -> None:
    try:
        os.write(pipe, f"{failure}\n".encode())
        os.close(pipe)
    except OSError:
        return  # it was reported before


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
