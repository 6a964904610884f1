"""The state of ports in spanning tree: `show spanning-tree` of Cisco, Arista and Juniper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock
from checks.investigate.outputs.port_names import is_port, port_in, port_name
from checks.model.pasted import DeviceSystem, PastedOutput, TreePort, TreeState

_TREE = re.compile(
    r"\s*(VLAN ?[0-9]{1,4}|MST ?[0-9]{1,4}|#{2,6} (MST[0-9]{1,4})\b.{0,120}|Spanning tree interface"
    r" parameters for instance ([0-9]{1,4}))\s*"
)
_ROW = re.compile(
    r"\s*(\S{1,40})\s+(?:Desg|Root|Altn|Back|Mstr|Shr|Dis|designated|root|alternate|backup|master|disabled)\s+"
    r"(FWD|BLK|LRN|LIS|BKN|DIS|DWN|forwarding|blocking|discarding|learning|listening|broken|disabled)(?:\*\s*|\s+)"
    r"[0-9]{1,10}\s+[0-9]{1,4}\.[0-9]{1,6}\b.{0,80}"
)
_JUNOS = re.compile(
    r"\s*(\S{1,40})\s+[0-9]{1,4}:[0-9]{1,6}\s+[0-9]{1,4}:[0-9]{1,6}\s+\S{6,40}\s+[0-9]{1,10}\s+(FWD|BLK|LRN|LIS|DIS)\s+\S{2,8}\s*"
)
_DETAIL = re.compile(
    r"\s*(?:Port [0-9]{1,6} \(([\w/. -]{2,40}?)(?:, [\w -]{1,40})?\)|(\S{2,30})) of (\S{1,20}) is (?:"
    r"(?:designated|root|alternate|backup|master) )?"
    r"(forwarding|blocking|learning|listening|broken|disabled|discarding|down)\b.{0,120}"
)
_STATES: Mapping[str, TreeState] = {
    "fwd": TreeState.FORWARDING,
    "forwarding": TreeState.FORWARDING,
    "blk": TreeState.BLOCKING,
    "blocking": TreeState.BLOCKING,
    "discarding": TreeState.BLOCKING,
    "lrn": TreeState.LEARNING,
    "learning": TreeState.LEARNING,
    "lis": TreeState.LISTENING,
    "listening": TreeState.LISTENING,
    "bkn": TreeState.BROKEN,
    "broken": TreeState.BROKEN,
    "dis": TreeState.DISABLED,
    "dwn": TreeState.DISABLED,
    "down": TreeState.DISABLED,
    "disabled": TreeState.DISABLED,
}


def tree_ports(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the ports of spanning trees, by tree."""
    tree, asked = "", port_in(block.words())
    platform = DeviceSystem.UNKNOWN
    trees: list[TreePort] = []
    used: set[int] = set()
    for at, line in enumerate(block.lines):
        if begun := _TREE.fullmatch(line):
            tree = begun[2] or (f"MST{begun[3]}" if begun[3] else begun[1].replace(" ", ""))
            used.add(at)
        elif (row := _ROW.fullmatch(line)) and (is_port(row[1]) or row[1].startswith(("VLAN", "MST"))):
            # The output of one port has the trees in the first column.
            is_of_port = is_port(row[1]) and not row[1].startswith(("VLAN", "MST"))
            name, of = (row[1], tree) if is_of_port else (asked, row[1])
            trees.append(TreePort(device=block.device, tree=of, port=port_name(name), state=_STATES[row[2].casefold()]))
            used.add(at)
        elif (row := _JUNOS.fullmatch(line)) and is_port(row[1]):
            platform = DeviceSystem.JUNOS
            trees.append(
                TreePort(device=block.device, tree=tree, port=port_name(row[1]), state=_STATES[row[2].casefold()])
            )
            used.add(at)
        elif (row := _DETAIL.fullmatch(line)) and is_port((row[1] or row[2]).strip()):
            name = (row[1] or row[2]).strip()
            trees.append(TreePort(device=block.device, tree=row[3], port=port_name(name), state=_STATES[row[4]]))
            used.add(at)
    if trees:
        yield FoundPart(output=PastedOutput.TREE, platform=platform, lines=frozenset(used), trees=tuple(trees))
