"""Parse the output of olsnodes and crsctl: members and name of the cluster, its release, and its running services.

Clusterware Administration and Deployment Guide, appendices on OLSNODES and CRSCTL.
"""

from __future__ import annotations

import re

from checks.model.facts import ActiveVersion, ClusterMember, Haip, ToolMessage, Unknown
from checks.sources.clusterware.oracle_text import no_known_shape, printed_lines, read_message, read_messages
from checks.sources.grid_commands import HAIP_RESOURCE

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,253}")
_NUMBER = re.compile(r"[0-9]{1,5}")
_STATUSES = ("Active", "Inactive")
_PINNINGS = ("Pinned", "Unpinned")
_NO_VIP = "<none>"


def parse_olsnodes(text: str) -> tuple[ClusterMember, ...] | Unknown:
    """Read `olsnodes -n -i -s -t`: name, number, VIP, status, pinning, separated by tabs or spaces.

    The VIP is a name, an address, or `<none>` (containers), unchanged as printed, empty for `<none>`. Unknown where a
    line is neither a member nor a message: the line might be a node, and the list would lack the node unnoticed.
    """
    members: list[ClusterMember] = []
    for line in printed_lines(text):
        if member := _member(line):
            members.append(member)
        elif read_message(line) is None:
            return no_known_shape("olsnodes -n -i -s -t", line)
    return tuple(members) or no_known_shape("olsnodes -n -i -s -t", text)


def _member(line: str) -> ClusterMember | None:
    """A row of olsnodes. The columns of the flags that were set are in this order; at least one follows the name."""
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
    """The name on the first line. Lines after it can be warnings; no line is expected before it."""
    lines = printed_lines(text)
    if lines and _NAME.fullmatch(lines[0]):
        return lines[0]
    return no_known_shape(command, text)


_VERSION = re.compile(r"active version on the cluster is \[([^]\n]{1,64})\]", re.IGNORECASE)
_UPGRADE_STATE = re.compile(r"cluster upgrade state is \[([^]\n]{1,64})\]", re.IGNORECASE)
_PATCH_LEVEL = re.compile(r"active patch level is \[([^]\n]{1,64})\]", re.IGNORECASE)
_MISSCOUNT = re.compile(r"\bget misscount ([0-9]{1,6})\b", re.IGNORECASE)

# OHASD, CRSD, CSSD and EVMD, each online or not reachable; CRS-4692: CRSD in exclusive mode.
_SERVICE_CODES = frozenset(f"CRS-{number}" for number in (4638, 4639, 4537, 4535, 4529, 4530, 4533, 4534, 4692))
# "Could not find resource": CRS-210 before 11.2, CRS-2613 since.
_NO_SUCH_RESOURCE = ("CRS-2613", "CRS-210")


def parse_active_version(text: str) -> ActiveVersion | Unknown:
    """Read `crsctl query crs activeversion`, with `-f` (since 12.1) or without.

    From 18c on the version names the release only (`19.0.0.0.0`), never the release update.
    """
    version = _VERSION.search(text)
    if version is None:
        return no_known_shape("crsctl query crs activeversion -f", text)
    state = _UPGRADE_STATE.search(text)
    level = _PATCH_LEVEL.search(text)
    known = ActiveVersion(version[1])
    return ActiveVersion(
        known.version,
        upgrade_state=state[1] if state else known.upgrade_state,
        patch_level=level[1] if level else known.patch_level,
    )


def parse_check_crs(text: str) -> tuple[ToolMessage, ...] | Unknown:
    """Read `crsctl check crs`: a line for each of the four services, online (CRS-4638, -4537, -4529, -4533) or not.

    A service that cannot be contacted (CRS-4639, -4535, -4530, -4534) is an answer too.
    """
    messages = read_messages(text)
    if any(message.code in _SERVICE_CODES for message in messages):
        return messages
    return no_known_shape("crsctl check crs", text)


def parse_haip(text: str) -> Haip | Unknown:
    """Read `crsctl stat res ora.cluster_interconnect.haip -init`: a block of NAME=, TYPE=, TARGET= and STATE=.

    Where a block lists several instances separated by commas, each distinct value is returned once. CRS-2613 means that
    this Grid Infrastructure has no such resource, as on Exadata (MOS 1210883.1).
    """
    for block in _resource_blocks(text):
        if block["NAME"].partition("(")[0] == HAIP_RESOURCE and "STATE" in block:
            instances = [instance.partition(" on ") for instance in block["STATE"].split(",")]
            return Haip(
                present=True,
                target=_once(block.get("TARGET", "").split(",")),
                state=_once([state for state, _, _ in instances]),
                server=_once([server for _, _, server in instances]),
            )
    if any(m.code in _NO_SUCH_RESOURCE and HAIP_RESOURCE in m.text for m in read_messages(text)):
        return Haip(present=False)
    return no_known_shape(f"crsctl stat res {HAIP_RESOURCE} -init", text)


def _resource_blocks(text: str) -> list[dict[str, str]]:
    """The printed attributes of each resource; a block starts with NAME=."""
    blocks: list[dict[str, str]] = []
    for line in printed_lines(text):
        key, equals, value = line.partition("=")
        if equals and key == "NAME":
            blocks.append({})
        if equals and blocks:
            blocks[-1].setdefault(key, value.strip())
    return blocks


def _once(values: list[str]) -> str:
    """The distinct values, in the order printed."""
    return ", ".join(dict.fromkeys(word for value in values if (word := value.strip())))


def parse_misscount(text: str) -> int | Unknown:
    """Read `crsctl get css misscount`: seconds without network heartbeat until a node is evicted (30 by default)."""
    seconds = _MISSCOUNT.search(text)
    return int(seconds[1]) if seconds else no_known_shape("crsctl get css misscount", text)
