"""Explain to a DBA why ssh opened no shell on a peer: what happened, where, and what to do. Text in, sentence out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from checks.model.facts import MissingRight
from checks.model.settings import SshSettings
from checks.model.shell_command import shell
from checks.model.system_limits import limit_reached
from checks.sources.clusterware.oracle_text import printed_lines, quoted
from checks.sources.nodes.considerate_ssh import GUEST_SESSIONS
from checks.sources.nodes.ssh import AUTHENTICATED, LOGIN_ENDED, ssh_limit_s, without_narration

_NOLOGIN_STATUS = 254
"""The exit status of a session that sshd ended after it printed /etc/nologin (`do_nologin` of OpenSSH)."""
_SSH_STATUS = 255
"""The exit status of ssh itself; any other is that of the command on the peer."""


@dataclass(frozen=True, slots=True)
class FailedLogin:
    """An attempt to open a shell on a peer that ended, or took too long."""

    node: str
    settings: SshSettings
    messages: str
    """The output of ssh on stderr, and that of the peer's login."""
    printed: str
    """The output of the peer's login on stdout."""
    exit_status: int | None = None
    """None where racwire ended ssh."""

    @property
    def user(self) -> str:
        """The user of the login. Newer releases of ssh print it; ssh's configuration can override the settings."""
        refused = re.search(r"^([^@\s]+)@\S+: Permission denied", self.messages, re.MULTILINE)
        if refused:
            return f"user {refused[1]}"
        return f"user {self.settings.user}" if self.settings.user else "this user"

    @property
    def ssh(self) -> str:
        """The command that logs in by hand."""
        return shell("ssh {node}", node=self.node)

    @property
    def last_line(self) -> str:
        """The last line that ssh or the login printed; errors come before other output. Empty where there is none."""
        for text in (without_narration(self.messages), self.printed):
            if lines := printed_lines(text):
                return lines[-1]
        return ""

    @property
    def quote(self) -> str:
        """A sentence with the last line that the peer printed, without the banner; empty where it printed nothing.

        Errors of a login that ended are on stderr; the question of a login that waits is on stdout.
        """
        accepted = AUTHENTICATED.search(self.messages)
        after_banner = self.messages[accepted.start() if accepted else 0 :]
        errors = [line for line in printed_lines(without_narration(after_banner)) if not _OF_SSH.match(line)]
        output = printed_lines(self.printed)
        lines = (output or errors) if self.exit_status is None else (errors or output)
        return f" {self.node} printed {quoted(lines[-1])}." if lines else ""


_OF_SSH = re.compile(r"ssh: |kex_exchange_|Connection |client_loop|Received disconnect|Disconnected|mux_|channel \d")

# --- host keys --------------------------------------------------------------------------------------------------------

_OFFENDING = re.compile(r"^Offending (?:(\S+) )?key (?:for IP )?in (.+):(\d+)\r?$", re.MULTILINE)
_FINGERPRINT = re.compile(r"^((?:SHA256:|MD5:|(?:[0-9a-f]{2}:){15})\S+?)\.?\r?$", re.MULTILINE)
_KEY_KIND = re.compile(r"^The fingerprint for the (\S+) key sent by", re.MULTILINE)
_HOST = re.compile(r"[Hh]ost key for (\S+) has changed")
_STRICT = "you have requested strict checking"
_ON_CONSOLE = "`ssh-keygen -lf /etc/ssh/ssh_host_{kind}_key.pub` on its console"


def _console(login: FailedLogin) -> str:
    kind = _KEY_KIND.search(login.messages) or re.search(r"No (\S+) host key is known", login.messages)
    return _ON_CONSOLE.format(kind=kind[1].lower() if kind else "ed25519")


def _changed_key(login: FailedLogin) -> str:
    node = login.node
    name = found[1] if (found := _HOST.search(login.messages)) else node
    old = _OFFENDING.search(login.messages)
    kind = f"{old[1]} key" if old and old[1] else "key"
    expected = f"the {kind} in line {old[3]} of {old[2]}" if old else "the key in known_hosts"
    new = _FINGERPRINT.search(login.messages)
    forget = shell("ssh-keygen -R {host}", host=name)
    if old and not old[2].endswith("/.ssh/known_hosts"):
        forget = shell("ssh-keygen -R {host} -f {file}", host=name, file=old[2])
    return (
        f"The host key of {node} has changed: {node} has {new[1] if new else 'another key'}, not {expected}. Unless "
        f"{node} was installed again, another host answers. Compare with {_console(login)}; only if both agree, run "
        f"`{forget}` and `{login.ssh} date`."
    )


