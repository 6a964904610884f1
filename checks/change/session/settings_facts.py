"""The evidence of a change of kernel settings: the files that set them at boot, the sockets, and the saved files."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from checks.change.steps.settings_commands import backup_paths
from checks.model.facts import FileSeen, SysctlFiles, UdpSocket, Unknown
from checks.sources.nodes.backup_files import read_change_files
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import Shell
from checks.sources.nodes.sysctl_files import read_sysctl_files, read_udp_sockets

KEPT, SOCKETS, SAVED = "kept-settings", "socket-buffers", "settings-saved"
"""The gates that need it."""


@dataclass
class FoundSettings:
    """What was read, by node."""

    files: dict[str, SysctlFiles | Unknown] = field(default_factory=dict)
    sockets: dict[str, tuple[UdpSocket, ...] | Unknown] = field(default_factory=dict)
    backups: dict[str, dict[str, FileSeen | Unknown]] = field(default_factory=dict)


def wants_settings(checks: Collection[str]) -> bool:
    """Whether one of these gates needs the evidence."""
    return not {KEPT, SOCKETS, SAVED}.isdisjoint(checks)


async def read_settings(
    session: Session, shell: Shell, checks: Collection[str], plan_id: str, found: FoundSettings
) -> None:
    """Read what these gates need of one node. Raises ShellError where the node does not answer in time."""
    limit_s, node = session.settings.ssh.read_timeout_s, shell.node
    if KEPT in checks:
        found.files[node] = await read_sysctl_files(shell, session.journal, limit_s)
    if SOCKETS in checks:
        found.sockets[node] = await read_udp_sockets(shell, session.journal, limit_s)
    if SAVED in checks:
        found.backups[node] = await read_change_files(shell, session.journal, backup_paths(plan_id), limit_s)
