"""Which databases Clusterware manages and where they run: what is asked of srvctl, and its answers. Text in, facts out.

The answers are those of the Real Application Clusters Administration Guide, appendix on SRVCTL.
"""

from __future__ import annotations

import re

from checks.model.facts import ManagedDatabase, Unknown
from checks.sources.clusterware.oracle_text import no_known_shape, printed_lines, quoted, read_message, read_messages

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_$#.]{0,63}")
_RUNS = re.compile(r"Instance (\S+) is running on nodes? (\S+?)(?:[.,]? (?:with|Instance) .*)?\.?")
_DOES_NOT = re.compile(r"Instance (\S+) is not running(?: on node (\S+?))?\.?")
_DATABASE = re.compile(r"Database(?: \S+)? is (not )?running(?: on node (\S+?))?\.?")


def parse_databases(text: str) -> tuple[str, ...] | Unknown:
    """The names that `srvctl config database` prints. Nothing printed means that Clusterware manages none."""
    lines = printed_lines(text)
    names = tuple(dict.fromkeys(line for line in lines if _NAME.fullmatch(line)))
    failures = [line for line in lines if read_message(line)]
    if failures:
        return Unknown(f"`srvctl config database` answered {quoted(failures[0])}.")
    return names if len(names) == len(set(lines)) else no_known_shape("srvctl config database", text)


def parse_database_status(name: str, text: str) -> ManagedDatabase | Unknown:
    """The instances that `srvctl status database` tells of.

    A database of one instance is told as `Database is running.`, and is taken for its own instance.
    """
    running: list[tuple[str, str]] = []
    stopped: list[tuple[str, str]] = []
    for line in printed_lines(text):
        if found := _DOES_NOT.fullmatch(line):
            stopped.append((found[1], found[2] or ""))
        elif found := _RUNS.fullmatch(line):
            running += [(found[1], node) for node in found[2].split(",") if node]
        elif found := _DATABASE.fullmatch(line):
            (stopped if found[1] else running).append((name, found[2] or ""))
    if running or stopped:
        return ManagedDatabase(name, tuple(running), tuple(stopped))
    told = read_messages(text)
    if told:
        first = f"{told[0].code}: {told[0].text}"
        return Unknown(f"`srvctl status database -d {name}` answered {quoted(first)}.")
    return no_known_shape(f"srvctl status database -d {name}", text)
