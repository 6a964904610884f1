"""Build the ssh command line for a peer's shell, and explain ssh's error messages to a DBA. No I/O."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping

from checks.model.settings import SshSettings

SHELL_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
"""The PATH of the open shells. They use nothing of the user's own environment."""
REMOTE_COMMAND = f"exec env -i PATH={SHELL_PATH} LC_ALL=C sh"

_ALIVE_INTERVAL_S = 5
_ALIVE_COUNT = 3


def ssh_command(node: str, settings: SshSettings, environment: Mapping[str, str]) -> list[str]:
    """The arguments that start a shell on a peer.

    ssh uses the operator's own configuration, without prompts, forwardings and local commands. RACWIRE_SSH_CONFIG names
    another configuration file where the settings name none. RACWIRE_RSH names a program to run instead of ssh, with the
    host and the command as arguments, as rsync does.

    Raises ValueError where ssh would take the node's name for an option, and where RACWIRE_RSH names no program.
    """
    if not node or node.startswith("-"):
        raise ValueError(f"{node!r} is not a host name, so racwire did not start ssh: correct the name of the node.")
    if remote_shell := environment.get("RACWIRE_RSH"):
        try:
            program = shlex.split(remote_shell)
        except ValueError:
            program = []
        if not program:
            raise ValueError(f"RACWIRE_RSH={remote_shell!r} names no program: unset RACWIRE_RSH to use ssh.")
        return [*program, node, REMOTE_COMMAND]
    options = {
        "BatchMode": "yes",
        # ssh counts whole seconds. Its limit is shorter than the caller's, so that ssh reports the cause itself.
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


# In order of precedence: a message that names the cause is before one that only reports the end of the connection.
_MEANINGS: tuple[tuple[str, str], ...] = (
    (
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        "The host key of {node} differs from the key in known_hosts: find the reason ({node} was reinstalled, or "
        "another host answers), remove the old key with `ssh-keygen -R {node}`, then accept the new key with "
        "`ssh {node} date`.",
    ),
    (
        r"Host key verification failed",
        "The host key of {node} is not in known_hosts: run `ssh {node} date` once, compare the key and accept it.",
    ),
    (
        r"account (has expired|is not available)|account is currently not available|nologin|"
        r"password has expired|Password change required",
        "{node} refused the login of {user}: the account is expired or may not log in on {node}. Check `chage -l` and "
        "the login shell there.",
    ),
    (
        r"UNPROTECTED PRIVATE KEY FILE|Bad owner or permissions",
        "ssh to {node} refused one of its files under ~/.ssh, because other users can change or read the file: run "
        "`ssh {node} date`, and correct the permissions of the file that it names.",
    ),
    (
        r"Too many authentication failures",
        "{node} refused the login after too many keys: name the right key for {node} in ~/.ssh/config (IdentityFile, "
        "IdentitiesOnly).",
    ),
    (
        r"Permission denied \(|Permission denied, please try again",
        "User equivalence to {node} is missing for {user}: {node} accepts no key of this user. Run racwire as a "
        "user who has it, usually the Grid owner, or find the cause with `ssh -v {node} date`.",
    ),
    (
        r"Could not resolve (host)?name",
        "This node cannot resolve the name {node}: add {node} to /etc/hosts or DNS, or use the name that works with "
        "ssh.",
    ),
    (
        r"Connection refused",
        "{node} refused the ssh connection: sshd does not run there, or listens on another port. Start sshd, or name "
        "its port in ~/.ssh/config.",
    ),
    (
        r"Connection timed out|Connection to .* timed out|Operation timed out|Connection \S+ .* timed out",
        "{node} did not answer ssh within {seconds} s: {node} is down, or a firewall drops the packets. Check both.",
    ),
    (
        r"No route to host|Network is unreachable|Host is down",
        "This node cannot reach {node}: {node} is down, or there is no route to it. Check the node and `ip route`.",
    ),
    (
        r"Unable to negotiate with|no matching .* found",
        "ssh on this node and sshd on {node} have no cipher, MAC, host key or key exchange in common: compare their "
        "crypto policies.",
    ),
    (
        r"Bad configuration option|terminating, \d+ bad configuration",
        "ssh does not accept its configuration: run `ssh {node} date`, and correct the line that it names.",
    ),
    (
        r"Connection (closed|reset) by|kex_exchange_identification|ssh_exchange_identification|"
        r"Connection to \S+ closed|Connection closed|Broken pipe",
        "{node} closed the ssh connection before its shell started: check the log of sshd on {node} (limits such as "
        "MaxStartups, a full file system, tcp wrappers).",
    ),
)


def ssh_failure(node: str, settings: SshSettings, exit_status: int, output: str) -> str:
    """A message for a DBA from the output of an ssh that ended: what happened, where, what to do."""
    for pattern, meaning in _MEANINGS:
        if re.search(pattern, output):
            return meaning.format(node=node, user=_user(settings, output), seconds=f"{settings.connect_timeout_s:g}")
    last_line = output.rstrip().rpartition("\n")[2].strip()
    reported = f" ({last_line.rstrip('.')})" if last_line else ""
    return f"ssh to {node} ended with status {exit_status}{reported} before the shell started: try `ssh {node} date`."


def ssh_silence(node: str, settings: SshSettings) -> str:
    """A message for a DBA where ssh neither failed nor started a shell; ssh would have reported a dead network."""
    return (
        f"The shell on {node} did not answer within {settings.connect_timeout_s:g} s, and ssh reported no error: the "
        f"login on {node} hangs (home directory, profile, directory service), or the name service on this node hangs. "
        f"Try `ssh {node} date`."
    )


def _user(settings: SshSettings, output: str) -> str:
    """The user that was refused. Newer releases of ssh print it; ssh's configuration can override the settings."""
    refused = re.search(r"^([^@\s]+)@\S+: Permission denied", output, re.MULTILINE)
    if refused:
        return f"user {refused[1]}"
    return f"user {settings.user}" if settings.user else "this user"
