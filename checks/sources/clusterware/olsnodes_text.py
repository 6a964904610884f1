"""Read what olsnodes prints: the members of the cluster, this node's name in it, and its own name."""

from __future__ import annotations

import re

from checks.model.facts import ClusterMember, Unknown
from checks.sources.clusterware.oracle_text import no_known_shape, printed_lines, read_message

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,253}")
_NUMBER = re.compile(r"[0-9]{1,5}")
_STATUSES = ("Active", "Inactive")
_PINNINGS = ("Pinned", "Unpinned")
_NO_VIP = "<none>"


def parse_olsnodes(text: str) -> tuple[ClusterMember, ...] | Unknown:
    """Read `olsnodes -n -i -s -t`: name, number, VIP, status, pinning, parted by tabs or spaces.

    The VIP is a name, an address, or `<none>` (containers), and is kept as printed, empty for none. Unknown when a
    line is neither a member nor a message: a node might hide in it, and a list that lacks a node would be believed.
    """
    members: list[ClusterMember] = []
    for line in printed_lines(text):
        if member := _member(line):
            members.append(member)
        elif read_message(line) is None:
            return no_known_shape("olsnodes -n -i -s -t", line)
    return tuple(members) or no_known_shape("olsnodes -n -i -s -t", text)


def _member(line: str) -> ClusterMember | None:
    """A row of olsnodes. Columns stand in this order, for those of the flags that were given; one besides the name."""
    name, *columns = line.split()
    if not _NAME.fullmatch(name) or not columns:
        return None
    number = int(columns.pop(0)) if _NUMBER.fullmatch(columns[0]) else None
    pinning = columns.pop() if columns and columns[-1] in _PINNINGS else ""
    status = columns.pop() if columns and columns[-1] in _STATUSES else ""
    if len(columns) > 1 or (number is None and not status and not pinning):
        return None
    vip = "" if columns in ([], [_NO_VIP]) else columns[0]
    if number is None:
        return ClusterMember(name, vip=vip, status=status, pinning=pinning)
    return ClusterMember(name, number, vip, status, pinning)


def parse_local_node(text: str) -> str | Unknown:
    """Read `olsnodes -l`: the name of this node, as the cluster knows it."""
    return _single_name("olsnodes -l", text)


def parse_cluster_name(text: str) -> str | Unknown:
    """Read `olsnodes -c`: the name of the cluster."""
    return _single_name("olsnodes -c", text)


def _single_name(command: str, text: str) -> str | Unknown:
    """The name on the first line. What follows may be a warning; before it, nothing is expected."""
    lines = printed_lines(text)
    if lines and _NAME.fullmatch(lines[0]):
        return lines[0]
    return no_known_shape(command, text)
