"""Files of `NAME=value` lines that the shell reads: the ifcfg files of Red Hat's and SUSE's families."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ASSIGNMENT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]{0,63})=(.*)")
_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)\"""")
IGNORED = (".bak", ".old", ".orig", ".rej", ".rpmnew", ".rpmorig", ".rpmsave", ".swp", ".scpmbackup", "~", "-range")
"""Endings of files that neither the network service nor NetworkManager nor wicked reads: copies, and ranges of aliases
(`ifcfg-eth1-range0` never sets an MTU)."""


def parse_assignments(lines: Iterable[str]) -> dict[str, str]:
    """The values by name, without quotes; the last of several counts, as in the shell."""
    values = {}
    for line in lines:
        if match := _ASSIGNMENT.match(line):
            values[match[1]] = _value(match[2].strip())
    return values


def is_yes(value: str) -> bool:
    """Whether it switches something on, as these files say it."""
    return value.lower() in ("yes", "y", "true", "t", "on", "1")


def is_no(value: str) -> bool:
    """Whether it switches something off."""
    return value.lower() in ("no", "n", "false", "f", "off", "0")


def _value(text: str) -> str:
    if quoted := _QUOTED.match(text):
        return (quoted[1] if quoted[1] is not None else quoted[2]).strip()
    return text.partition("#")[0].split(" ")[0].strip()
