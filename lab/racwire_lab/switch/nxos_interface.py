"""`show interface` of a practice switch, in the form of Cisco NX-OS (Nexus 9000).

The form is that of public outputs, such as those with which ntc-templates tests its parsers
(tests/cisco_nxos/show_interface).
"""

from __future__ import annotations

from collections.abc import Iterator

from racwire_lab.switch.view import Aggregation, PortTraffic, PortView, SwitchView

_LONG_AGO = "33week(s) 1day(s)"
_GBPS = 10
CHANNEL = 10
"""The number of the aggregation."""
_JUMBO_SHARE, _MULTICAST = 3, 40_127
"""Every third packet is a large one."""


def interface(switch: SwitchView, port: PortView) -> Iterator[str]:
    """Yield the lines of one port."""
    yield f"{port.name} is up" if port.is_up else f"{port.name} is down ({port.why_down})"
    state = "down" if port.why_down.startswith("Administratively") else "up"
    yield f"admin state is {state}, Dedicated Interface"
    yield from _members_of(switch.channel, port)
    address = f"00de.fb{switch.vlan:02x}.{port.number:04x}"
    yield f"  Hardware: 1000/10000/25000 Ethernet, address: {address} (bia {address})"
    if port.description:
        yield f"  Description: {port.description}"
    yield f"  MTU {port.mtu} bytes, BW {_GBPS * 1_000_000} Kbit , DLY 10 usec"
    yield "  reliability 255/255, txload 1/255, rxload 1/255"
    yield "  Encapsulation ARPA, medium is broadcast"
    yield f"  Port mode is {'trunk' if port.is_trunk else 'access'}"
    yield (
        f"  full-duplex, {_GBPS} Gb/s, media type is 10G"
        if port.is_up
        else "  auto-duplex, auto-speed, media type is 10G"
    )
    yield "  Beacon is turned off"
    yield "  Auto-Negotiation is turned on  FEC mode is Auto"
    yield "  Input flow-control is off, output flow-control is off"
    yield "  Auto-mdix is turned off"
    yield "  Rate mode is dedicated"
    yield "  Switchport monitor is off "
    yield "  EtherType is 0x8100 "
    yield "  EEE (efficient-ethernet) : n/a"
    yield "    admin fec state is auto, oper fec state is off"
    yield f"  Last link flapped {_LONG_AGO if port.flapped_s is None else _clock(port.flapped_s)}"
    yield '  Last clearing of "show interface" counters never'
    yield f"  {port.resets} interface resets"
    yield from _rates(switch, port)
    yield from _counters(port.rx, port.tx, port.crc, port.discards)


def _members_of(channel: Aggregation | None, port: PortView) -> Iterator[str]:
    if channel and port in channel.ports:
        yield f"  Belongs to Po{CHANNEL}"


def channel_interface(switch: SwitchView, channel: Aggregation) -> Iterator[str]:
    """Yield the lines of the aggregation: the sums of its links."""
    rx, tx = PortTraffic(), PortTraffic()
    for port in channel.ports:
        rx, tx = rx.plus(port.rx), tx.plus(port.tx)
    address = f"00de.fb{switch.vlan:02x}.ff{CHANNEL:02x}"
    yield (
        f"port-channel{CHANNEL} is up" if channel.bundled else f"port-channel{CHANNEL} is down (No operational members)"
    )
    yield "admin state is up,"
    yield f"  Hardware: Port-Channel, address: {address} (bia {address})"
    yield "  Description: to the second switch"
    yield f"  MTU 9216 bytes, BW {len(channel.bundled) * _GBPS * 1_000_000} Kbit , DLY 10 usec"
    yield "  reliability 255/255, txload 1/255, rxload 1/255"
    yield "  Encapsulation ARPA, medium is broadcast"
    yield "  Port mode is trunk"
    yield f"  full-duplex, {_GBPS} Gb/s"
    yield "  Input flow-control is off, output flow-control is off"
    yield "  Auto-mdix is turned off"
    yield "  Switchport monitor is off "
    yield "  EtherType is 0x8100 "
    yield f"  Members in this channel: {', '.join(port.short for port in channel.ports)}"
    yield '  Last clearing of "show interface" counters never'
    yield "  0 interface resets"
    yield from _counters(rx, tx, sum(port.crc for port in channel.ports), 0)


def _counters(rx: PortTraffic, tx: PortTraffic, crc: int, discards: int) -> Iterator[str]:
    yield "  RX"
    yield from _packets(rx, "input")
    yield f"    {rx.packets // _JUMBO_SHARE} jumbo packets  0 storm suppression bytes"
    yield f"    0 runts  0 giants  {crc} CRC  0 no buffer"
    yield f"    {crc} input error  0 short frame  0 overrun   0 underrun  0 ignored"
    yield "    0 watchdog  0 bad etype drop  0 bad proto drop  0 if down drop"
    yield "    0 input with dribble  0 input discard"
    yield "    0 Rx pause"
    yield "  TX"
    yield from _packets(tx, "output")
    yield f"    {tx.packets // _JUMBO_SHARE} jumbo packets"
    yield "    0 output error  0 collision  0 deferred  0 late collision"
    yield f"    0 lost carrier  0 no carrier  0 babble  {discards} output discard"
    yield "    0 Tx pause"
    yield ""


def _packets(way: PortTraffic, name: str) -> Iterator[str]:
    multicast, broadcast = _MULTICAST, _MULTICAST // 9
    unicast = way.packets - multicast - broadcast
    yield f"    {unicast} unicast packets  {multicast} multicast packets  {broadcast} broadcast packets"
    yield f"    {way.packets} {name} packets  {way.octets} bytes"


def _rates(switch: SwitchView, port: PortView) -> Iterator[str]:
    """The mean rates of what the kernel counted."""
    for number, (title, seconds) in enumerate((("30 seconds", 30), ("5 minute (300 seconds)", 300)), 1):
        yield f"  Load-Interval #{number}: {title}"
        for way, traffic in (("input", port.rx_now), ("output", port.tx_now)):
            bits, packets = traffic.octets * 8 / switch.up_s, traffic.packets / switch.up_s
            yield f"    {seconds} seconds {way} rate {bits:.0f} bits/sec, {packets:.0f} packets/sec"
        (rx, rx_pps), (tx, tx_pps) = (
            (_bits(way.octets * 8 / switch.up_s), f"{way.packets / switch.up_s:.0f} pps")
            for way in (port.rx_now, port.tx_now)
        )
        yield f"    input rate {rx}, {rx_pps}; output rate {tx}, {tx_pps}"


def _bits(rate: float) -> str:
    for unit, size in (("Gbps", 1e9), ("Mbps", 1e6), ("Kbps", 1e3)):
        if rate >= size:
            return f"{rate / size:.2f} {unit}"
    return f"{rate:.0f} bps"


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours:02}:{minute:02}:{second:02}"
