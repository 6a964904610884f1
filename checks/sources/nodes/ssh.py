"""Build the ssh command line for a peer's shell, and recognise how far a login came. No I/O."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping

from checks.model.settings import SshSettings

SHELL_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
"""The PATH of the open shells. They use nothing of the user's own environment."""
LOGIN_ENDED = "racwire-login-ended"
"""The line that a login prints after its profile. racwire sends nothing before: a profile that reads would get it."""
REMOTE_COMMAND = f"echo; uname; echo {LOGIN_ENDED}; exec env -i PATH={SHELL_PATH} LC_ALL=C sh"
"""The syntax is that of every login shell, csh included. The line before LOGIN_ENDED is the output of `uname`."""

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
        "ConnectTimeout": ssh_limit_s(settings),
        "ConnectionAttempts": 1,
        "ServerAliveInterval": _ALIVE_INTERVAL_S,
        "ServerAliveCountMax": _ALIVE_COUNT,
        # Less than VERBOSE hides PAM's reasons (an expired account, nologin) and `Authenticated to`.
        "LogLevel": "VERBOSE",
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


def ssh_limit_s(settings: SshSettings) -> int:
    """Seconds that ssh itself waits for sshd. ssh counts whole seconds, and fewer than racwire, so that ssh reports the
    cause.
    """
    return max(1, math.ceil(settings.connect_timeout_s) - 1)


AUTHENTICATED = re.compile(r"^Authenticated to ", re.MULTILINE)
"""ssh prints this line when the peer has accepted the user. A connection shared by ControlMaster has no such line."""
_NARRATION = re.compile(
    r"Authenticated to .*|Transferred: sent .*|Bytes per second: sent .*|Warning: Permanently added .*|"
    r"Killed by signal 15\."
)
"""Lines that ssh prints at LogLevel VERBOSE also where nothing is wrong; the last one where racwire ends ssh."""
_OTHER_SYSTEMS = re.compile(r"AIX|HP-UX|SunOS|Darwin|(Free|Net|Open)BSD|CYGWIN_\S+|MINGW\S+|OS/390")


def without_narration(messages: str) -> str:
    """ssh's messages without the lines that it prints for every connection."""
    lines = (line.rstrip("\r") for line in messages.split("\n"))
    return "\n".join(line for line in lines if not _NARRATION.fullmatch(line)).strip()


def other_system(login_output: str) -> str:
    """The name of a system other than Linux, from the output of a login up to LOGIN_ENDED; empty for Linux."""
    last_line = login_output.rstrip().rpartition("\n")[2].strip()
    return last_line if _OTHER_SYSTEMS.fullmatch(last_line) else ""
