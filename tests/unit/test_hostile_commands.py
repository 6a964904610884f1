"""The names that were read are hostile: in each printed command they stay one word, or become the name of the field."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec
import pytest

from checks.model.facts import Cluster, NotAsked, Unknown
from checks.run.check_discovery import discover
from checks.sources.clusterware.grid_home import right_to_the_tools
from checks.sources.database.driver_errors import right_to_run
from checks.sources.database.statements import statement
from checks.sources.nodes.backup_files import UNREADABLE_ARCHIVE, parse_archive
from tests.cases.loading import fact_cases
from tests.unit.fact_extras import extras

NAMES = re.compile(
    r"name|interface|(\w+_)?node|path|file|service|owner|mount|zone|switch|port|connection|sid|member|home"
)
"""The fields whose texts are names that somebody else chose."""
ADDRESS = re.compile(r"[\d.:a-f/]*")
"""Addresses stay as they are: they are parsed before they are facts."""
CHECKS = tuple(discover().checks)
SYNTAX = "; reboot `id` 'x"


@cache
def clusters() -> tuple[Cluster, ...]:
    return (*(case.make.cluster() for case in fact_cases()), *extras())


def names_in(value: Any) -> Iterator[str]:
    if isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            inner = getattr(value, field)
            if isinstance(inner, str) and NAMES.fullmatch(field):
                yield inner
            yield from names_in(inner)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from names_in(inner)
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from names_in(inner)


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Return the value with each text that is a name replaced, also in the names of sysctls."""
    if type(value) is str:
        of_nic = re.fullmatch(r"(net\.ipv\d\.conf\.)(.+)(\.\w+)", value)
        return f"{of_nic[1]}{names.get(of_nic[2], of_nic[2])}{of_nic[3]}" if of_nic else names.get(value, value)
    if isinstance(value, msgspec.Struct):
        fields = {field: renamed(getattr(value, field), names) for field in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    if isinstance(value, dict):
        return {renamed(key, names): renamed(inner, names) for key, inner in value.items()}
    return type(value)(renamed(inner, names) for inner in value) if isinstance(value, tuple | list) else value


def commands(change: Callable[[str], str], every: int = 1) -> set[str]:
    """Return all commands of the findings on every such cluster, with its names changed like that."""
    found: set[str] = set()
    for cluster in clusters()[::every]:
        hostile = renamed(cluster, {name: change(name) for name in {*names_in(cluster)} if not ADDRESS.fullmatch(name)})
        for check in CHECKS:
            if not any(isinstance(getattr(hostile, need), Unknown | NotAsked) for need in check.needs):
                found.update(line for f in check.run(hostile) for step in f.next for line in step.commands)
    return found


@pytest.mark.parametrize(("every", "least"), [(9, 20), pytest.param(1, 100, marks=pytest.mark.beyond_sample)])
def test_a_name_with_syntax_stays_one_word(every: int, least: int) -> None:
    lines = commands(lambda name: name + SYNTAX, every)
    hostile = [line for line in lines if "reboot" in line]
    assert len(hostile) > least
    wrong = [line for line in hostile for word in shlex.split(line) if "reboot" in word and SYNTAX not in word]
    assert wrong == []
    assert not [line for line in hostile if line.startswith(("ALTER", "GRANT", "SELECT", "show "))]


def test_a_name_of_two_lines_is_not_written() -> None:
    assert not [line for line in commands(lambda name: f"{name}\nreboot", every=9) if "reboot" in line or "\n" in line]


def test_a_name_is_no_option() -> None:
    lines = commands(lambda name: f"-zz{name}", every=9)
    assert not [line for line in lines for word in shlex.split(line) if word.startswith("-zz")]


def test_rights_hold_names_as_words() -> None:
    assert right_to_the_tools("grid; reboot").commands == ("sudo -u 'grid; reboot' racwire check",)
    right = right_to_run(statement("instances"), "x; DROP TABLE t")
    assert right.commands[0].endswith(" TO USER;")
    assert right.script == "racwire grants --user 'X; DROP TABLE T'"
    unread = parse_archive("rac1", "-rf", f"{UNREADABLE_ARCHIVE}\n")
    assert isinstance(unread, Unknown)
    assert unread.right is not None
    assert unread.right.commands == ("tar --force-local -tzf FILE",)
