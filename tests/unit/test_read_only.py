"""racwire runs nothing that could change a node: it refuses such a command in every spelling, and never starts it."""

import dataclasses
import os
import re
import shlex
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.model.facts import Port, PrivateNetwork
from checks.sources import registry
from checks.sources.change_files import CHANGE_BACKUPS
from checks.sources.clusterware.grid_tool_command import run_command
from checks.sources.entries import GridCommand
from checks.sources.kernel_files import LINK
from checks.sources.nodes import framing
from checks.sources.nodes.read_only import ChangingCommandError, fault_of_command
from checks.sources.nodes.read_only.allow_list import read_forms
from checks.sources.nodes.shell import Shell
from checks.sources.probes import ping_command
from checks.sources.probes.path import Path as ProbePath
from checks.sources.probes.pinger import Request
from tests.support.programs import sh
from tests.support.shell_judge import fault_of_program
from tests.unit.read_only_samples import CHANGING, GRID_CHANGING, READING
from tests.unit.read_only_spellings import NAMES, SPELLINGS, WHOLLY_UNKNOWN_NAMES


def a_path(version: int = 4, interface: str = "eth1") -> ProbePath:
    ip = {4: "192.168.10.%d", 6: "fd00::%d"}[version]
    ports = [Port(f"rac{n}", interface, ip % n) for n in (1, 2)]
    subnet = {4: "192.168.10.0/24", 6: "fd00::/64"}[version]
    return ProbePath(PrivateNetwork(subnet, interface, subnet, "oifcfg", tuple(ports)), *ports, 9000)


@pytest.mark.parametrize("command", CHANGING)
def test_a_command_that_could_change_a_node_is_refused(command: str) -> None:
    assert fault_of_program(command)


@pytest.mark.parametrize(
    "command", [line for line in CHANGING if "crsctl" not in line and set(line).isdisjoint("'\"$;&|<>(){}[*")]
)
def test_a_changing_command_is_refused_in_any_spelling(command: str) -> None:
    name, blank, arguments = command.partition(" ")
    for spelling in SPELLINGS:
        assert fault_of_program(spelling.replace("%s", command)), spelling
    for way in (*NAMES, *WHOLLY_UNKNOWN_NAMES):
        assert fault_of_program(way.replace("%s", name) + blank + arguments), way
    assert fault_of_command(tuple(shlex.split(command)))


def test_a_reading_command_is_accepted_in_each_recognizable_spelling() -> None:
    for spelling, is_understood in SPELLINGS.items():
        assert (fault_of_program(spelling.replace("%s", "cat /proc/stat")) == "") is is_understood, spelling
    for way in NAMES:
        assert fault_of_program(way.replace("%s", "cat") + " /proc/stat") == "", way
    for way in WHOLLY_UNKNOWN_NAMES:
        assert fault_of_program(way.replace("%s", "cat") + " /proc/stat"), way


@pytest.mark.parametrize("program", READING)
def test_a_command_that_only_reads_is_accepted(program: str) -> None:
    assert fault_of_program(program) == ""


@pytest.mark.parametrize("command", GRID_CHANGING)
@pytest.mark.parametrize("home", ['"$home"', "/u01/app/19.0.0/grid"])
def test_clusterware_is_only_queried_and_never_changed(home: str, command: str) -> None:
    assert fault_of_program(f"{home}/bin/{command}")
    assert fault_of_program(f"timeout 5 {home}/bin/{command}")
    if ";" not in command:
        assert fault_of_command(tuple(shlex.split(f"/u01/app/19.0.0/grid/bin/{command}")))


