"""The text of `tcpdump -nn`: what arrived at a NIC, and how much the kernel dropped for want of room."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock
from checks.model.pasted import CapturedFrame, CaptureSummary, DeviceSystem, PastedOutput

MOST_FRAMES = 20_000
_STAMP = r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2} )?(?:[0-9]{1,2}:[0-9]{2}:[0-9]{2}\.[0-9]{3,9}|[0-9]{9,10}\.[0-9]{3,9})"
_LINE = re.compile(rf"\s*{_STAMP} +(?:(?P<nic>[\w.-]{{1,15}}) +(?:In|Out|B|M|P) +)?(?:ethertype )?(?P<rest>\S.*)")
_WITH_MACS = re.compile(
    r"(?:[0-9a-f:]{17} > [0-9a-f:]{17}, )?(?:ethertype )?(?:802\.1Q[^,]{0,60}, |vlan [0-9]{1,4}[^:]{0,60},"
    r" ethertype )?(IPv?[46]?|ARP)(?: \(0x0[0-9a-f]{3}\))?,?(?: length [0-9]{1,5}:)? *(.*)"
)
_HEADER = re.compile(
    r"\((?:tos [^()]{1,160}?, )?(?:class [^()]{1,60}?, )?.{0,80}?(?:id (?P<id>[0-9]{1,5}), offset"
    r" (?P<offset>[0-9]{1,5}), flags \[(?P<flags>[^\]]{1,12})\], )?"
    r"proto (?P<name>[A-Za-z0-9-]{1,12}) \((?P<number>[0-9]{1,3})\), length"
    r" (?P<length>[0-9]{1,5})[^()]{0,80}\)\s*(?P<rest>.*)"
)
_ENDS = re.compile(r"(?P<source>[0-9a-fA-F.:]{3,45}) > (?P<destination>[0-9a-fA-F.:]{3,45}): ?(?P<what>.*)")
_WITH_PORT = re.compile(r"((?:[0-9]{1,3}\.){3}[0-9]{1,3}|[0-9a-fA-F:]{2,39})\.([0-9]{1,5})")
_UDP = re.compile(r"(?:\[[^\]]{1,60}\] )?UDP, (?:bad )?length ([0-9]{1,5})(?: > ([0-9]{1,5}))?.*", re.IGNORECASE)
_ICMP = re.compile(r"ICMP6?[ ,].*?(?:length ([0-9]{1,5}))?")
_TCP = re.compile(r"(?:tcp|Flags \[)[^\n]{0,300}?(?:length ([0-9]{1,5}))?(?::.*)?")
_OTHER = re.compile(r"(?:ip-proto-([0-9]{1,3})|(udp|tcp|icmp|igmp))\b.*", re.IGNORECASE)
_ARP = re.compile(
    r"(?:\(Ethernet .{0,60}\), )?(Request|Reply|Announcement|Probe) (?:who-has )?([0-9a-f.:]{3,45})"
    r"(?:.{0,40}? tell ([0-9a-f.:]{3,45}))?.*"
)
_SUMMARY = re.compile(
    r"\s*(?:\^C)?([0-9]{1,12}) packets? (captured|received by filter|dropped by kernel|dropped by interface)\s*"
)
_LISTENING = re.compile(
    r"\s*(?:tcpdump: )?(?:verbose output suppressed.*|listening on ([\w.-]{1,15}).*|data link type .*|dropped privs .*)"
)
_NUMBERS = {"1": "icmp", "6": "tcp", "17": "udp"}
_IP_HEADER, _UDP_HEADER = 20, 8


def captures(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the packets of a capture and its summary. Without the summary it was cut."""
    frames: list[CapturedFrame] = []
    counts: dict[str, int] = {}
    nic, waiting = "", None
    used: set[int] = set()
    for at, line in enumerate(block.lines):
        if count := _SUMMARY.fullmatch(line):
            counts[count[2]] = int(count[1])
        elif listening := _LISTENING.fullmatch(line):
            nic = listening[1] or nic
        elif waiting and (ends := _ENDS.fullmatch(line.strip())):
            frames.append(_frame(nic, waiting, ends))
            waiting = None
        elif (found := _LINE.fullmatch(line)) and len(frames) < MOST_FRAMES:
            read = _read(found["nic"] or nic, found["rest"])
            if read is None:
                continue
            waiting = read if isinstance(read, re.Match) else None
            if isinstance(read, CapturedFrame):
                frames.append(read)
        else:
            continue
        used.add(at)
    if not frames and "captured" not in counts:
        return
    received, dropped = counts.get("received by filter"), counts.get("dropped by kernel")
    yield FoundPart(
        output=PastedOutput.CAPTURE,
        platform=DeviceSystem.LINUX,
        lines=frozenset(used),
        is_cut="captured" not in counts,
        frames=tuple(frames),
        captures=tuple(
            CaptureSummary(captured=number, received=received, dropped=dropped)
            for name, number in counts.items()
            if name == "captured"
        ),
    )


