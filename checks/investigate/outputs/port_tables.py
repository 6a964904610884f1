"""Tables of ports: state (`show interface status`, `brief`) and counters (`show interface counters errors`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from checks.investigate.outputs.found_parts import FoundPart, RuledTable, ruled_tables
from checks.investigate.outputs.pasted_text import PasteBlock, count, is_ruler
from checks.investigate.outputs.port_names import is_port, port_name
from checks.model.pasted import Counter, DeviceSystem, PastedOutput, PortReading

_COLUMNS: Mapping[str, Counter] = {
    "fcs-err": Counter.CRC,
    "fcs": Counter.CRC,
    "xmit-err": Counter.OUTPUT_ERRORS,
    "tx": Counter.OUTPUT_ERRORS,
    "rcv-err": Counter.INPUT_ERRORS,
    "rx": Counter.INPUT_ERRORS,
    "undersize": Counter.RUNTS,
    "runts": Counter.RUNTS,
    "giants": Counter.GIANTS,
    "oversize": Counter.GIANTS,
    "outdiscards": Counter.OUTPUT_DISCARDS,
    "indiscards": Counter.INPUT_DISCARDS,
    "stomped-crc": Counter.STOMPED_CRC,
}
_OTHER_COLUMNS = frozenset(
    """
    align-err align symbol single-col multi-col late-col exces-col excess-col carri-sen sqetest-err deferred-tx
    intmactx-er intmacrx-er symbol-err inoctets inucastpkts inmcastpkts inbcastpkts outoctets outucastpkts outmcastpkts
    outbcastpkts inpkts outpkts
    """.split()  # noqa: SIM905
)
"""Columns of Cisco and Arista that count no packets that a port lost, or repeat the others."""
_SONIC: Mapping[str, Counter] = {
    "rx_err": Counter.INPUT_ERRORS,
    "rx_drp": Counter.INPUT_DISCARDS,
    "rx_ovr": Counter.GIANTS,
    "tx_err": Counter.OUTPUT_ERRORS,
    "tx_drp": Counter.OUTPUT_DISCARDS,
}
_NETSTAT: Mapping[str, Counter] = {**_SONIC, "rx_ovr": Counter.NO_BUFFER}
"""`net show counters` and `netstat -i` count overruns, not frames that are too long."""


def counter_tables(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the tables of counters of NX-OS, IOS-XE and EOS: a header with one word a column, then one row a port."""
    header: list[str] = []
    ports: dict[str, PortReading] = {}
    used: set[int] = set()
    is_of_errors = False
    platform = DeviceSystem.UNKNOWN
    named = ""
    for at, line in enumerate(block.lines):
        words = line.split()
        if len(words) > 1 and words[0] in ("Port", "Interface") and all(_is_column(word) for word in words[1:]):
            header = [word.casefold() for word in words[1:]]
            used.update((at, at - 1) if at else (at,))
            is_of_errors |= not _COLUMNS.keys().isdisjoint(header)
            platform = _counting_platform(header) or platform
        elif header and words and is_port(words[0]) and len(words) == len(header) + 1:
            _add(ports, block.device, words[0], header, words[1:])
            used.add(at)
        elif header and len(words) == 1 and is_port(words[0]):
            named = words[0]  # a long name has its values on the next line
            used.add(at)
            continue
        elif header and named and len(words) == len(header):
            _add(ports, block.device, named, header, words)
            used.add(at)
        elif header and is_ruler(line):
            used.add(at)
        else:
            header = []
        named = ""
    if ports:
        yield FoundPart(
            output=PastedOutput.COUNTERS,
            platform=platform,
            lines=frozenset(used),
            ports=tuple(ports.values()) if is_of_errors else (),
        )


def _is_column(word: str) -> bool:
    return word.casefold() in _COLUMNS or word.casefold() in _OTHER_COLUMNS


def _counting_platform(header: list[str]) -> DeviceSystem | None:
    if header[:3] == ["fcs", "align", "symbol"]:
        return DeviceSystem.EOS
    if {"stomped-crc", "symbol-err", "sqetest-err"} & set(header):
        return DeviceSystem.NXOS
    return None


def _add(ports: dict[str, PortReading], device: str, name: str, header: list[str], values: list[str]) -> None:
    key = port_name(name)
    port = ports.get(key) or PortReading(device=device, name=key)
    read = {
        counter: number
        for column, value in zip(header, values, strict=True)
        if (counter := _COLUMNS.get(column)) and (number := count(value)) is not None
    }
    # `UnderSize` and `Runts` count the same frames.
    both = {**port.counters, **{c: max(n, port.counters.get(c, 0)) for c, n in read.items()}}
    ports[key] = replace(port, counters=both)


