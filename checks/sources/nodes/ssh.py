"""Build the ssh command lines for a peer's shell, and recognise how far a login came. No I/O."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from checks.model.settings import SshSettings
from checks.sources.nodes.niceness import NICE

SHELL_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
"""The PATH of the open shells. They use nothing of the user's own environment."""
LOGIN_ENDED = "racwire-login-ended"
"""The line that a login prints after its profile. racwire sends nothing before: a profile that reads would get it."""
QUICK_COMMAND = f"echo; uname; echo {LOGIN_ENDED}; exec env -i PATH={SHELL_PATH} LC_ALL=C sh"
"""The syntax is that of every login shell, csh included. The line before LOGIN_ENDED is the output of `uname`."""
REMOTE_COMMAND = f"{QUICK_COMMAND} -c 'command -v nice >/dev/null && exec nice -n {NICE} sh; exec sh'"
"""The same with a shell that gives way to all others, on a node that has `nice`."""

_ALIVE_INTERVAL_S = 5
_ALIVE_COUNT = 3


def ssh_command(
    node: str,
    settings: SshSettings,
    environment: Mapping[str, str],
    overrides: Mapping[str, str] = MappingProxyType({}),
    *,
    quick: bool = False,
) -> list[str]:
    """The arguments that start a shell on a peer; one at nice 0 where it is `quick`.

    ssh uses the operator's own configuration, without prompts, forwardings and local commands, and without
    `overrides`. It never becomes a master, and shares a connection only where the settings say so: racwire ends its
    ssh, and others would lose theirs. RACWIRE_SSH_CONFIG names another configuration file where the settings name none.
    RACWIRE_RSH names a program to run instead of ssh, with the host and the command as arguments, as rsync does.

    Raises ValueError where ssh would take the node's name for an option, and where RACWIRE_RSH names no program.
    """
    if not node or node.startswith("-"):
        raise ValueError(f"{node!r} is not a host name, so racwire did not start ssh: correct the name of the node.")
    command = QUICK_COMMAND if quick else REMOTE_COMMAND
    if remote_shell := environment.get("RACWIRE_RSH"):
        try:
            program = shlex.split(remote_shell)
        except ValueError:
            program = []
        if not program:
            raise ValueError(f"RACWIRE_RSH={remote_shell!r} names no program: unset RACWIRE_RSH to use ssh.")
        return [*program, node, command]
    options = {
        "BatchMode": "yes",
        "ConnectTimeout": ssh_limit_s(settings),
        "ConnectionAttempts": 1,
        "ServerAliveInterval": _ALIVE_INTERVAL_S,
        "ServerAliveCountMax": _ALIVE_COUNT,
        # Less than VERBOSE hides PAM's reasons (an expired account, nologin) and `Authenticated to`.
        "LogLevel": "VERBOSE",
        "ClearAllForwardings": "yes",
        "ForwardAgent": "no",
        "ForwardX11": "no",
        "Tunnel": "no",
        "PermitLocalCommand": "no",
        **_own_connection(settings),
        **overrides,
    }
    return ["ssh", "-T", *_words(options), *_files_and_user(settings, environment), "--", node, command]


def _own_connection(settings: SshSettings) -> dict[str, str]:
    return {"ControlMaster": "no"} | ({} if settings.use_master else {"ControlPath": "none"})


def _words(options: Mapping[str, object]) -> Iterator[str]:
    return (word for name, value in options.items() for word in ("-o", f"{name}={value}"))


def _files_and_user(settings: SshSettings, environment: Mapping[str, str]) -> tuple[str, ...]:
    return (*_file(settings, environment), *(("-l", settings.user) if settings.user else ()))


def _file(settings: SshSettings, environment: Mapping[str, str]) -> tuple[str, ...]:
    config_file = settings.config_file or environment.get("RACWIRE_SSH_CONFIG", "")
    return ("-F", config_file) if config_file else ()


# --- what the operator's configuration says of a host -----------------------------------------------------------------

_OVERRIDDEN = {
    "remotecommand": ("none", "RemoteCommand", "none"),
    "sessiontype": ("default", "SessionType", "default"),
    "forkafterauthentication": ("no", "ForkAfterAuthentication", "no"),
    "stdinnull": ("no", "StdinNull", "no"),
}
"""The harmless value, the option, and its value in the command line. Older releases of ssh know fewer of them, and end
at an option that they do not know, so racwire sets only what `ssh -G` prints."""
_OWN_SSH = re.compile(r"\s*(?:exec\s+)?(?:\S*/)?ssh(?=\s)")
_HOP = re.compile(r"(?:ssh://)?(?:(?P<user>.+)@)?(?P<host>\[[^]]+\]|[^:\[\]]+)(?::(?P<port>\d+))?/?")


def configuration_command(node: str, settings: SshSettings, environment: Mapping[str, str]) -> list[str]:
    """The arguments that print the configuration for a host, without a connection (OpenSSH 6.8 or later)."""
    return ["ssh", "-G", *_files_and_user(settings, environment), "--", node]


def configuration_of(printed: str) -> dict[str, str]:
    """The output of `ssh -G`: values by the option's name in lower case."""
    pairs = (line.strip().partition(" ") for line in printed.splitlines())
    return {name: value for name, _, value in pairs if value}


def harmless(configuration: Mapping[str, str]) -> dict[str, str]:
    """The options that undo what would keep racwire's shell from starting, or from reading what racwire sends."""
    return {
        option: value for name, (usual, option, value) in _OVERRIDDEN.items() if configuration.get(name, usual) != usual
    }


def own_proxy(command: str, settings: SshSettings) -> str:
    """A ProxyCommand whose ssh does not become a master for its host; empty where it does not start with ssh."""
    ssh = _OWN_SSH.match(command)
    return f"{ssh[0]} {shlex.join(_words(_own_connection(settings)))}{command[ssh.end() :]}" if ssh else ""


def hop_host(hop: str) -> str:
    """The host of a hop of ProxyJump; empty where racwire does not understand it."""
    found = _HOP.fullmatch(hop)
    return found["host"].strip("[]") if found else ""


def jump(hop: str, through: str, settings: SshSettings, environment: Mapping[str, str]) -> str:
    """The ProxyCommand that ssh itself makes of a hop of ProxyJump, with an ssh that does not become a master for its
    host. `through`: the ProxyCommand to reach this hop; empty where there is none."""
    found = _HOP.fullmatch(hop)
    assert found is not None
    # Each ssh on the way replaces the tokens of its own command only.
    options = _own_connection(settings) | ({"ProxyCommand": through.replace("%", "%%")} if through else {})
    login = (*(("-l", found["user"]) if found["user"] else ()), *(("-p", found["port"]) if found["port"] else ()))
    words = ("ssh", *_words(options), *_file(settings, environment), *login, "-W", "[%h]:%p", "--", hop_host(hop))
    return shlex.join(words)


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