def _read(nic: str, rest: str) -> CapturedFrame | re.Match[str] | None:
    """A packet; its header alone, where `-v` prints the addresses on the next line; None for what is no packet."""
    found = _WITH_MACS.fullmatch(rest)
    if found is None:
        return None
    if found[1] == "ARP":
        arp = _ARP.fullmatch(found[2])
        return CapturedFrame(protocol="arp", source=arp[3] or "", destination=arp[2], nic=nic) if arp else None
    header = _HEADER.fullmatch(found[2])
    text = header["rest"] if header else found[2]
    ends = _ENDS.fullmatch(text.strip())
    if ends is None:
        return header if header and not text.strip() else None
    return _frame(nic, header, ends)


def _frame(nic: str, header: re.Match[str] | None, ends: re.Match[str]) -> CapturedFrame:
    source, source_port = _end(ends["source"])
    destination, destination_port = _end(ends["destination"])
    protocol, octets, is_fragment = _what(ends["what"], source_port is not None)
    identifier = offset = None
    if header:
        protocol = _NUMBERS.get(header["number"], protocol or header["number"])
        octets = int(header["length"])
        if header["id"]:
            identifier, offset = int(header["id"]), int(header["offset"])
            is_fragment = bool(offset) or "+" in header["flags"]
    return CapturedFrame(
        protocol=protocol,
        source=source,
        destination=destination,
        source_port=source_port,
        destination_port=destination_port,
        octets=octets,
        is_fragment=is_fragment,
        fragment_id=identifier,
        offset=offset,
        nic=nic,
    )


def _end(text: str) -> tuple[str, int | None]:
    found = _WITH_PORT.fullmatch(text)
    return (found[1], int(found[2])) if found else (text, None)


def _what(text: str, has_port: bool) -> tuple[str, int | None, bool]:
    """Protocol, bytes of the IP packet, and whether it is a fragment. Only the first fragment has ports; tcpdump then
    prints the length of the datagram, and that it has less."""
    if udp := _UDP.fullmatch(text):
        octets = int(udp[2] or udp[1]) + _IP_HEADER + _UDP_HEADER
        return "udp", octets, udp[2] is not None
    if icmp := _ICMP.fullmatch(text):
        return "icmp", int(icmp[1]) + _IP_HEADER if icmp[1] else None, False
    if has_port and _TCP.fullmatch(text):
        return "tcp", None, False
    if other := _OTHER.fullmatch(text):
        protocol = _NUMBERS.get(other[1] or "", (other[2] or other[1]).casefold())
        # Without ports, and with the bare name of the protocol: a fragment after the first.
        return protocol, None, not has_port and protocol in ("udp", "tcp", "icmp")
    # Content that tcpdump takes for a protocol of its own, by the port.
    return ("udp" if has_port else ""), None, False
