"""Links, trees and optics of a practice switch in the form of Cisco NX-OS, and what its forwarding engine drops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from racwire_lab.switch.nxos_interface import CHANNEL
from racwire_lab.switch.view import PortView, SwitchView

_LINE = "-" * 80
_PEER = "00de.fbff.0002"


def port_channel_summary(switch: SwitchView) -> Iterator[str]:
    """Yield `show port-channel summary`."""
    yield from (
        "Flags:  D - Down        P - Up in port-channel (members)",
        "        I - Individual  H - Hot-standby (LACP only)",
        "        s - Suspended   r - Module-removed",
        "        b - BFD Session Wait",
        "        S - Switched    R - Routed",
        "        U - Up (port-channel)",
        "        p - Up in delay-lacp mode (member)",
        "        M - Not in use. Min-links not met",
        _LINE,
        "Group Port-       Type     Protocol  Member Ports",
        "      Channel",
        _LINE,
    )
    if channel := switch.channel:
        flags = [
            f"{port.short}({'P' if port.number in channel.bundled else 's' if port.is_up else 'D'})"
            for port in channel.ports
        ]
        name = f"Po{CHANNEL}(S{'U' if channel.bundled else 'D'})"
        yield f"{CHANNEL:<6}{name:<12}Eth      LACP      " + "".join(f"{flag:<13}" for flag in flags)


def lacp_counters(switch: SwitchView) -> Iterator[str]:
    """Yield `show lacp counters`."""
    yield "NOTE: Clear lacp counters to get accurate statistics"
    yield ""
    yield _LINE
    yield "                             LACPDUs                      Markers/Resp LACPDUs"
    yield "Port              Sent                Recv                  Recv Sent  Pkts Err"
    yield _LINE
    if channel := switch.channel:
        yield f"port-channel{CHANNEL}"
        for port in channel.ports:
            received = 1_904_412 if port.number in channel.bundled else 1_101_208
            yield f"{port.name:<18}{1_904_418:<20}{received:<22}0    0     0"


def lacp_neighbor(switch: SwitchView) -> Iterator[str]:
    """Yield `show lacp neighbor`."""
    yield "Flags:  S - Device is sending Slow LACPDUs F - Device is sending Fast LACPDUs"
    yield "        A - Device is in Active mode       P - Device is in Passive mode"
    if channel := switch.channel:
        yield f"port-channel{CHANNEL} neighbors"
        yield "Partner's information"
        for port in channel.ports:
            if port.number in channel.bundled:
                yield "            Partner                Partner                     Partner"
                yield "Port        System ID              Port Number     Age         Flags"
                yield f"{port.short:<12}32768,0-de-fb-ff-0-2   0x{0x100 + port.number:<14x}{1_904_412:<12}SA"
                yield ""
                yield "            LACP Partner           Partner                     Partner"
                yield "            Port Priority          Oper Key                    Port State"
                yield "            32768                  0xa                         0x3d"
                yield ""


def vpc(switch: SwitchView) -> Iterator[str]:
    """Yield `show vpc`: a pair that agrees."""
    yield from (
        "Legend:",
        "                (*) - local vPC is down, forwarding via vPC peer-link",
        "",
        f"vPC domain id                     : {switch.vlan}",
        "Peer status                       : peer adjacency formed ok      ",
        "vPC keep-alive status             : peer is alive                 ",
        "Configuration consistency status  : success ",
        "Per-vlan consistency status       : success                       ",
        "Type-2 consistency status         : success ",
        "vPC role                          : primary                       ",
        f"Number of vPCs configured         : {1 if switch.channel else 0}   ",
        "Peer Gateway                      : Disabled",
        "Dual-active excluded VLANs        : -",
        "Graceful Consistency Check        : Enabled",
        "Auto-recovery status              : Disabled",
        "Delay-restore status              : Timer is off.(timeout = 30s)",
        "Delay-restore SVI status          : Timer is off.(timeout = 10s)",
        "",
        "vPC Peer-link status",
        "---------------------------------------------------------------------",
        "id    Port   Status Active vlans    ",
        "--    ----   ------ -------------------------------------------------",
        f"1     Po1    up     1,{switch.vlan}                                                         ",
        "",
    )
    if channel := switch.channel:
        state, active = ("up", switch.vlan) if channel.bundled else ("down*", "-")
        yield from (
            "vPC status",
            "----------------------------------------------------------------------------",
            "Id    Port          Status Consistency Reason                Active vlans",
            "--    ------------  ------ ----------- ------                ---------------",
            f"{CHANNEL:<6}Po{CHANNEL:<12}{state:<7}success     success               {active}     ",
            "",
        )


def spanning_tree(switch: SwitchView) -> Iterator[str]:
    """Yield `show spanning-tree`: this switch is the root."""
    priority = 24576 + switch.vlan
    address = f"00de.fb{switch.vlan:02x}.0001"
    yield from (
        "",
        f"VLAN{switch.vlan:04}",
        "  Spanning tree enabled protocol rstp",
        f"  Root ID    Priority    {priority}",
        f"             Address     {address}",
        "             This bridge is the root",
        "             Hello Time  2  sec  Max Age 20 sec  Forward Delay 15 sec",
        "",
        f"  Bridge ID  Priority    {priority}  (priority 24576 sys-id-ext {switch.vlan})",
        f"             Address     {address}",
        "             Hello Time  2  sec  Max Age 20 sec  Forward Delay 15 sec",
        "",
        "Interface        Role Sts Cost      Prio.Nbr Type",
        "---------------- ---- --- --------- -------- --------------------------------",
    )
    members = [port.number for port in switch.channel.ports] if switch.channel else []
    if members:
        yield f"Po{CHANNEL:<15}Desg FWD 1         128.4105 P2p "
    for port in switch.ports:
        if port.is_up and port.number not in members:
            kind = "P2p " if port.is_trunk else "Edge P2p "
            yield f"{port.short:<17}Desg FWD 2         {f'128.{port.number}':<9}{kind}"
    yield ""


def transceiver(port: PortView) -> Iterator[str]:
    """Yield `show interface transceiver details` of one port."""
    low = "--" if port.receives_dbm < -14 else "-" if port.receives_dbm < -12 else ""
    yield from (
        port.name,
        "    transceiver is present",
        "    type is 10Gbase-SR",
        "    name is CISCO-FINISAR",
        "    part number is FTLX8571D3BCL-C2",
        "    revision is A",
        f"    serial number is FNS1{port.number:03}0A7Q",
        "    nominal bitrate is 10300 MBit/sec",
        "    cisco id is 3",
        "    cisco extended id number is 4",
        "",
        "           SFP Detail Diagnostics Information (internal calibration)",
        "  ----------------------------------------------------------------------------",
        "                Current              Alarms                  Warnings",
        "                Measurement     High        Low         High          Low",
        "  ----------------------------------------------------------------------------",
        "  Temperature   31.12 C        75.00 C     -5.00 C     70.00 C        0.00 C",
        "  Voltage        3.29 V         3.63 V      2.97 V      3.46 V        3.13 V",
        "  Current        7.90 mA       12.00 mA     2.00 mA    11.50 mA       2.50 mA",
        "  Tx Power      -2.41 dBm       1.69 dBm  -11.30 dBm   -1.30 dBm     -7.30 dBm",
        f"  Rx Power     {port.receives_dbm:>6.2f} dBm{low:<4}    1.99 dBm  -13.97 dBm   -1.00 dBm     -9.91 dBm",
        "  Transmit Fault Count = 0",
        "  ----------------------------------------------------------------------------",
        "  Note: ++  high-alarm; +  high-warning; --  low-alarm; -  low-warning",
        "",
    )


def spanning_tree_interface(switch: SwitchView, ports: Sequence[PortView]) -> Iterator[str]:
    """Yield `show spanning-tree interface` of these ports."""
    yield ""
    yield "Vlan             Role Sts Cost      Prio.Nbr Type"
    yield "---------------- ---- --- --------- -------- --------------------------------"
    for port in (port for port in ports if port.is_up):
        kind = "P2p " if port.is_trunk else "Edge P2p "
        yield f"VLAN{switch.vlan:04}         Desg FWD 2         {f'128.{port.number}':<9}{kind}"
    yield ""


def status(switch: SwitchView, ports: Sequence[PortView]) -> Iterator[str]:
    """Yield `show interface status`."""
    yield ""
    yield _LINE
    yield "Port          Name               Status    Vlan      Duplex  Speed   Type"
    yield _LINE
    for port in ports:
        state = "connected" if port.is_up else "disabled" if port.why_down.startswith("Admin") else "notconnec"
        vlan, (duplex, speed) = (
            "trunk" if port.is_trunk else str(switch.vlan),
            ("full", "10G") if port.is_up else ("auto", "auto"),
        )
        yield f"{port.short:<14}{port.description[:18]:<19}{state:<10}{vlan:<10}{duplex:<8}{speed:<8}10Gbase-SR"


def trunks(switch: SwitchView, ports: Sequence[PortView]) -> Iterator[str]:
    """Yield `show interface trunk`."""
    chosen = [port for port in ports if port.is_trunk]
    members = [port.number for port in switch.channel.ports] if switch.channel else []
    yield ""
    yield from (_LINE, "Port          Native  Status        Port", "              Vlan                  Channel", _LINE)
    for port in chosen:
        state = "trnk-bndl" if port.number in members else "trunking" if port.is_up else "not-connected"
        yield f"{port.short:<14}1       {state:<14}{f'Po{CHANNEL}' if port.number in members else '--'}"
    for title in ("Vlans Allowed on Trunk", "Vlans Err-disabled on Trunk", "STP Forwarding"):
        vlans = f"1,{switch.vlan}" if title == "Vlans Allowed on Trunk" else "none"
        yield from ("", _LINE, f"Port          {title}", _LINE)
        for port in chosen:
            carried = f"1,{switch.vlan}" if title == "STP Forwarding" and port.is_up else vlans
            yield f"{port.short:<14}{carried}"


def switchport(switch: SwitchView, ports: Sequence[PortView]) -> Iterator[str]:
    """Yield `show interface switchport`."""
    for port in ports:
        yield f"Name: {port.name}"
        yield "  Switchport: Enabled"
        yield "  Switchport Monitor: Not enabled "
        yield f"  Operational Mode: {'trunk' if port.is_trunk else 'access'}"
        yield f"  Access Mode VLAN: {1 if port.is_trunk else switch.vlan} ({'default' if port.is_trunk else 'private'})"
        yield "  Trunking Native Mode VLAN: 1 (default)"
        yield "  Trunking VLANs Allowed: 1-4094"
        yield "  Voice VLAN: none"
        yield "  Administrative private-vlan primary host-association: none"
        yield "  Operational private-vlan: none"


def internal_errors(switch: SwitchView) -> Iterator[str]:
    """Yield `show hardware internal errors`: what the forwarding engine drops is of no port."""
    ruler = "|" + "-" * 72 + "|"
    yield from (
        ruler,
        f"| {'Device:Forwarding engine         Role:FWD         Mod: 1':<71}|",
        f"| {'Last cleared @ never':<71}|",
        f"| {'Device Statistics Category :: ERROR':<71}|",
        ruler,
        "Instance:0",
        "ID    Name                                          Value              Ports",
        "--    ----                                          -----              -----",
        f"14    Fabric drop packets                           {switch.fabric_drops:016}   -",
    )
