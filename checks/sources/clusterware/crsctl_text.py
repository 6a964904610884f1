"""Read what crsctl prints (Clusterware Administration and Deployment Guide, appendix on CRSCTL)."""

from __future__ import annotations

import re

from checks.model.facts import ActiveVersion, Haip, ToolMessage, Unknown
from checks.sources.clusterware.oracle_text import no_known_shape, printed_lines, read_messages
from checks.sources.grid_commands import HAIP_RESOURCE

_VERSION = re.compile(r"active version on the cluster is \[([^]\n]{1,64})\]", re.IGNORECASE)
_UPGRADE_STATE = re.compile(r"cluster upgrade state is \[([^]\n]{1,64})\]", re.IGNORECASE)
_PATCH_LEVEL = re.compile(r"active patch level is \[([^]\n]{1,64})\]", re.IGNORECASE)
_MISSCOUNT = re.compile(r"\bget misscount ([0-9]{1,6})\b", re.IGNORECASE)

# OHASD, CRSD, CSSD and EVMD, each online or not to be reached; CRS-4692: CRSD in exclusive mode.
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

    A service that cannot be contacted (CRS-4639, -4535, -4530, -4534) is an answer too, and the one a DBA looks for.
    """
    messages = read_messages(text)
    if any(message.code in _SERVICE_CODES for message in messages):
        return messages
    return no_known_shape("crsctl check crs", text)


def parse_haip(text: str) -> Haip | Unknown:
    """Read `crsctl stat res ora.cluster_interconnect.haip -init`: a block of NAME=, TYPE=, TARGET= and STATE=.

    Where a block lists several instances by commas, equal values are told once and different ones side by side.
    CRS-2613 says that this Grid Infrastructure has no such resource, as on Exadata (MOS 1210883.1).
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
    """The attributes of each resource, as far as they are printed; a block begins with NAME=."""
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
