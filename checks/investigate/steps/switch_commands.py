"""What the network team types at each kind of switch for each step there. Every command only reads."""

from __future__ import annotations

from collections.abc import Mapping

from checks.model.facts import LldpNeighbour
from checks.model.pasted import DeviceSystem
from checks.model.vendors import known_kinds

_SYSTEMS: Mapping[str, DeviceSystem] = {
    "nexus-9000": DeviceSystem.NXOS,
    "nexus-7000": DeviceSystem.NXOS,
    "nexus-5000": DeviceSystem.NXOS,
    "nexus-3000": DeviceSystem.NXOS,
    "catalyst-9000": DeviceSystem.IOS_XE,
    "catalyst-4500": DeviceSystem.IOS_XE,
    "catalyst-3750": DeviceSystem.IOS_XE,
    "catalyst-6500": DeviceSystem.IOS_XE,
    "arista": DeviceSystem.EOS,
    "juniper": DeviceSystem.JUNOS,
    "cumulus": DeviceSystem.CUMULUS,
    "sonic": DeviceSystem.SONIC,
    "practice": DeviceSystem.NXOS,
    "": DeviceSystem.NXOS,
}
"""By the key of the kind of switch (`checks.model.vendors`): of one that announces no kind, the most usual."""

COMMANDS: Mapping[DeviceSystem, Mapping[str, tuple[str, ...]]] = {
    # Cisco Nexus 9000 Series NX-OS Command Reference
    DeviceSystem.NXOS: {
        "switch-port": (
            "show interface {port}",
            "show interface {port} counters errors",
            "show queuing interface {port}",
        ),
        "switch-port-filter": ("show access-lists", "show access-lists summary", "show policy-map interface {port}"),
        "switch-addresses": ("show mac address-table",),
        "switch-vlan": ("show interface {port} switchport", "show spanning-tree interface {port}"),
        "switch-trunks": ("show interface trunk", "show interface status"),
        "switch-mtu": ("show running-config | include mtu", "show queuing interface"),
        "switch-filters": ("show access-lists", "show access-lists summary", "show policy-map"),
        "switch-aggregation": ("show port-channel summary", "show lacp counters", "show interface counters errors"),
        "switch-inside": ("show hardware internal errors", "show queuing interface"),
    },
    # Cisco IOS XE Command Reference (Catalyst 9000)
    DeviceSystem.IOS_XE: {
        "switch-port": ("show interfaces {port}", "show interfaces {port} counters errors"),
        "switch-port-filter": ("show access-lists", "show policy-map interface {port}"),
        "switch-addresses": ("show mac address-table",),
        "switch-vlan": ("show interfaces {port} switchport", "show spanning-tree interface {port}"),
        "switch-trunks": ("show interfaces trunk", "show interfaces status"),
        "switch-mtu": ("show system mtu",),
        "switch-filters": ("show access-lists", "show policy-map interface"),
        "switch-aggregation": ("show etherchannel summary", "show interfaces counters errors"),
        "switch-inside": ("show interfaces counters errors",),
    },
    # Arista EOS User Manual
    DeviceSystem.EOS: {
        "switch-port": (
            "show interfaces {port}",
            "show interfaces {port} counters errors",
            "show interfaces {port} counters queue",
        ),
        "switch-port-filter": ("show ip access-lists", "show policy-map interface {port}"),
        "switch-addresses": ("show mac address-table",),
        "switch-vlan": ("show interfaces {port} switchport", "show spanning-tree interface {port}"),
        "switch-trunks": ("show interfaces trunk", "show interfaces status"),
        "switch-mtu": ("show interfaces",),
        "switch-filters": ("show ip access-lists", "show policy-map"),
        "switch-aggregation": ("show port-channel dense", "show interfaces counters errors"),
        "switch-inside": ("show hardware counter drop",),
    },
    # Junos OS CLI Reference
    DeviceSystem.JUNOS: {
        "switch-port": ("show interfaces {port} extensive", "show interfaces queue {port}"),
        "switch-port-filter": ("show firewall", "show policer"),
        "switch-addresses": ("show ethernet-switching table",),
        "switch-vlan": ("show ethernet-switching interface {port}", "show spanning-tree interface {port}"),
        "switch-trunks": ("show interfaces terse", "show vlans"),
        "switch-mtu": ("show interfaces",),
        "switch-filters": ("show firewall", "show policer"),
        "switch-aggregation": ("show lacp interfaces", "show interfaces extensive"),
        "switch-inside": ("show pfe statistics traffic",),
    },
    # NVIDIA Cumulus Linux User Guide
    DeviceSystem.CUMULUS: {
        "switch-port": ("nv show interface {port}", "ip -s -s link show dev {port}", "ethtool -S {port}"),
        "switch-port-filter": ("sudo cl-acltool -L ip", "tc -s qdisc show dev {port}"),
        "switch-addresses": ("sudo bridge fdb show",),
        "switch-vlan": ("bridge vlan show dev {port}", "bridge link show dev {port}"),
        "switch-trunks": ("ip -d link show", "bridge vlan show"),
        "switch-mtu": ("ip link show",),
        "switch-filters": ("sudo cl-acltool -L ip",),
        "switch-aggregation": ("cat /proc/net/bonding/*", "ip -s -s link show"),
        "switch-inside": ("sudo cl-resource-query",),
    },
    # SONiC Command Reference (sonic-utilities)
    DeviceSystem.SONIC: {
        "switch-port": (
            "show interfaces status {port}",
            "show interfaces counters",
            "show queue counters {port}",
            "show pfc counters",
        ),
        "switch-port-filter": ("aclshow -a", "show policer"),
        "switch-addresses": ("show mac",),
        "switch-vlan": ("show vlan brief",),
        "switch-trunks": ("show vlan brief", "show interfaces status"),
        "switch-mtu": ("show interfaces status",),
        "switch-filters": ("aclshow -a", "show policer"),
        "switch-aggregation": ("show interfaces portchannel", "show interfaces counters"),
        "switch-inside": ("show dropcounters counts", "show priority-group drop counters"),
    },
}


def commands_for(step: str, neighbour: LldpNeighbour | None) -> tuple[str, ...]:
    """Return what is typed for a step at the switch that announces itself so, with `{port}` for the port; nothing where
    the commands of its kind are not known."""
    system = _SYSTEMS.get(known_kinds().of_neighbour(neighbour) if neighbour else "")
    return COMMANDS[system][step] if system else ()
