"""Kinds of switch: the commands for jumbo frames, their scope, and their side effects.

A switch is set to the largest frame that it can carry, not to the MTU of the hosts: a larger limit does no harm, and
then headers and tags do not matter. The scope names platforms whose MTU includes the Ethernet header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.facts import LldpNeighbour

PRACTICE = "practice"
"""The key of the practice cluster's own switches."""
PORT = "PORT"
"""The placeholder for a switch port in the commands of a kind, if LLDP does not name the port."""


@dataclass(frozen=True)
class Vendor:
    """One kind of switch. Commands with `{port}` are repeated for each port."""

    key: str
    """The name for the option of the operator: `--switch nexus-9000`."""
    name: str
    lldp_pattern: str
    """A regular expression that matches the switch's LLDP name and description; empty if they do not show the kind."""
    before: tuple[str, ...]
    """The commands that are typed once on each switch, before those for the ports."""
    each_port: tuple[str, ...]
    after: tuple[str, ...]
    show: tuple[str, ...]
    scope: str
    """The scope and the side effects of the commands, in one sentence."""
    place: str = "On every switch of the private networks"
    """The place where the commands are typed, if LLDP names no switch."""
    reloads: bool = False
    """Whether the commands take effect only after a reload of the switch, which cuts every port."""


_NETWORK_QOS = (
    "configure terminal",
    "policy-map type network-qos jumbo",
    "  class type network-qos class-default",
    "    mtu 9216",
    "system qos",
    "  service-policy type network-qos jumbo",
)
VENDORS = (
    Vendor(
        "nexus-9000",
        "Cisco Nexus 9000, and those of the 3000 with an MTU for each port",
        r"(?i)nexus\s?9\d|\bn9k-|(nexus\s?|\bn3k-c)(3132q-v|3164|31108|31128|32\d\d|36180yc-r)",
        ("configure terminal",),
        ("interface {port}", "  mtu 9216"),
        ("end", "copy running-config startup-config"),
        ("show interface {port} | include MTU",),
        "For each port, and for its port-channel if there is one; no reload. The link may go down for a moment.",
    ),
    Vendor(
        "nexus-3000",
        "Cisco Nexus 3016/3048/3064/3132Q/3172/3500",
        r"(?i)(nexus\s?|\bn3k-c)(3016|3048|3064|3132q(?!-v)|3172|35\d\d)",
        _NETWORK_QOS,
        (),
        ("end", "copy running-config startup-config"),
        ("show queuing interface {port}",),
        "For the whole switch; no reload, briefly disruptive. Extend an existing network-qos policy, do not replace "
        "it. The interface has no mtu command for layer 2 (Cisco document 118994).",
    ),
    Vendor(
        "nexus-7000",
        "Cisco Nexus 7000",
        r"(?i)nexus\s?7\d|\bn77?k-",
        ("configure terminal", "system jumbomtu 9216"),
        ("interface {port}", "  mtu 9216"),
        ("end", "copy running-config startup-config"),
        ("show interface {port} | include MTU",),
        "For each port; the link may go down for a moment. F-series cards take the MTU from network-qos in the admin "
        "VDC, which disrupts traffic.",
    ),
    Vendor(
        "nexus-5000",
        "Cisco Nexus 5000/5500/6000",
        r"(?i)nexus\s?(5|6)\d|\bn(5|6)k-",
        _NETWORK_QOS,
        (),
        ("end", "copy running-config startup-config"),
        ("show queuing interface {port}",),
        "For the whole switch; no reload, briefly disruptive. Extend an existing network-qos policy, do not replace "
        "it. `show interface` still prints 1500 afterwards.",
    ),
    Vendor(
        "catalyst-9000",
        "Cisco Catalyst 3650/3850/9000 (IOS-XE)",
        r"(?i)catalyst l3 switch.*ios-?\s?xe|c9[2-6]00|cat(alyst)?\s?(3650|3850|9\d00)|cat3k_caa|cat9k",
        ("configure terminal", "system mtu 9198"),
        (),
        ("end", "copy running-config startup-config"),
        ("show system mtu",),
        "For the whole switch or stack. It takes effect at once on the 9000 series; the 3650 and 3850 print whether "
        "they need a reload.",
    ),
    Vendor(
        "catalyst-3750",
        "Cisco Catalyst 2960/3560/3750 (IOS)",
        r"(?i)c(2960|3560|3750)|cat(alyst)?\s?(2960|3560|3750)",
        ("configure terminal", "system mtu jumbo 9198"),
        (),
        ("end", "copy running-config startup-config", "reload"),
        ("show system mtu",),
        "For the whole switch or stack, and only after its reload, which cuts every port. The switch stores the "
        "setting in NVRAM, not in the configuration: set it again on a replacement switch.",
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
        "For each port; the link may go down for a moment. The 4500 allows at most 9198 and has no system jumbomtu.",
    ),
    Vendor(
        "arista",
        "Arista EOS",
        r"(?i)arista",
        ("configure",),
        ("interface {port}", "  l2 mtu 9214"),
        ("end", "write memory"),
        ("show interfaces {port} | include MTU",),
        "For each port; no reload. Layer 2 ports carry more than 9200 bytes unless an l2 mtu was set; platforms "
        "without that command need no change.",
    ),
    Vendor(
        "juniper",
        "Juniper EX/QFX",
        r"(?i)juniper|junos",
        ("configure",),
        ("set interfaces {port} mtu 9216",),
        ("commit",),
        ("show interfaces {port} | match MTU",),
        "For each port, or for its ae interface; the port may flap at the commit. The MTU includes the 14 bytes of the "
        "Ethernet header (9216 carries 9202). Older EX switches allow at most 9192.",
    ),
    Vendor(
        "dell-os9",
        "Dell OS9 (FTOS)",
        r"(?i)dell.*(networking os|force10|os9|real time operating system)|ftos",
        ("configure",),
        ("interface {port}", "  mtu 9216"),
        ("end", "copy running-config startup-config"),
        ("show interfaces {port} | grep MTU",),
        "For each port, with the same value on all members of a LAG. The MTU includes Ethernet header and checksum (18 "
        "bytes, 22 with a tag). Older models allow up to 12000.",
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
        "For the whole switch, and only after its reload, which cuts every port. The command of the RX series is "
        "`default-max-frame-size 9212`.",
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
        "For each port; some modules allow only 12 jumbo ports until they are reset.",
    ),
    Vendor(
        "aruba",
        "HPE ProCurve/ArubaOS-Switch",
        r"(?i)procurve|arubaos|hp j\d{4}|hpe?.*switch",
        ("configure", "vlan NUMBER jumbo"),
        (),
        ("write memory",),
        ("show vlans", "show interfaces {port}"),
        "For each private VLAN (replace NUMBER by its number), on every switch with that VLAN; no reload; frames of "
        "up to 9220 bytes.",
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
        "On every host that a node may run on (replace VSWITCH by the name of its vSwitch). The physical switches "
        "behind the host need jumbo frames, too.",
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
"""All known kinds. Sources: the vendors' configuration guides; the figures of the Nexus 5000 and Catalyst 3750 are from
Cisco's guides, of OS9 from Dell's, of ProCurve from HPE's Management and Configuration Guide."""

QUESTIONS = (
    "Which ports of which switches carry the private networks, and on which VLANs?",
    "Is every one of these ports raised: on both switches of a vPC, MLAG or stack, and on the links between them (peer "
    "link, ISL, trunk, port-channel)?",
    "Is a pair of switches a vPC or MLAG that compares the MTU of both? On Nexus the MTU is a type 1 parameter: `show "
    "vpc consistency-parameters interface port-channel NUMBER`, and is the graceful consistency check on?",
    "Does the change need a reload or cut a port, and which other systems use that switch?",
    "Is the configuration saved, so that it survives a reload of the switch?",
    "Do the counters of giants, jabbers and discards on these ports stay constant after the change?",
)
"""Questions for the network team, for any kind of switch: the nodes cannot see a mismatch inside the network."""


def vendor(key: str) -> Vendor | None:
    """Return the kind with this key; None if there is none."""
    return next((v for v in VENDORS if v.key == key), None)


def keys() -> tuple[str, ...]:
    """Return the keys of all kinds."""
    return tuple(v.key for v in VENDORS)


def recognised(neighbours: Iterable[LldpNeighbour]) -> tuple[str, ...]:
    """Return the kinds of the switches that LLDP shows, each once, in the order of the table."""
    texts = [f"{n.switch} {n.description}" for n in neighbours]
    return tuple(v.key for v in VENDORS if v.lldp_pattern and any(re.search(v.lldp_pattern, text) for text in texts))


def commands_of(kind: Vendor, ports: Sequence[str]) -> tuple[str, ...]:
    """Return the commands that enable jumbo frames on these ports of a switch; on `PORT` if no port is named."""
    wanted = tuple(dict.fromkeys(ports)) or (PORT,)
    each = tuple(line.format(port=port) for port in wanted for line in kind.each_port)
    return (*kind.before, *each, *kind.after)


def showing(kind: Vendor, ports: Sequence[str]) -> tuple[str, ...]:
    """Return the commands that show the frame size of these ports of a switch."""
    wanted = tuple(dict.fromkeys(ports)) or (PORT,)
    return tuple(dict.fromkeys(line.format(port=port) for port in wanted for line in kind.show))


def kind_of_neighbour(neighbour: LldpNeighbour) -> str:
    """Return the kind of one switch; empty if LLDP does not show it."""
    return next(iter(recognised([neighbour])), "")
