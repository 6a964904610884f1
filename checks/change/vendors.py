"""Kinds of switch: how each is told to carry jumbo frames, how far a command reaches, and what it disturbs.

A switch is set to the largest frame that it can carry, not to the hosts' MTU: what it allows beyond that harms nobody,
and headers and tags then never count. Platforms that count the Ethernet header within their MTU say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.facts import LldpNeighbour

PRACTICE = "practice"
"""The key of the practice cluster's own switches."""
PORT = "PORT"
"""Stands for a switch port in the commands of a kind, where LLDP does not name it."""


@dataclass(frozen=True)
class Vendor:
    """One kind of switch. Commands hold `{port}` where they are to be given for each port."""

    key: str
    """How the operator names it: `--switch nexus-9000`."""
    name: str
    told_by: str
    """A regular expression on what the switch says of itself by LLDP; empty where it cannot be known by that."""
    before: tuple[str, ...]
    """Once on each switch, before the ports."""
    each_port: tuple[str, ...]
    after: tuple[str, ...]
    show: tuple[str, ...]
    scope: str
    """How far it reaches, and what it disturbs, in one sentence."""
    place: str = "On every switch of the private networks"
    """Where its commands are typed, where LLDP names no switch."""
    reloads: bool = False
    """Whether it takes effect only after a reload of the switch, which cuts every port."""


VENDORS = (
    Vendor(
        "nexus-9000",
        "Cisco Nexus 3000/9000",
        r"(?i)nexus\s?(3|9)\d|\bn(3|9)k-",
        ("configure terminal",),
        ("interface {port}", "  mtu 9216"),
        ("end", "copy running-config startup-config"),
        ("show interface {port} | include MTU",),
        "For each port, and for the port-channel where there is one; no reload, the link may blink.",
    ),
    Vendor(
        "nexus-7000",
        "Cisco Nexus 7000",
        r"(?i)nexus\s?7\d|\bn77?k-",
        ("configure terminal", "system jumbomtu 9216"),
        ("interface {port}", "  mtu 9216"),
        ("end", "copy running-config startup-config"),
        ("show interface {port} | include MTU",),
        "For each port; the link may blink. F-series cards take it from network-qos in the admin VDC, which disrupts.",
    ),
    Vendor(
        "nexus-5000",
        "Cisco Nexus 5000/5500/6000",
        r"(?i)nexus\s?(5|6)\d|\bn(5|6)k-",
        (
            "configure terminal",
            "policy-map type network-qos jumbo",
            "  class type network-qos class-default",
            "    mtu 9216",
            "system qos",
            "  service-policy type network-qos jumbo",
        ),
        (),
        ("end", "copy running-config startup-config"),
        ("show queuing interface {port}",),
        "For the whole switch; no reload, briefly disruptive. An existing network-qos policy must be extended, not "
        "replaced, and `show interface` goes on printing 1500.",
    ),
    Vendor(
        "catalyst-9000",
        "Cisco Catalyst 3650/3850/9000 (IOS-XE)",
        r"(?i)catalyst l3 switch.*ios-?\s?xe|c9[2-6]00|cat(alyst)?\s?(3650|3850|9\d00)|cat3k_caa|cat9k",
        ("configure terminal", "system mtu 9198"),
        (),
        ("end", "copy running-config startup-config"),
        ("show system mtu",),
        "For the whole switch or stack; at once on the 9000s, while 3650 and 3850 tell whether they want a reload.",
    ),
    Vendor(
        "catalyst-3750",
        "Cisco Catalyst 2960/3560/3750 (IOS)",
        r"(?i)c(2960|3560|3750)|cat(alyst)?\s?(2960|3560|3750)",
        ("configure terminal", "system mtu jumbo 9198"),
        (),
        ("end", "copy running-config startup-config", "reload"),
        ("show system mtu",),
        "For the whole switch or stack, and only after its reload, which cuts every port. It is kept in NVRAM and not "
        "in the configuration: a replaced switch needs it again.",
        reloads=True,
    ),
    Vendor(
        "catalyst-6500",
        "Cisco Catalyst 4500/6500",
        r"(?i)cat(alyst)?\s?(4500|6500)|s72033|cat4500",
        ("configure terminal", "system jumbomtu 9216"),
        ("interface {port}", "  mtu 9216"),
        ("end", "copy running-config startup-config"),
        ("show interfaces {port} | include MTU",),
        "For each port, the link may blink; the 4500 takes at most 9198 and has no system jumbomtu.",
    ),
    Vendor(
        "arista",
        "Arista EOS",
        r"(?i)arista",
        ("configure",),
        ("interface {port}", "  l2 mtu 9214"),
        ("end", "write memory"),
        ("show interfaces {port} | include MTU",),
        "For each port, no reload. Layer 2 ports carry over 9200 bytes unless an l2 mtu was set; platforms without "
        "that command need none.",
    ),
    Vendor(
        "juniper",
        "Juniper EX/QFX",
        r"(?i)juniper|junos",
        ("configure",),
        ("set interfaces {port} mtu 9216",),
        ("commit",),
        ("show interfaces {port} | match MTU",),
        "For each port, or for its ae interface; the port may flap at the commit. The 14 bytes of the Ethernet header "
        "count within it (9216 carries 9202), and older EX take at most 9192.",
    ),
    Vendor(
        "dell-os9",
        "Dell OS9 (FTOS)",
        r"(?i)dell.*(networking os|force10|os9|real time operating system)|ftos",
        ("configure",),
        ("interface {port}", "  mtu 9216"),
        ("end", "copy running-config startup-config"),
        ("show interfaces {port} | grep MTU",),
        "For each port, and all members of a LAG alike; Ethernet header and checksum count within it (18 bytes, 22 "
        "with a tag). Older models take up to 12000.",
    ),
    Vendor(
        "dell-os10",
        "Dell SmartFabric OS10",
        r"(?i)smartfabric|dell.*os10|os10 enterprise",
        ("configure terminal",),
        ("interface {port}", "  mtu 9216"),
        ("end", "write memory"),
        ("show interface {port} | grep MTU",),
        "For each port, or for its port-channel; no reload.",
    ),
    Vendor(
        "brocade",
        "Brocade/Ruckus ICX",
        r"(?i)brocade|ruckus|foundry|\bicx",
        ("configure terminal", "jumbo"),
        (),
        ("end", "write memory", "reload"),
        ("show running-config | include jumbo",),
        "For the whole switch, and only after its reload, which cuts every port. The RX series says "
        "`default-max-frame-size 9212` instead.",
        reloads=True,
    ),
    Vendor(
        "onyx",
        "NVIDIA/Mellanox Onyx (MLNX-OS)",
        r"(?i)onyx|mlnx-os|mellanox",
        ("enable", "configure terminal"),
        ("interface {port} mtu 9216 force",),
        ("exit", "configuration write"),
        ("show interfaces {port}",),
        "For each port; `force` takes the link down and up.",
    ),
    Vendor(
        "cumulus",
        "NVIDIA Cumulus Linux",
        r"(?i)cumulus",
        (),
        ("nv set interface {port} link mtu 9216",),
        ("nv config apply", "nv config save"),
        ("nv show interface {port} link",),
        "For each port, no reload; 9216 is the default. Without NVUE: mtu 9216 in the interfaces file, ifreload -a.",
    ),
    Vendor(
        "extreme",
        "Extreme S/K-Series",
        r"(?i)enterasys|extreme networks.*(s|k)-series",
        (),
        ("set port jumbo enable {port}",),
        ("save config",),
        ("show port jumbo {port}",),
        "For each port; some modules take only 12 jumbo ports until they are reset.",
    ),
    Vendor(
        "aruba",
        "HPE ProCurve/ArubaOS-Switch",
        r"(?i)procurve|arubaos|hp j\d{4}|hpe?.*switch",
        ("configure", "vlan NUMBER jumbo"),
        (),
        ("write memory",),
        ("show vlans", "show interfaces {port}"),
        "For each private VLAN (its number for NUMBER), on every switch that has it; no reload; frames to 9220 bytes.",
    ),
    Vendor(
        "huawei",
        "Huawei CloudEngine",
        r"(?i)huawei",
        ("system-view",),
        ("interface {port}", "  jumboframe enable 9216", "  quit"),
        ("commit", "return", "save"),
        ("display interface {port}",),
        "For each port, or for its Eth-Trunk; no reload.",
    ),
    Vendor(
        "vmware",
        "VMware vSwitch",
        r"(?i)vmware",
        (),
        (),
        (
            "esxcli network vswitch standard set -m 9000 -v VSWITCH",
            "# a distributed switch: vSphere Client, Edit Settings, Advanced, MTU 9000",
        ),
        ("esxcli network vswitch standard list",),
        "On every host that a node may run on (its vSwitch for VSWITCH); the physical switches behind it need it too.",
        place="On every ESXi host that a node may run on",
    ),
    Vendor(
        PRACTICE,
        "the practice cluster",
        r"(?i)racwire practice",
        ("racwire lab switch all mtu 9216",),
        (),
        (),
        ("racwire lab switch",),
        "For every port of the practice cluster's switches, at once.",
        place="On the practice switch, which is outside its nodes",
    ),
)
"""Every kind that is known. Sources: the vendors' configuration guides; the figures of the Nexus 5000 and Catalyst
3750 from Cisco's, of OS9 from Dell's, of ProCurve from HPE's Management and Configuration Guide."""