_STATE = re.compile(
    r"\s*(?P<name>\S{1,40})\s+(?P<description>\S.{0,60}?\s+|)?"
    r"(?P<state>connected|notconnec?t?|disabled|err-?[Dd]isabled|errDisab\w*|inactive|monitoring|suspend\w*|suspnd\w*"
    r"|sfpAbsent|xcvrAbsen\w*|linkFlap\w*|noOperMem|down|up|channelDo|faulty|xcvrInval|sfpInvali|vpcPeerLn|dot1xAuth\w*"
    r"|err-vlans|notpresent):?\s+"
    r"(?P<vlan>in Po[0-9]{1,4}|pvlan \w{1,10}|\S{1,20})\s+(?P<duplex>a-full|a-half|full|half|auto|unconf|--)\s+"
    r"(?P<speed>\S{1,10})(?:\s+\S.{0,60})?",
    re.ASCII,
)
_SURE = re.compile(r"connected|notconnec|err|sfpAbsent|xcvr|suspnd|suspend")
"""States by which a row is known without its header."""
_DESCRIBED = re.compile(
    r"\s*(?P<name>\S{1,40})\s+(?P<state>up|down|admin down|adminDown|deleted|reset)\s+(?:up|down"
    r"|notpresent|lowerlayerdown)\b\s*(?P<description>.{0,250}?)\s*"
)
_DESCRIBED_NEXUS = re.compile(
    r"\s*(?P<name>(?:Eth|Po|mgmt|Lo|Vlan)\S{1,20})\s+(?:(?:eth|mgmt)\s+\S{1,10}\s+)?(?P<description>\S.{0,250}?)\s*"
)
_DESCRIBED_HEAD = re.compile(r"\s*(?:Interface|Port)\s+(?:Status\s+Protocol|Type\s+Speed)?\s*Description\s*")
_STATE_HEAD = re.compile(r"\s*Port\s+(?:Name\s+)?Status\s+(?:Vlan|VLAN)\s+Duplex\s+Speed\b.{0,40}")
_BRIEF = re.compile(
    r"\s*(?P<name>(?:Eth|Po|mgmt)\S{1,20})\s+(?:\S{1,10}\s+)?(?:eth\s+)(?P<mode>access|trunk|routed|f-path|fabric|pvlan|dot1q-\w{1,6})\s+"
    r"(?P<state>up|down)\s+(?P<why>\S.{0,40}?)\s+(?P<speed>\S{1,10})\([DIS]\)\s+(?P<channel>--|[0-9]{1,4}|lacp|none)",
    re.ASCII,
)


def state_tables(block: PasteBlock) -> Iterator[FoundPart]:
    """Find `show interface status` of NX-OS, IOS-XE and EOS, and `show interface brief` of NX-OS."""
    ports, used = [], set[int]()
    headed = any("status" in word for word in block.words())
    platform, described = DeviceSystem.UNKNOWN, None
    for at, line in enumerate(block.lines):
        if _STATE_HEAD.fullmatch(line):
            headed = True
            used.add(at)
        elif (row := _BRIEF.fullmatch(line)) and is_port(row["name"]):
            platform = DeviceSystem.NXOS
            ports.append(
                PortReading(
                    device=block.device,
                    name=port_name(row["name"]),
                    is_up=row["state"] == "up",
                    state=row["why"] if row["state"] == "down" else "up",
                    speed_mbps=speed_of(row["speed"]),
                    vlan=row["mode"] if row["mode"] != "access" else "",
                    channel=f"Port-channel{row['channel']}" if row["channel"].isdigit() else "",
                )
            )
            used.add(at)
        elif (row := _STATE.fullmatch(line)) and is_port(row["name"]) and (headed or _SURE.match(row["state"])):
            ports.append(_state(block.device, row))
            used.add(at)
        elif _DESCRIBED_HEAD.fullmatch(line):
            described = _DESCRIBED if "Protocol" in line else _DESCRIBED_NEXUS
            used.add(at)
        elif described and (row := described.fullmatch(line)) and is_port(row["name"]):
            state = row.groupdict().get("state")
            ports.append(
                PortReading(
                    device=block.device,
                    name=port_name(row["name"]),
                    is_up=None if state is None else state == "up",
                    state=state or "",
                    description=row["description"].strip("-"),
                )
            )
            used.add(at)
    if ports:
        yield FoundPart(output=PastedOutput.STATUS, platform=platform, lines=frozenset(used), ports=tuple(ports))


def _state(device: str, row: re.Match[str]) -> PortReading:
    channel = port_name(row["vlan"].removeprefix("in ")) if row["vlan"].startswith("in ") else ""
    description = (row["description"] or "").strip()
    return PortReading(
        device=device,
        name=port_name(row["name"]),
        is_up=row["state"] in ("connected", "up"),
        state=row["state"],
        description="" if description == "--" else description,
        speed_mbps=speed_of(row["speed"].removeprefix("a-")),
        channel=channel,
        vlan="" if channel else row["vlan"],
    )


