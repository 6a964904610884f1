"""What a peer must have: plain `sh`, `cat`, `grep` and `ip`; no Python."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from checks.model.facts import KernelCounters, Unknown
from checks.model.journal import Journal
from checks.model.settings import SshSettings
from checks.sources.kernel_files import COUNTERS, SAMPLE, UDP_ENDS
from checks.sources.nodes.local import read_local_node
from checks.sources.nodes.remote import read_peer
from checks.sources.nodes.setup import read_setup
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.nodes.ssh import LOGIN_ENDED
from checks.sources.probes.udp_plan import parse_ends
from checks.sources.registry import PROGRAMS
from checks.traffic.node_text import NodeReading, parse_peer

TOOLS = ("sh", "cat", "grep", "ip")
LOOK_FOR_PYTHON = (
    "command -v python3 || command -v /usr/libexec/platform-python || command -v python2 || command -v python\n"
)


@pytest.fixture
def bare_peer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A stand-in for ssh to a node that has only these tools."""
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        pytest.skip(f"{missing[0]} is not installed: a node with few tools is not tested here")
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in TOOLS:
        (tools / tool).symlink_to(shutil.which(tool) or "")
    rsh = tmp_path / "rsh"
    rsh.write_text(f"#!/bin/sh\necho {LOGIN_ENDED}\nexec env -i PATH={tools} LC_ALL=C sh\n")
    rsh.chmod(0o755)
    monkeypatch.setenv("RACWIRE_RSH", str(rsh))


@pytest.mark.usefixtures("bare_peer")
async def test_a_peer_without_python_is_read() -> None:
    shell = await Shell.open_ssh("rac2", SshSettings())
    try:
        node = await read_peer(shell, Journal(), 20)
        assert [i.name for i in node.interfaces if i.kind == "loopback"] == ["lo"]
        assert isinstance(node.counters, KernelCounters)
        assert node.unread == ()
        setup = await read_setup(shell, Journal(), 20)
        assert not isinstance(setup.boot_id, Unknown)
        assert isinstance(parse_peer((await shell.run(SAMPLE)).text), NodeReading)
        assert (await shell.run(COUNTERS, "lo")).exit_status == 0
    finally:
        await shell.close()


def test_no_program_for_peers_runs_python() -> None:
    """UDP_ENDS looks for one, with which the peer could send datagrams; the shell answers that."""
    left = {program.name: text.replace(LOOK_FOR_PYTHON, "") for text, program in PROGRAMS.items()}
    assert [name for name, text in left.items() if "python" in text] == []
    assert LOOK_FOR_PYTHON in UDP_ENDS.text


@pytest.mark.usefixtures("bare_peer")
async def test_a_peer_without_python_answers_with_its_ports() -> None:
    shell = await Shell.open_ssh("rac2", SshSettings())
    try:
        ran = await shell.run(UDP_ENDS)
    finally:
        await shell.close()
    assert ran.exit_status == 0
    ends = parse_ends(ran.text)
    assert ends.python == ""
    assert ends.no_ports is not None


async def test_this_node_is_not_read_where_it_runs_another_system(monkeypatch: pytest.MonkeyPatch) -> None:
    name = os.uname()
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Darwin", *name[1:])))
    with pytest.raises(ShellError, match=r"rac1 runs Darwin, which racwire does not support: .*`racwire open`"):
        await read_local_node("rac1", Journal())
