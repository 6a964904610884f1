"""The ssh command line, and the real ssh to an sshd that needs no network."""

import asyncio
import getpass
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from checks.model.settings import SshSettings
from checks.sources.nodes.considerate_ssh import GUEST_SESSIONS, LOGINS_AT_ONCE, guest_place, login_turn, overrides
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.nodes.ssh import QUICK_COMMAND, REMOTE_COMMAND, own_proxy, ssh_command
from tests.support.programs import sh


def test_the_ssh_configuration_of_the_operator_is_used() -> None:
    argv = ssh_command("rac2", SshSettings(), {})
    assert argv[0] == "ssh"
    assert argv[-3:] == ["--", "rac2", REMOTE_COMMAND]
    assert "BatchMode=yes" in argv
    for option in ("-F", "-l", "-i", "-p"):
        assert option not in argv


def test_a_configuration_file_and_a_user_can_be_named() -> None:
    argv = ssh_command("rac2", SshSettings(config_file="mine", user="grid"), {"RACWIRE_SSH_CONFIG": "practice"})
    assert argv[argv.index("-F") + 1] == "mine"
    assert argv[argv.index("-l") + 1] == "grid"
    argv = ssh_command("rac2", SshSettings(), {"RACWIRE_SSH_CONFIG": "practice"})
    assert argv[argv.index("-F") + 1] == "practice"


def test_racwire_is_never_a_master_and_shares_only_where_the_settings_say_so() -> None:
    own, guest = (ssh_command("rac2", SshSettings(use_master=shared), {}) for shared in (False, True))
    assert {"ControlMaster=no", "ControlPath=none", "ForwardAgent=no", "ForwardX11=no", "Tunnel=no"} <= set(own)
    assert "ControlMaster=no" in guest
    assert not any(word.startswith("ControlPath") for word in guest)


def test_only_a_quick_shell_does_not_give_way() -> None:
    assert ssh_command("rac2", SshSettings(), {}, quick=True)[-1] == QUICK_COMMAND
    assert "nice -n 10 sh" in REMOTE_COMMAND
    assert "nice" not in QUICK_COMMAND


OWN = "-o ControlMaster=no -o ControlPath=none"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("User grid", {}),
        ("ProxyCommand nc %h %p", {}),
        ("ProxyJump none", {}),
        ("ProxyCommand ssh -W %h:%p gate", {"ProxyCommand": f"ssh {OWN} -W %h:%p gate"}),
        ("ProxyCommand exec /usr/bin/ssh -q gate", {"ProxyCommand": f"exec /usr/bin/ssh {OWN} -q gate"}),
        ("ProxyJump gate", {"ProxyCommand": f"ssh {OWN} -F FILE -W '[%h]:%p' -- gate"}),
        ("ProxyJump ann@[fd00::1]:2222", {"ProxyCommand": f"ssh {OWN} -F FILE -l ann -p 2222 -W '[%h]:%p' -- fd00::1"}),
        (
            "ProxyJump far,gate",
            {
                "ProxyCommand": f"""ssh {OWN} -o 'ProxyCommand=ssh {OWN} -F FILE -W '"'"'[%%h]:%%p'"'"' -- far' """
                "-F FILE -W '[%h]:%p' -- gate"
            },
        ),
        (
            "ProxyJump gate\nHost gate\nProxyCommand ssh far nc %h %p",
            {"ProxyCommand": f"ssh {OWN} -o 'ProxyCommand=ssh {OWN} far nc %%h %%p' -F FILE -W '[%h]:%p' -- gate"},
        ),
        (
            "RemoteCommand tmux\nSessionType none\nForkAfterAuthentication yes\nStdinNull yes",
            {"RemoteCommand": "none", "SessionType": "default", "ForkAfterAuthentication": "no", "StdinNull": "no"},
        ),
    ],
)
async def test_what_the_configuration_wants_and_racwire_must_not_do_is_undone(
    tmp_path: Path, lines: str, expected: dict[str, str]
) -> None:
    if shutil.which("ssh") is None:
        pytest.skip("no ssh here: its configuration is not read")
    config = tmp_path / "config"
    config.write_text(f"Host rac2\n{lines}\n")
    known = {option: value.replace("FILE", str(config)) for option, value in expected.items()}
    assert await overrides("rac2", SshSettings(config_file=str(config)), {}) == known


