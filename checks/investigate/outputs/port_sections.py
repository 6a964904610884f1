"""`show interface` of NX-OS, IOS-XE and EOS: a section for each port, with counters as `12 giants`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock, count, mac_address
from checks.investigate.outputs.port_names import is_port, port_name
from checks.model.pasted import Counter, DeviceSystem, PastedOutput, PortReading

_HEAD = re.compile(
    r"\s*(?P<name>\S{1,60}) is (?P<state>up|down|administratively down|deleted|reset|suspended)\b(?:"
    r" ?\((?P<why>.{1,80}?)\))?"
    r"(?: ?, *line protocol is (?P<protocol>\w{1,20})(?: \((?P<more>.{1,80}?)\))?)?(?: ?,.{0,200})?\s*",
    re.ASCII,
)
_NAME = re.compile(r"[A-Za-z][\w/.:-]{0,40}[0-9]", re.ASCII)
_COUNTED = re.compile(r"([0-9]{1,20}) +([A-Za-z][A-Za-z/-]*(?: [A-Za-z][A-Za-z/-]*){0,5})", re.ASCII)
_NAMES: Mapping[str, Counter] = {
    "crc": Counter.CRC,
    "crc/fcs": Counter.CRC,
    "stomped crc": Counter.STOMPED_CRC,
    "runts": Counter.RUNTS,
    "giants": Counter.GIANTS,
    "input error": Counter.INPUT_ERRORS,
    "input errors": Counter.INPUT_ERRORS,
    "output error": Counter.OUTPUT_ERRORS,
    "output errors": Counter.OUTPUT_ERRORS,
    "input discard": Counter.INPUT_DISCARDS,
    "input discards": Counter.INPUT_DISCARDS,
    "output discard": Counter.OUTPUT_DISCARDS,
    "output discards": Counter.OUTPUT_DISCARDS,
    "no buffer": Counter.NO_BUFFER,
    "rx pause": Counter.PAUSE_IN,
    "pause input": Counter.PAUSE_IN,
    "tx pause": Counter.PAUSE_OUT,
    "pause output": Counter.PAUSE_OUT,
    "carrier transitions": Counter.FLAPS,
    "carrier transition": Counter.FLAPS,
    "link status changes since last clear": Counter.FLAPS,
    "link status change since last clear": Counter.FLAPS,
}
_MTU = re.compile(r"\bMTU (?:is )?([0-9]{2,5}) bytes")
_SPEED = re.compile(r"\b([0-9]{1,4}(?:\.[0-9])?) ?([MG])b(?:/s|ps|it/s)\b")
_CLEARED = re.compile(r'[Ll]ast clearing of "show interface" counters:? (.{1,60})')
_CHANNEL = re.compile(r"\s*(?:Belongs to|Member of) ((?:Po|[Pp]ort-[Cc]hannel)[0-9]{1,5})\b.{0,40}")
_ADDRESS = re.compile(r"address(?: is|:)? +([0-9A-Fa-f.:-]{14,17})\b")
_DESCRIPTION = re.compile(r"(?:Port )?[Dd]escription(?: is|:)? (.{1,250})")
_OUTPUT_DROPS = re.compile(r"Total output drops: ([0-9]{1,20})")
_INPUT_QUEUE = re.compile(r"Input queue: [0-9]{1,9}/[0-9]{1,9}/([0-9]{1,20})/")
_OLD_QUEUES = re.compile(
    r"Output queue [0-9/]{1,20}, ([0-9]{1,20}) drops; input queue [0-9/]{1,20}, ([0-9]{1,20}) drops"
)
_SIGNS = (
    (
        DeviceSystem.EOS,
        re.compile(r"(?:Ethernet|IP) MTU [0-9]|link status changes? since|uni-link|PAUSE (?:in|out)put"),
    ),
    (
        DeviceSystem.NXOS,
        re.compile(r"admin state is|Dedicated Interface|\bEtherSVI\b|^ *(?:Rx|RX|Tx|TX)$|autostate|Load-Interval"),
    ),
    (DeviceSystem.IOS_XE, re.compile(r"Total output drops|output hang|Last input|link type is|Kbit/sec|Keepalive ")),
)
_MOST_LINES = 200
"""Of one section."""


def port_sections(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the sections of ports, as of `show interface`."""
    heads = [(at, found) for at, line in enumerate(block.lines) if (found := _head(line))]
    if not heads:
        return
    ports, used = [], set[int]()
    platform = DeviceSystem.UNKNOWN
    ends = [at for at, _ in heads[1:]] + [len(block.lines)]
    lines: Sequence[str] = ()
    for (first, head), end in zip(heads, ends, strict=True):
        last = _end(block.lines, first, min(end, first + _MOST_LINES))
        lines = block.lines[first + 1 : last]
        used.update(range(first, last))
        if platform is DeviceSystem.UNKNOWN:
            platform = _platform(head, lines)
        # The models of Nexus whose classes have the MTU print no line `admin state is`.
        by_class = platform is DeviceSystem.NXOS and not any("admin state is" in line.lower() for line in lines)
        ports.append(_port(block.device, head, lines, by_class))
    yield FoundPart(
        output=PastedOutput.PORTS,
        platform=platform,
        lines=frozenset(used),
        is_cut=len(ports) > 1
        and bool(ports[-2].counters)
        and not ports[-1].counters
        and ports[-1].name.rstrip("0123456789/.") == ports[-2].name.rstrip("0123456789/."),
        ports=tuple(ports),
    )


