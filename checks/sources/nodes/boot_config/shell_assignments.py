"""Parse files of shell assignments (`NAME=value`): the ifcfg files of Red Hat, SUSE and their relatives."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ASSIGNMENT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]{0,63})=(.*)")
_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)\"""")
IGNORED_SUFFIXES = (
    ".bak",
    ".old",
    ".orig",
    ".rej",
    ".rpmnew",
    ".rpmorig",
    ".rpmsave",
    ".swp",
    ".scpmbackup",
    "~",
    "-range",
)
"""Suffixes of files that neither the network service nor NetworkManager nor wicked reads: copies, and alias ranges
(`ifcfg-eth1-range0` never sets an MTU)."""


def parse_assignments(lines: Iterable[str]) -> dict[str, str]:
    """Return the values by name, without quotes; the last assignment of a name counts, as in the shell."""
    values = {}
    for line in lines:
        if match := _ASSIGNMENT.match(line):
            values[match[1]] = _value(match[2].strip())
    return values


def is_yes(value: str) -> bool:
    """Whether the value means yes in these files."""
    return value.lower() in ("yes", "y", "true", "t", "on", "1")


def is_no(value: str) -> bool:
    """Whether the value means no in these files."""
    return value.lower() in ("no", "n", "false", "f", "off", "0")


def _value(text: str) -> str:
    if quoted := _QUOTED.match(text):
        return (quoted[1] if quoted[1] is not None else quoted[2]).strip()
    return text.partition("#")[0].split(" ")[0].strip()
