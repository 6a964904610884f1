"""Read `lldpctl -f keyvalue` of lldpd: which switch port is at the other end of each cable (IEEE 802.1AB)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.model.facts import LldpNeighbour, Unknown
from checks.sources.clusterware.oracle_text import printed_lines, quoted
from checks.sources.nodes.proc import number
from checks.sources.nodes.sections import Section

# The interface's own name can hold dots (bond1.200), so it ends where a known word begins.
_LINE = re.compile(r"lldp\.(.+?)\.((?:via|rid|age|chassis|port|vlan|ppvid|pi|lldp-med|unknown-tlvs)(?:\..+?)?)=(.*)")
_SMALLEST_FRAME_BYTES = 64
_NOT_FOUND = 127
_TIMED_OUT = 124


def parse_lldp(section: Section) -> tuple[LldpNeighbour, ...] | Unknown:
    """The neighbours by the node's interfaces, in the order told. None at all is an answer too.

    Several on one interface are told one after the other: a switch that passes on what other switches announce.
    """
    if section.exit_status == _NOT_FOUND:
        return Unknown("lldpd, which listens to what switches announce, is not installed there")
    if section.exit_status == _TIMED_OUT:
        return Unknown("lldpctl did not answer in time")
    neighbours = tuple(_neighbours(section.text))
    if section.exit_status and not neighbours:
        said = printed_lines(section.text)
        return Unknown(f"lldpctl gave no answer, as for most users but root{f': {quoted(said[-1])}' if said else ''}")
    return neighbours


def _neighbours(text: str) -> Iterator[LldpNeighbour]:
    interface = ""
    values: dict[str, str] = {}
    # Lines of another shape continue a description of several lines.
    matched = (found for line in text.split("\n") if (found := _LINE.fullmatch(line.strip())))
    for name, key, value in (found.groups() for found in matched):
        if interface and (name != interface or key == "via"):
            yield _neighbour(interface, values)
            values = {}
        interface = name
        values.setdefault(key, value.strip())
    if interface:
        yield _neighbour(interface, values)


def _neighbour(interface: str, values: dict[str, str]) -> LldpNeighbour:
    def first(*keys: str) -> str:
        return next((value for key in keys if (value := values.get(key, ""))), "")

    frame = number(values.get("port.mfs", ""))
    neighbour = LldpNeighbour(
        interface,
        switch=first("chassis.name", "chassis.mac", "chassis.local", "chassis.ip"),
        description=first("chassis.descr"),
        port=first("port.ifname", "port.local", "port.descr", "port.mac"),
    )
    if frame is None or frame < _SMALLEST_FRAME_BYTES:
        return neighbour
    return LldpNeighbour(interface, neighbour.switch, neighbour.description, neighbour.port, frame)
