"""The shell of a session: its commands, their output, and that no command hangs or is left behind."""

import asyncio
import errno
import gc
import os
import shlex
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from checks.model.settings import SshSettings
from checks.sources.nodes import framing
from checks.sources.nodes.shell import Completed, Shell, ShellError
from checks.sources.nodes.ssh import LOGIN_ENDED
from tests.support.programs import ANYTHING, sh

pytestmark = pytest.mark.usefixtures("any_command")

Open = Callable[[], Awaitable[Shell]]

PEER_SHELLS = {"sh": "sh", "dash": "dash", "bash": "bash --posix", "busybox": "busybox sh", "ksh": "ksh"}
A_HANG_S = 5.0


@pytest.fixture(params=PEER_SHELLS)
async def shell(request: pytest.FixtureRequest, remote_shell: Callable[[str], None]) -> AsyncIterator[Shell]:
    """A shell of each kind, behind a stand-in for ssh."""
    command = PEER_SHELLS[request.param]
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"{command} is not installed: racwire is not tested with it here")
    remote_shell(
        f"echo 'profile output, without an end of line'; printf hm; echo {LOGIN_ENDED}; "
        f"exec env -i PATH={shlex.quote(os.environ['PATH'])} {command}"
    )
    shell = await Shell.open_ssh("rac2", SshSettings())
    yield shell
    await shell.close()


