"""Gates: are the private networks on the nodes as the plan wants them now, and does HAIP use them?"""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.gates.gate import THEN_VERIFY, GateContext, as_root, gate, not_known, of_node
from checks.change.plan.change_plan import PlannedNetwork
from checks.change.plan.network_change import address_of
from checks.change.progress.wanted import is_up_now
from checks.model.check import Kind
from checks.model.facts import Address, Cluster, Interface, Node
from checks.model.finding import Finding, NextStep, Status
from checks.model.networks import in_subnet
from checks.model.wording import counted, listed

_NOTE = "MOS 283684.1"
_HAIP = "MOS 1210883.1"

IN_PLACE = Kind("CH-NET-001", "A node has the planned private networks up, with the planned addresses")
NOT_IN_PLACE = Kind(
    "CH-NET-002",
    "A node lacks a planned private network, or has another address on it",
    "Clusterware uses a registered network only where an interface is up with an address in its subnet. A node without "
    "it shares fewer networks with the others, and with none it cannot join.",
    (_NOTE,),
)
NETWORKS_NOT_READ = Kind("CH-NET-003", "The private networks of a node are not known")
GONE = Kind("CH-NET-004", "A network that the plan took down is down on a node")
STILL_UP = Kind(
    "CH-NET-005",
    "A network that the plan took down is up on a node",
    "While its line is in oifcfg, Clusterware uses the network on this node when it starts, and the other nodes do "
    "not.",
    (_NOTE,),
)
ON_PLANNED = Kind("CH-NET-006", "HAIP has an address on each planned private network of a node, and on no other")
NOT_ON_PLANNED = Kind(
    "CH-NET-007",
    "HAIP does not use the planned private networks of a node",
    "HAIP places its addresses when Clusterware starts on the first node: a network that was not up or not registered "
    "then has none until Clusterware is restarted on all nodes.",
    (_HAIP,),
)
_MOST_HAIP = 4


def _node(context: GateContext, cluster: Cluster, node: str) -> Node | Finding:
    read = cluster.node(node)
    if read is not None:
        return read
    why = next((n.reason for n in cluster.unread_nodes() if n.name == node), f"{node} was not read.")
    return not_known(NETWORKS_NOT_READ, node, f"The private networks of {node} are not known", why)