def _unknown_key(login: FailedLogin) -> str:
    node = login.node
    if _STRICT in login.messages:
        scan = shell("ssh-keyscan {node}", node=node)
        return (
            f"The host key of {node} is not in known_hosts, and ssh here accepts no new key (StrictHostKeyChecking "
            f"yes): read it with `{scan}`, compare it with {_console(login)}, and only then add it to "
            "~/.ssh/known_hosts."
        )
    return (
        f"The host key of {node} is not in known_hosts: run `{login.ssh} date` once, compare the fingerprint with "
        f"{_console(login)}, and accept the key."
    )


# --- what a peer has in common ----------------------------------------------------------------------------------------

_NEGOTIATION = re.compile(r"no matching (.+?) found(?:\. Their offer: (\S+))?")
_SECOND_FACTOR = re.compile(r"^(\S+: )*Permission denied \((?!.*publickey)", re.MULTILINE)
"""sshd names the methods that it still accepts: no key any more."""
_CHANNEL = re.compile(r"^channel \d+: open failed: (.+?)\r?$", re.MULTILINE)


def _nothing_in_common(login: FailedLogin) -> str:
    found = _NEGOTIATION.search(login.messages)
    what = found[1] if found else "cipher, MAC, host key or key exchange"
    offer = f" ({login.node} offers {found[2]})" if found and found[2] else ""
    return (
        f"ssh here and sshd on {login.node} have no {what} in common{offer}: compare their crypto policies "
        "(`update-crypto-policies --show`), and have an administrator enable a strong one that both know."
    )


def _no_session(login: FailedLogin) -> str:
    found = _CHANNEL.search(login.messages)
    return (
        f"{login.node} accepted the login of {login.user} but refused a session"
        f"{f' ({found[1]})' if found else ''}: check MaxSessions of sshd on {login.node}, and limits on processes and "
        "memory there."
    )


def _no_equivalence(login: FailedLogin) -> str:
    node, user = login.node, login.user
    if login.settings.use_master:
        return (
            f"racwire found no open connection of yours to {node} that it can share, and {node} refused one of its own "
            f"for {user}: open one with `{login.ssh}` (ControlMaster and ControlPath in the configuration of ssh), "
            "leave it open, and run racwire again."
        )
    if _SECOND_FACTOR.search(login.messages):
        return (
            f"{node} wants more than a key for the login of {user} (a password or a second factor). Open a connection "
            f"that can be shared with `{login.ssh}` (ControlMaster and ControlPath in the configuration of ssh), set "
            "`use_master = true` in the section [ssh] of the settings, and run racwire again."
        )
    return (
        f"User equivalence to {node} is missing for {user}: {node} accepts no key of this user (a key with a "
        "passphrase must be in ssh-agent), or refuses the user (AllowUsers, a locked account). Run racwire as a user "
        f"who has it, or find the cause with `{shell('ssh -v {node} date', node=node)}`."
    )


def no_guest_place(node: str) -> str:
    """The message where racwire already has its share of sessions in the user's own connection to a peer."""
    return (
        f"Every racwire of this user here has {GUEST_SESSIONS} sessions in your open connection to {node} already, and "
        "opens no more: sshd permits about 10 on one connection (MaxSessions), your own included. Close another "
        "racwire of yours, or the measurement that runs."
    )


# --- the messages, the most specific first ----------------------------------------------------------------------------

