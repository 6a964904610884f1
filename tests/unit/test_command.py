"""Running one program: with limits, without output on the terminal, and without a remaining process."""

import asyncio
import os
import signal
from collections.abc import Iterable
from pathlib import Path

import pytest

from checks.sources.clusterware.grid_tool_command import (
    CommandError,
    CommandOutput,
    NotPermittedError,
    TimedOutError,
    run_command,
)

pytestmark = pytest.mark.usefixtures("any_command")


def sh(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


def is_running(pid: str) -> bool:
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def words_in(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []


async def ended(pids: Iterable[str]) -> None:
    """Wait until none of them runs: a killed process needs a moment to end."""
    async with asyncio.timeout(30):
        while any(is_running(pid) for pid in pids):  # noqa: ASYNC110 - other processes
            await asyncio.sleep(0.01)


async def pids_in(file: Path, count: int) -> list[str]:
    async with asyncio.timeout(30):
        while len(words_in(file)) < count:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
    return words_in(file)


async def test_both_streams_and_the_exit_status_are_returned() -> None:
    output = await run_command(sh("echo out; echo err >&2; exit 3"), timeout_s=5)
    assert output == CommandOutput(3, "out\n", "err\n")
    assert output.text == "out\nerr\n"


async def test_streams_are_joined_line_by_line() -> None:
    assert CommandOutput(0, "out", "err\n").text == "out\nerr\n"
    assert CommandOutput(0, "out", "").text == "out"


async def test_a_signal_is_a_negative_exit_status() -> None:
    assert (await run_command(sh("kill -9 $$"), timeout_s=5)).exit_status == -9


async def test_there_is_no_input_and_messages_are_english() -> None:
    output = await run_command(
        sh('cat; echo "$LC_ALL $NLS_LANG $MINE $PWD"'), timeout_s=5, env={"MINE": "kept", "LC_ALL": "de_DE"}
    )
    assert output.stdout == "C AMERICAN_AMERICA kept /\n"


async def test_arguments_are_never_interpreted_by_a_shell() -> None:
    assert (await run_command(["/bin/echo", "$(id); a  b"], timeout_s=5)).stdout == "$(id); a  b\n"


async def test_undecodable_bytes_are_replaced() -> None:
    assert (await run_command(sh(r"printf 'a\377b'"), timeout_s=5)).stdout == "a\N{REPLACEMENT CHARACTER}b"


async def test_a_missing_program_is_named() -> None:
    with pytest.raises(CommandError, match=r"^/nowhere/oifcfg was not found$"):
        await run_command(["/nowhere/oifcfg"], timeout_s=5)


async def test_a_program_without_execute_permission_is_an_error(tmp_path: Path) -> None:
    program = tmp_path / "oifcfg"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o644)
    with pytest.raises(NotPermittedError, match="may not execute"):
        await run_command([str(program)], timeout_s=5)


async def test_a_file_that_is_not_a_program_is_an_error(tmp_path: Path) -> None:
    program = tmp_path / "oifcfg"
    program.write_bytes(b"\x7fELF of another machine")
    program.chmod(0o755)
    with pytest.raises(CommandError, match="could not be started"):
        await run_command([str(program)], timeout_s=5)


async def test_a_timeout_kills_the_program_and_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with pytest.raises(TimedOutError, match=r"^/bin/sh timed out after 0\.2 s$"):
        await run_command(sh(f"sleep infinity & echo $$ $! > {pids}; wait"), timeout_s=0.2)
    await ended(await pids_in(pids, 2))


async def test_cancelling_kills_the_program_and_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    running = asyncio.create_task(run_command(sh(f"sleep 30 & echo $$ $! > {pids}; wait"), timeout_s=30))
    started = await pids_in(pids, 2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await ended(started)


@pytest.mark.parametrize("steps", range(8))
async def test_cancelling_during_the_start_does_not_wait(steps: int, tmp_path: Path) -> None:
    """At every step: the child holds the pipes open for longer than the test waits."""
    pids = tmp_path / "pids"
    running = asyncio.create_task(run_command(sh(f"sleep 30 & echo $$ $! > {pids}; wait"), timeout_s=30))
    for _ in range(steps):
        await asyncio.sleep(0)
    running.cancel()
    async with asyncio.timeout(30):
        with pytest.raises(asyncio.CancelledError):
            await running
    await ended(words_in(pids))


async def test_a_child_in_another_session_does_not_delay_the_end(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with pytest.raises(TimedOutError):
        await run_command(sh(f"setsid sh -c 'echo $$ > {pids}; exec sleep infinity' & exit 0"), timeout_s=0.5)
    (fled,) = await pids_in(pids, 1)
    assert is_running(fled)
    os.kill(int(fled), signal.SIGKILL)


async def test_endless_output_is_truncated() -> None:
    with pytest.raises(CommandError, match=r"^/bin/sh printed more than 10,000 bytes$"):
        await run_command(sh("while :; do echo 0123456789; done"), timeout_s=5, limit_bytes=10_000)