@gate(
    "network-in-place",
    question="Is each private network up on every node, with the planned addresses?",
    needs=("nodes",),
    kinds=(IN_PLACE, NOT_IN_PLACE, NETWORKS_NOT_READ),
)
def network_in_place(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the interface and the address of each node on each private network with the plan. The interface must be
    up with a link. Networks that the plan has taken down, or has not brought up yet, are left out.

    The gate reads what is now; it does not know which addresses the next boot gives.
    """
    for node in context.plan.nodes:
        read = _node(context, cluster, node)
        if isinstance(read, Finding):
            yield read
            continue
        wrong = [why for network in context.plan.networks if (why := _missing(context, network, read))]
        if wrong:
            yield of_node(
                NOT_IN_PLACE,
                Status.FAIL,
                node,
                f"{counted(len(wrong), 'network')} missing",
                f"{node} is not on every private network as planned: {listed(wrong)}.",
                then=[
                    NextStep("Check the interfaces.", ("ip -brief address", "ip -brief link"), f"any user on {node}"),
                    THEN_VERIFY,
                ],
                topic="interfaces",
            )
        else:
            names = listed(network.name for network in context.plan.networks)
            text = counted(len(context.plan.networks), "network")
            yield of_node(
                IN_PLACE, Status.PASS, node, f"{text} up", f"{node} is on {names}, as planned.", topic="interfaces"
            )


def _missing(context: GateContext, network: PlannedNetwork, read: Node) -> str:
    """Return what is wrong with a node's port on a network; empty if it is as planned."""
    wanted = address_of(network, read.name)
    if not wanted:
        return ""
    planned = [
        one.interface for one in context.layers(read.name) if one.role == "port" and network.name in one.networks
    ]
    holders = [i for i in read.interfaces if any(a.ip == network.addresses[read.name] for a in i.addresses)]
    if not holders:
        others = [f"{a.ip} on {i.name}" for i, a in _there(read, network.subnet)]
        return f"no interface has {wanted}{f', but {listed(others)}' if others else ''}"
    holder = holders[0]
    if holder.name not in planned:
        return f"{wanted} is on {holder.name}, not on {listed(planned)}"
    has = next(a for a in holder.addresses if a.ip == network.addresses[read.name])
    if f"{has.ip}/{has.prefix_length}" != wanted:
        return f"{holder.name} has {has.ip}/{has.prefix_length}, not {wanted}"
    if not holder.is_up:
        how = "has no link" if holder.administratively_up else "is switched off"
        return f"{holder.name} with {wanted} {how}"
    return ""


def _there(read: Node, subnet: str) -> Iterator[tuple[Interface, Address]]:
    for interface in read.interfaces:
        for address in interface.addresses:
            if not address.is_link_local and in_subnet(address, subnet):
                yield interface, address


@gate(
    "network-gone",
    question="Is the network that the plan took down, down on every node?",
    needs=("nodes",),
    kinds=(GONE, STILL_UP, NETWORKS_NOT_READ),
)
def network_gone(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Searches every node for an interface that is switched on and has an address in the subnet of a network that the
    plan has taken down. There must be none.

    The gate reads what is now; it does not know whether the next boot brings the interface up.
    """
    plan = context.change.plan
    down = [n for n in plan.networks if n.until and not is_up_now(context.change, n)]
    names = listed(network.name for network in down)
    for node in plan.nodes:
        read = _node(context, cluster, node)
        if isinstance(read, Finding):
            yield read
            continue
        found = [
            interface
            for network in down
            for interface in read.interfaces
            if interface.administratively_up
            and any(not a.is_link_local and in_subnet(a, network.subnet) for a in interface.addresses)
        ]
        if found:
            interfaces = listed(dict.fromkeys(interface.name for interface in found))
            yield of_node(
                STILL_UP,
                Status.FAIL,
                node,
                f"{interfaces} up",
                f"{interfaces} of {node} is up with an address on {names}, which the plan has taken down.",
                then=[
                    as_root(
                        f"Take it down on {node}. If Clusterware was started with it, stop Clusterware there first.",
                        node,
                        *dict.fromkeys(f"ip link set dev {interface.name} down" for interface in found),
                    )
                    if all(len(_own_subnets(interface)) < 2 for interface in found)
                    else NextStep(f"Remove the address on {names}.", ("ip -brief address",), f"root on {node}"),
                    THEN_VERIFY,
                ],
                topic="interfaces",
            )
        else:
            yield of_node(
                GONE, Status.PASS, node, "down", f"{node} has no interface up on {names}.", topic="interfaces"
            )


def _own_subnets(interface: Interface) -> set[str]:
    return {str(address.network) for address in interface.addresses if not address.is_link_local}


@gate(
    "haip-planned",
    question="Does HAIP use each planned private network of every node, and no other?",
    needs=("nodes",),
    kinds=(ON_PLANNED, NOT_ON_PLANNED, NETWORKS_NOT_READ),
)
def haip_planned(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Searches the private interfaces of every node for addresses in 169.254.0.0/16, which HAIP places when Clusterware
    starts. Each planned network must have one, up to four networks; a network that the plan took down may have none.
    """
    plan = context.change.plan
    for node in plan.nodes:
        read = _node(context, cluster, node)
        if isinstance(read, Finding):
            yield read
            continue
        planned = {
            layer.interface: name for layer in context.layers(node) if layer.role == "port" for name in layer.networks
        }
        private = {layer.interface for layer in plan.layers if layer.node == node and layer.role == "port"}
        have = {i.name for i in read.interfaces if i.name in private and any(a.is_link_local for a in i.addresses)}
        lacking = sorted(planned.keys() - have) if len(have) < min(len(planned), _MOST_HAIP) else []
        extra = sorted(have - planned.keys())
        if lacking or extra:
            parts = [f"no HAIP address on {listed(f'{name} ({planned[name]})' for name in lacking)}"] if lacking else []
            parts += [f"one on {listed(extra)}, which the plan does not use"] if extra else []
            yield of_node(
                NOT_ON_PLANNED,
                Status.FAIL,
                node,
                f"{listed(lacking or extra)} {'without' if lacking else 'with'} HAIP",
                f"{node} has {listed(parts)}.",
                then=[
                    NextStep("Check that HAIP is online.", (context.tool(node, "crsctl stat res -t -init"),), "root"),
                    NextStep(
                        "If the network was not up on the first node when Clusterware started there, stop Clusterware "
                        "on all nodes and start it again: HAIP places its addresses then."
                    ),
                ],
                topic="interfaces",
            )
        else:
            on = listed(sorted(have))
            yield of_node(
                ON_PLANNED,
                Status.PASS,
                node,
                f"HAIP on {on}",
                f"HAIP has addresses on {on} of {node}.",
                topic="interfaces",
            )