PROGRAMS = {program.name: program for program in registry.PROGRAMS.values()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_of_racwire_is_accepted_and_refused_with_a_change_added(name: str) -> None:
    program = PROGRAMS[name].text
    assert fault_of_program(program) == ""
    whole_lines = program.splitlines()
    for at in (0, len(whole_lines) // 2, len(whole_lines)):
        assert fault_of_program("\n".join([*whole_lines[:at], "ip link set eth1 mtu 9000", *whole_lines[at:]]))
    ends = ("; reboot", " > /etc/hosts", " | sh", " && rm x", " & rm x", " `rm x`", " $(rm x)", "\trm $((x))'")
    for number, line in enumerate(whole_lines):
        assert fault_of_program(line) == "" or re.match(r"for .*; do$|done$", line), line
        for end in ends:
            assert fault_of_program(line + end), line + end
        end = ends[number % len(ends)]  # a whole program takes as long to judge as all its lines
        assert fault_of_program(program.replace(line, line + end, 1)), line + end


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_takes_only_its_declared_arguments(name: str) -> None:
    program = PROGRAMS[name]
    assert program.fault(program.example) == ""
    used = set(re.findall(r"\$([1-9@])", program.text))
    assert used == {"@" if a.is_many else str(n) for n, a in enumerate(program.arguments, 1)}
    for argument in program.arguments:
        assert any(argument.name in read.how for read in program.reads)
    assert program.fault(() if program.example else ("one",))
    for n in range(len(program.example)):
        for hostile in ("", "a\0b", "\x1b]0;", "\udc80"):
            assert program.fault((*program.example[:n], hostile, *program.example[n + 1 :]))


def test_the_registry_has_each_program_once_by_its_text() -> None:
    assert len(PROGRAMS) == len(registry.PROGRAMS)
    assert all(registry.PROGRAMS[program.text] is program for program in PROGRAMS.values())


@given(st.sampled_from(READING), st.sampled_from(CHANGING), st.sampled_from(["\n", " ; ", "\n\n\t"]))
def test_a_reading_command_does_not_hide_a_changing_one(reading: str, changing: str, between: str) -> None:
    assert fault_of_program(f"{reading}{between}{changing}")
    assert fault_of_program(f"{changing}{between}{reading}")


def test_every_query_of_clusterware_is_accepted() -> None:
    for query in (entry for entry in registry.sources() if isinstance(entry, GridCommand)):
        argv = query.argv("/u01/app/19.0.0/grid")
        assert fault_of_command(argv) == "", query
        assert fault_of_command((query.tool, *query.arguments)), "only by the path of a Grid home"
        assert fault_of_command((*argv, "-stop")), query
        assert fault_of_command((argv[0], "stop", *argv[2:])), query


@pytest.mark.parametrize("tool", [ping_command.PingTool(20221126, True, True), ping_command.PingTool(0, False, False)])
@pytest.mark.parametrize("version", [4, 6])
def test_every_ping_is_accepted(tool: ping_command.PingTool, version: int) -> None:
    for count in (1, ping_command.RUN):
        ping = tool.command(a_path(version), Request(8972, count), 0.3)
        assert fault_of_command(("env", "LC_ALL=C", "timeout", "-s", "INT", "2.5", *ping)) == ""
        assert fault_of_command(("env", "LC_ALL=C", *ping)) == ""
        assert fault_of_command((*ping, "-f"))


@pytest.mark.parametrize("name", ["-f", "eth1; reboot", "$(reboot)", "`reboot`", "a\nreboot", "'; reboot '", "\0", "~"])
def test_a_hostile_name_in_a_fact_is_one_word_and_starts_nothing(name: str) -> None:
    program = f"ip -s neigh show to 192.168.10.2 dev {shlex.quote(name)}; ip link set {shlex.quote(name)} up"
    assert fault_of_program(program)
    assert fault_of_command(("ping", "-c", "1", name, "-f"))


@given(st.text(max_size=60))
def test_no_text_makes_the_guard_raise(text: str) -> None:
    for judged in (fault_of_program(text), fault_of_command((text,)), fault_of_command(("cat", text))):
        assert isinstance(judged, str)


def test_commands_nested_too_deeply_are_refused() -> None:
    assert fault_of_program("(" * 5 + "true") != ""
    assert fault_of_program("echo " + "$(echo " * 3000 + ")" * 3000)
    assert fault_of_program("if true; then " * 3000 + "true" + "; fi" * 3000)


@pytest.mark.parametrize("line", ["cat [ANY", "cat (a|b", "cat ANY)", "cat [a)"])
def test_a_line_of_the_list_without_a_synopsis_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match="synopsis"):
        list(read_forms(line))


# --- the shell and the runner -----------------------------------------------------------------------------------------


@pytest.fixture
async def shell() -> AsyncIterator[Shell]:
    shell = await Shell.open_local("rac1")
    yield shell
    await shell.close()


async def test_a_shell_refuses_an_unregistered_program_before_any_part_of_it_runs(shell: Shell, tmp_path: Path) -> None:
    mark = shlex.quote(str(tmp_path / "mark"))
    for text in (
        f"touch {mark}",
        f"true; touch {mark}",
        f"echo > {mark}",
        f"true\nip link set racwire-none mtu 9000\ntouch {mark}",
        "/u01/app/19.0.0/grid/bin/crsctl stop crs",
        "cat /proc/stat",
    ):
        with pytest.raises(
            ChangingCommandError,
            match=r"refused to run a command on rac1, because .* is not registered. racwire runs only",
        ):
            await shell.run(sh(text))
    with pytest.raises(ChangingCommandError, match="'link' is not registered"):
        await shell.run(dataclasses.replace(LINK, arguments=()))
    for command in (["touch", str(tmp_path / "mark")], ["sh", "-c", f"touch {mark}"], ["eval", f"touch {mark}"]):
        with pytest.raises(ChangingCommandError, match=r"`(touch|sh|eval) .*` is not in the allow-list"):
            shell.start(command)
    assert (await shell.run(LINK, "lo")).text == "unknown\n"
    assert (await shell.start(["env", "LC_ALL=C", "ping", "-c", "1", "-W", "1", "127.0.0.1"])).text
    assert os.listdir(tmp_path) == []


async def test_a_shell_refuses_arguments_of_the_wrong_kind(shell: Shell) -> None:
    for arguments in ((), ("lo", "lo"), ("../../../etc",), ("",), ("..",), ("a\0b",)):
        with pytest.raises(ChangingCommandError, match="'link'"):
            await shell.run(LINK, *arguments)
    for path in ("/dev/watchdog", "/tmp/../dev/watchdog", "/proc/kmsg", "relative"):
        with pytest.raises(ChangingCommandError, match="'change files'"):
            await shell.run(CHANGE_BACKUPS, path)


WICKED = (
    *("'", '"', "\\", "\n", "$(touch mark)", "`touch mark`", "; touch mark;", "| touch mark", "&& touch mark\n"),
    *("${x:=y}", "$1", "*", "~", "-n", "#", "'; touch mark; '", '"; touch mark; "'),
)
HOSTILE = st.lists(
    st.sampled_from(WICKED) | st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=3), max_size=6
).map("".join)


