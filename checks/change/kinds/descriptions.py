"""What each kind of change does, for `racwire change kinds` and for those who choose one. Data only."""

from __future__ import annotations

from dataclasses import dataclass

from checks.change.plan.change_plan import ChangeKind


@dataclass(frozen=True)
class KindDescription:
    """A kind of change."""

    name: str
    """Its name on the command line: `racwire change new NAME`."""
    title: str
    what: str
    """What the plan changes, in one or two sentences."""
    when: str
    """The finding or the situation that it is for."""
    outage: str
    """What is stopped, and how long it lasts."""
    example: str
    options: tuple[str, ...]
    """The options of `racwire change new` that only some kinds have."""
    plans: tuple[ChangeKind, ...]
    sources: tuple[str, ...]


MTU = KindDescription(
    name="mtu",
    title="Change the MTU of the private networks",
    what="Sets one MTU on every layer of every node, now and for the next boot, after the switches: from 1500 to jumbo "
    "frames, or back.",
    when="Blocks are sent in six packets, or nodes, switches and files have different MTUs.",
    outage="A full outage: Clusterware is down on all nodes while MTUs differ.",
    example="racwire change new --to 9000",
    options=("to", "switch", "switch_pair", "hypervisor", "host"),
    plans=(ChangeKind.RAISE, ChangeKind.LOWER),
    sources=("MOS 283684.1", "MOS 341788.1"),
)

NODE_MTU = KindDescription(
    name="node-mtu",
    title="Give one node the MTU of the others",
    what="Stops one node, sets its MTU to that of all others on every layer, now and for the next boot, sends "
    "full-size packets between it and every other node, and starts it again. The other nodes keep running.",
    when="One node has another MTU than all others, and nothing else is wrong with the private networks (IC-MTU-002).",
    outage="None where each database has an instance on another node: only that node is stopped.",
    example="racwire change new node-mtu --node rac2",
    options=("node",),
    plans=(ChangeKind.NODE_MTU,),
    sources=("MOS 563566.1, causes 5 and 12",),
)

RECEIVE_BUFFERS = KindDescription(
    name="receive-buffers",
    title="Raise the receive buffers of the nodes",
    what="Raises net.core.rmem_max and net.core.rmem_default (wmem_* where they are below Oracle's minimum) on one "
    "node after the other, now and for the next boot. Then restarts the instances, one node after the other.",
    when="Datagrams overflow the receive buffers (IC-UDP-002), or buffers are below Oracle's minimum (IC-KERNEL-002).",
    outage="None where each database has several instances: they are restarted one after the other, or later.",
    example="racwire change new receive-buffers --set net.core.rmem_max=16777216",
    options=("set", "restart"),
    plans=(ChangeKind.RECEIVE_BUFFERS,),
    sources=("MOS 563566.1, cause 2", "Database Installation Guide, minimum parameter settings"),
)
RP_FILTER = KindDescription(
    name="rp-filter",
    title="Set rp_filter of the private interfaces to loose",
    what="Sets rp_filter to 2 on the private interfaces that filter strictly, on one node after the other, now and for "
    "the next boot.",
    when="rp_filter drops packets, or is strict on several private interfaces of a node (IC-RPF-002, IC-RPF-004).",
    outage="None.",
    example="racwire change new rp-filter",
    options=(),
    plans=(ChangeKind.RP_FILTER,),
    sources=(
        "MOS 1286796.1",
        "Grid Infrastructure Installation Guide, multiple private interconnects and Oracle Linux",
    ),
)

ADD_NETWORK = KindDescription(
    name="add-network",
    title="Add a private network",
    what="Registers another private network in oifcfg, with its ASM listener where ASM is Flex ASM, and restarts "
    "Clusterware on all nodes, so that HAIP and the instances use it.",
    when="The cluster has one private network, and a failure of its NIC, cable or switch port costs a node; or one "
    "network is too slow.",
    outage="A full outage: HAIP and the instances choose their networks when Clusterware starts.",
    example="racwire change new add-network --interface eth3",
    options=("interface",),
    plans=(ChangeKind.ADD_NETWORK,),
    sources=("MOS 283684.1", "MOS 1210883.1", "Clusterware Administration and Deployment Guide, OIFCFG"),
)

MOVE_NETWORK = KindDescription(
    name="move-network",
    title="Move the interconnect to another network",
    what="Registers the new private network, restarts Clusterware on it with the old one taken down, and deletes the "
    "old line from oifcfg afterwards.",
    when="The interconnect is on a NIC or a subnet that it must leave: a public or shared network, a NIC that is "
    "replaced, a bond that takes its place.",
    outage="A full outage: Clusterware and the instances choose their networks when they start.",
    example="racwire change new move-network --from eth1 --interface eth3",
    options=("from_", "interface"),
    plans=(ChangeKind.MOVE_NETWORK,),
    sources=("MOS 283684.1", "MOS 1210883.1", "Clusterware Administration and Deployment Guide, OIFCFG"),
)

DESCRIPTIONS: tuple[KindDescription, ...] = (MTU, NODE_MTU, RECEIVE_BUFFERS, RP_FILTER, ADD_NETWORK, MOVE_NETWORK)
"""The kinds of change in the order of the list."""
USUAL = MTU.name
"""The kind of change that is planned where none is named."""


def described(name: str) -> KindDescription | None:
    """Return the kind of change with this name; None if there is none."""
    return next((kind for kind in DESCRIPTIONS if kind.name == name), None)
