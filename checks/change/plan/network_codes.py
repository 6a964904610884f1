"""The codes of obstacles to a change of the private networks: `racwire explain` shows the meaning of each."""

from __future__ import annotations

from checks.model.check import Kind

_NOTE = "MOS 283684.1"
_NETWORKS = "Clusterware Administration Guide, private networks and network interfaces"
_RULES = "Grid Infrastructure Installation Guide, private IP interface requirements"

OLD_RELEASE = Kind(
    "CH-START-040",
    "Clusterware is older than 11.2",
    "Up to 11.1 the private node names of the installation, and not oifcfg, decide which network Clusterware uses for "
    "its heartbeat. This obstacle cannot be accepted.",
    (_NOTE,),
)
RELEASE_NOT_KNOWN = Kind(
    "CH-START-041",
    "The release of Clusterware is not known",
    "racwire plans a change of the networks for 11.2 and later.",
    (_NOTE,),
)
NO_INTERFACE = Kind(
    "CH-START-042",
    "A node lacks the interface or the address of the new network",
    "A registered network must be up on every node before Clusterware starts: a node without it uses the other "
    "private networks only, and without another one it cannot start.",
    (_NOTE, _NETWORKS),
)
NETMASKS_DIFFER = Kind(
    "CH-START-043",
    "The nodes have different netmasks on the new network",
    "Then some nodes send packets for the others out of another interface. oifcfg stores the subnet, and no netmask.",
    (_NOTE, _RULES),
)
MTUS_DIFFER = Kind(
    "CH-START-044",
    "The nodes have different MTUs on the new network",
    "Large packets from a node with the larger MTU to one with the smaller MTU are lost.",
    ("MOS 563566.1, cause 5",),
)
OTHER_MTU = Kind(
    "CH-START-045",
    "The new network has another MTU than the private networks",
    "HAIP can move an address from one private network to another: then packets for the larger MTU are lost on the "
    "network with the smaller one.",
    ("MOS 1210883.1",),
)
REGISTERED = Kind(
    "CH-START-046",
    "The new network is registered already",
    "oifcfg has this subnet: as a private network there is nothing to add; as a public one it is not for the "
    "interconnect.",
    (_NOTE,),
)
OVERLAPS = Kind(
    "CH-START-047",
    "The subnet of the new network overlaps another one",
    "Each private network needs a subnet of its own: otherwise the kernel sends the packets of both out of one "
    "interface. 169.254.0.0/16 is the range of HAIP.",
    (_RULES, "MOS 1210883.1"),
)
SAME_NIC = Kind(
    "CH-START-048",
    "The new network shares a NIC with another private network",
    "Both fail with the NIC, its cable and its switch port: a second network on the same NIC adds no redundancy.",
    ("MOS 1210883.1",),
)
TOO_MANY = Kind(
    "CH-START-049",
    "More private networks than HAIP uses",
    "HAIP has addresses on four private networks at most; a fifth one is used only when another one fails.",
    ("MOS 1210883.1",),
)
PARAMETER_SET = Kind(
    "CH-START-050",
    "cluster_interconnects is set in instances",
    "The parameter names addresses and overrides what oifcfg has: the instances do not use a new network, and do not "
    "start without an address that it names.",
    ("Database Reference, CLUSTER_INTERCONNECTS", _NOTE),
)
NOT_IN_STEP = Kind(
    "CH-START-051",
    "The OCR and the GPnP profile differ",
    "oifcfg changes both: a difference from before the change must be settled first, or the change may store the wrong "
    "networks. This obstacle cannot be accepted.",
    ("PRIF-30", _NOTE),
)
STORAGE_MOVES = Kind(
    "CH-START-052",
    "Storage or copying uses the network that the plan takes down",
    "A mount over that network hangs as soon as its interface is down, and its node may not come up again.",
)
NOT_PROVED = Kind(
    "CH-START-053",
    "The new network was not tested",
    "racwire proves a network between all nodes, in both directions and at full size, before it plans to use it.",
)
NODE_SPECIFIC = Kind(
    "CH-START-054",
    "A private network is registered for some nodes only",
    "oifcfg then has lines of its own for a node. racwire plans the lines for all nodes (global), which alone Oracle "
    "supports for private networks.",
    (_NETWORKS,),
)

ALSO_PUBLIC = Kind(
    "CH-START-055",
    "The network to leave is public, or its interface carries other networks",
    "The plan takes the interface down on every node: clients and everything else on it would be cut off. This "
    "obstacle cannot be accepted.",
    (_NOTE,),
)

KINDS: tuple[Kind, ...] = tuple(one for one in list(globals().values()) if isinstance(one, Kind))
"""All kinds of this file, in its order."""