_NOLOGIN = (
    "{node} accepts no login but that of root at present: it starts, stops or is under maintenance (/run/nologin, "
    "/etc/nologin).{quote} Wait, or ask the administrator of {node}."
)
_MEANINGS: tuple[tuple[str, str | Callable[[FailedLogin], str]], ...] = (
    (r"^@.*(REMOTE HOST IDENTIFICATION HAS CHANGED|POSSIBLE DNS SPOOFING DETECTED)", _changed_key),
    (
        r"^@.*REVOKED HOST KEY DETECTED|^Host key \S+ .*revoked",
        "The host key of {node} is revoked: another host answers, or the key of {node} was replaced. Ask the "
        "administrator of {node} before you connect.",
    ),
    (r"^Host key verification failed", _unknown_key),
    (
        r"^(WARNING: )?Your password has expired|^You are required to change your password|^Password change required",
        "The password of {user} on {node} has expired: {node} runs no command before the password is changed. Log in "
        "with `{ssh}` at a terminal and change it, or ask the administrator there for `chage -l` of that user.",
    ),
    (
        r"^Your account has expired|^Account \S+ has expired",
        "The account of {user} on {node} has expired: ask the administrator of {node} for `chage -l` of that user.",
    ),
    (
        r"^This account is (currently )?not available",
        "{node} permits no login of {user}: the login shell there is nologin. Run racwire as another user, usually the "
        "Grid owner.",
    ),
    (r"pam_nologin\(8\)|Unprivileged users are not permitted to log in", _NOLOGIN),
    (
        r"^Permissions \d+ for .+ are too open|^Bad owner or permissions|^Load key .*bad permissions",
        "ssh to {node} refused a file because other users can change or read the file ({line}): correct its owner and "
        "its permissions, and try `{ssh} date`.",
    ),
    (
        r"Too many authentication failures",
        "{node} refused the login after too many keys: name the right key for {node} in ~/.ssh/config (IdentityFile, "
        "IdentitiesOnly).",
    ),
    (
        r"no mutual signature (algorithm|supported)",
        "ssh here and sshd on {node} have no signature algorithm in common for the key of {user}: an RSA key needs "
        "SHA-2 on both nodes. Compare their crypto policies, or use an Ed25519 key.",
    ),
    (
        # ssh then tries a connection of its own, which a login with a second factor refuses.
        r"^mux_client_request_session: .*refused",
        "{node} refused another session on your open connection (ControlMaster), and a connection of racwire's own: "
        "close sessions on it that you do not need, or have MaxSessions of sshd on {node} raised.",
    ),
    (
        r"^(\S+: )*Permission denied( \(|, please try again)",
        _no_equivalence,
    ),
    (
        r"(^|: )Could not resolve (host)?name",
        "This node cannot resolve the name {node}: add {node} to /etc/hosts or DNS, or use the name that works with "
        "ssh.",
    ),
    (
        r"(^|: )Connection refused",
        "{node} refused the ssh connection: sshd does not run there, or listens on another port. Start sshd, or name "
        "its port in ~/.ssh/config.",
    ),
    (
        r"^Connection timed out during banner exchange",
        "sshd on {node} did not answer within {ssh_limit_s} s, although the connection was accepted: sshd or the whole "
        "node hangs (memory, disks, load). Check {node} on its console.",
    ),
    (
        r"(^|: )(Connection|Operation) timed out|^Connection (to )?\S+ .*timed out",
        "{node} did not answer ssh within {ssh_limit_s} s: {node} is down, or a firewall drops the packets. Check "
        "both.",
    ),
    (
        r"(^|: )(No route to host|Network is unreachable|Host is down)",
        "This node cannot reach {node}: {node} is down, or there is no route to it. Check the node and `ip route`.",
    ),
    (r"^Unable to negotiate with|: no matching .* found", _nothing_in_common),
    (
        r"Bad configuration option|terminating, \d+ bad configuration",
        "ssh does not accept its configuration ({line}): correct that line, and try `{ssh} date`.",
    ),
    (
        r"^stdio forwarding failed",
        "ssh to {node} goes through another host (ProxyJump in the configuration of ssh), and that host forwards no "
        "connection to {node}: permit it there (AllowTcpForwarding), or connect without that host.",
    ),
    (_CHANNEL.pattern, _no_session),
    (
        r"^(kex|ssh)_exchange_identification",
        "{node} closed the ssh connection before the login: too many logins are in progress there (MaxStartups), or "
        "sshd refuses this node (tcp wrappers, PerSourceMaxStartups). Try again, and check the log of sshd on {node}.",
    ),
    (
        r"^Connection (closed|reset) by|^Connection to \S+ closed|^Connection closed|(^|: )Broken pipe",
        "{node} closed the ssh connection before its shell started: sshd or PAM there refuses {user} (pam_access, "
        "faillock, nologin), or lacks memory or space.{quote} Check the log of sshd on {node}.",
    ),
)


def ssh_failure(login: FailedLogin) -> str:
    """The message about an ssh that ended."""
    is_authenticated = AUTHENTICATED.search(login.messages) is not None
    if is_authenticated and login.exit_status == _NOLOGIN_STATUS:
        return _filled(_NOLOGIN, login)
    meaning, line = _meaning(login)
    if meaning:
        return _filled(meaning, login, line)
    if is_authenticated and login.exit_status != _SSH_STATUS:
        return (
            f"The login of {login.user} on {login.node} ended with status {login.exit_status} before racwire's shell "
            f"started: a login profile (~/.bashrc, ~/.cshrc) or a forced command ends it.{login.quote} Try "
            f"`{login.ssh} date`."
        )
    reported = f" ({login.last_line.rstrip('.')})" if login.last_line else ""
    return (
        f"ssh to {login.node} ended with status {login.exit_status}{reported} before the shell started: try "
        f"`{login.ssh} date`."
    )


