"""Gates: are the private networks on the nodes as the plan wants them now, and does HAIP use them?"""

from __future__ import annotations

from checks.change.gates.gate import THEN_VERIFY, GatePlace, node_gate
from checks.change.plan.change_plan import PlannedNetwork
from checks.change.plan.network_change import address_of
from checks.change.progress.wanted import is_up_now
from checks.model.check import Kind
from checks.model.effect import Effect
from checks.model.facts import Address, Interface, Node
from checks.model.finding import Finding, NextStep
from checks.model.networks import in_subnet
from checks.model.shell_command import for_each
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
_UNREAD = (NETWORKS_NOT_READ, "The private networks of {} are not known")


@node_gate(
    "network-in-place",
    question="Is each private network up on every node, with the planned addresses?",
    needs=("nodes",),
    topic="interfaces",
    kinds=(IN_PLACE, NOT_IN_PLACE, NETWORKS_NOT_READ),
    read=GatePlace.read,
    unread=_UNREAD,
)
def network_in_place(at: GatePlace, node: Node) -> Finding:
    """Compares the interface and the address of each node on each private network with the plan. The interface must be
    up with a link. Networks that the plan has taken down, or has not brought up yet, are left out.

    The gate reads what is now; it does not know which addresses the next boot gives.
    """
    networks = at.plan.networks
    if wrong := [why for network in networks if (why := _missing(at, network, node))]:
        return at.fails(
            NOT_IN_PLACE,
            f"{counted(len(wrong), 'network')} missing",
            f"{at.node} is not on every private network as planned: {listed(wrong)}.",
            at.look("Check the interfaces.", "ip -brief address", "ip -brief link"),
            THEN_VERIFY,
        )
    names = listed(network.name for network in networks)
    return at.holds(IN_PLACE, f"{counted(len(networks), 'network')} up", f"{at.node} is on {names}, as planned.")


def _missing(at: GatePlace, network: PlannedNetwork, node: Node) -> str:
    """Return what is wrong with a node's port on a network; empty if it is as planned."""
    wanted = address_of(network, node.name)
    if not wanted:
        return ""
    planned = [one.interface for one in at.layers if one.role == "port" and network.name in one.networks]
    holders = [i for i in node.interfaces if any(a.ip == network.addresses[node.name] for a in i.addresses)]
    if not holders:
        others = [f"{a.ip} on {i.name}" for i in node.interfaces for a in _addresses_on(i, network)]
        return f"no interface has {wanted}{f', but {listed(others)}' if others else ''}"
    holder = holders[0]
    if holder.name not in planned:
        return f"{wanted} is on {holder.name}, not on {listed(planned)}"
    has = next(a for a in holder.addresses if a.ip == network.addresses[node.name])
    if f"{has.ip}/{has.prefix_length}" != wanted:
        return f"{holder.name} has {has.ip}/{has.prefix_length}, not {wanted}"
    if not holder.is_up:
        how = "has no link" if holder.administratively_up else "is switched off"
        return f"{holder.name} with {wanted} {how}"
    return ""


def _addresses_on(interface: Interface, network: PlannedNetwork) -> list[Address]:
    """Return the addresses of an interface in the subnet of a network, without those of HAIP."""
    return [a for a in interface.addresses if not a.is_link_local and in_subnet(a, network.subnet)]


@node_gate(
    "network-gone",
    question="Is the network that the plan took down, down on every node?",
    needs=("nodes",),
    topic="interfaces",
    kinds=(GONE, STILL_UP, NETWORKS_NOT_READ),
    read=GatePlace.read,
    unread=_UNREAD,
)
def network_gone(at: GatePlace, node: Node) -> Finding:
    """Searches every node for an interface that is switched on and has an address in the subnet of a network that the
    plan has taken down. There must be none.

    The gate reads what is now; it does not know whether the next boot brings the interface up.
    """
    down = [n for n in at.change.plan.networks if n.until and not is_up_now(at.change, n)]
    names = listed(network.name for network in down)
    found = [i for i in node.interfaces if i.administratively_up and any(_addresses_on(i, n) for n in down)]
    if not found:
        return at.holds(GONE, "down", f"{at.node} has no interface up on {names}.")
    interfaces = listed(interface.name for interface in found)
    return at.fails(
        STILL_UP,
        f"{interfaces} up",
        f"{interfaces} of {at.node} is up with an address on {names}, which the plan has taken down.",
        at.as_root(
            f"Take it down on {at.node}. If Clusterware was started with it, stop Clusterware there first.",
            *for_each("ip link set dev {nic} down", nic=(interface.name for interface in found)),
        )
        if all(len(_own_subnets(interface)) < 2 for interface in found)
        else NextStep(
            f"Remove the address on {names}, now and in the files of the network service.",
            ("ip -brief address",),
            f"root on {at.node}",
            is_change=True,
            effect=Effect.NODE_OUT_FIRST,
        ),
        THEN_VERIFY,
    )


def _own_subnets(interface: Interface) -> set[str]:
    return {str(address.network) for address in interface.addresses if not address.is_link_local}


@node_gate(
    "haip-planned",
    question="Does HAIP use each planned private network of every node, and no other?",
    needs=("nodes",),
    topic="interfaces",
    kinds=(ON_PLANNED, NOT_ON_PLANNED, NETWORKS_NOT_READ),
    read=GatePlace.read,
    unread=_UNREAD,
)
def haip_planned(at: GatePlace, node: Node) -> Finding:
    """Searches the private interfaces of every node for addresses in 169.254.0.0/16, which HAIP places when Clusterware
    starts. Each planned network must have one, up to four networks; a network that the plan took down may have none.
    """
    planned = {layer.interface: name for layer in at.layers if layer.role == "port" for name in layer.networks}
    private = {layer.interface for layer in at.change.plan.layers if layer.node == at.node and layer.role == "port"}
    have = {i.name for i in node.interfaces if i.name in private and any(a.is_link_local for a in i.addresses)}
    lacking = sorted(planned.keys() - have) if len(have) < min(len(planned), _MOST_HAIP) else []
    extra = sorted(have - planned.keys())
    if not lacking and not extra:
        on = listed(sorted(have))
        return at.holds(ON_PLANNED, f"HAIP on {on}", f"HAIP has addresses on {on} of {at.node}.")
    parts = [f"no HAIP address on {listed(f'{name} ({planned[name]})' for name in lacking)}"] if lacking else []
    parts += [f"one on {listed(extra)}, which the plan does not use"] if extra else []
    return at.fails(
        NOT_ON_PLANNED,
        f"{listed(lacking or extra)} {'without' if lacking else 'with'} HAIP",
        f"{at.node} has {listed(parts)}.",
        NextStep("Check that HAIP is online.", (at.tool("crsctl stat res -t -init"),), "root"),
        NextStep(
            "If the network was not up on the first node when Clusterware started there, stop Clusterware on all nodes "
            "and start it again: HAIP places its addresses then."
        ),
    )
