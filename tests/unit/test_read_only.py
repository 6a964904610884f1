"""racwire runs nothing that could change a node: what is refused, in every spelling, and that nothing of it starts."""

import os
import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import Port, PrivateNetwork
from checks.sources.clusterware.clusterware_reader import Query
from checks.sources.clusterware.grid_tool_command import run_command
from checks.sources.clusterware.managed import planned_managed
from checks.sources.nodes import counter_change, remote, setup_program
from checks.sources.nodes.read_only import ChangingCommandError
from checks.sources.nodes.read_only.forms import read_forms
from checks.sources.nodes.read_only.judge import fault_of_command, fault_of_program
from checks.sources.nodes.shell import Shell
from checks.sources.probes import count_arrivals, ends, ping_command
from checks.sources.probes.path import Path as ProbePath
from checks.sources.probes.pinger import Request
from checks.traffic import node_text
from tests.unit.read_only_samples import CHANGING, GRID_CHANGING, NAMES, READING, SPELLINGS, WHOLLY_UNKNOWN_NAMES


def a_path(version: int = 4, interface: str = "eth1") -> ProbePath:
    ip = {4: "192.168.10.%d", 6: "fd00::%d"}[version]
    ports = [Port(f"rac{n}", interface, ip % n) for n in (1, 2)]
    subnet = {4: "192.168.10.0/24", 6: "fd00::/64"}[version]
    return ProbePath(PrivateNetwork(subnet, interface, subnet, "oifcfg", tuple(ports)), *ports, 9000)


@pytest.mark.parametrize("command", CHANGING)
def test_what_could_change_a_node_is_refused(command: str) -> None:
    assert fault_of_program(command)


@pytest.mark.parametrize(
    "command", [line for line in CHANGING if "crsctl" not in line and set(line).isdisjoint("'\"$;&|<>(){}[*")]
)
def test_however_it_is_dressed_up(command: str) -> None:
    name, blank, arguments = command.partition(" ")
    for spelling in SPELLINGS:
        assert fault_of_program(spelling.replace("%s", command)), spelling
    for way in (*NAMES, *WHOLLY_UNKNOWN_NAMES):
        assert fault_of_program(way.replace("%s", name) + blank + arguments), way
    assert fault_of_command(tuple(shlex.split(command)))


def test_what_reads_is_accepted_in_each_dress_that_shows_what_it_is() -> None:
    for spelling, is_understood in SPELLINGS.items():
        assert (fault_of_program(spelling.replace("%s", "cat /proc/stat")) == "") is is_understood, spelling
    for way in NAMES:
        assert fault_of_program(way.replace("%s", "cat") + " /proc/stat") == "", way
    for way in WHOLLY_UNKNOWN_NAMES:
        assert fault_of_program(way.replace("%s", "cat") + " /proc/stat"), way


@pytest.mark.parametrize("program", READING)
def test_what_only_reads_is_accepted(program: str) -> None:
    assert fault_of_program(program) == ""


@pytest.mark.parametrize("command", GRID_CHANGING)
@pytest.mark.parametrize("home", ['"$home"', "/u01/app/19.0.0/grid"])
def test_clusterware_is_asked_and_never_told(home: str, command: str) -> None:
    assert fault_of_program(f"{home}/bin/{command}")
    assert fault_of_program(f"timeout 5 {home}/bin/{command}")
    if ";" not in command:
        assert fault_of_command(tuple(shlex.split(f"/u01/app/19.0.0/grid/bin/{command}")))


