"""The command line for a peer's shell, and what ssh's words mean to a DBA. No I/O."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping

from checks.model.settings import SshSettings

SHELL_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
"""Where the held shells look for programs: nothing of the user's own environment is relied on."""
REMOTE_COMMAND = f"exec env -i PATH={SHELL_PATH} LC_ALL=C sh"

_ALIVE_INTERVAL_S = 5
_ALIVE_COUNT = 3


def ssh_command(node: str, settings: SshSettings, environment: Mapping[str, str]) -> list[str]:
    """The arguments that start a shell on a peer.

    ssh follows the operator's own configuration; only what would ask, forward or run something here is switched off.
    RACWIRE_SSH_CONFIG names a configuration to use instead where the settings name none; RACWIRE_RSH a program to use
    instead of ssh, called with the host and the command, as rsync does.

    Raises ValueError for a name that ssh would take for an option, and for a RACWIRE_RSH that names nothing.
    """
    if not node or node.startswith("-"):
        raise ValueError(f"{node!r} is no host name: it was not given to ssh.")
    if remote_shell := environment.get("RACWIRE_RSH"):
        try:
            program = shlex.split(remote_shell)
        except ValueError:
            program = []
        if not program:
            raise ValueError(f"RACWIRE_RSH names no program: {remote_shell!r}; unset it to use ssh.")
        return [*program, node, REMOTE_COMMAND]
    options = {
        "BatchMode": "yes",
        # ssh counts whole seconds, and is to tell what went wrong before the caller's own limit cuts it off.
        "ConnectTimeout": max(1, math.ceil(settings.connect_timeout_s) - 1),
        "ConnectionAttempts": 1,
        "ServerAliveInterval": _ALIVE_INTERVAL_S,
        "ServerAliveCountMax": _ALIVE_COUNT,
        "LogLevel": "ERROR",
        "ClearAllForwardings": "yes",
        "PermitLocalCommand": "no",
    }
    config_file = settings.config_file or environment.get("RACWIRE_SSH_CONFIG", "")
    return [
        "ssh",
        "-T",
        *(word for name, value in options.items() for word in ("-o", f"{name}={value}")),
        *(("-F", config_file) if config_file else ()),
        *(("-l", settings.user) if settings.user else ()),
        "--",
        node,
        REMOTE_COMMAND,
    ]


# In order of precedence: a message that names the cause comes before one that only says that it ended.
_MEANINGS: tuple[tuple[str, str], ...] = (
    (
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        "The host key of {node} is not the one known here: find out why (reinstalled? another host?), remove the old "
        "key with `ssh-keygen -R {node}`, then accept the new one with `ssh {node} date`.",
    ),
    (
        r"Host key verification failed",
        "The host key of {node} is not known here: compare it and accept it once with `ssh {node} date`.",
    ),
    (
        r"account (has expired|is not available)|account is currently not available|nologin|"
        r"password has expired|Password change required",
        "{node} refuses {user}: the account is expired or may not log in there (`chage -l`, the login shell).",
    ),
    (
        r"UNPROTECTED PRIVATE KEY FILE|Bad owner or permissions",
        "ssh to {node} refused a file of its own because others could change or read it; mend the permissions it names "
        "under ~/.ssh.",
    ),
    (
        r"Too many authentication failures",
        "{node} gave up after several keys: name the right one for it in ~/.ssh/config (IdentityFile, IdentitiesOnly).",
    ),
    (
        r"Permission denied \(|Permission denied, please try again",
        "User equivalence to {node} is missing for {user}: no key of theirs is accepted there; run racwire as the Grid "
        "owner, who has it, or see why with `ssh -v {node} date`.",
    ),
    (
        r"Could not resolve (host)?name",
        "The name {node} is not known to this node: put it in /etc/hosts or DNS, or name the peer as ssh reaches it.",
    ),
    (
        r"Connection refused",
        "{node} refuses connections: sshd does not run there, or on another port (name it in ~/.ssh/config).",
    ),
    (
        r"Connection timed out|Connection to .* timed out|Operation timed out|Connection \S+ .* timed out",
        "{node} did not answer ssh within {seconds} s: it is down, or a firewall drops the packets.",
    ),
    (
        r"No route to host|Network is unreachable|Host is down",
        "{node} cannot be reached from here: it is down, or there is no route to it.",
    ),
    (
        r"Unable to negotiate with|no matching .* found",
        "{node} and this node's ssh share no method of encryption or key exchange: compare their crypto policies.",
    ),
    (
        r"Bad configuration option|terminating, \d+ bad configuration",
        "ssh does not understand its configuration: try `ssh {node} date` and mend the line that it names.",
    ),
    (
        r"Connection (closed|reset) by|kex_exchange_identification|ssh_exchange_identification|"
        r"Connection to \S+ closed|Connection closed|Broken pipe",
        "{node} closed the connection before a shell was there: look in its sshd log (limits such as MaxStartups, "
        "a full file system, tcp wrappers).",
    ),
)


def ssh_failure(node: str, settings: SshSettings, exit_status: int, said: str) -> str:
    """One sentence for a DBA from what ssh said before it ended."""
    for pattern, meaning in _MEANINGS:
        if re.search(pattern, said):
            return meaning.format(node=node, user=_user(settings, said), seconds=f"{settings.connect_timeout_s:g}")
    last_line = said.rstrip().rpartition("\n")[2].strip()
    words = f": {last_line.rstrip('.')}" if last_line else ""
    return f"No shell could be had on {node}, ssh ended with status {exit_status}{words}; try `ssh {node} date`."


def ssh_silence(node: str, settings: SshSettings) -> str:
    """One sentence for a DBA when ssh neither failed nor brought a shell; a dead network it would have reported."""
    return (
        f"No shell answered on {node} within {settings.connect_timeout_s:g} s, although ssh reported no error: the "
        "login hangs there (home directory, profile, directory service) or the name service does here; "
        f"try `ssh {node} date`."
    )


def _user(settings: SshSettings, said: str) -> str:
    """Who was refused: newer releases of ssh say it, and its configuration may name another than the settings."""
    refused = re.search(r"^([^@\s]+)@\S+: Permission denied", said, re.MULTILINE)
    if refused:
        return f"user {refused[1]}"
    return f"user {settings.user}" if settings.user else "this user"
