"""The registry's entry for the storage that a node uses over the network: its connections, and its NFS mounts."""

from __future__ import annotations

from checks.sources.entries import Program, Read, RunsOn
from checks.sources.host_sections import SERVICES
from checks.sources.sh_text import program

STORAGE_PORTS = {port: name for port, name in SERVICES.items() if name in ("NFS", "iSCSI", "NVMe over TCP")}
"""The ports of storage servers. dNFS connects to the port of NFS."""
SOCKETS, MOUNTS = "sockets", "mounts"
ESTABLISHED = "established "
"""The beginning of the line with the number of connections that the kernel lists, before those of `ss`."""
NO_SS = "no ss"
MOST_CONNECTIONS = 1000
"""Most connections whose lines are read: with dNFS each server process has a connection for each path."""
_LIMIT_S = 3

_FILTER = " or ".join(f"dport = :{port}" for port in STORAGE_PORTS)
_SS = f"ss -t -i -n {_FILTER}"
_PORTS = "|".join(f"{port:04X}" for port in STORAGE_PORTS)
_LISTED = f"grep -h -E ': [0-9A-F]+:[0-9A-F]+ [0-9A-F]+:({_PORTS}) 01 ' /proc/net/tcp /proc/net/tcp6"
_MOUNT_LINES = r"^device .* with fstype nfs4? |^[[:space:]]+(opts|bytes|xprt|READ|WRITE):"
_MOST_LINES = 2000

_COMMANDS = {
    # The kernel loads the module tcp_diag for the first ss: a node without such a connection starts none.
    SOCKETS: (
        f"count=$({_LISTED} | wc -l); printf '{ESTABLISHED}%s\\n' \"$count\"; "
        f'if [ "$count" -gt 0 ]; then if command -v ss >/dev/null; then timeout {_LIMIT_S} {_SS} | '
        f"head -n {2 * MOST_CONNECTIONS + 1}; else printf '{NO_SS}\\n'; fi; fi"
    ),
    MOUNTS: f"grep -m {_MOST_LINES} -E '{_MOUNT_LINES}' /proc/self/mountstats",
}
STORAGE = Program(
    name="storage connections",
    groups=("counters",),
    where=RunsOn.NODES,
    purpose="packet sizes and retransmits of connections to storage, and the reads and writes of NFS mounts",
    text=program(_COMMANDS),
    reads=(
        Read("storage connections", "connections to storage", f"{_SS}, only where /proc/net/tcp or tcp6 lists one"),
        Read("storage connections", "NFS mounts", "/proc/self/mountstats: opts, bytes, xprt, READ and WRITE"),
    ),
    sections={"storage connections": tuple(_COMMANDS)},
    limit_s=10.0,
)
"""Runs at both ends of the interval of the kernels' counters."""
