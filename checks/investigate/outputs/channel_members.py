"""Port-channels and their members: `show port-channel summary`, `show etherchannel summary`, `show interfaces
portchannel`, `show lacp`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock, is_ruler
from checks.investigate.outputs.port_names import is_port, port_name
from checks.model.pasted import ChannelMember, DeviceSystem, MemberState, PastedOutput, PortReading

_HEADS = (
    (DeviceSystem.NXOS, re.compile(r"\s*Group Port-\s+Type\s+Protocol\s+Member Ports\s*")),
    (DeviceSystem.IOS_XE, re.compile(r"\s*Group\s+Port-channel\s+Protocol\s+Ports\s*")),
    (DeviceSystem.EOS, re.compile(r"\s*Port-Channel\s+Protocol\s+Ports\s*")),
    (DeviceSystem.SONIC, re.compile(r"\s*No\.\s+Team Dev\s+Protocol\s+Ports\s*")),
)
_CHANNEL = re.compile(r"((?:Po|Port-[Cc]hannel|PortChannel)[0-9]{1,5})(?:\(([A-Za-z]{1,4})\))?", re.ASCII)
_MEMBER = re.compile(r"([A-Za-z][\w/.:-]{1,30})\(([A-Za-z*+^ -]{1,9})\)", re.ASCII)
_SONIC_STATE = re.compile(r"\((Up|Dw|up|dw)\)")
_ROW = re.compile(r"\s*(?:[0-9]{1,5}\s+)?(?:Po|Port-[Cc]hannel|PortChannel)[0-9]")
_CONTINUED = re.compile(r"\s{6,}\S")
_CISCO: Mapping[str, MemberState] = {
    "P": MemberState.BUNDLED,
    "bndl": MemberState.BUNDLED,
    "s": MemberState.SUSPENDED,
    "susp": MemberState.SUSPENDED,
    "D": MemberState.DOWN,
    "down": MemberState.DOWN,
    "r": MemberState.DOWN,
    "I": MemberState.STANDALONE,
    "indep": MemberState.STANDALONE,
    "H": MemberState.STANDBY,
    "hot-sby": MemberState.STANDBY,
    "w": MemberState.WAITING,
    "p": MemberState.WAITING,
    "b": MemberState.WAITING,
}
_SONIC: Mapping[str, MemberState] = {"S": MemberState.BUNDLED, "D": MemberState.NOT_BUNDLED}


def channel_summaries(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the table of port-channels with the flags of their members; long lists continue on the next line."""
    platform, is_headed, channel = DeviceSystem.UNKNOWN, False, ""
    members: list[ChannelMember] = []
    ports: list[PortReading] = []
    used: set[int] = set()
    for at, line in enumerate(block.lines):
        head = next((system for system, head in _HEADS if head.fullmatch(line)), None)
        if head:
            platform, is_headed, channel = head, True, ""
            used.add(at)
        elif is_headed and _ROW.match(line) and (found := _CHANNEL.search(line)):
            channel = port_name(found[1])
            members += _members(block.device, channel, line[found.end() :], platform)
            ports.append(PortReading(device=block.device, name=channel, is_up=_is_up(line, found[2] or "")))
            used.add(at)
        elif channel and _CONTINUED.match(line) and _MEMBER.search(line):
            members += _members(block.device, channel, line, platform)
            used.add(at)
        elif line.strip() and not is_ruler(line) and channel:
            channel = ""
    if is_headed:
        yield FoundPart(
            output=PastedOutput.MEMBERS,
            platform=platform,
            lines=frozenset(used),
            ports=tuple(ports),
            members=tuple(members),
        )


def _is_up(line: str, flags: str) -> bool | None:
    if flags:
        return "U" in flags
    found = _SONIC_STATE.search(line)
    return found[1].casefold() == "up" if found else None


def _members(device: str, channel: str, text: str, platform: DeviceSystem) -> Iterator[ChannelMember]:
    for name, flags in _MEMBER.findall(text):
        if is_port(name):
            state = _state(flags.strip(), platform)
            yield ChannelMember(device=device, channel=channel, port=port_name(name), state=state)


