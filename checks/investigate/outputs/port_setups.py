"""How ports are set up: `show running-config interface`, `show interface switchport`, `show interface trunk`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock, is_ruler
from checks.investigate.outputs.port_names import is_port, port_name
from checks.model.pasted import AclPlace, PastedOutput, PortReading

_INTERFACE = re.compile(r"interface ([A-Za-z][\w/.:-]{1,40}(?: [0-9/]{1,12})?)")
_SETTING = re.compile(
    r" +(?:mtu (?P<mtu>[0-9]{3,5})|switchport access vlan (?P<vlan>[0-9]{1,4})|(?P<trunk>switchport mode trunk)"
    r"|switchport trunk allowed vlan (?P<allowed>[0-9,-]{1,200})|description (?P<description>.{1,250})"
    r"|ip(?:v4)? (?:port )?access-group (?P<acl>\S{1,64}) (?P<way>in|out)"
    r"|channel-group (?P<channel>[0-9]{1,4})\b.{0,40})"
)
_NAME = re.compile(r"Name: (\S{2,40})")
_ACCESS = re.compile(r"\s*Access Mode VLAN: ([0-9]{1,4})\b.{0,60}", re.IGNORECASE)
_MODE = re.compile(r"\s*Operational Mode: (\S.{0,40})")


def port_setups(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the settings of ports in a configuration, and in `show interface switchport`."""
    ports: list[PortReading] = []
    acls: list[AclPlace] = []
    used: set[int] = set()
    for at, line in enumerate(block.lines):
        begun = _INTERFACE.fullmatch(line) or _NAME.fullmatch(line.strip())
        if begun and is_port(begun[1].replace(" ", "")):
            ports.append(PortReading(device=block.device, name=port_name(begun[1].replace(" ", ""))))
        elif not ports:
            continue
        elif found := _SETTING.fullmatch(line):
            if found["acl"]:
                egress = found["way"] == "out"
                acls.append(AclPlace(device=block.device, name=found["acl"], port=ports[-1].name, is_egress=egress))
            ports[-1] = _set(ports[-1], found)
        elif (access := _ACCESS.fullmatch(line)) and ports[-1].vlan != "trunk":
            ports[-1] = replace(ports[-1], vlan=access[1])
        elif (mode := _MODE.fullmatch(line)) and "trunk" in mode[1]:
            ports[-1] = replace(ports[-1], vlan="trunk")
        elif not line.startswith(" "):
            continue
        used.add(at)
    if any(port != PortReading(device=port.device, name=port.name) for port in ports) or acls:
        yield FoundPart(output=PastedOutput.SETUP, lines=frozenset(used), ports=tuple(ports), acl_places=tuple(acls))


def _set(port: PortReading, found: re.Match[str]) -> PortReading:
    if found["mtu"]:
        return replace(port, mtu=int(found["mtu"]))
    if found["vlan"] or found["trunk"]:
        return replace(port, vlan=found["vlan"] or "trunk")
    if found["allowed"]:
        return replace(port, allowed_vlans=found["allowed"])
    if found["description"]:
        return replace(port, description=found["description"])
    return replace(port, channel=f"Port-channel{found['channel']}") if found["channel"] else port


_TRUNK_HEAD = re.compile(
    r"\s*Port\s+(Native\s+Status|Mode\s+Encapsulation\s+Status|Vlans [Aa]llowed on [Tt]runk|STP Forwarding"
    r"|Vlans in spanning tree forwarding state)\b.{0,60}"
)
_TRUNK_ROW = re.compile(r"\s*(\S{2,40})\s+(\S.{0,200}?)\s*")
_VLANS = re.compile(r"none|[0-9][0-9,-]{0,200}")


def trunk_tables(block: PasteBlock) -> Iterator[FoundPart]:
    """Find `show interface trunk` of NX-OS and IOS-XE: state, VLANs allowed, VLANs forwarded."""
    ports: dict[str, PortReading] = {}
    used: set[int] = set()
    part, is_headed = "", False
    for at, line in enumerate(block.lines):
        if head := _TRUNK_HEAD.fullmatch(line):
            is_headed = True
            part = "state" if "tatus" in head[1] else "allowed" if "llowed" in head[1] else "forwarding"
        elif line.strip().startswith("Port "):
            part = ""
        elif part and (row := _TRUNK_ROW.fullmatch(line)) and is_port(row[1]):
            name = port_name(row[1])
            port = ports.get(name) or PortReading(device=block.device, name=name, vlan="trunk")
            if part == "state":
                port = replace(port, is_up="not-" not in row[2] and "down" not in row[2])
            elif _VLANS.fullmatch(row[2]) and part == "allowed":
                port = replace(port, allowed_vlans=row[2])
            elif _VLANS.fullmatch(row[2]):
                port = replace(port, forwarding_vlans=row[2])
            ports[name] = port
        elif not is_ruler(line):
            continue
        used.add(at)
    if is_headed:
        yield FoundPart(output=PastedOutput.STATUS, lines=frozenset(used), ports=tuple(ports.values()))
