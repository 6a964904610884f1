"""Helpers for tests of the practice cluster: a cluster that is removed completely, and its pings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

import racwire_lab
from racwire_lab.cluster.networks import PRIVATE

needs_namespaces = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("ip", "unshare", "nsenter", "ping")),
    reason="THE PRACTICE CLUSTER WAS NOT TESTED: ip, unshare, nsenter or ping is missing on this machine",
)
needs_nft = pytest.mark.skipif(
    shutil.which("nft") is None, reason="SOME FAULTS WERE NOT TESTED: nft is missing on this machine"
)
SIX_PACKETS_THEN_ONE = re.compile(
    r"At MTU 1500 a block took (5\.[5-9]|6\.[0-5]) packets, at 9000 (0\.9|1\.[01]) \(messages not counted\)\."
)
"""The sentence of a comparison after a change to jumbo frames. The counters of nodes and of instances are not read at
the same time, so the numbers vary."""
LARGE, SMALL = 9000 - 28, 1500 - 28
PATIENCE_S = 60.0
"""Seconds after which a test gives up waiting for an event."""


T = TypeVar("T")


def until(condition: Callable[[], T], otherwise: str = "it does not happen") -> T:
    """Return the first true value of a condition that must be polled; fail with this text when there is none."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < deadline, f"{otherwise}: still {found!r}"
        time.sleep(0.02)
    return found


@contextmanager
def lab_directory(path: Path) -> Iterator[Path]:
    """Make this the lab's directory. Afterwards remove the lab, and check that nothing remains."""
    interfaces = set(os.listdir("/sys/class/net"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACWIRE_LAB_DIR", str(path))
        patch.delenv("RACWIRE_LAB", raising=False)
        try:
            yield path
        finally:
            racwire_lab.down()
    assert not path.exists()
    assert processes_of(path) == []
    assert set(os.listdir("/sys/class/net")) == interfaces


def processes_of(path: Path) -> list[str]:
    """Return the command lines of all processes that name the directory."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if process.name.isdigit() and str(path) in line:
            found.append(line)
    return found


def run(
    cluster: racwire_lab.Lab, node: str, *argv: str, user: str = "", timeout_s: float = PATIENCE_S
) -> subprocess.CompletedProcess[str]:
    """Run a command in a node."""
    environment = {**os.environ, **cluster.environment(node, user)}
    return subprocess.run(
        cluster.enter(node, argv, user),
        capture_output=True, text=True, timeout=timeout_s, check=False, env=environment, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def ping(cluster: racwire_lab.Lab, node: str, address: str, size: int = 56, count: int = 1) -> str:
    """Return the output of ping with DF; empty when an answer came."""
    # Two attempts: the first packet after a change of the network may be spent on ARP.
    for _ in range(2):
        done = run(cluster, node, "ping", "-M", "do", "-c", str(count), "-W", "0.4", "-s", str(size), address)
        if done.returncode == 0:
            return ""
    return done.stdout + done.stderr


def ssh(cluster: racwire_lab.Lab, node: str, peer: str, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command on a peer, from a node, with the remote shell of the cluster."""
    if cluster.remote_shell == "ssh":
        return run(cluster, node, "ssh", "-F", str(cluster.directory / "ssh_config"), peer, command)
    return run(cluster, node, str(cluster.directory / "rsh"), "-o", "ConnectTimeout=3", peer, command)


def grid(cluster: racwire_lab.Lab, node: str, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the node's Grid home."""
    return run(cluster, node, f"{cluster.environment(node)['GRID_HOME']}/bin/{program}", *arguments)


def assert_healthy(cluster: racwire_lab.Lab) -> None:
    """Check that the first two nodes exchange full-sized packets on both private networks, HAIPs included."""
    for node, peer in (("rac1", 2), ("rac2", 1)):
        addresses = [address.partition("/")[0] for n in PRIVATE for address in (n.address(peer), n.haip(peer))]
        assert all(addresses)
        # Two attempts, as above. One shell for all pings, since to enter a node takes longer than a ping.
        once = f"ping -q -M do -c 1 -W 0.4 -s {cluster.mtu - 28} $address >/dev/null"
        result = run(
            cluster, node, "sh", "-c", f"for address do {once} || {once} || echo $address; done", "sh", *addresses
        )
        assert (result.stdout, result.stderr) == ("", ""), f"lost from {node}"


def settings(cluster: racwire_lab.Lab, node: str) -> str:
    """Return a node's links, addresses and routes as text for comparisons."""
    words = "ip -o link; ip -o address; ip route; nft --stateless list ruleset 2>/dev/null"
    return run(cluster, node, "sh", "-c", words).stdout
