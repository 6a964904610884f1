"""racwire runs sudo only where a setting permits it, only for refused tools, and `plan --sudoers` prints the lines."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import GridHome, Unknown
from checks.model.journal import Journal
from checks.run.sudoers import SudoersError, sudoers_lines
from checks.sources.clusterware.cluster_text import parse_olsnodes
from checks.sources.clusterware.grid_tools import GridTools
from checks.sources.grid_commands import MEMBERS
from checks.sources.node_setup import SETUP
from checks.sources.nodes.sections import sections
from tui.cli.main import main

OLSNODES = 'if [ -n "$AS_GRID" ]; then echo "rac1 1"; else echo "PROC-5: no" >&2; exit 1; fi'
SUDO = 'echo "$*" >>"{seen}"; [ "$1 $2 $3" = "-n -u grid" ] && shift 3 && AS_GRID=1 exec "$@"'
REFUSES = 'echo "$*" >>"{seen}"; echo "sudo: a password is required" >&2; exit 1'


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


class Node:
    """A node with a Grid home that refuses this user, and a sudo."""

    def __init__(self, root: Path, sudo: str) -> None:
        self.seen = root / "seen"
        executable(root / "grid/bin/olsnodes", OLSNODES)
        executable(root / "bin/sudo", sudo.format(seen=self.seen))
        self.home = str(root / "grid")
        self.journal = Journal()
        self.path = f"{root}/bin:{os.environ['PATH']}"

    def members(self, monkeypatch: pytest.MonkeyPatch, *, sudo: bool, owner: str = "grid") -> object:
        monkeypatch.setenv("PATH", self.path)
        home = GridHome(self.home, "settings", owner)
        tools = GridTools(home, self.journal, "rac1", os.environ, sudo=sudo)
        return asyncio.run(tools.ask(MEMBERS, parse_olsnodes))

    @property
    def sudo_calls(self) -> list[str]:
        return self.seen.read_text().splitlines() if self.seen.exists() else []


def test_a_refused_tool_runs_again_by_sudo_with_its_full_path_and_exact_arguments(tmp_path, monkeypatch):
    node = Node(tmp_path, SUDO)
    found = node.members(monkeypatch, sudo=True)
    assert [member.name for member in found] == ["rac1"]
    assert node.sudo_calls == [f"-n -u grid {node.home}/bin/olsnodes -n -i -s -t"]
    refused, allowed = node.journal.entries
    assert (refused.outcome != "ok", allowed.outcome) == (True, "ok")
    assert allowed.action == f"sudo -n -u grid {node.home}/bin/olsnodes -n -i -s -t"


@pytest.mark.parametrize(("sudo", "owner"), [(False, "grid"), (True, "root"), (True, "")])
def test_sudo_is_not_run_without_the_setting_nor_for_tools_of_root(tmp_path, monkeypatch, sudo, owner):
    node = Node(tmp_path, SUDO)
    assert node.members(monkeypatch, sudo=sudo, owner=owner).right is not None
    assert node.sudo_calls == []


def test_a_tool_that_answers_is_not_run_again(tmp_path, monkeypatch):
    node = Node(tmp_path, SUDO)
    monkeypatch.setenv("AS_GRID", "1")
    assert not isinstance(node.members(monkeypatch, sudo=True), Unknown)
    assert node.sudo_calls == []


def test_a_sudo_that_refuses_is_named_with_the_remedy(tmp_path, monkeypatch):
    unknown = Node(tmp_path, REFUSES).members(monkeypatch, sudo=True)
    assert 'as grid ("sudo: a password is required")' in unknown.reason
    assert "`racwire plan --sudoers`" in unknown.reason
    assert unknown.right.needed == "run the tools of the Grid home as grid or root"


@pytest.mark.parametrize(
    "printed",
    [
        "sudo: /etc/sudoers is world writable",
        "sudo: /etc/sudoers is owned by uid 54331, should be 0",
        "sudo: unable to open /etc/sudoers: Permission denied",
        "sudo: no valid sudoers sources found, quitting",
        "sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set",
    ],
)
def test_a_broken_sudo_gets_no_lines_of_sudoers_as_its_remedy(tmp_path, monkeypatch, printed):
    broken = f'echo "{printed}" >&2; echo "sudo: error initializing audit plugin sudoers_audit" >&2; exit 1'
    unknown = Node(tmp_path, broken).members(monkeypatch, sudo=True)
    assert unknown.reason.startswith(f'sudo does not work on this node ("{printed}"): have root repair it, or log in')
    assert unknown.right.script == ""
    assert "--sudoers" not in unknown.reason
    assert "sudo -u" not in unknown.reason


@pytest.mark.parametrize(
    ("word", "calls", "status"), [("sudo", ["-n lldpctl -f keyvalue"], 0), ("no", [], 1), ("", [], 1)]
)
def test_the_program_of_the_setup_runs_a_refused_lldpctl_by_sudo_where_permitted(tmp_path, word, calls, status):
    seen = tmp_path / "seen"
    tool = 'if [ -n "$AS_ROOT" ]; then echo lldp.eth1.via=LLDP; else echo "cannot open the socket" >&2; exit 1; fi'
    executable(tmp_path / "lldpctl", tool)
    executable(tmp_path / "sudo", f'echo "$*" >>"{seen}"; shift; AS_ROOT=1 exec "$@"')
    ran = subprocess.run(
        ["sh", "-s", word], input=SETUP.text, capture_output=True, text=True, timeout=60, check=True,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "LC_ALL": "C"},
    )  # fmt: skip
    lldp = sections(ran.stdout)["lldp"]
    assert (lldp.exit_status, "lldp.eth1.via=LLDP" in lldp.text) == (status, status == 0)
    assert [line for line in (seen.read_text().splitlines() if seen.exists() else ()) if "lldpctl" in line] == calls


@pytest.mark.parametrize("missing", [127, 124])
def test_a_tool_that_is_missing_or_hangs_is_not_run_by_sudo(tmp_path, missing):
    executable(tmp_path / "lldpctl", f"exit {missing}")
    executable(tmp_path / "sudo", f'echo "$*" >>"{tmp_path}/seen"')
    ran = subprocess.run(
        ["sh", "-s", "sudo"], input=SETUP.text, capture_output=True, text=True, timeout=60, check=True,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "LC_ALL": "C"},
    )  # fmt: skip
    assert sections(ran.stdout)["lldp"].exit_status == missing
    assert not (tmp_path / "seen").exists() or "lldpctl" not in (tmp_path / "seen").read_text()


# --- the lines --------------------------------------------------------------------------------------------------------


def visudo() -> str:
    found = shutil.which("visudo", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if found is None:
        pytest.skip("THE LINES OF SUDOERS WERE NOT CHECKED BY VISUDO: it is not installed")
    return found


@pytest.mark.parametrize(
    ("user", "home", "owner"),
    [
        ("dba1", "/u01/app/19.0.0/grid", "grid"),
        ("EXAMPLE\\ann", "/u01/app/19.0.0/grid_home-1+a", "oracle"),
        ("ann@example.com", "/grid", "g.rid"),
    ],
)
def test_visudo_accepts_the_lines(tmp_path, user, home, owner):
    file = tmp_path / "racwire"
    file.write_text("\n".join(sudoers_lines(user, home, owner)) + "\n")
    file.chmod(0o440)
    checked = subprocess.run([visudo(), "-cf", str(file)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_lines_have_full_paths_and_no_wildcard_shell_or_interpreter():
    lines = list(sudoers_lines("dba1", "/u01/grid", "grid"))
    commands = [line.strip(" ,\\") for line in lines if line.startswith("    ")]
    assert "/u01/grid/bin/oifcfg getif" in commands
    assert all(command.startswith(("/u01/grid/bin/", "/usr/sbin/lldpctl -f keyvalue")) for command in commands)
    assert not [command for command in commands if any(sign in command for sign in "*?[]!$`|;&") or "NAME" in command]
    assert [line for line in lines if "(root)" in line] == ["dba1 ALL=(root) NOPASSWD: NOSETENV: RACWIRE_LLDP"]


@given(st.text(), st.text(), st.text())
def test_no_name_adds_a_line_or_a_command(user, home, owner):
    try:
        lines = list(sudoers_lines(user, home, owner))
    except SudoersError:
        return
    assert len(lines) == len(list(sudoers_lines("dba1", "/g", "grid")))
    assert all(line.isprintable() for line in lines)
    rules = [line for line in lines if "NOPASSWD" in line]
    assert [rule.rpartition(" ")[2] for rule in rules] == ["RACWIRE_GRID", "RACWIRE_LLDP"]


@pytest.mark.parametrize(
    ("user", "owner", "reason"),
    [
        ("dba1", "root", "root owns"),
        ("grid", "grid", "without sudo"),
        ("root", "grid", "without sudo"),
        ("a b", "grid", "no name"),
        ("dba1", "", "no name"),
    ],
)
def test_lines_that_would_give_too_much_or_nothing_are_refused(user, owner, reason):
    with pytest.raises(SudoersError, match=reason):
        list(sudoers_lines(user, "/u01/grid", owner))


@pytest.mark.parametrize("home", ["/u01/gr id", "/u01/*", "/u01/a,b", "grid", "/u01/#", "/u01/a:b", "/u01/é"])
def test_a_path_with_a_character_of_sudoers_is_refused(home):
    with pytest.raises(SudoersError, match="path of the Grid home"):
        list(sudoers_lines("dba1", home, "grid"))


def test_for_needs_sudoers(capsys):
    assert main(["plan", "--for", "dba1"]) == 64
    assert "--for needs --sudoers" in capsys.readouterr().err
