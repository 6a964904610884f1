"""The tables of a practice switch in the form of Cisco NX-OS: errors, queues, policers, access lists, MAC addresses.

The forms are those of public outputs: tests/cisco_nxos of ntc-templates, and Cisco's guides for the Nexus 9000.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from racwire_lab.switch.nxos_interface import CHANNEL
from racwire_lab.switch.view import Acl, Policed, PortView, SwitchView

_LINE = "-" * 80
_GROUPS = (0, 1, 2, 3)


def counters_errors(switch: SwitchView, ports: Iterable[PortView]) -> Iterator[str]:
    """Yield `show interface counters errors`."""
    chosen = list(ports)
    crc = {port.short: port.crc for port in chosen}
    rows = [(port.short, 0, port.crc, 0, port.crc, 0, port.discards) for port in chosen]
    if switch.channel and {port.number for port in switch.channel.ports} <= {port.number for port in chosen}:
        total = sum(port.crc for port in switch.channel.ports)
        rows.append((f"Po{CHANNEL}", 0, total, 0, total, 0, 0))
        crc[f"Po{CHANNEL}"] = total
    names = [row[0] for row in rows]
    yield from _table("Port          Align-Err    FCS-Err   Xmit-Err    Rcv-Err  UnderSize OutDiscards")
    yield "mgmt0                   0          0         --         --         --          --"
    for name, *values in rows:
        yield f"{name:<14}" + "".join(f"{v:>{w}}" for v, w in zip(values, (10, 11, 11, 11, 11, 12), strict=True))
    yield ""
    yield from _table("Port         Single-Col  Multi-Col   Late-Col  Exces-Col  Carri-Sen       Runts")
    yield "mgmt0                 0          0          0          0          0           0"
    yield from (f"{name:<14}" + "".join(f"{0:>{w}}" for w in (9, 11, 11, 11, 11, 12)) for name in names)
    yield ""
    yield from _table("Port          Giants SQETest-Err Deferred-Tx IntMacTx-Er IntMacRx-Er Symbol-Err")
    yield "mgmt0              0          --           0           0           0          0"
    yield from (f"{name:<14}{0:>6}{'--':>12}" + "".join(f"{0:>{w}}" for w in (12, 12, 12, 11)) for name in names)
    yield ""
    yield from _table("Port         InDiscards")
    yield "mgmt0                --"
    yield from (f"{name:<14}{0:>9}" for name in names)
    yield ""
    yield from _table("Port         Stomped-CRC")
    yield from (f"{port.short:<14}{0:>9}" for port in chosen)
    yield ""


def _table(head: str) -> Iterator[str]:
    yield from (_LINE, head, _LINE)


def queuing(port: PortView) -> Iterator[str]:
    """Yield `show queuing interface` of one port."""
    yield from ("slot  1", "=======", "", "")
    yield f"Egress Queuing for {port.name} [System]"
    ruler = "-" * 78
    yield from (
        ruler,
        "QoS-Group# Bandwidth% PrioLevel                Shape                   QLimit",
        "                                   Min          Max        Units   ",
        ruler,
    )
    for group in reversed(_GROUPS):
        priority = ("-", "1") if group == _GROUPS[-1] else ("100" if group == 0 else "0", "-")
        yield f"{group:>7}{priority[0]:>14}{priority[1]:>10}           -            -     -            9(D)"
    for group in _GROUPS:
        of_port = group == 0
        yield from _queue(
            f"QOS GROUP {group}", (port.tx.packets, port.tx.octets, port.discards) if of_port else (0, 0, 0)
        )
    yield from _queue("CONTROL QOS GROUP", (61_004, 7_932_118, 0))
    yield from _queue("SPAN QOS GROUP", (0, 0, 0))
    yield "+" + "-" * 61 + "+"
    yield from ("", "")
    yield f"Ingress Queuing for {port.name}"
    ruler = "-" * 53
    yield from (
        ruler,
        "QoS-Group#                 Pause                      ",
        "           Buff Size       Pause Th      Resume Th    ",
        ruler,
    )
    yield from (f"{group:>7}              -            -            -     " for group in reversed(range(8)))
    yield ""
    yield from ("PFC Statistics", "-" * 78, "TxPPP:                    0,   RxPPP:                    0", "-" * 78, "")


def _queue(title: str, sent: tuple[int, int, int]) -> Iterator[str]:
    packets, octets, dropped = sent
    ruler = "+" + "-" * 61 + "+"
    yield ruler
    yield f"|{title:^61}|"
    yield ruler
    yield "|                           |  Unicast       |Multicast       |"
    yield ruler
    for name, value in (
        ("Tx Pkts", packets),
        ("Tx Byts", octets),
        ("WRED/AFD & Tail Drop Pkts", dropped),
        ("WRED/AFD & Tail Drop Byts", dropped * 9018),
        ("Q Depth Byts", 0),
        ("WD & Tail Drop Pkts", dropped),
    ):
        yield f"|{name:>26} |{value:>16}|{0:>16}|"


def policy_map(port: PortView) -> Iterator[str]:
    """Yield `show policy-map interface` of one port."""
    yield from ("", "", "Global statistics status :   enabled", "", port.name, "")
    if port.policed:
        yield from _policy("  Service-policy (qos) output:   private-limit", "large-packets", port.policed)
    yield "  Service-policy (queuing) output:   default-out-policy "
    yield "    SNMP Policy Index:  301990050"
    for group in reversed(_GROUPS):
        name = "c-out-q-default" if group == 0 else f"c-out-q{group}"
        yield from ("", f"    Class-map (queuing):   {name} (match-any)")
        yield (
            "      priority level 1"
            if group == _GROUPS[-1]
            else f"      bandwidth remaining percent {0 if group else 100}"
        )
        yield f"      queue dropped pkts : {0 if group else port.discards} "
        yield "      queue depth in bytes : 0 "
    yield ""


def vlan_policy(switch: SwitchView) -> Iterator[str]:
    """Yield `show policy-map vlan`: nothing where the VLAN has no policer."""
    yield from ("", "", "Global statistics status :   enabled", "", f"Vlan {switch.vlan}", "")
    if switch.policed:
        yield from _policy("  Service-policy (qos) input:   private-limit", "limited", switch.policed)


def _policy(title: str, name: str, policed: Policed) -> Iterator[str]:
    total = policed.conformed.plus(policed.violated)
    yield title
    yield from ("    SNMP Policy Index:  285213501", "")
    yield f"    Class-map (qos):   {name} (match-any)"
    yield "     Slot 1"
    yield f"        {total.packets} packets {total.octets} bytes"
    yield "        5 minute offered rate 0 bps"
    yield "     Aggregate forwarded :"
    yield f"        {policed.conformed.packets} packets {policed.conformed.octets} bytes"
    yield f"      {policed.match}"
    yield f"      police cir {policed.rate_kbps} kbps bc {policed.burst} bytes "
    yield f"        conformed {policed.conformed.octets} bytes, 0 bps action: transmit"
    yield f"        violated {policed.violated.octets} bytes, 0 bps action: drop"
    yield ""


def access_lists(acls: Iterable[Acl]) -> Iterator[str]:
    """Yield `show access-lists`."""
    for acl in acls:
        yield f"IP access list {acl.name}"
        yield "        statistics per-entry "
        yield from (f"        {n * 10} {line.rule} [match={line.matches}] " for n, line in enumerate(acl.lines, 1))
    yield from (
        "IP access list copp-system-p-acl-icmp",
        "        10 permit icmp any any echo ",
        "        20 permit icmp any any echo-reply ",
        "IP access list copp-system-p-acl-traceroute",
        "        10 permit icmp any any ttl-exceeded ",
    )


def access_lists_summary(switch: SwitchView) -> Iterator[str]:
    """Yield `show access-lists summary`: where each is applied; those of the control plane are on no port."""
    for name, lines in (("copp-system-p-acl-icmp", 2), ("copp-system-p-acl-traceroute", 1)):
        yield f"IPV4 ACL {name}"
        yield f"        Total ACEs Configured: {lines}"
        yield "        Configured on interfaces:"
        yield "        Active on interfaces:"
    for acl in switch.acls:
        where = f"{acl.port} - egress (Port ACL)" if acl.port else f"Vlan {switch.vlan} - (VLAN ACL)"
        yield from (
            f"IPV4 ACL {acl.name}",
            f"        Total ACEs Configured: {len(acl.lines)}",
            "        Configured on interfaces:",
            f"                {where}",
            "        Active on interfaces:",
            f"                {where}",
        )


def running(switch: SwitchView, ports: Iterable[PortView]) -> Iterator[str]:
    """Yield `show running-config`, of these ports only."""
    yield from ("", "!Command: show running-config interface", "", "version 9.3(8) Bios:version 07.69 ", "")
    for port in ports:
        yield from _running(switch, port)


def _running(switch: SwitchView, port: PortView) -> Iterator[str]:
    yield f"interface {port.name}"
    yield f"  description {port.description}"
    yield f"  switchport{' mode trunk' if port.is_trunk else f' access vlan {switch.vlan}'}"
    if not port.is_trunk:
        yield "  spanning-tree port type edge"
    yield f"  mtu {port.mtu}"
    if port.acl:
        yield f"  ip access-group {port.acl} out"
    if port.policed:
        yield "  service-policy type qos output private-limit"
    yield ""


def mac_table(switch: SwitchView) -> Iterator[str]:
    """Yield `show mac address-table`."""
    yield from (
        "Legend: ",
        "        * - primary entry, G - Gateway MAC, (R) - Routed MAC, O - Overlay MAC",
        "        age - seconds since last seen,+ - primary entry using vPC Peer-Link,",
        "        (T) - True, (F) - False, C - ControlPlane MAC, ~ - vsan",
        "   VLAN     MAC Address      Type      age     Secure NTFY Ports",
        "---------+-----------------+--------+---------+------+----+------------------",
    )
    for learned in sorted(switch.macs, key=lambda learned: learned.mac):
        digits = learned.mac.replace(":", "")
        mac = ".".join(digits[at : at + 4] for at in (0, 4, 8))
        yield f"*{switch.vlan:>5}     {mac}   dynamic  {learned.age_s:<10}F      F    {learned.port}"
    yield f"G    -     00de.fb{switch.vlan:02x}.0001   static   -         F      F    sup-eth1(R)"