@pytest.fixture
def remote_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Return the command of the stand-in for ssh: `RSH HOST COMMAND`."""

    def be(script: str) -> None:
        file = tmp_path / "rsh"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        monkeypatch.setenv("RACWIRE_RSH", shlex.quote(str(file)))

    return be


async def test_a_program_returns_its_output_and_exit_status(shell: Shell) -> None:
    assert await shell.run(sh("echo one; echo two; (exit 3)"), timeout_s=A_HANG_S) == Completed(3, "one\ntwo\n")


async def test_output_is_returned_as_printed(shell: Shell) -> None:
    for program, text in {
        ":": "",
        "printf 'no end'": "no end",
        "printf '\\n\\nx\\n\\n'": "\n\nx\n\n",
        "printf 'it'\"'\"'s $HOME \\\\ \\140'": "it's $HOME \\ `",
    }.items():
        assert (await shell.run(sh(program), timeout_s=A_HANG_S)).text == text, program


@pytest.mark.parametrize(
    "odd", ["$(id)", "`id`", "it's", '"', "a\nb", "'; echo no; '", "*", "", "-n", "$1", "\\", "~", "!!"]
)
async def test_every_argument_of_a_program_is_data(shell: Shell, odd: str) -> None:
    program = sh('for value in "$@"; do printf \'<%s>\' "$value"; done; printf \'%s\' "$2"', arguments=(ANYTHING,))
    answer = await shell.run(program, "first", odd, "last")
    assert answer == Completed(0, f"<first><{odd}><last>{odd}")
    assert (await shell.run(sh("printf '<%s>' \"$1\""))).text == "<>", "arguments are gone with their program"


async def test_a_program_cannot_read_the_input_of_the_next_one(shell: Shell) -> None:
    eaten = asyncio.create_task(shell.run(sh('cat; read -r line; echo "<$line>"'), timeout_s=A_HANG_S))
    after = asyncio.create_task(shell.run(sh("echo after"), timeout_s=A_HANG_S))
    assert (await eaten).text == "<>\n"
    assert (await after).text == "after\n"


async def test_a_syntax_error_fails_only_the_program_and_not_the_shell(shell: Shell) -> None:
    assert (await shell.run(sh("if then"), timeout_s=A_HANG_S)).exit_status != 0
    assert (await shell.run(sh("echo still here"), timeout_s=A_HANG_S)).text == "still here\n"


async def test_stderr_of_a_program_is_not_in_its_output(shell: Shell) -> None:
    assert (await shell.run(sh("echo out; echo err >&2"), timeout_s=A_HANG_S)).text == "out\n"


async def test_much_output_arrives_completely(shell: Shell) -> None:
    program = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done"
    assert (await shell.run(sh(program), timeout_s=30)).text == "0123456789\n" * 20000


async def test_background_commands_run_concurrently_with_the_foreground_and_each_other(
    shell: Shell, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    waiting = [
        shell.start(["sh", "-c", f"echo {i}; cat '{fifo}' >/dev/null; echo; echo end; exit {i}"]) for i in range(3)
    ]
    assert (await shell.run(sh("echo meanwhile"), timeout_s=A_HANG_S)).text == "meanwhile\n"
    assert not any(answer.done() for answer in waiting)
    async with asyncio.timeout(A_HANG_S):
        while not all(answer.done() for answer in waiting):
            await shell.run(sh(f"[ -p {shlex.quote(str(fifo))} ] && : <>{shlex.quote(str(fifo))}"), timeout_s=A_HANG_S)
            await asyncio.sleep(0.01)
    assert [await answer for answer in waiting] == [Completed(i, f"{i}\n\nend\n") for i in range(3)]


async def test_every_argument_of_a_background_command_is_data(shell: Shell) -> None:
    words = ["$(id)", "it's", "a b", "", "*", "\\n", ";", "-n"]
    async with asyncio.timeout(A_HANG_S):
        answer = await shell.start(["printf", "<%s>", *words])
    assert answer == Completed(0, "".join(f"<{word}>" for word in words) + "\n")


async def test_a_missing_background_command_is_reported(shell: Shell) -> None:
    async with asyncio.timeout(A_HANG_S):
        answer = await shell.start(["racwire-no-such-program"])
    assert answer.exit_status == 127
    assert "not found" in answer.text


async def test_noise_between_background_answers_is_ignored(shell: Shell) -> None:
    answer = shell.start(["sh", "-c", "echo a; echo b"])
    await shell.run(sh("echo noise >&2; printf 'noise without an end' >&2"), timeout_s=A_HANG_S)
    async with asyncio.timeout(A_HANG_S):
        assert await answer == Completed(0, "a\nb\n")
        assert await shell.start(["echo", "c"]) == Completed(0, "c\n")


async def test_an_answer_that_times_out_ends_the_shell(shell: Shell) -> None:
    background = shell.start(["sleep", "60"])
    with pytest.raises(ShellError, match=r"rac2 did not answer within 0\.05 s"):
        await shell.run(sh("trap '' TERM; while :; do :; done"), timeout_s=0.05)
    with pytest.raises(ShellError, match="rac2 is closed"):
        await background
    with pytest.raises(ShellError, match="rac2 is closed"):
        await shell.run(sh(":"), timeout_s=A_HANG_S)
    with pytest.raises(ShellError, match="rac2 is closed"):
        await shell.start([":"])


async def test_endless_output_ends_the_shell(shell: Shell) -> None:
    with pytest.raises(ShellError, match="more than 1,000 bytes"):
        await shell.run(sh("while :; do echo endless; done", limit_bytes=1000), timeout_s=A_HANG_S)


async def test_the_answer_of_a_cancelled_run_is_not_returned_to_the_next(shell: Shell) -> None:
    first = asyncio.create_task(shell.run(sh("sleep 0.05; echo first"), timeout_s=A_HANG_S))
    await asyncio.sleep(0.01)
    first.cancel()
    assert (await shell.run(sh("echo second"), timeout_s=A_HANG_S)).text == "second\n"


async def test_a_lost_connection_fails_waiting_calls_without_warnings(
    shell: Shell, caplog: pytest.LogCaptureFixture
) -> None:
    gc.freeze()  # what is older is nothing to look through
    answers = [shell.start(["sleep", "60"]) for _ in range(3)]
    abandoned = shell.start(["sleep", "60"])
    abandoned.cancel()
    with pytest.raises(ShellError, match=r"rac2 was lost .*Timeout, server rac2 not responding"):
        await shell.run(sh("echo 'Timeout, server rac2 not responding.' >&2; exit 7"), timeout_s=A_HANG_S)
    del answers, abandoned
    gc.collect()
    assert not caplog.records


async def test_closing_ends_running_commands(shell: Shell, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    shell.start(["sh", "-c", f"trap '' TERM; echo $$ >'{pid_file}.new'; mv '{pid_file}.new' '{pid_file}'; sleep 60"])
    await _until(pid_file.exists)
    await shell.close()
    await shell.close()
    await _until(lambda: not _runs(int(pid_file.read_text())))


async def test_the_local_node_has_a_shell_too() -> None:
    shell = await Shell.open_local("rac1")
    try:
        assert (await shell.run(sh('echo "$LC_ALL $0"'), timeout_s=A_HANG_S)).text == "C sh\n"
    finally:
        await shell.close()


@pytest.mark.parametrize("hang", ["trap '' TERM; while :; do sleep 1; done", "kill -STOP $$"])
async def test_a_peer_that_never_answers_times_out(remote_shell: Callable[[str], None], hang: str) -> None:
    remote_shell(f"echo 'Welcome'; {hang}")
    with pytest.raises(ShellError, match=r"The shell on rac2 did not answer within 0\.1 s") as raised:
        await Shell.open_ssh("rac2", SshSettings(connect_timeout_s=0.1, login_timeout_s=0.1))
    assert raised.value.detail == "Welcome"


async def test_after_the_peer_accepted_the_user_only_the_shorter_limit_applies(
    remote_shell: Callable[[str], None],
) -> None:
    remote_shell("echo 'Authenticated to rac2 ([10.20.0.2]:22) using \"publickey\".' >&2; printf 'SID? '; sleep 60")
    settings = SshSettings(connect_timeout_s=0.1, login_timeout_s=120)
    with pytest.raises(ShellError, match=r'did not start within 0\.1 s after rac2 accepted .* printed "SID\?"'):
        await Shell.open_ssh("rac2", settings)


FLOODS = {
    "a profile": "exec yes",
    "a banner": "exec yes >&2",
    "a line without an end": "exec tr '\\0' x </dev/zero",
    "a message without an end": "exec tr '\\0' x </dev/zero >&2",
    "a child of the profile": "yes & sleep 60",
    "a child in a session of its own": "setsid yes >&2 & sleep 60",
}


@pytest.mark.parametrize("flood", FLOODS)
async def test_a_login_that_prints_without_an_end_is_ended(
    remote_shell: Callable[[str], None], flood: str, caplog: pytest.LogCaptureFixture
) -> None:
    remote_shell(FLOODS[flood])
    with pytest.raises(ShellError, match=r"rac2 printed more than 1 MB that was no answer") as raised:
        await Shell.open_ssh("rac2", SshSettings())
    assert len(raised.value.detail) <= 65_536
    assert caplog.text == ""


@pytest.mark.parametrize("flood", ["yes", "yes >&2", "tr '\\0' x </dev/zero", "tr '\\0' x </dev/zero >&2"])
@pytest.mark.parametrize("shell", ["sh"], indirect=True)
async def test_a_flood_after_an_answer_ends_the_shell(shell: Shell, flood: str) -> None:
    """Its own process ends too, so that it takes no more of this node."""
    background = shell.start(["sleep", "60"])
    with suppress(ShellError):
        await shell.run(sh(f"{flood} &", limit_bytes=2_000_000), timeout_s=A_HANG_S)
    with pytest.raises(ShellError, match="rac2 printed more than 1 MB that was no answer"):
        await background
    with pytest.raises(ShellError, match="rac2 printed more than 1 MB that was no answer"):
        await shell.run(sh(":"))


async def test_a_slow_login_ends_at_the_limit_of_time(remote_shell: Callable[[str], None]) -> None:
    remote_shell("while :; do printf x; sleep 0.01; done")
    with pytest.raises(ShellError, match=r"did not answer within 0\.2 s"):
        await Shell.open_ssh("rac2", SshSettings(connect_timeout_s=0.2, login_timeout_s=0.2))


async def test_a_profile_receives_no_input(remote_shell: Callable[[str], None], tmp_path: Path) -> None:
    """A profile could act on a line that it reads, and the line would be missing from the shell's input."""
    remote_shell(f"head -c 1 >'{tmp_path}/eaten'; exec sh -c \"$2\"")
    with pytest.raises(ShellError, match="did not answer"):
        await Shell.open_ssh("rac2", SshSettings(connect_timeout_s=0.2, login_timeout_s=0.2))
    assert (tmp_path / "eaten").read_text() == ""


