"""Drops by queue: `show queuing interface` of NX-OS, `show interfaces counters queue` of EOS, `show queue counters` of
SONiC, `show platform hardware fed … qos queue stats` of IOS-XE. Junos has them in its sections."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock, count, is_ruler
from checks.investigate.outputs.port_names import is_port, port_in, port_name
from checks.model.pasted import Counter, DeviceSystem, PastedOutput, PortReading

_EGRESS = re.compile(r"\s*(?:(Egress|Ingress) Queuing for (\S{2,40})\b.{0,60}|(\S{2,40}) queuing information:?\s*)")
_GROUP = re.compile(r"\s*\|?\s*((?:CONTROL |SPAN )?QOS GROUP *[0-9]{0,2})\b.{0,80}\|?\s*|\s*(qos-group [0-9]{1,2})\s*")
_DROPS = re.compile(
    r"\s*\|\s*((?:WRED(?:/AFD)? ?& ?|WRED/AFD |AFD )?Tail Drop Pkts|(?:WRED|Tail|Total)? ?Dropp?(?:ed)?"
    r" Pkts|WD & Tail Drop Pkts)\s*"
    r"((?:\|\s*[0-9,]{1,26}\s*){1,4})\|?\s*"
)
_NUMBERS = re.compile(r"[0-9,]{1,26}")
_DISCARDED = re.compile(r"\s*Pkts discarded on ingress\s*:\s*([0-9]{1,20})\s*")
_CLASS_MTU = re.compile(r"\s*q-size: [0-9]{1,12}, HW MTU: [0-9]{3,5} \(([0-9]{3,5}) configured\)\s*")
_INGRESS = re.compile(r"\s*((?:Hi|Low) Priority|Ingress Overflow|Ingress MMU) Drop Pkts\s+([0-9]{1,20})\s*")
_PFC = re.compile(r"\s*TxPPP:\s*([0-9]{1,20}),\s*RxPPP:\s*([0-9]{1,20})\s*")


def nexus_queues(block: PasteBlock) -> Iterator[FoundPart]:
    """Find `show queuing interface` of NX-OS, of all its models."""
    ports: dict[str, PortReading] = {}
    port: PortReading | None = None
    group, is_ingress = "", False
    used: set[int] = set()
    named = port_in(block.words())
    inside: dict[str, int] = {}
    is_of_slice = False
    for at, line in enumerate(block.lines):
        if "Per Slice" in line:
            is_of_slice = True
        elif (begun := _EGRESS.fullmatch(line)) and is_port(begun[2] or begun[3]):
            name = port_name(begun[2] or begun[3])
            is_ingress, is_of_slice, group = begun[1] == "Ingress", False, ""
            port = ports.setdefault(name, PortReading(device=block.device, name=name))
        elif found := _GROUP.fullmatch(line):
            group = " ".join((found[1] or found[2]).casefold().replace("qos-group", "qos group").split())
            # Without its head, as through `begin` or `include`: the port of the command.
            port = port or (ports.setdefault(named, PortReading(device=block.device, name=named)) if named else None)
        elif port is None:
            continue
        elif group and (drops := _DROPS.fullmatch(line)):
            number = sum(count(text) or 0 for text in _NUMBERS.findall(drops[2]))
            # Rows that count the same drops in other ways: the largest.
            port.queue_drops[group] = max(number, port.queue_drops.get(group, 0))
        elif group and (configured := _CLASS_MTU.fullmatch(line)):
            port.class_mtus[group] = int(configured[1])
        elif group and (discarded := _DISCARDED.fullmatch(line)):
            port.queue_drops[f"{group}, in"] = int(discarded[1])
        elif is_ingress and (ingress := _INGRESS.fullmatch(line)):
            drops_of = inside if is_of_slice else port.queue_drops
            drops_of[f"{ingress[1].casefold()}, in"] = int(ingress[2])
        elif pfc := _PFC.fullmatch(line):
            port.counters[Counter.PAUSE_OUT], port.counters[Counter.PAUSE_IN] = int(pfc[1]), int(pfc[2])
        elif not (is_ruler(line) or line.lstrip().startswith("|")):
            continue
        used.add(at)
    read = tuple(p for p in ports.values() if p.queue_drops)
    if read:
        yield FoundPart(
            output=PastedOutput.QUEUES, platform=DeviceSystem.NXOS, lines=frozenset(used), ports=read, inside=inside
        )


_QUEUE_ROW = re.compile(r"\s*(\S{2,40})\s+((?:UC|MC|ALL)[0-9]{1,2})\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)(?:\s+\S+){0,4}\s*")
_QUEUE_HEAD = re.compile(r"\s*Port\s+TxQ\s+Counter/pkts\s+Counter/bytes\s+Drop/pkts\s+Drop/bytes\b.{0,60}")


def queue_tables(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the table of queues that EOS and SONiC print alike: packets and drops by port and queue."""
    ports: dict[str, PortReading] = {}
    used: set[int] = set()
    is_headed = False
    for at, line in enumerate(block.lines):
        if _QUEUE_HEAD.fullmatch(line):
            is_headed = True
            used.add(at)
        elif is_headed and (row := _QUEUE_ROW.fullmatch(line)) and is_port(row[1]):
            name = port_name(row[1])
            port = ports.setdefault(name, PortReading(device=block.device, name=name))
            if (dropped := count(row[5])) is not None:
                port.queue_drops[row[2]] = dropped
            used.add(at)
    if ports:
        # Arista names its ports in short here.
        is_arista = any(
            block.lines[at].lstrip().startswith("Et") and "/" in block.lines[at].split()[0] for at in used
        ) or any(re.match(r"\s*Et[0-9]", block.lines[at]) for at in used)
        yield FoundPart(
            output=PastedOutput.QUEUES,
            platform=DeviceSystem.EOS if is_arista else DeviceSystem.SONIC,
            lines=frozenset(used),
            ports=tuple(ports.values()),
        )