def _state(flags: str, platform: DeviceSystem) -> MemberState:
    if platform is DeviceSystem.SONIC:
        return MemberState.WAITING if "*" in flags else _SONIC.get(flags, MemberState.NOT_BUNDLED)
    if platform is DeviceSystem.EOS:
        for flag in "sIwP":
            if flag in flags:
                return _CISCO[flag]
        return MemberState.DOWN if "D" in flags or not flags.strip("GS-") else MemberState.NOT_BUNDLED
    return _CISCO.get(flags, MemberState.NOT_BUNDLED)


_LACP_CHANNEL = re.compile(
    r"\s*(?:Channel group:? *([0-9]{1,5})|(?:Aggregated interface: (\S{1,20}))|((?:[Pp]ort-channel"
    r"|Po)[0-9]{1,5}) neighbors).*",
    re.ASCII,
)
_INTERNAL = re.compile(
    r"\s*(\S{1,30})\s+[A-Za-z]{2,3}\s+(bndl|susp|down|hot-sby|indep|Collapsed|other)\s+.{0,10}(?:0x)?[0-9].{0,80}"
)
_PARTNER = re.compile(r"\s*(\S{1,30})\s+[0-9]{1,6},[0-9a-fA-F.:-]{11,17}\s+\S{1,10}\s+\S{1,12}\s+[A-Z]{2}\s*", re.ASCII)
_PARTNER_STATE = re.compile(r"\s*[0-9]{1,6}\s+0x[0-9a-fA-F]{1,6}\s+0x([0-9a-fA-F]{1,2})\s*", re.ASCII)
_JUNOS_ACTOR = re.compile(r"\s*(\S{1,30})\s+Actor\s+(?:No|Yes)\s+(?:No|Yes)\s+(No|Yes)\s+(No|Yes)\s+.{0,60}")
_JUNOS_MUX = re.compile(
    r"\s*(\S{1,30})\s+\S{1,20}\s+(?:\S{1,20} periodic|No periodic)\s+(Collecting distributing|Detached"
    r"|Waiting|Attached|Collecting)\s*"
)
_CARRIES = 0x30
"""The bits of LACP for collecting and distributing (IEEE 802.1AX, 6.4.2.3)."""


def lacp_states(block: PasteBlock) -> Iterator[FoundPart]:
    """Find `show lacp internal` and `neighbor` of Cisco, and `show lacp interfaces` of Junos."""
    found: dict[str, ChannelMember] = {}
    used: set[int] = set()
    channel = partner = ""
    platform = DeviceSystem.UNKNOWN
    for at, line in enumerate(block.lines):
        if begun := _LACP_CHANNEL.fullmatch(line):
            channel = f"Port-channel{begun[1]}" if begun[1] else port_name(begun[2] or begun[3])
            used.add(at)
            continue
        state: MemberState | None = None
        if (row := _INTERNAL.fullmatch(line)) and is_port(row[1]):
            name, state = row[1], _CISCO.get(row[2], MemberState.NOT_BUNDLED)
        elif (row := _PARTNER.fullmatch(line)) and is_port(row[1]):
            partner = row[1]
            used.add(at)
        elif partner and (row := _PARTNER_STATE.fullmatch(line)):
            name, state = partner, _by_bits(int(row[1], 16))
            partner = ""
        elif row := _JUNOS_MUX.fullmatch(line) or _JUNOS_ACTOR.fullmatch(line):
            platform, name = DeviceSystem.JUNOS, row[1]
            carries = row[2] == "Collecting distributing" or (len(row.groups()) > 2 and row[2] == row[3] == "Yes")
            state = MemberState.BUNDLED if carries else MemberState.NOT_BUNDLED
        if state:
            used.add(at)
            key = port_name(name)
            found[key] = ChannelMember(device=block.device, channel=channel, port=key, state=state)
    if found:
        yield FoundPart(
            output=PastedOutput.LACP, platform=platform, lines=frozenset(used), members=tuple(found.values())
        )


def _by_bits(state: int) -> MemberState:
    return MemberState.BUNDLED if state & _CARRIES == _CARRIES else MemberState.NOT_BUNDLED


def members_of(members: Sequence[ChannelMember], channel: str) -> tuple[ChannelMember, ...]:
    """Return the members of one port-channel."""
    return tuple(member for member in members if member.channel.casefold() == channel.casefold())
