"""Messages about logins that fail: the outputs are those of OpenSSH 9.2 with sshd of the practice cluster."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.settings import SshSettings
from checks.sources.nodes.ssh import LOGIN_ENDED, other_system, without_narration
from checks.sources.nodes.ssh_failure import (
    FailedLogin,
    no_guest_place,
    no_host_answered,
    not_supported,
    ssh_failure,
    ssh_silence,
)

BANNER = "*** Authorised use only. All activity is recorded. ***\n"
ACCEPTED = 'Authenticated to rac2 ([10.20.0.2]:22) using "publickey".\n'
END = (
    "Transferred: sent 2404, received 2204 bytes, in 0.0 seconds\nBytes per second: sent 218761.7, received 200561.9\n"
)
CHANGED = """\
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
Someone could be eavesdropping on you right now (man-in-the-middle attack)!
It is also possible that a host key has just been changed.
The fingerprint for the ED25519 key sent by the remote host is
SHA256:5/G8I7nWipsBPl+YAikCHfKYn/DaxrT+jJ6Pm7eqt8o.
Please contact your system administrator.
Add correct host key in /home/grid/.ssh/known_hosts to get rid of this message.
Offending ED25519 key in /home/grid/.ssh/known_hosts:2
Host key for rac2 has changed and you have requested strict checking.
Host key verification failed.
"""


def failed(messages: str, status: int = 255, printed: str = "", settings: SshSettings | None = None) -> FailedLogin:
    return FailedLogin("rac2", settings or SshSettings(), messages, printed, status)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (
            "grid@rac2: Permission denied (publickey,gssapi-keyex,password).",
            "equivalence to rac2 is missing for user grid",
        ),
        ("Permission denied (publickey).\r", "equivalence to rac2 is missing for this user"),
        (BANNER + "grid@rac2: Permission denied (publickey).", "AllowUsers, a locked account"),
        ("Host key verification failed.", "not in known_hosts: run `ssh rac2 date` once, compare the fingerprint"),
        (
            "No ECDSA host key is known for rac2 and you have requested strict checking.\n"
            "Host key verification failed.",
            "accepts no new key (StrictHostKeyChecking yes): read it with `ssh-keyscan rac2`, compare it with "
            "`ssh-keygen -lf /etc/ssh/ssh_host_ecdsa_key.pub` on its console",
        ),
        ("ssh: Could not resolve hostname rac2: Name or service not known", "cannot resolve the name rac2"),
        ("ssh: connect to host rac2 port 22: Connection refused", "sshd does not run there"),
        ("ssh: connect to host rac2 port 22: Connection timed out", "did not answer ssh within 4 s"),
        (
            "Connection timed out during banner exchange\nConnection to 10.0.0.2 port 22 timed out",
            "sshd on rac2 did not answer within 4 s, although the connection was accepted: ",
        ),
        ("ssh: connect to host rac2 port 22: No route to host", "cannot reach rac2"),
        (
            "kex_exchange_identification: read: Connection reset by peer\nConnection reset by 10.20.0.2 port 22",
            "before the login: too many logins are in progress there (MaxStartups)",
        ),
        (BANNER + "Connection closed by 10.0.0.2 port 22", "sshd or PAM there refuses this user"),
        (
            BANNER + "Maintenance until 6 pm\n\nConnection closed by 10.20.0.2 port 22",
            'rac2 printed "Maintenance until 6 pm".',
        ),
        (
            BANNER + "System is going down. Unprivileged users are not permitted to log in anymore. For technical "
            "details, see pam_nologin(8).\nConnection closed by 10.20.0.2 port 22",
            "rac2 accepts no login but that of root at present",
        ),
        (
            BANNER + "Your account has expired; please contact your system administrator.\n"
            "Connection closed by 10.20.0.2 port 22",
            "The account of this user on rac2 has expired",
        ),
        (
            "Unable to negotiate with 10.20.0.2 port 22: no matching host key type found. Their offer: ssh-rsa",
            "no host key type in common (rac2 offers ssh-rsa)",
        ),
        (
            "Unable to negotiate with 10.0.0.2: no matching cipher found. Their offer: aes128-cbc,3des-cbc",
            "no cipher in common (rac2 offers aes128-cbc,3des-cbc)",
        ),
        ("sign_and_send_pubkey: no mutual signature supported\nPermission denied (publickey).", "needs SHA-2"),
        (
            "/root/.ssh/config: line 3: Bad configuration option: foo\nterminating, 1 bad configuration options",
            "does not accept its configuration (/root/.ssh/config: line 3: Bad configuration option: foo): ",
        ),
        ("Bad owner or permissions on /root/.ssh/config", "(Bad owner or permissions on /root/.ssh/config): "),
        (
            "@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @\n"
            "Permissions 0666 for '/root/.ssh/id_rsa' are too open.\nPermission denied (publickey).",
            "(Permissions 0666 for '/root/.ssh/id_rsa' are too open): ",
        ),
        (
            "channel 0: open failed: administratively prohibited: open failed\nstdio forwarding failed\n"
            "Connection closed by UNKNOWN port 65535",
            "goes through another host (ProxyJump",
        ),
        ("Received disconnect from 10.20.0.2 port 22:2: Too many authentication failures", "too many keys"),
        (
            BANNER + ACCEPTED + "channel 0: open failed: connect failed: open failed\n" + END,
            "check MaxSessions of sshd",
        ),
        ("something new", "ended with status 255 (something new) before the shell started: try `ssh rac2 date`"),
        ("", "ended with status 255 before the shell started: try"),
    ],
)
def test_each_error_of_ssh_becomes_one_message(messages: str, expected: str) -> None:
    message = ssh_failure(failed(messages))
    assert expected in message
    assert "rac2" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("messages", "is_silent"),
    [
        ("ssh: connect to host rac2 port 22: No route to host", True),
        ("ssh: connect to host rac2 port 22: Connection timed out", True),
        ("ssh: connect to host rac2 port 22: Network is unreachable", False),
        ("ssh: connect to host rac2 port 22: Connection refused", False),
        ("Connection timed out during banner exchange", False),
        ("Permission denied (publickey).", False),
        (BANNER + ACCEPTED + "Connection to 10.0.0.2 port 22 timed out", False),
    ],
)
def test_a_host_that_answers_nothing_is_told_from_one_that_refuses(messages: str, is_silent: bool) -> None:
    assert no_host_answered(failed(messages)) is is_silent


def test_a_changed_host_key_names_key_file_line_and_fingerprint() -> None:
    message = ssh_failure(failed(CHANGED))
    assert message.startswith("The host key of rac2 has changed: ")
    assert "rac2 has SHA256:5/G8I7nWipsBPl+YAikCHfKYn/DaxrT+jJ6Pm7eqt8o, not the ED25519 key in line 2 of" in message
    assert "/home/grid/.ssh/known_hosts. Unless" in message
    assert "`ssh-keygen -R rac2`" in message
    assert "ssh_host_ed25519_key.pub" in message


def test_an_older_ssh_and_a_port_of_its_own_are_understood() -> None:
    older = CHANGED.replace("Offending ED25519 key", "Offending key").replace("SHA256:5/G8I7nWipsBPl", "15:aa")
    older = older.replace("/home/grid/.ssh/known_hosts", "/etc/ssh/ssh_known_hosts")
    older = older.replace("Host key for rac2 has", "ED25519 host key for [rac2]:2222 has")
    message = ssh_failure(failed(older.replace("15:aa+YAikCHfKYn/DaxrT+jJ6Pm7eqt8o", ":".join(["0f"] * 16))))
    assert f"rac2 has {':'.join(['0f'] * 16)}, not the key in line 2 of /etc/ssh/ssh_known_hosts." in message
    assert "`ssh-keygen -R '[rac2]:2222' -f /etc/ssh/ssh_known_hosts`" in message


def test_no_message_proposes_to_disable_the_check_of_host_keys() -> None:
    for messages in (CHANGED, "Host key verification failed."):
        message = ssh_failure(failed(messages))
        assert "StrictHostKeyChecking" not in message
        assert "/dev/null" not in message


@pytest.mark.parametrize("reason", ["administrator enforced", "password expired"])
def test_an_expired_password_is_not_a_missing_key(reason: str) -> None:
    messages = (
        f"{BANNER}You are required to change your password immediately ({reason}).\n{ACCEPTED}"
        f"WARNING: Your password has expired.\nPassword change required but no TTY available.\n{END}"
    )
    message = ssh_failure(failed(messages, 1, settings=SshSettings(user="grid")))
    assert message.startswith("The password of user grid on rac2 has expired: ")


def test_the_text_of_nologin_is_quoted() -> None:
    message = ssh_failure(failed(f"{BANNER}{ACCEPTED}Maintenance until 6 pm\n{END}", 254))
    assert message.startswith("rac2 accepts no login but that of root at present: ")
    assert 'rac2 printed "Maintenance until 6 pm".' in message


def test_a_profile_that_ends_the_login_is_quoted() -> None:
    error = "/home/grid/.bashrc: line 3: ORACLE_BASE: unbound variable\n"
    message = ssh_failure(failed(f"{BANNER}{ACCEPTED}{error}{END}", 1, "Welcome\n"))
    assert message.startswith("The login of this user on rac2 ended with status 1 before racwire's shell started: ")
    assert f'rac2 printed "{error.strip()}".' in message


@pytest.mark.parametrize(
    "text",
    [
        "Access is permitted to users whose account has not expired. Connection refused to all others.\n",
        "Your connection timed out? Call 555. Permission denied means: call 556.\n",
        "Ask for a new account if your password has expired; nologin is not an error\n",
    ],
)
def test_the_words_of_a_banner_are_no_error(text: str) -> None:
    message = ssh_failure(failed(f"{text}Connection closed by 10.20.0.2 port 22\n"))
    assert message.startswith("rac2 closed the ssh connection before its shell started: ")


class TestSilence:
    def silence(self, messages: str, printed: str = "") -> str:
        return ssh_silence(FailedLogin("rac2", SshSettings(), f"{messages}Killed by signal 15.\r\n", printed))

    def test_before_the_peer_accepted_the_user(self) -> None:
        message = self.silence(BANNER)
        assert message.startswith("The shell on rac2 did not answer within 15 s, and ssh reported no error: ")
        assert "`login_timeout_s`" in message

    def test_in_the_profile(self) -> None:
        message = self.silence(BANNER + ACCEPTED + "stty: not a terminal\n", "Which database? [PROD]")
        assert message.startswith("The shell on rac2 did not start within 5 s after rac2 accepted this user: ")
        assert "waits for input" in message
        assert 'rac2 printed "Which database? [PROD]".' in message

    def test_after_the_login(self) -> None:
        message = self.silence(BANNER + ACCEPTED, f"\nLinux\n{LOGIN_ENDED}")
        assert message.startswith("The shell on rac2 started and did not answer within 5 s: ")


@pytest.mark.parametrize(
    ("output", "system"),
    [
        ("\nLinux\n", ""),
        ("Welcome\n\nAIX\n", "AIX"),
        ("\nSunOS\n", "SunOS"),
        ("\nCYGWIN_NT-10.0-19045\n", "CYGWIN_NT-10.0-19045"),
        ("This is no AIX\n", ""),
        ("", ""),
    ],
)
def test_another_system_is_recognised_by_the_line_of_uname(output: str, system: str) -> None:
    assert other_system(output) == system


def test_another_system_is_named() -> None:
    assert not_supported("rac2", "AIX").startswith("rac2 runs AIX, which racwire does not support: ")


def test_the_lines_of_every_connection_are_no_message() -> None:
    assert without_narration(f"{BANNER}{ACCEPTED}{END}\r\n") == BANNER.strip()


@given(st.text(), st.text(), st.one_of(st.none(), st.integers(0, 255)))
def test_any_output_becomes_one_line(messages: str, printed: str, status: int | None) -> None:
    login = FailedLogin("rac2", SshSettings(), messages, printed, status)
    assert ssh_failure(login).count("\n") == ssh_silence(login).count("\n") == 0


SHARED = SshSettings(use_master=True)
REFUSED_BY_MASTER = "mux_client_request_session: session request failed: Session open refused by peer\r\n"
NO_FACTOR = "root@rac2: Permission denied (keyboard-interactive).\r\n"


@pytest.mark.parametrize(
    ("messages", "settings", "part"),
    [
        (REFUSED_BY_MASTER + NO_FACTOR, SHARED, "rac2 refused another session on your open connection"),
        (NO_FACTOR, SHARED, "racwire found no open connection of yours to rac2 that it can share"),
        (NO_FACTOR, SshSettings(), "set `use_master = true` in the section [ssh]"),
        (
            "root@rac2: Permission denied (publickey,password).\r\n",
            SshSettings(),
            "User equivalence to rac2 is missing",
        ),
    ],
)
def test_a_login_that_needs_the_connection_of_the_user_says_the_next_step(
    messages: str, settings: SshSettings, part: str
) -> None:
    assert part in ssh_failure(failed(messages, settings=settings))


def test_a_guest_beyond_its_share_is_named() -> None:
    assert no_guest_place("rac2").startswith("Every racwire of this user here has 5 sessions in your open connection")
