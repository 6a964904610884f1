"""The alert logs of a node and the trace of CSS, as Oracle writes them: Clusterware's, and that of the instance.

An instance that receives nothing from another one reports IPC send timeouts in its log.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping

BASE = "base"
"""The ORACLE_BASE of the node, in the node's directory."""


def crs_log(host: str) -> str:
    """Return the path of the alert log of Clusterware below ORACLE_BASE."""
    return f"diag/crs/{host}/crs/trace/alert.log"


def css_trace(host: str) -> str:
    """Return the path of the trace of CSS below ORACLE_BASE."""
    return f"diag/crs/{host}/crs/trace/ocssd.trc"


def database_log(unique_name: str, instance: str) -> str:
    """Return the path of the alert log of a database instance below ORACLE_BASE."""
    return f"diag/rdbms/{unique_name.lower()}/{instance}/trace/alert_{instance}.log"


def asm_log(instance: str) -> str:
    """Return the path of the alert log of an ASM instance below ORACLE_BASE."""
    return f"diag/asm/+asm/{instance}/trace/alert_{instance}.log"


def stamped(version: str, at: float) -> str:
    """Return a time stamp of the alert log of a database: ISO 8601 since 12.2, else as `date` prints it."""
    local = time.localtime(at)
    if version.startswith(("11.", "12.1.")):
        return time.strftime("%a %b %d %H:%M:%S %Y", local)
    zone = time.strftime("%z", local)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', local)}.{int(at % 1 * 1e6):06d}{zone[:3]}:{zone[3:]}"


def css_line(message: str, at: float, process: int = 2417) -> str:
    """Return a line of the alert log of Clusterware, as since 12.1.0.2."""
    clock = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
    return f"{clock}.{int(at % 1 * 1e3):03d} [OCSSD({process})]{message}\n"


def evicted_lines() -> tuple[str, ...]:
    """Return what an instance writes that ends because CSS of its node left the cluster."""
    return (
        "ORA-29702: error occurred in Cluster Group Service operation",
        "LMON (ospid: 4820): terminating the instance due to error 29702",
        "Instance terminated by LMON, pid = 4820",
    )


def ipc_version(version: str) -> str:
    """Return the line in which an instance logs its transport at the start."""
    if version.startswith(("11.", "12.1.")):
        return "cluster interconnect IPC version:Oracle UDP/IP (generic)"
    return "cluster interconnect IPC version: [IPCLW over UDP(mode 3) ]"


class AlertLogs:
    """The logs and the trace, as paths in the node's directory; lines for a file that does not exist are dropped."""

    def __init__(self, home: str, host: str, parameters: Mapping[str, str], instance: str) -> None:
        self._crs = os.path.join(home, BASE, crs_log(host))
        self._trace = os.path.join(home, BASE, css_trace(host))
        self._database = os.path.join(home, BASE, database_log(parameters.get("db_unique_name", ""), instance))

    def of_css(self, message: str) -> None:
        """Add a message of CSS."""
        _append(self._crs, css_line(message, time.time()))

    def trace_of_css(self, line: str) -> None:
        """Add a line to the trace of CSS, as since 12.1.0.2."""
        at = time.time()
        clock = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
        _append(self._trace, f"{clock}.{int(at % 1 * 1e3):03d} :    CSSD:909854464: [     INFO] {line}\n")

    def of_instance(self, version: str, lines: Iterable[str]) -> None:
        """Add the lines of one message of the instance."""
        _append(self._database, "".join(f"{line}\n" for line in (stamped(version, time.time()), *lines)))


def _append(path: str, text: str) -> None:
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)


class Silence:
    """The time since the last message of each other instance."""

    def __init__(self) -> None:
        self._heard: dict[int, float] = {}
        self._peers: frozenset[int] = frozenset()
        self._incarnation = 2

    def heard(self, peer: int, now: float) -> None:
        """Record a message of an instance."""
        if peer in self._heard:
            self._heard[peer] = now

    def turn(self, peers: Iterable[int], host: str, timeout_s: float, now: float) -> Iterator[list[str]]:
        """Yield each message for the alert log: IPC send timeouts, and reconfigurations when instances come or go."""
        known = frozenset(peers)
        if known != self._peers:
            self._incarnation += 2
            old, self._peers = self._incarnation - 2, known
            self._heard = {peer: self._heard.get(peer, now) for peer in known}
            yield [f"Reconfiguration started (old inc {old}, new inc {self._incarnation})"]
            yield ["Reconfiguration complete (total time 0.1 secs)"]
        for peer, at in self._heard.items():
            if now - at >= timeout_s:
                self._heard[peer] = now
                yield [
                    f"IPC Send timeout detected. Sender: ospid 4812 [oracle@{host} (LMS0)]",
                    f"Receiver: inst {peer} binc 430 ospid 4846",
                ]
                yield [f"IPC Send timeout to {peer - 1}.1 inc {self._incarnation} for msg type 65521 from opid 13"]
                yield [f"Communications reconfiguration: instance_number {peer} by ospid 4812"]