def _head(line: str) -> re.Match[str] | None:
    found = _HEAD.fullmatch(line)
    return (
        found if found and (is_port(found["name"]) or (found["protocol"] and _NAME.fullmatch(found["name"]))) else None
    )


def _end(lines: Sequence[str], first: int, end: int) -> int:
    """The end of a section: a line that is not indented, and belongs to no port.

    Where the paste has lost its blanks, that is the next port."""
    indent = _indent(lines[first])
    following = next((line for line in lines[first + 1 : end] if line.strip()), "")
    if _indent(following) <= indent and not following.lstrip().startswith("admin state"):
        return end if _belongs(following) else first + 1
    for at in range(first + 1, end):
        line = lines[at]
        if line.strip() and _indent(line) <= indent and not _belongs(line):
            return at
    return end


_BELONGS = re.compile(
    r"\s*(?:admin state|Hardware|Belongs|Internet|Encapsulation|reliability|Keepalive|ARP|Last|Queueing"
    r"|Port WWN|RX|TX|Rx|Tx|MTU|Dedicated|Description|Port description|\(?[A-Z][a-z]+ (?:is|MTU)|[0-9]+ )"
)


def _belongs(line: str) -> bool:
    return _BELONGS.match(line) is not None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _platform(head: re.Match[str], lines: Sequence[str]) -> DeviceSystem:
    for system, sign in _SIGNS:
        if any(sign.search(line) for line in (head[0], *lines)):
            return system
    return DeviceSystem.UNKNOWN


_VALUES = (("cleared", _CLEARED), ("description", _DESCRIPTION), ("mac", _ADDRESS), ("channel", _CHANNEL))


def _port(device: str, head: re.Match[str], lines: Sequence[str], by_class: bool) -> PortReading:
    counters: dict[Counter, int] = {}
    values: dict[str, str] = {}
    mtu = speed = None
    for line in lines:
        if (found := _MTU.search(line)) and mtu is None:
            mtu = int(found[1])
        if "uplex" in line and (rate := _SPEED.search(line)):
            speed = int(float(rate[1]) * (1000 if rate[2] == "G" else 1))
        for name, pattern in _VALUES:
            if name not in values and (said := pattern.search(line)):
                values[name] = said[1].strip()
        _count(line, counters)
    cleared = values.get("cleared", "")
    protocol = head["protocol"]
    return PortReading(
        device=device,
        name=port_name(head["name"]),
        is_up=head["state"] == "up" and protocol in (None, "up"),
        state=head["more"]
        or head["why"]
        or (head["state"] if protocol in (None, "up") else f"{head['state']}/{protocol}"),
        description=values.get("description", "").strip('"'),
        mac=mac_address(values.get("mac", "")),
        mtu=mtu,
        is_mtu_by_class=by_class,
        speed_mbps=speed,
        counters=counters,
        channel=port_name(values["channel"]) if "channel" in values else "",
        cleared=cleared,
        cleared_s=seconds_ago(cleared),
    )


def _count(line: str, counters: dict[Counter, int]) -> None:
    for number, name in _COUNTED.findall(line):
        counter = _NAMES.get(name.casefold())
        if counter and (value := count(number)) is not None:
            counters[counter] = value
    if (drops := _OUTPUT_DROPS.search(line)) and Counter.OUTPUT_DISCARDS not in counters:
        counters[Counter.OUTPUT_DISCARDS] = int(drops[1])
    if queue := _INPUT_QUEUE.search(line):
        counters[Counter.INPUT_DISCARDS] = int(queue[1])
    if old := _OLD_QUEUES.search(line):
        counters[Counter.OUTPUT_DISCARDS], counters[Counter.INPUT_DISCARDS] = int(old[1]), int(old[2])


_UNITS = {"y": 31_536_000, "w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_SPAN = re.compile(r"([0-9]{1,5}) ?(y|w|d|h|m|s)[a-z()]*", re.ASCII)
_CLOCK = re.compile(r"\b([0-9]{1,5}):([0-9]{2})(?::([0-9]{2}))?\b", re.ASCII)


def seconds_ago(text: str) -> int | None:
    """Return how long ago a platform says that something was: `00:07:31`, `113w5d`, `11 days, 17:49:23 ago`, `40week(s)
    5day(s)`; None for `never` and for what has no such time."""
    spans = _SPAN.findall(text)
    clock = _CLOCK.search(text)
    if not spans and not clock:
        return None
    total = sum(int(number) * _UNITS[unit] for number, unit in spans)
    if clock:
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        total += 3600 * hours + 60 * minutes + seconds
    return total
