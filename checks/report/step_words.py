"""The words of the steps of guided troubleshooting: what each is, what it shows, and where. They decide nothing."""

from __future__ import annotations

from typing import NamedTuple

from checks.model.investigation import NotOffered, SessionStep
from checks.model.wording import listed


class StepWords(NamedTuple):
    """The words of one declaration of a step."""

    title: str
    shows: str
    """What it shows, in a sentence."""
    where: str
    """Where it is made, or how, in a sentence."""


_FROM_HERE = "racwire sends from the nodes over the ssh that it has already; the receiver's kernel counts what arrives."
_AT_SWITCH = "The network team runs it on the switch, before and after racwire has sent datagrams."
_AT_SWITCH_ONCE = "The network team runs it on the switch, once."
_ON_NODE = "Run it on the node, before and after racwire has sent datagrams."

WORDS: dict[str, StepWords] = {
    "each-direction": StepWords(
        "Send each direction alone",
        "A ping needs both directions; datagrams that are counted where they arrive show which direction loses them.",
        _FROM_HERE,
    ),
    "udp-against-pings": StepWords(
        "Compare datagrams with pings",
        "Where only one of the two is lost, something on the way knows them apart: a filter or a rate limit.",
        _FROM_HERE,
    ),
    "private-against-haip": StepWords(
        "Compare private addresses with HAIP",
        "Both take the same NIC and cable; where only HAIP is lost, its addresses are filtered or moved.",
        _FROM_HERE,
    ),
    "small-against-full": StepWords(
        "Compare small with full-size packets",
        "A small MTU or a full buffer loses large packets only; a bad link loses both.",
        _FROM_HERE,
    ),
    "source-ports": StepWords(
        "Send from 32 source ports",
        "A link aggregation sends each source port over one of its links, so a bad link loses some ports whole.",
        _FROM_HERE,
    ),
    "fragments-against-whole": StepWords(
        "Compare fragments with whole packets",
        "A block of 8 KB travels in fragments at MTU 1500; some filters drop fragments only.",
        f"{_FROM_HERE} At most 20 a second, so that the memory for fragments stays free for the database.",
    ),
    "nic-counters": StepWords(
        "Read the error counters of the NIC",
        "Damaged frames that the NIC counts while datagrams arrive come from the cable, the transceiver or the port.",
        "racwire reads the counters before and after its datagrams.",
    ),
    "carries": StepWords(
        "Prove that the other private network carries the nodes",
        "The next step touches a cable or a port; it is safe only while another private network carries the cluster.",
        _FROM_HERE,
    ),
    "place-rare-loss": StepWords(
        "Find the path of a rare loss",
        "The database loses blocks that 20 pings cannot show; racwire sends on, most on the path that looks worst.",
        _FROM_HERE,
    ),
    "capture": StepWords(
        "Capture at the receiver's NIC",
        "Packets in the capture that do not arrive are dropped by the kernel above it; others are lost on the way.",
        "Start tcpdump on the receiver as root; racwire sends while it runs.",
    ),
    "node-filter": StepWords(
        "Read the packet filter of the node",
        "A rule that drops these packets has a counter, and the counter moves while they are sent.",
        f"{_ON_NODE} It reads only what is loaded: listing rules would load the module.",
    ),
    "node-queues": StepWords(
        "Read the queues of the node",
        "A policer or queue (tc) that drops packets counts them.",
        _ON_NODE,
    ),
    "ethtool-counters": StepWords(
        "Read the counters of the driver",
        "The driver counts damaged frames, missing receive buffers and pause frames that the kernel does not show.",
        _ON_NODE,
    ),
    "ethtool-optics": StepWords(
        "Read the optical power",
        "A transceiver whose received power is below its threshold loses frames: a dirty or bent fibre, a dying laser.",
        "Run it on the node as root, once.",
    ),
    "neighbour-entries": StepWords(
        "Read the neighbour entries",
        "Entries that fail and return show that ARP, not the path, loses the packets.",
        _ON_NODE,
    ),
    "kernel-drops": StepWords(
        "Watch why the kernel drops packets",
        "The kernel gives a reason for each packet that it drops: a filter, a full queue, a wrong checksum.",
        "racwire watches the receiver's kernel for some seconds as root, while it sends datagrams of one size.",
    ),
    "read-optics": StepWords(
        "Read the light of the transceivers",
        "A transceiver that sends or receives too little light damages frames; its own limits say how little is too "
        "little.",
        "racwire runs `ethtool -m` as root on the nodes of the network, once.",
    ),
    "pauses-by-class": StepWords(
        "Read the pause frames by class",
        "A switch that pauses the class of these packets makes them wait and lose their place in full queues.",
        "racwire reads the counters of the NIC's driver twice, 30 s apart.",
    ),
    "host-of-machine": StepWords(
        "Ask the operators of the host",
        "Spoof checks, security lists and tunnels below a virtual NIC are seen only from its host or cloud.",
        "The operators of the hypervisor, cloud or container host look, and you state what they found.",
    ),
    "switch-port": StepWords(
        "Read the counters of the switch port",
        "Damaged frames point to cable, transceiver or NIC, discards to a full queue; MTU and state are there too.",
        _AT_SWITCH,
    ),
    "switch-port-filter": StepWords(
        "Read the filters of the switch port",
        "An access list or a policer that drops these packets counts them.",
        _AT_SWITCH,
    ),
    "switch-addresses": StepWords(
        "Read the MAC address table",
        "A private address that the switch has learned at two ports has two owners.",
        _AT_SWITCH_ONCE,
    ),
    "switch-vlan": StepWords(
        "Read VLAN and spanning tree of the port",
        "A port in another VLAN, or one that spanning tree blocks, is up and carries nothing.",
        _AT_SWITCH_ONCE,
    ),
    "switch-trunks": StepWords(
        "Read the links between the switches",
        "A link that is down, or has a smaller MTU, divides the nodes into two groups.",
        _AT_SWITCH_ONCE,
    ),
    "switch-mtu": StepWords(
        "Read the MTU of the switch",
        "Some switches have one MTU for all ports, which ports do not show.",
        _AT_SWITCH_ONCE,
    ),
    "switch-filters": StepWords(
        "Read the filters of the network",
        "An access list or a policer of the VLAN drops packets of all its ports, and counts them.",
        _AT_SWITCH,
    ),
    "switch-aggregation": StepWords(
        "Read the members of the aggregations",
        "One member that is down, damaged or has a smaller MTU loses the flows that take it, and no others.",
        _AT_SWITCH,
    ),
    "switch-inside": StepWords(
        "Read the drops inside the switch",
        "A fabric or a forwarding engine that drops packets counts them at no port.",
        _AT_SWITCH,
    ),
    "swap-cable": StepWords(
        "Exchange the cables of two nodes",
        "A loss that goes to the other node's port is the cable's; one that stays is not.",
        "A person exchanges both ends, watches with racwire, and puts them back.",
    ),
    "move-port": StepWords(
        "Move the cable to another switch port",
        "A loss that ends at another port is the port's; one that stays is the cable's or the NIC's.",
        "The network team gives the new port the VLAN and the MTU of the old one first, and moves it back after.",
    ),
    "member-down": StepWords(
        "Take one member of the bond down",
        "A loss that ends while a member is down is that member's.",
        "Run it on the node as root; take the member up again afterwards.",
    ),
}
_WITHHELD = {
    NotOffered.NO_OTHER_NETWORK: "no other private network carries these nodes, and the stack runs there",
    NotOffered.OTHER_NETWORK_LOSES: "the other private network loses packets of these nodes, and the stack runs there",
    NotOffered.ONE_NODE: "no other node has a cable to exchange",
}
_BOTH_WAYS = frozenset({"each-direction"})
"""Steps whose place has a first and a second node, and no direction."""