async def test_a_ring_of_jump_hosts_ends(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host rac2\nProxyJump gate\nHost gate\nProxyJump rac2\n")
    await overrides("rac2", SshSettings(config_file=str(config)), {})


def test_a_guest_on_the_way_too_shares_where_the_settings_say_so() -> None:
    assert own_proxy("ssh gate", SshSettings(use_master=True)) == "ssh -o ControlMaster=no gate"


async def test_logins_on_a_peer_take_turns(tmp_path: Path) -> None:
    node = str(tmp_path)  # no other test has it
    turns = [await login_turn(node) for _ in range(LOGINS_AT_ONCE)]
    late = asyncio.create_task(login_turn(node))
    (await login_turn(f"{node} of another name")).close()
    assert not late.done()
    turns.pop().close()
    turns.append(await late)
    turns.append(await login_turn(node, 0))  # whoever keeps the places delays racwire, and no more
    for turn in turns:
        turn.close()


def test_guests_of_one_user_share_a_fixed_number_of_sessions(tmp_path: Path) -> None:
    node = str(tmp_path)
    places = [guest_place(node) for _ in range(GUEST_SESSIONS)]
    assert guest_place(node) is None
    for place in places:
        assert place is not None
        place.close()
    with guest_place(node) as again:  # type: ignore[union-attr]
        assert again.getsockname()


@pytest.mark.parametrize(("limit_s", "ssh_limit"), [(0.2, 1), (1, 1), (5, 4), (5.5, 5)])
def test_ssh_times_out_before_racwire_does(limit_s: float, ssh_limit: int) -> None:
    assert f"ConnectTimeout={ssh_limit}" in ssh_command("rac2", SshSettings(connect_timeout_s=limit_s), {})


def test_another_program_can_replace_ssh() -> None:
    assert ssh_command("rac2", SshSettings(), {"RACWIRE_RSH": "'my rsh' -x"}) == [
        "my rsh",
        "-x",
        "rac2",
        REMOTE_COMMAND,
    ]


@pytest.mark.parametrize("name", ["", "-v", "-oProxyCommand=x"])
def test_names_that_look_like_options_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a host name"):
        ssh_command(name, SshSettings(), {})


@pytest.fixture
def ssh_config(tmp_path: Path) -> Path:
    """A configuration with which ssh talks to an sshd of its own, over a pipe."""
    sshd = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
    if sshd is None or shutil.which("ssh") is None:
        pytest.skip("no sshd that can be started here: the real ssh is not tested")
    for key in ("host", "user", "stranger"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / key], check=True)
    (tmp_path / "authorized").write_text((tmp_path / "user.pub").read_text())
    (tmp_path / "known").write_text(f"rac2 {(tmp_path / 'host.pub').read_text()}")
    (tmp_path / "sshd_config").write_text(
        f"HostKey {tmp_path}/host\nAuthorizedKeysFile {tmp_path}/authorized\nStrictModes no\nUsePAM no\n"
        "PermitRootLogin yes\nPasswordAuthentication no\nPidFile none\n"
    )
    server = f"{sshd} -i -f {tmp_path}/sshd_config"
    if os.geteuid() == 0 and not Path("/run/sshd").is_dir():  # root's sshd requires it: make a private one
        server = f"unshare -m sh -c 'mount -t tmpfs none /run && mkdir /run/sshd && exec {server}'"
    config = tmp_path / "ssh_config"
    config.write_text(
        f"ProxyCommand {server}\nUserKnownHostsFile {tmp_path}/known\n"
        f"IdentityFile {tmp_path}/user\nIdentitiesOnly yes\nIdentityAgent none\nGlobalKnownHostsFile none\n"
    )
    return config


@pytest.mark.usefixtures("any_command")
async def test_the_real_ssh_opens_a_shell(ssh_config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RACWIRE_RSH", raising=False)
    shell = await Shell.open_ssh("rac2", SshSettings(config_file=str(ssh_config)))
    try:
        assert (await shell.run(sh("echo $LC_ALL"))).text == "C\n"
        answers = [shell.start(["echo", str(i)]) for i in range(4)]
        assert [(await answer).text for answer in answers] == ["0\n", "1\n", "2\n", "3\n"]
    finally:
        await shell.close()


async def test_the_real_ssh_reports_a_missing_part(ssh_config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RACWIRE_RSH", raising=False)
    monkeypatch.setenv("RACWIRE_SSH_CONFIG", str(ssh_config))
    with pytest.raises(ShellError, match="host key of unheard-of is not in known_hosts"):
        await Shell.open_ssh("unheard-of", SshSettings())
    stranger = ssh_config.with_name("stranger")
    stranger.replace(ssh_config.with_name("user"))
    with pytest.raises(ShellError, match=f"equivalence to rac2 is missing for user {getpass.getuser()}"):
        await Shell.open_ssh("rac2", SshSettings())