async def test_a_peer_that_runs_another_system_is_named(remote_shell: Callable[[str], None], tmp_path: Path) -> None:
    uname = tmp_path / "uname"
    uname.write_text("#!/bin/sh\necho AIX\n")
    uname.chmod(0o755)
    remote_shell(f'export PATH="{tmp_path}:$PATH"; printf "no end of line"; exec sh -c "$2"')
    with pytest.raises(ShellError, match="rac2 runs AIX, which racwire does not support"):
        await Shell.open_ssh("rac2", SshSettings())


@pytest.mark.parametrize("login_shell", ["sh", "bash", "dash", "ksh", "csh", "tcsh", "busybox sh"])
async def test_every_login_shell_starts_the_shell(remote_shell: Callable[[str], None], login_shell: str) -> None:
    if shutil.which(login_shell.split()[0]) is None:
        pytest.skip(f"{login_shell} is not installed: a login with it is not tested here")
    remote_shell(f'exec {login_shell} -c "$2"')
    shell = await Shell.open_ssh("rac2", SshSettings())
    try:
        assert (await shell.run(sh('echo "$LC_ALL $0"'), timeout_s=A_HANG_S)).text == "C sh\n"
    finally:
        await shell.close()


async def test_a_banner_is_no_message_about_the_end(remote_shell: Callable[[str], None]) -> None:
    remote_shell('echo "*** Authorised use only ***" >&2; exec sh -c "$2"')
    shell = await Shell.open_ssh("rac2", SshSettings())
    with pytest.raises(ShellError, match="its shell ended with status 7"):
        await shell.run(sh("exit 7"), timeout_s=A_HANG_S)
    await shell.close()


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EAGAIN])
async def test_a_limit_of_this_node_is_named(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    async def refuse(*_args: object, **_options: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(asyncio.get_running_loop(), "subprocess_exec", refuse)
    with pytest.raises(ShellError, match=r"could not start ssh for rac2: this user may .*: check `ulimit -[nu]`"):
        await Shell.open_ssh("rac2", SshSettings())


async def test_opening_can_be_cancelled(remote_shell: Callable[[str], None]) -> None:
    remote_shell("sleep 60")
    opening = asyncio.create_task(Shell.open_ssh("rac2", SshSettings()))
    await asyncio.sleep(0.05)
    opening.cancel()
    async with asyncio.timeout(A_HANG_S):
        with pytest.raises(asyncio.CancelledError):
            await opening


async def test_the_error_of_ssh_is_explained_and_recorded(remote_shell: Callable[[str], None]) -> None:
    remote_shell("echo 'oracle@rac2: Permission denied (publickey,password).' >&2; exit 255")
    with pytest.raises(ShellError, match="User equivalence to rac2 is missing for user oracle") as raised:
        await Shell.open_ssh("rac2", SshSettings())
    assert raised.value.detail == "oracle@rac2: Permission denied (publickey,password)."


async def test_a_missing_ssh_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RACWIRE_RSH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ShellError, match="this node cannot run ssh"):
        await Shell.open_ssh("rac2", SshSettings())


async def test_a_name_that_looks_like_an_option_is_refused() -> None:
    with pytest.raises(ShellError, match="not a host name"):
        await Shell.open_ssh("-oProxyCommand=touch /tmp/x", SshSettings())


def test_split_and_mixed_answers_are_separated() -> None:
    stream = b"ssh: noise\ntok 1:a\ntok 2:x\nhalf a linetok 1:\ntok 1=0\ntok 99999999999999999999999=0\ntok 2=4\nrest"
    for size in (1, 3, 1000):
        reader = framing.BackgroundReader("tok")
        answers = [a for i in range(0, len(stream), size) for a in reader.feed(stream[i : i + size])]
        assert answers == [(1, Completed(0, "a\n\n")), (2, Completed(4, "x\n"))]
        assert reader.other_output() == "ssh: noise\nhalf a line\nrest"


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(A_HANG_S):
        while not condition():  # noqa: ASYNC110 - files and foreign processes tell no event loop
            await asyncio.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


async def test_opening_cancelled_at_any_moment_ends_at_once(
    remote_shell: Callable[[str], None],
) -> None:
    """Also in the few steps in which asyncio connects the pipes of a new process."""
    remote_shell("trap '' TERM; while :; do sleep 60; done")
    for steps in range(12):
        opening = asyncio.create_task(Shell.open_ssh("rac2", SshSettings(connect_timeout_s=60)))
        for _ in range(steps):
            await asyncio.sleep(0)
        opening.cancel()
        async with asyncio.timeout(A_HANG_S):
            await asyncio.gather(opening, return_exceptions=True)
        assert opening.cancelled()