@given(st.lists(HOSTILE, min_size=1, max_size=4))
@settings(max_examples=8, deadline=None)
def test_no_argument_can_become_code_in_any_program(
    tmp_path_factory: pytest.TempPathFactory, hostile: list[str]
) -> None:
    """Run the sent text in a real shell in an empty directory: every value arrives unchanged, and no file is made."""
    place = tmp_path_factory.getbasetemp() / "hostile"
    place.mkdir(exist_ok=True)
    sent = b"racwire_token=t\n" + framing.foreground(1, 'printf \'%s\\0\' "$#" "$@"', hostile)
    for number, program in enumerate(PROGRAMS.values(), 2):
        rooted = [argument.pattern.startswith("/") for argument in program.arguments]
        values = [f"/nowhere/{hostile[0]}" if is_path else hostile[0] for is_path in rooted]
        if values:
            sent += framing.foreground(number, program.text, values)
    sent += framing.foreground(99, "printf '%s' \"$@\"", ["end"])
    ran = subprocess.run(["sh"], input=sent, capture_output=True, timeout=30, check=True, cwd=place)
    first = ran.stdout.partition(b"{\n")[2].partition(b"\nt 1}0\n")[0]
    assert first.decode().split("\0")[:-1] == [str(len(hostile)), *hostile]
    assert ran.stdout.endswith(b"\nt 99{\nend\nt 99}0\n")
    assert os.listdir(place) == []


async def test_a_changing_command_is_not_started(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "crsctl"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\necho \"$@\" >> '{tmp_path}/asked'\n")
    tool.chmod(0o755)
    for argv in (
        [str(tool), "stop", "crs"],
        [str(tool)],
        ["touch", f"{tmp_path}/mark"],
        ["sh", "-c", f"{tool} check crs"],
    ):
        with pytest.raises(ChangingCommandError, match="this node"):
            await run_command(argv, timeout_s=5)
    await run_command([str(tool), "check", "crs"], timeout_s=5)
    assert (tmp_path / "asked").read_text() == "check crs\n"
    assert not (tmp_path / "mark").exists()