_SPEED = re.compile(r"([0-9]{1,6})(?:([MG])(?:bps|b/s|bit)?)?", re.ASCII)


def speed_of(text: str) -> int | None:
    """Return a speed in Mbit/s: `10G`, `100M`, `1000`; None for `auto` and `--`."""
    found = _SPEED.fullmatch(text)
    return int(found[1]) * (1000 if found[2] == "G" else 1) if found else None


def ruled_port_tables(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the tables of SONiC and Cumulus: `show interfaces counters` and `status`, `net show counters`, `net show
    interface`, `nv show interface`, `show priority-group drop counters`, `show pfc counters`."""
    for table in ruled_tables(block.lines):
        header = set(table.header)
        if {"rx_err", "tx_err"} <= header:
            yield _counters(block.device, table)
        elif "interface" in header and "oper" in header and "admin" in header:
            yield _sonic_states(block.device, table)
        elif table.header[:2] in (("port rx", "pfc0"), ("port tx", "pfc0")) or table.header[:2] == ("port", "pg0"):
            yield _by_priority(block.device, table)
        elif (
            "mtu" in header and not {"speed", "spd"}.isdisjoint(header) and ("name" in header or "interface" in header)
        ):
            yield _cumulus_states(block.device, table)


def _counters(device: str, table: RuledTable) -> FoundPart:
    is_netstat = "met" in table.header or "flg" in table.header
    meanings = _NETSTAT if is_netstat else _SONIC
    ports = tuple(
        PortReading(
            device=device,
            name=port_name(row.cells["iface"]),
            is_up={"U": True, "D": False}.get(row.cells.get("state", "")),
            mtu=count(row.cells.get("mtu", "")),
            counters={
                counter: number
                for column, counter in meanings.items()
                if (number := count(row.cells.get(column, ""))) is not None
            },
        )
        for row in table.rows
        if row.cells.get("iface")
    )
    platform = DeviceSystem.CUMULUS if is_netstat else DeviceSystem.SONIC
    return FoundPart(output=PastedOutput.COUNTERS, platform=platform, lines=table.lines, ports=ports)


def _sonic_states(device: str, table: RuledTable) -> FoundPart:
    ports = tuple(
        PortReading(
            device=device,
            name=row.cells["interface"],
            is_up={"up": True, "down": False}.get(row.cells["oper"]),
            state=row.cells["oper"] if row.cells["admin"] != "down" else "administratively down",
            description=row.cells.get("description", "").replace("N/A", ""),
            mtu=count(row.cells.get("mtu", "")),
            speed_mbps=speed_of(row.cells.get("speed", "")),
            vlan=vlan if not (vlan := row.cells.get("vlan", "")).startswith("PortChannel") else "",
            channel=vlan if vlan.startswith("PortChannel") else "",
        )
        for row in table.rows
        if row.cells["interface"]
    )
    return FoundPart(output=PastedOutput.STATUS, platform=DeviceSystem.SONIC, lines=table.lines, ports=ports)


def _by_priority(device: str, table: RuledTable) -> FoundPart:
    """Pause frames by priority, added up; or drops by priority group, as drops of queues."""
    first = table.header[0]
    ports = []
    for row in table.rows:
        values = {name: number for name, cell in row.cells.items() if (number := count(cell)) is not None}
        if first == "port":
            ports.append(PortReading(device=device, name=row.cells[first], queue_drops=values))
        else:
            of = Counter.PAUSE_IN if first == "port rx" else Counter.PAUSE_OUT
            ports.append(PortReading(device=device, name=row.cells[first], counters={of: sum(values.values())}))
    output = PastedOutput.QUEUES if first == "port" else PastedOutput.COUNTERS
    return FoundPart(output=output, platform=DeviceSystem.SONIC, lines=table.lines, ports=tuple(ports))


def _cumulus_states(device: str, table: RuledTable) -> FoundPart:
    ports = []
    for row in table.rows:
        name = row.cells.get("name") or row.cells.get("interface", "")
        state = row.cells.get("state") or next(
            (row.cells[c] for c in ("", "st", "oper status") if row.cells.get(c)), ""
        )
        if is_port(name):
            ports.append(
                PortReading(
                    device=device,
                    name=name,
                    is_up={"up": True, "dn": False, "down": False, "admdn": False}.get(state.casefold()),
                    state=state,
                    mtu=count(row.cells["mtu"]),
                    speed_mbps=speed_of(row.cells.get("speed") or row.cells.get("spd", "")),
                )
            )
    return FoundPart(output=PastedOutput.STATUS, platform=DeviceSystem.CUMULUS, lines=table.lines, ports=tuple(ports))