def step_title(step: SessionStep, on: str = "") -> str:
    """Return what a step is, with its place: `Send each direction alone, 84 bytes: rac1 and rac2, 192.168.11.0/24`. The
    network `on` is known to the reader, and left out."""
    words = WORDS.get(step.declared)
    title = words.title if words else step.declared.replace("-", " ").capitalize()
    if sizes := _sizes(step):
        title = f"{title}, {sizes}"
    nodes, networks = _nodes(step), listed(network for network in step.place.networks if network != on)
    where = ", ".join(filter(None, (nodes, networks)))
    return f"{title}: {where}" if where else title


def step_about(step: SessionStep) -> str:
    """Return what a step shows and where it is made, in two sentences."""
    words = WORDS.get(step.declared)
    return f"{words.shows} {words.where}" if words else ""


def withheld_text(why: NotOffered) -> str:
    """Return why a step by hand is not offered, as a clause."""
    return _WITHHELD[why]


def _nodes(step: SessionStep) -> str:
    place = step.place
    if place.to and step.declared not in _BOTH_WAYS:
        return f"{listed(place.nodes)} to {listed(place.to)}"
    return listed(dict.fromkeys((*place.nodes, *place.to)))


def _sizes(step: SessionStep) -> str:
    """Return the size of the packets, where all have one."""
    sizes = {leg.sizes[1] for probe in step.probes for leg in probe.legs[:1]}
    sizes = sizes or {sign.packets.sizes[1] for sign in step.reads if sign.packets.sizes[0] == sign.packets.sizes[1]}
    return f"{sizes.pop():,} bytes" if len(sizes) == 1 else ""