QUESTIONS = (
    "Which ports of which switches carry the private networks, and on which VLANs?",
    "Is every one of them raised: both switches of a vPC, MLAG or stack, and the links between them (peer link, ISL, "
    "trunk, port-channel)?",
    "Does the change need a reload or cut a port, and what else runs over that switch?",
    "Is it saved, so that it outlasts a reload of the switch?",
    "Do giants, jabbers or discards on these ports stay where they are afterwards?",
)
"""What to ask the network team, whatever they use: a mismatch inside the network is invisible from the nodes."""


def vendor(key: str) -> Vendor | None:
    """The kind of that name."""
    return next((v for v in VENDORS if v.key == key), None)


def keys() -> tuple[str, ...]:
    """The names of all kinds."""
    return tuple(v.key for v in VENDORS)


def recognised(neighbours: Iterable[LldpNeighbour]) -> tuple[str, ...]:
    """The kinds that switches tell by LLDP to be, each once, in the order of the table."""
    said = [f"{n.switch} {n.description}" for n in neighbours]
    return tuple(v.key for v in VENDORS if v.told_by and any(re.search(v.told_by, text) for text in said))


def commands_of(kind: Vendor, ports: Sequence[str]) -> tuple[str, ...]:
    """What is typed on a switch of that kind to have jumbo frames on these ports; PORT where none is named."""
    wanted = tuple(dict.fromkeys(ports)) or (PORT,)
    each = tuple(line.format(port=port) for port in wanted for line in kind.each_port)
    return (*kind.before, *each, *kind.after)


def showing(kind: Vendor, ports: Sequence[str]) -> tuple[str, ...]:
    """What shows on such a switch whether it is so."""
    wanted = tuple(dict.fromkeys(ports)) or (PORT,)
    return tuple(dict.fromkeys(line.format(port=port) for port in wanted for line in kind.show))


def kind_of_neighbour(neighbour: LldpNeighbour) -> str:
    """The kind of one switch; empty where it does not tell."""
    return next(iter(recognised([neighbour])), "")
