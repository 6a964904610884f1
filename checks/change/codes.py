"""The codes of what a change says before it begins, and with each look: each has one meaning, and `racwire explain`
tells it. CH-START: it stands in the way; CH-PLAN: what a plan is made from; CH-LOOK: that the nodes were looked at.

An obstacle that comes from the finding of a check has that finding's code, which its check documents.
"""

from __future__ import annotations

from checks.model.check import Kind

UNREAD = Kind(
    "CH-START-001",
    "A node, or its setup, could not be read",
    "The MTU is changed on every node at once. One that cannot be read would be left out, and would be the node that "
    "cannot join afterwards.",
    ("MOS 283684.1", "MOS 2103317.1"),
)
NO_CLUSTERWARE = Kind(
    "CH-START-003",
    "Clusterware cannot be asked",
    "It tells which nodes and which private networks there are; without it a plan would be a guess.",
)
NOT_UP = Kind(
    "CH-START-004",
    "Clusterware is not up on every node",
    "What is stuck before the change would be taken for its doing afterwards. Where an MTU that differs is what keeps "
    "a node from joining, the change is the cure: then this is accepted with that reason.",
    ("MOS 563566.1",),
)
MID_UPGRADE = Kind(
    "CH-START-006",
    "The cluster is mid-upgrade",
    "While nodes run different software, Clusterware allows no other change of its configuration, and a node that is "
    "stopped may not be let in again. No reason outweighs this.",
)
ENGINEERED = Kind(
    "CH-START-007",
    "An engineered system",
    "Its interconnect carries RDS and the traffic of the storage cells as well: nodes, cells and switches are changed "
    "together, by the vendor's procedure. No reason outweighs this.",
)
NETWORK_NOT_KNOWN = Kind(
    "CH-START-008",
    "The private networks are not known",
    "What is not known cannot be changed: Clusterware names the private networks (oifcfg getif), or the operator does "
    "(--network).",
)
NOT_OF_ETHERNET = Kind(
    "CH-START-009",
    "The target is no MTU for Ethernet",
    "Below 1280 bytes IPv6 stops working, and above 9216 hardly a switch goes.",
    ("RFC 8200, section 5",),
)
NOT_OF_INFINIBAND = Kind(
    "CH-START-010",
    "The target is no MTU for InfiniBand",
    "In datagram mode the fabric decides: 2044 or 4092 bytes, 4 less than its own MTU. Connected mode carries up to "
    "65520.",
    ("Linux kernel: Documentation/infiniband/ipoib",),
)
NIC_LIMIT = Kind(
    "CH-START-011",
    "A NIC cannot carry the target",
    "The driver tells the largest MTU that it takes, and the kernel refuses more, for whatever stands on it as well.",
    ("ip-link(8), maxmtu",),
)
SWITCH_LIMIT = Kind(
    "CH-START-012",
    "A switch port announces a smaller frame",
    "By LLDP it carries more than standard frames, but less than the target needs, with 18 bytes for the header and "
    "checksum and 4 for a VLAN tag. An announcement can be wrong: then this is accepted, and the step prove-paths "
    "tells.",
    ("IEEE 802.3, Maximum Frame Size TLV",),
)
CLOUD_LIMIT = Kind(
    "CH-START-013",
    "The cloud cannot carry the target",
    "Between two machines of one network a cloud carries only so much, whatever the nodes set; more vanishes.",
    (
        "Azure: Accelerated Networking with MANA or ConnectX",
        "Amazon EC2 User Guide: network MTU",
        "Google Cloud: VPC, Maximum transmission unit",
        "Oracle Cloud: VCN, Network MTUs",
    ),
)
NOTHING_TO_DO = Kind("CH-START-014", "There is nothing to change", "Every private network has this MTU already.")
ONE_SUBNET = Kind(
    "CH-START-015",
    "Two private networks share a subnet",
    "The kernel sends by one of the two interfaces only, so the paths of the other cannot be proved; and with HAIP "
    "each private network needs a subnet of its own.",
    ("MOS 1210883.1",),
)
KEEPER_NOT_KNOWN = Kind(
    "CH-START-016",
    "What keeps the MTU of an interface over a boot is not known",
    "An MTU that nothing keeps is gone after the next boot: the node comes back with another one than the rest, and "
    "cannot join. Who knows what keeps it can accept this; the step survives-boot proves it.",
)
SCRIPT = Kind(
    "CH-START-017",
    "A script sets another MTU beside what keeps it",
    "rc.local, udev rules and their like have the last word at a boot, and would undo the change there.",
)
PUBLIC_BELOW = Kind(
    "CH-START-018",
    "A private VLAN stands on a public interface",
    "A VLAN cannot have a larger MTU than what it stands on, so the public network would be raised too, and its peers "
    "would not. No reason outweighs this.",
)
KIND_OF_SWITCH = Kind(
    "CH-START-020",
    "A kind of switch is not known",
    "`racwire explain switches` lists those that are. Without one the plan holds the questions for the network team.",
)
FILES_NOT_READ = Kind(
    "CH-START-022",
    "Which MTU the files of a node set could not be read",
    "The way back sets in the files what they set before. Where that could not be read, it sets what runs.",
)
DHCP = Kind(
    "CH-START-023",
    "A private interface gets its address by DHCP",
    "The server can send an MTU with it, to one node and not to another, and it outweighs what the node's files say.",
    ("RFC 2132, option 26",),
)
SHARED_FILE = Kind(
    "CH-START-024",
    "A file or connection is about a private interface and about another one",
    "What is set there for the one is set for the other at the next boot.",
)
BOTH_FABRICS = Kind(
    "CH-START-025",
    "The private networks are partly InfiniBand and partly Ethernet",
    "A plan has one MTU for all private networks, since HAIP can move between them, and no one fits both.",
)
NO_MTU = Kind(
    "CH-START-026",
    "A private network has no MTU that could be changed",
    "No node has an interface on it that could be read: there is nothing to record, so nothing to go back to.",
)
NO_PORT = Kind(
    "CH-START-027",
    "A node has no interface on a private network",
    "There it can neither be changed nor proved, and the node cannot use that network.",
)

PLAN_READ = Kind("CH-PLAN-001", "What a plan is made from was read on every node")
PLAN_NOT_READ = Kind(
    "CH-PLAN-002",
    "What a plan is made from could not be read on every node",
    "A change of the MTU is planned for every node at once; one that was not read would be left out.",
)
LOOKED = Kind("CH-LOOK-001", "The nodes of a change were looked at")
ASKED = Kind("CH-LOOK-002", "The nodes were asked for journals of changes")

KINDS: tuple[Kind, ...] = tuple(one for one in list(globals().values()) if isinstance(one, Kind))
"""All of them, as they stand here."""