_VOQ_PORT = re.compile(r"\s*VOQ Stats For : (\S{2,40})\b.{0,40}")
_VOQ = re.compile(r"\s*([0-9]{1,2})?\s*\| (Enqueued|Dropped|Total)\s*\|\s*([0-9]{1,20})\s*\|\s*[0-9]{1,20}\s*\|\s*")
_DROP_HEAD = re.compile(r"\s*(?:Asic:\S+ Core:\S+ )?DATA Port:\S{1,6} (?:Hardware )?Drop Counters\s*")
_DROP_ROW = re.compile(r"\s*([0-9]{1,2})((?:\s+[0-9]{1,20}){5,6})\s*")


def catalyst_queues(block: PasteBlock) -> Iterator[FoundPart]:
    """Find `show platform hardware fed … qos queue stats interface`. Most models count bytes, and do not name the port:
    the command does."""
    name, queue = port_in(block.words()), ""
    packets: dict[str, int] = {}
    octets: dict[str, int] = {}
    used: set[int] = set()
    is_of_drops = False
    for at, line in enumerate(block.lines):
        if begun := _VOQ_PORT.fullmatch(line):
            name = port_name(begun[1])
        elif voq := _VOQ.fullmatch(line):
            queue = voq[1] or queue
            if voq[2] == "Dropped":
                packets[queue] = int(voq[3])
        elif _DROP_HEAD.fullmatch(line):
            is_of_drops = True
        elif is_of_drops and (row := _DROP_ROW.fullmatch(line)):
            octets[row[1]] = octets.get(row[1], 0) + sum(map(int, row[2].split()))
        elif "Enqueue" in line or (octets and line.strip() and line.lstrip()[0].isalpha()):
            is_of_drops = False
            continue
        else:
            continue
        used.add(at)
    if packets or octets:
        port = PortReading(device=block.device, name=name, queue_drops=packets, queue_drop_bytes=octets)
        yield FoundPart(output=PastedOutput.QUEUES, platform=DeviceSystem.IOS_XE, lines=frozenset(used), ports=(port,))


_INTERNAL_HEAD = re.compile(r"\s*ID\s+Name\s+Value\s+Ports\s*")
_INTERNAL = re.compile(r"\s*[0-9]{1,6}\s+(\S.{0,60}?)\s{2,}([0-9]{1,20})\s+(\S{1,60}).{0,60}")
_IS_DROP = re.compile(r"drop|discard|error|crc|overflow", re.IGNORECASE)


def internal_errors(block: PasteBlock) -> Iterator[FoundPart]:
    """Find `show hardware internal errors` of NX-OS: what the forwarding engines count of no port."""
    inside: dict[str, int] = {}
    used: set[int] = set()
    is_headed = False
    for at, line in enumerate(block.lines):
        if _INTERNAL_HEAD.fullmatch(line):
            is_headed = True
        elif is_headed and (row := _INTERNAL.fullmatch(line)):
            if row[3] == "-" and _IS_DROP.search(row[1]):
                inside[row[1]] = inside.get(row[1], 0) + int(row[2])
        elif not is_ruler(line):
            continue
        used.add(at)
    if is_headed:
        yield FoundPart(output=PastedOutput.INTERNAL, platform=DeviceSystem.NXOS, lines=frozenset(used), inside=inside)