PROGRAMS = {
    "a peer": remote.PROGRAM,
    "its setup": setup_program.PROGRAM,
    "its counters": counter_change.COMMAND,
    "arrivals": count_arrivals.COUNT_PROGRAM,
    "its ping": ping_command.PROBE_PROGRAM,
    "a sample": node_text.PEER_PROGRAM,
    "a sample and links": node_text.PEER_PROGRAM + node_text.PEER_LINKS_PROGRAM,
    "a link": ends.link_program(a_path().source),
    "a neighbour": ends.neighbour_program(a_path()),
    "a neighbour on an odd interface": ends.neighbour_program(a_path(interface="eth 1;reboot")),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_of_racwire_is_accepted_and_none_with_a_change_in_it(name: str) -> None:
    program = PROGRAMS[name]
    assert fault_of_program(program) == ""
    whole_lines = program.splitlines()
    for at in (0, len(whole_lines) // 2, len(whole_lines)):
        assert fault_of_program("\n".join([*whole_lines[:at], "ip link set eth1 mtu 9000", *whole_lines[at:]]))
    for line in whole_lines:
        assert fault_of_program(line) == "", line
        for end in ("; reboot", " > /etc/hosts", " | sh", " && rm x", " & rm x", " `rm x`", " $(rm x)", "\trm $((x))'"):
            assert fault_of_program(line + end), line + end


@given(st.sampled_from(READING), st.sampled_from(CHANGING), st.sampled_from(["\n", " ; ", "\n\n\t"]))
def test_no_reading_hides_a_change_beside_it(reading: str, changing: str, between: str) -> None:
    assert fault_of_program(f"{reading}{between}{changing}")
    assert fault_of_program(f"{changing}{between}{reading}")


def test_every_question_to_clusterware_is_accepted() -> None:
    for query in Query:
        assert fault_of_command(query.argv("/u01/app/19.0.0/grid")) == "", query
        assert fault_of_command((query.tool, *query.arguments)), "only by the path of a Grid home"
        assert fault_of_command((*query.argv("/u01/app/19.0.0/grid"), "-stop")), query
    for topic, argv in planned_managed("/u01/app/19.0.0/grid"):
        assert fault_of_command(argv) == "", topic
        assert fault_of_command((argv[0], "stop", *argv[2:])), topic


@pytest.mark.parametrize("tool", [ping_command.PingTool(20221126, True, True), ping_command.PingTool(0, False, False)])
@pytest.mark.parametrize("version", [4, 6])
def test_every_ping_is_accepted(tool: ping_command.PingTool, version: int) -> None:
    for count in (1, ping_command.RUN):
        ping = tool.command(a_path(version), Request(8972, count), 0.3)
        assert fault_of_command(("env", "LC_ALL=C", "timeout", "-s", "INT", "2.5", *ping)) == ""
        assert fault_of_command(("env", "LC_ALL=C", *ping)) == ""
        assert fault_of_command((*ping, "-f"))


@pytest.mark.parametrize("name", ["-f", "eth1; reboot", "$(reboot)", "`reboot`", "a\nreboot", "'; reboot '", "\0", "~"])
def test_a_hostile_name_in_a_fact_is_a_word_and_starts_nothing(name: str) -> None:
    program = f"ip -s neigh show to 192.168.10.2 dev {shlex.quote(name)}; ip link set {shlex.quote(name)} up"
    assert fault_of_program(program)
    assert fault_of_command(("ping", "-c", "1", name, "-f"))


@given(st.text(max_size=60))
def test_no_text_makes_the_judge_fail(text: str) -> None:
    for judged in (fault_of_program(text), fault_of_command((text,)), fault_of_command(("cat", text))):
        assert isinstance(judged, str)


def test_commands_too_deep_in_each_other_are_refused() -> None:
    assert fault_of_program("(" * 5 + "true") != ""
    assert fault_of_program("echo " + "$(echo " * 3000 + ")" * 3000)
    assert fault_of_program("if true; then " * 3000 + "true" + "; fi" * 3000)


def test_a_follow_loop_is_judged_once() -> None:
    fault_of_program.cache_clear()
    for _ in range(100):
        fault_of_program(node_text.PEER_PROGRAM)
    assert (fault_of_program.cache_info().misses, fault_of_program.cache_info().hits) == (1, 99)


@pytest.mark.parametrize("line", ["cat [ANY", "cat (a|b", "cat ANY)", "cat [a)"])
def test_a_line_of_the_list_that_is_no_synopsis_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match="synopsis"):
        list(read_forms(line))


# --- the shell and the runner -----------------------------------------------------------------------------------------


@pytest.fixture
async def shell() -> AsyncIterator[Shell]:
    shell = await Shell.open_local("rac1")
    yield shell
    await shell.close()


async def test_a_shell_refuses_a_change_before_anything_of_the_program_runs(shell: Shell, tmp_path: Path) -> None:
    mark = shlex.quote(str(tmp_path / "mark"))
    for program in (
        f"touch {mark}",
        f"true; touch {mark}",
        f"echo > {mark}",
        f"echo x | tee {mark}",
        f"(true; sh -c 'touch {mark}')",
        f"true\nip link set racwire-none mtu 9000\ntouch {mark}",
        "/u01/app/19.0.0/grid/bin/crsctl stop crs",
    ):
        with pytest.raises(ChangingCommandError, match=r"not run on rac1, because .*: racwire only reads"):
            await shell.run(program, timeout_s=5)
    for command in (["touch", str(tmp_path / "mark")], ["sh", "-c", f"touch {mark}"], ["eval", f"touch {mark}"]):
        with pytest.raises(ChangingCommandError, match=r"`(touch|sh|eval) .*` is not listed"):
            shell.start(command)
    assert (await shell.run("echo after", timeout_s=5)).text == "after\n"
    assert (await shell.start(["echo", "beside"])).text == "beside\n"
    assert os.listdir(tmp_path) == []


async def test_a_command_that_changes_is_not_started(tmp_path: Path) -> None:
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