_NO_HOST = re.compile(
    r"(^|: )(No route to host|Host is down)|(^|: )(Connection|Operation) timed out(?! during)|"
    r"^Connection (to )?\S+ .*timed out",
    re.MULTILINE,
)


def no_host_answered(login: FailedLogin) -> bool:
    """Return whether ssh ended because nothing answered at the address: no connection, and no refusal of one."""
    return AUTHENTICATED.search(login.messages) is None and _NO_HOST.search(login.messages) is not None


def missing_right(login: FailedLogin) -> MissingRight | None:
    """The right that the login needs, where ssh ended because the user lacks it."""
    if _meaning(login)[0] is not _no_equivalence:
        return None
    return MissingRight(
        f"log in to {login.node} by ssh without a password, as {login.user} (user equivalence)",
        (shell("ssh-copy-id {node}", node=login.node),),
    )


def _meaning(login: FailedLogin) -> tuple[str | Callable[[FailedLogin], str], str]:
    """The first message that suits the output, and the line that it was found in; empty where none suits."""
    for pattern, meaning in _MEANINGS:
        if found := re.search(rf"^.*?({pattern}).*$", f"{login.messages}\n{login.printed}", re.MULTILINE):
            return meaning, found[0].strip().rstrip(".")
    return "", ""


def login_limit_s(settings: SshSettings) -> float:
    """Seconds from the start of ssh to the answer of the shell, at most."""
    return max(settings.login_timeout_s, settings.connect_timeout_s)


def ssh_silence(login: FailedLogin) -> str:
    """The message where ssh neither failed nor started a shell; ssh would have reported a dead network."""
    node, start_s = login.node, f"{login.settings.connect_timeout_s:g} s"
    if LOGIN_ENDED in login.printed:
        return (
            f"The shell on {node} started and did not answer within {start_s}: {node} hangs or is overloaded. Try "
            f"`{login.ssh} date`."
        )
    if AUTHENTICATED.search(login.messages):
        return (
            f"The shell on {node} did not start within {start_s} after {node} accepted {login.user}: the login profile "
            "(~/.bashrc, ~/.cshrc) waits for input or runs another shell, or the login hangs (home directory, "
            f"directory service).{login.quote} Try `{login.ssh} date`. A profile may ask and run shells only at a "
            "terminal (`if [ -t 0 ]`)."
        )
    return (
        f"The shell on {node} did not answer within {login_limit_s(login.settings):g} s, and ssh reported no error: "
        f"the login on {node} hangs (DNS lookup of sshd, directory service, home directory), or the name service on "
        f"this node hangs. Try `time {login.ssh} date`; if it succeeds later, set `login_timeout_s` in the section "
        "[ssh] of the settings."
    )


def not_started(node: str, program: str, error: OSError) -> str:
    """The message where this node could not start ssh."""
    if limit := limit_reached(error):
        return f"racwire could not start {program} for {node}: {limit}."
    return (
        f"racwire could not connect to {node}: this node cannot run {program} ({error.strerror}). Install "
        "openssh-clients, or correct the PATH."
    )


def endless_output(node: str, limit_bytes: int) -> str:
    """The message about a node that prints what is no answer, without an end."""
    return (
        f"{node} printed more than {limit_bytes / 1e6:g} MB that was no answer, and racwire closed the connection: "
        "look in what the login starts there (~/.bashrc, /etc/profile.d) and in the banner of sshd. Try "
        f"`{shell('ssh {node} date', node=node)} | head`."
    )


def not_supported(node: str, system: str) -> str:
    """The message about a peer that does not run Linux."""
    return (
        f"{node} runs {system}, which racwire does not support: racwire reads nodes that run Linux. Leave {node} out, "
        "or correct its name."
    )


def _filled(meaning: str | Callable[[FailedLogin], str], login: FailedLogin, line: str = "") -> str:
    if callable(meaning):
        return meaning(login)
    return meaning.format(
        node=login.node,
        ssh=login.ssh,
        user=login.user,
        quote=login.quote,
        ssh_limit_s=ssh_limit_s(login.settings),
        line=line,
    )
