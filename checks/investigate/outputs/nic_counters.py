"""Counters of the NICs of a node, and of switches that run Linux: `ethtool -S`, `ip -s link`, `tc -s qdisc`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock, mac_address
from checks.model.pasted import Counter, DeviceSystem, NeighbourLine, PastedOutput, PortReading
from checks.rules.driver_counts import DriverSign, largest, meanings_of

_HEAD = re.compile(r"\s*(?:NIC statistics|NIC-Statistiken?|Statistiques NIC) ?:\s*", re.IGNORECASE)
_COUNTER = re.compile(r"\s+(\S(?:.{0,80}\S)?)\s*:\s*([0-9]{1,20})", re.ASCII)
_OF_SIGN: Mapping[DriverSign, Counter] = {
    DriverSign.CORRUPT: Counter.CRC,
    DriverSign.NO_BUFFER: Counter.NO_BUFFER,
    DriverSign.PORT_BUFFER: Counter.INPUT_DISCARDS,
    DriverSign.DROPPED: Counter.INPUT_DISCARDS,
    DriverSign.TOO_LONG: Counter.GIANTS,
    DriverSign.LINK: Counter.FLAPS,
    DriverSign.NOT_SENT: Counter.OUTPUT_ERRORS,
    DriverSign.PAUSED: Counter.PAUSE_IN,
    DriverSign.PAUSES: Counter.PAUSE_OUT,
}
_OF_CUMULUS: Mapping[str, Counter] = {
    "HwIfInErrors": Counter.INPUT_ERRORS,
    "HwIfInFcsErrors": Counter.CRC,
    "HwIfInDiscards": Counter.INPUT_DISCARDS,
    "HwIfInBufferDrops": Counter.NO_BUFFER,
    "HwIfOutErrors": Counter.OUTPUT_ERRORS,
    "HwIfOutDiscards": Counter.OUTPUT_DISCARDS,
    "HwIfOutQDrops": Counter.OUTPUT_DISCARDS,
    "HwIfInPausePkt": Counter.PAUSE_IN,
    "HwIfOutPausePkt": Counter.PAUSE_OUT,
}
_NAMED = re.compile(
    r".*(?:prio[0-9]?_|_prio|pfc|pause|ppp[0-9]|ecn|cnp|err|drop|discard|miss|crc|fcs|oob|no_buf|nobuf|out_of|timeout"
    r"|allowance).*",
    re.IGNORECASE,
)
"""Names that are kept: by priority, pause, ECN, and whatever is lost. Traffic by queue is not."""
_MOST_NAMES = 2000


def driver_statistics(block: PasteBlock) -> Iterator[FoundPart]:
    """Find `ethtool -S`. The output does not name the NIC, the command does; of several commands in their order."""
    asked = option_values(block.words(), "-S", "--statistics")
    sections: list[dict[str, int]] = []
    used: set[int] = set()
    is_open = False
    for at, line in enumerate(block.lines):
        found = _COUNTER.fullmatch(line)
        if _HEAD.fullmatch(line) or (found and asked and not sections):
            is_open = True
            sections.append({})
            used.add(at)
        if is_open and found and len(sections[-1]) < _MOST_NAMES:
            sections[-1][found[1]] = sections[-1].get(found[1], 0) + int(found[2])
            used.add(at)
        elif line.strip() and not _HEAD.fullmatch(line):
            is_open = False
    read = [counts for counts in sections if counts]
    if not read:
        return
    names = asked if len(asked) == len(sections) else ("",) * len(sections)
    is_cumulus = any(name.startswith("HwIf") for name in read[0])
    yield FoundPart(
        output=PastedOutput.DRIVER,
        platform=DeviceSystem.CUMULUS if is_cumulus else DeviceSystem.LINUX,
        lines=frozenset(used),
        ports=tuple(
            PortReading(
                device=block.device,
                name=name,
                counters=_of_cumulus(counts) if is_cumulus else _of_driver(counts),
                named={counter: number for counter, number in counts.items() if _NAMED.fullmatch(counter)},
            )
            for name, counts in zip(names, sections, strict=True)
            if counts
        ),
    )


def option_values(words: Sequence[str], *options: str) -> tuple[str, ...]:
    """Return the words that follow an option in commands."""
    return tuple(word for before, word in pairwise(words) if before in options)


def _of_cumulus(counts: Mapping[str, int]) -> dict[Counter, int]:
    found: dict[Counter, int] = {}
    for name, counter in _OF_CUMULUS.items():
        if name in counts:
            found[counter] = max(counts[name], found.get(counter, 0))
    return found


def _of_driver(counts: Mapping[str, int]) -> dict[Counter, int]:
    """The counters by their meaning; a name that has two meanings in two drivers has none here."""
    by_meaning: dict[Counter, dict[str, int]] = {}
    for name, number in counts.items():
        meanings = {_OF_SIGN[sign] for sign in meanings_of(name) if sign in _OF_SIGN}
        if len(meanings) == 1:
            by_meaning.setdefault(meanings.pop(), {})[name] = number
    return {counter: largest(names) for counter, names in by_meaning.items()}


_LINK = re.compile(
    r"[0-9]{1,6}: ([\w.-]{1,15})(?:@[\w.-]{1,15})?: <([A-Z_,0-9-]{0,120})> mtu ([0-9]{2,5})\b.{0,200}?"
    r"(?:state ([A-Z]{2,16})\b.{0,120})?",
    re.ASCII,
)
_LADDR = re.compile(r"\s+link/\w{2,12} ([0-9a-f:]{17})\b.{0,120}")
_WAY = re.compile(r"\s+(RX|TX)(?: errors)?: +(.+)")
_OF_IP: Mapping[tuple[str, str], Counter] = {
    ("RX", "errors"): Counter.INPUT_ERRORS,
    ("RX", "dropped"): Counter.INPUT_DISCARDS,
    ("RX", "overrun"): Counter.NO_BUFFER,
    ("RX", "missed"): Counter.NO_BUFFER,
    ("RX", "crc"): Counter.CRC,
    ("RX", "length"): Counter.GIANTS,
    ("TX", "errors"): Counter.OUTPUT_ERRORS,
    ("TX", "dropped"): Counter.OUTPUT_DISCARDS,
    ("TX", "transns"): Counter.FLAPS,
}


def link_statistics(block: PasteBlock) -> Iterator[FoundPart]:
    """Find `ip -s link`, with `-s -s` too."""
    ports: list[PortReading] = []
    way, columns = "", list[str]()
    used: set[int] = set()
    for at, line in enumerate(block.lines):
        if begun := _LINK.fullmatch(line):
            flags = begun[2].split(",")
            ports.append(
                PortReading(
                    device=block.device,
                    name=begun[1],
                    is_up=begun[4] in ("UP", "UNKNOWN") if begun[4] else "LOWER_UP" in flags,
                    state=(begun[4] or "").casefold(),
                    mtu=int(begun[3]),
                )
            )
            columns = []
        elif not ports:
            continue
        elif columns and all(map(str.isdigit, words := line.split())) and len(words) >= len(columns):
            for name, value in zip(columns, words, strict=False):
                if counter := _OF_IP.get((way, name)):
                    ports[-1].counters[counter] = max(int(value[:20]), ports[-1].counters.get(counter, 0))
            columns = []
        elif head := _WAY.fullmatch(line):
            way, columns = head[1], head[2].split()
        elif address := _LADDR.fullmatch(line):
            last = ports.pop()
            ports.append(
                PortReading(
                    device=last.device, name=last.name, is_up=last.is_up, state=last.state, mtu=last.mtu,
                    mac=mac_address(address[1]),
                )
            )  # fmt: skip
        else:
            continue
        used.add(at)
    if any(port.counters for port in ports):
        yield FoundPart(
            output=PastedOutput.LINK, platform=DeviceSystem.LINUX, lines=frozenset(used), ports=tuple(ports)
        )


_QDISC = re.compile(
    r"\s*(?:qdisc|class) (\w{2,20}) (\w{0,8}:\w{0,8})(?:\[\w{1,8}\])? (?:dev ([\w.-]{1,15}) )?(root"
    r"|ingress|parent \S{1,12}|ingress_block.{0,12}|)\b.{0,300}"
)
_DROPPED = re.compile(
    r"\s+Sent [0-9]{1,20} bytes [0-9]{1,20} pkts? \(dropped ([0-9]{1,20}), overlimits [0-9]{1,20} requeues"
    r" [0-9]{1,20}\)\s*"
)
_POLICE = re.compile(r"\s*(?:police 0x[0-9a-f]{1,8}|action order [0-9]{1,3}: +police).{0,200}")
_TC_HEAD = re.compile(r"\s*filter (?:dev ([\w.-]{1,15}) )?(?:parent|ingress|egress|protocol).{0,200}")


def queue_disciplines(block: PasteBlock) -> Iterator[FoundPart]:
    """Find `tc -s qdisc`, and the policers of `tc -s filter`: packets that the node drops before they leave it, or as
    they arrive."""
    named = option_values(block.words(), "dev")
    asked = named[0] if len(set(named)) == 1 else ""
    drops: dict[str, dict[str, int]] = {}
    policed: dict[str, dict[str, int]] = {}
    nic, label, is_police = asked, "", False
    used: set[int] = set()
    for at, line in enumerate(block.lines):
        if begun := _QDISC.fullmatch(line):
            nic, is_police = begun[3] or asked, False
            label = f"{begun[1]} {begun[4]}".strip()
        elif head := _TC_HEAD.fullmatch(line):
            nic, label = head[1] or nic or asked, "filter"
        elif _POLICE.fullmatch(line):
            is_police, label = True, f"police {len(policed.get(nic, {})) + 1}"
        elif label and (found := _DROPPED.fullmatch(line)):
            kept = policed if is_police else drops
            kept.setdefault(nic, {})[label] = kept.get(nic, {}).get(label, 0) + int(found[1])
        elif not line.startswith(" "):
            continue
        used.add(at)
    if drops or policed:
        ports = tuple(
            PortReading(
                device=block.device, name=name, queue_drops=drops.get(name, {}), policer_drops=policed.get(name, {})
            )
            for name in dict.fromkeys((*drops, *policed))
        )
        yield FoundPart(output=PastedOutput.QDISC, platform=DeviceSystem.LINUX, lines=frozenset(used), ports=ports)


_NEIGHBOUR = re.compile(
    r"\s*([0-9a-fA-F.:]{3,45}) (?:dev ([\w.-]{1,15}) )?(?:lladdr [0-9a-f:]{17} )?(?:ref [0-9]{1,4} )?"
    r"(?:used \S{3,40} )?(?:probes [0-9]{1,4} )?(?:router )?"
    r"(REACHABLE|STALE|DELAY|PROBE|FAILED|INCOMPLETE|NOARP|PERMANENT)\s*"
)


def neighbour_lines(block: PasteBlock) -> Iterator[FoundPart]:
    """Find `ip neigh`, with `-s` too."""
    named = option_values(block.words(), "dev")
    asked = named[0] if len(set(named)) == 1 else ""
    rows = {at: row for at, line in enumerate(block.lines) if (row := _NEIGHBOUR.fullmatch(line))}
    if rows:
        found = tuple(
            NeighbourLine(device=block.device, ip=row[1], nic=row[2] or asked, state=row[3].casefold())
            for row in rows.values()
        )
        yield FoundPart(
            output=PastedOutput.NEIGHBOURS, platform=DeviceSystem.LINUX, lines=frozenset(rows), neighbours=found
        )
