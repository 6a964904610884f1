"""The names that a plan has read are hostile: in each command of each kind of plan they stay one word, or become the
name of the field."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from checks.change.kinds.larger_buffers import ReceiveBuffersRequest
from checks.change.kinds.loose_filter import RpFilterRequest
from checks.change.plan.change_plan import Plan, PlannedDatabase, PlannedValue
from checks.change.plan.command_block import Commands, Who
from checks.change.progress.change_events import JournalSeal
from checks.change.progress.journal_names import store_commands
from checks.change.session.vendors_file import load_kinds
from checks.change.steps.settings_commands import set_back
from checks.change.steps.stack_commands import stop
from checks.model.facts import Cluster, LldpNeighbour, NetworkService, SysctlFiles
from checks.model.shell_command import Language
from checks.model.vendors import PORT, commands_of, showing
from tests.fixtures.change_plans import (
    FILES,
    PROD,
    apart,
    node_plan_for,
    plan_for,
    stacked,
    to_change,
    with_setup,
)
from tests.fixtures.setting_plans import FILTERS, LARGER, planned, set_to
from tests.unit.test_change_experiment import made
from tests.unit.test_change_networks import plan_of, spare_cluster
from tests.unit.test_change_plan_back import standing_at, way_back
from tests.unit.test_hostile_commands import ADDRESS, names_in, renamed

SERVED = msgspec.structs.replace(PROD, services=(("web", "rac2"),))
SYNTAX = ";xyzzy'`x`$(x)|e\"&"
"""No blank: the kernel allows none in the name of an interface."""


def hostile(built: Cluster, more: str = SYNTAX) -> Cluster:
    """Return the cluster with this text after each of its names."""
    names = {name for name in names_in(built) if name != "*" and not ADDRESS.fullmatch(name)}
    return renamed(built, {name: name + more for name in names})


def plans(more: str = SYNTAX) -> Iterator[Plan]:
    """Yield a plan of each kind, of the MTU and of the networks with each network service."""
    for service in FILES:
        yield plan_for(hostile(to_change([stacked(1), stacked(2)], (service,)), more))
        yield node_plan_for(hostile(apart([stacked(1), stacked(2, 9000), stacked(3)], (SERVED,), service), more))
        if more.split() != [more] or re.search(r"[/*]", more):
            continue  # oifcfg prints names without blanks, then `/` and the subnet; `*` is a pattern
        spare = hostile(spare_cluster(network_service=NetworkService(service)), more)
        yield plan_of(spare, f"eth3{more}")
        yield plan_of(spare, f"eth3{more}", f"eth1{more}")
    yield planned(ReceiveBuffersRequest(LARGER), hostile(set_to(), more))
    yield planned(RpFilterRequest(), hostile(set_to(FILTERS, SysctlFiles(at_boot=())), more))
    for load in ("swingbench", "hammerdb", "own"):
        yield made(hostile(to_change(), more), load=load, database=f"prod{more}", think_time=f"0 ms{more}")


def blocks(more: str = SYNTAX) -> Iterator[Commands]:
    """Yield the commands of all plans, and of their rollbacks from several steps."""
    for plan in plans(more):
        back = [way_back(standing_at(step.id, plan)) for step in plan.steps[1::3]]
        yield from (block for one in (plan, *back) for step in one.steps for block in step.commands)


def words(line: str) -> list[str]:
    line = line.replace('"$(', "( ").replace(')" -ge', " ) -ge")  # the words of the command inside, too
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    return list(lexer)


def is_whole(word: str) -> bool:
    """Whether a word has the name and not a part of it; a regular expression has backslashes in it."""
    return "xyzzy" not in word or SYNTAX in word.replace("\\", "")


def test_a_name_with_syntax_stays_one_word_in_every_plan() -> None:
    found = list(blocks())
    lines = [line for block in found if block.language is Language.SHELL for line in block.lines]
    commands = [line for line in lines if "xyzzy" in line and not line.startswith("#")]
    assert len({*commands}) > 100
    assert [line for line in commands if not all(map(is_whole, words(line)))] == []
    others = [line for block in found if block.language is not Language.SHELL for line in block.lines]
    assert [line for line in others if "xyzzy" in line] == []


@pytest.mark.parametrize("more", ["\nxyzzy", "\x1bxyzzy"])
def test_a_name_with_a_control_character_is_in_no_command_of_a_plan(more: str) -> None:
    for block in blocks(more):
        assert block.who is Who.ASKED or not [line for line in block.lines if "xyzzy" in line]
        assert not [line for line in block.lines if "\n" in line]


@pytest.mark.parametrize(("port", "typed"), [("Ethernet 1/7", "Ethernet 1/7"), ("e1\nreload", PORT), ("e1 ; x", PORT)])
def test_a_port_that_a_switch_announces_is_no_command(port: str, typed: str) -> None:
    for kind in load_kinds().switches.values():
        lines = (*commands_of(kind, (port,)), *showing(kind, (port,)))
        assert lines == (*commands_of(kind, (typed,)), *showing(kind, (typed,)))
    built = with_setup(to_change(), "rac1", lldp=(LldpNeighbour("eth1", "sw1", "Arista Networks EOS", port),))
    step = plan_for(built, switches=()).step("switch")
    assert all(line.startswith("# ") and "\n" not in line for line in step.commands[-1].lines)


def test_a_home_with_a_blank_and_a_database_with_a_quote_are_words() -> None:
    database = PlannedDatabase(name="p'; DROP", instances={"rac1": "p1\nx"})
    (line,) = stop("rac1", "/u01/my grid", (database,)).lines
    assert "'/u01/my grid'/bin/crsctl stop crs" in line
    assert "grep -E '^ora_pmon_[^-]'" in line  # a name that no command can have: any instance may be the planned one


def test_a_script_of_sed_has_no_name_with_syntax() -> None:
    value = PlannedValue(node="rac1", key="net.ipv4.conf.eth1|e.rp_filter", before="2", after="1", conf_before="1|e")
    *_, line = set_back("rac1", [value], "2026-11-20-a").lines
    assert "KEY" in line
    assert "VALUE|" in line
    assert "|e" not in line


def test_the_hash_of_a_journal_is_stored_below_the_directory_as_it_is() -> None:
    plan = msgspec.structs.replace(plan_for(to_change()), cluster="c'; xyzzy")
    (line,) = store_commands(Path("/a b'; xyzzy"), plan, JournalSeal(lines=3, sha256="f" * 64), ["rac2;xyzzy"])
    program, peer, there = shlex.split(line)
    assert (program, peer) == ("ssh", "rac2;xyzzy")
    assert words(there)[:4] == ["mkdir", "-p", "/a b'; xyzzy", "&&"]
