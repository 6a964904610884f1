"""`show interfaces` of Junos, with `extensive`, `statistics` and `queue`: a section for each physical interface."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock, count, mac_address
from checks.investigate.outputs.port_sections import seconds_ago
from checks.model.pasted import Counter, DeviceSystem, PastedOutput, PortReading

_HEAD = re.compile(
    r"\s*Physical interface: ([\w/:.-]{1,40})(?:, (Enabled|Disabled|Administratively down))?(?:, Physical"
    r" link is (\w{1,20}))?.{0,80}",
    re.ASCII,
)
_MTU = re.compile(r"Link-level type:.{0,160}?\bMTU: ([0-9]{2,5})\b")
_SPEED = re.compile(r"\bSpeed: ([0-9]{1,4})([mG])bps", re.IGNORECASE)
_CLEARED = re.compile(r"\s*Statistics last cleared: (.{1,80})")
_DESCRIPTION = re.compile(r"\s*Description: (.{1,250})")
_ADDRESS = re.compile(r"Hardware address: ([0-9a-f:]{17})")
_SUMMARY = re.compile(r"\s*Input errors: ([0-9]{1,20}), Output errors: ([0-9]{1,20})")
_PAIR = re.compile(r"([A-Z][A-Za-z0-9/ -]{1,40}): ([0-9]{1,20})(?:,|$)", re.ASCII)
_OF_INPUT: Mapping[str, Counter] = {
    "Errors": Counter.INPUT_ERRORS,
    "Drops": Counter.INPUT_DISCARDS,
    "Runts": Counter.RUNTS,
    "Resource errors": Counter.NO_BUFFER,
}
_OF_OUTPUT: Mapping[str, Counter] = {
    "Errors": Counter.OUTPUT_ERRORS,
    "Drops": Counter.OUTPUT_DISCARDS,
    "Carrier transitions": Counter.FLAPS,
}
_OF_MAC = re.compile(
    r"\s*(CRC/Align errors|MAC pause frames|Oversized frames) +([0-9]{1,20})(?: +([0-9]{1,20}))?", re.ASCII
)
_QUEUE_ROW = re.compile(r"\s*([0-9])(?: [\w-]{1,40})? +[0-9]{1,20} +[0-9]{1,20} +([0-9]{1,20})", re.ASCII)
_QUEUE = re.compile(r"\s*Queue: ([0-9]), Forwarding classes: (\S{1,60}).{0,80}")
_DROPPED = re.compile(r"\s*(Tail|RED|Total|RL)-dropped packets *: +([0-9]{1,20})\b.{0,60}")
_POLICED = re.compile(r"Policed discards: ([0-9]{1,20})")


def junos_port_sections(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the sections of physical interfaces."""
    heads = [(at, found) for at, line in enumerate(block.lines) if (found := _HEAD.fullmatch(line))]
    if not heads:
        return
    ends = [at for at, _ in heads[1:]] + [len(block.lines)]
    ports = tuple(
        _port(block.device, head, block.lines[first + 1 : end])
        for (first, head), end in zip(heads, ends, strict=True)
        if head[3] or head[2] or any(map(_QUEUE.fullmatch, block.lines[first + 1 : end]))
    )
    if not ports:
        return
    used = frozenset(range(heads[0][0], len(block.lines)))
    if any(port.state for port in ports):
        yield FoundPart(output=PastedOutput.PORTS, platform=DeviceSystem.JUNOS, lines=used, ports=ports)
    if any(port.queue_drops for port in ports):
        yield FoundPart(output=PastedOutput.QUEUES, platform=DeviceSystem.JUNOS, lines=used)


def _port(device: str, head: re.Match[str], lines: Sequence[str]) -> PortReading:
    found = {
        name: said[1].strip()
        for name, pattern in (("mtu", _MTU), ("cleared", _CLEARED), ("description", _DESCRIPTION), ("mac", _ADDRESS))
        if (said := next(filter(None, map(pattern.search, lines)), None))
    }
    speed = next(filter(None, map(_SPEED.search, lines)), None)
    counters, queues, policed = _counted(lines)
    cleared = found.get("cleared", "")
    state = head[2] if head[2] and head[2] != "Enabled" else head[3] or ""
    return PortReading(
        device=device,
        name=head[1],
        is_up=None if head[3] is None else head[3] == "Up" and head[2] in (None, "Enabled"),
        state=state,
        description=found.get("description", ""),
        mac=mac_address(found.get("mac", "")),
        mtu=int(found["mtu"]) if "mtu" in found else None,
        speed_mbps=int(speed[1]) * (1000 if speed[2] == "G" else 1) if speed else None,
        counters=counters,
        queue_drops=queues,
        policer_drops={} if policed is None else {"input": policed},
        cleared="never" if cleared == "Never" else cleared,
        cleared_s=seconds_ago(cleared[cleared.find("(") :]) if "(" in cleared else None,
    )


def _counted(lines: Sequence[str]) -> tuple[dict[Counter, int], dict[str, int], int | None]:
    counters: dict[Counter, int] = {}
    queues: dict[str, int] = {}
    policed: int | None = None
    of: Mapping[str, Counter] = {}
    queue, in_table = "", False
    for line in lines:
        stripped = line.strip()
        if summary := _SUMMARY.fullmatch(line):
            counters[Counter.INPUT_ERRORS], counters[Counter.OUTPUT_ERRORS] = map(int, summary.groups())
        elif stripped in ("Input errors:", "Output errors:"):
            of = _OF_INPUT if stripped.startswith("In") else _OF_OUTPUT
        elif of and _PAIR.search(stripped):
            counters.update(
                {of[name.strip()]: int(value) for name, value in _PAIR.findall(stripped) if name.strip() in of}
            )
            if of is _OF_INPUT and (found := _POLICED.search(stripped)):
                policed = int(found[1])
        else:
            of = {}
        if of_mac := _OF_MAC.match(line):
            counters.update(_of_mac(of_mac))
        if stripped.startswith("Queue counters:"):
            in_table = True
        elif in_table and (row := _QUEUE_ROW.fullmatch(line)):
            queues[row[1]] = int(row[2])
        elif stripped:
            in_table = False
        if begun := _QUEUE.fullmatch(line):
            queue = f"{begun[1]} {begun[2]}"
        elif queue and (dropped := _DROPPED.fullmatch(line)):
            number = count(dropped[2]) or 0
            queues[queue] = (
                max(queues.get(queue, 0), number) if dropped[1] == "Total" else queues.get(queue, 0) + number
            )
    return counters, queues, policed


def _of_mac(row: re.Match[str]) -> Iterator[tuple[Counter, int]]:
    if row[1].startswith("CRC"):
        yield Counter.CRC, int(row[2])
    elif row[1].startswith("Over"):
        yield Counter.GIANTS, int(row[2])
    else:
        yield Counter.PAUSE_IN, int(row[2])
        if row[3]:
            yield Counter.PAUSE_OUT, int(row[3])
