"""The private NICs of a node together: one NIC or one card for all, slower than the public network, other VLAN tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from checks.model.check import InfoKind, WarnKind
from checks.model.effect import Effect
from checks.model.facts import Cluster, Clusterware, HostSetup, Node, PrivateNetwork, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.networks import in_subnet, layers_of, nics_of, private_nics_of
from checks.model.shell_command import for_each, shell
from checks.model.wording import listed
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.host_facts import HOST_TOPIC, hosts_of
from checks.rules.observed.states import state, states

_GUIDE = "Grid Infrastructure Installation Guide, private networks"
SLOWER = WarnKind(
    "IC-TOPO-004",
    "The private networks of a node are slower than its public network",
    "Clients can ask for more than the instances can move between each other: the interconnect is full first.",
    ("TruCluster Server, cluster interconnects", _GUIDE),
)
ONE_NIC = InfoKind(
    "IC-TOPO-005",
    "The whole interconnect of a node depends on one NIC or one card",
    "When it fails, the node loses its interconnect and leaves the cluster.",
    (_GUIDE,),
)
TAGS = WarnKind(
    "IC-TOPO-006",
    "The nodes are in different VLANs on one private network",
    "A switch keeps different VLANs apart, unless it was configured to translate them: the nodes do not reach each "
    "other, or do so through a router or a translation.",
    ("IEEE 802.1Q",),
)


def slower_than_public(cluster: Cluster) -> Iterator[Finding]:
    """Yield one finding for the nodes whose private NICs together are slower than their public ones."""
    rated = [(node, rates) for node in cluster.read_nodes() if (rates := rates_of(cluster, node))]
    slow = [(node, private, public) for node, (private, public) in rated if private < public]
    for same in alike(slow, lambda one: one[1:]):
        nodes, private, public = [node.name for node, *_ in same], same[0][1], same[0][2]
        yield SLOWER.finding(
            f"The private networks of {named(nodes, 'node')} have {private:,} Mbit/s together, and the public network "
            f"has {public:,}.",
            subject=f"{briefly(nodes, 'node')}: slower than public",
            data={"private_mbps": private, "public_mbps": public},
            seen=some([_speeds(cluster, node) for node, *_ in same]),
            expected=(f"{public:,} Mbit/s or more",),
            next=[
                NextStep(
                    "Display what each NIC negotiated.",
                    for_each("ethtool {nic}", nic=private_nics_of(cluster, nodes[0])[:4]),
                    f"any user on {named(nodes, 'node')}",
                ),
                NextStep(
                    "Plan faster NICs and switch ports, or another private network.",
                    is_change=True,
                    effect=Effect.NODE_OUT_FIRST,
                ),
            ],
            evidence=[(node, "interfaces") for node in nodes],
            nodes=nodes,
            extent=(len(nodes), "nodes"),
            observed=states(SLOWER.code, nodes),
        )


def rates_of(cluster: Cluster, node: Node) -> tuple[int, int] | None:
    """Return the speed in Mbit/s of all private networks of a node, and of its public ones; None where not known."""
    private = list(dict.fromkeys(port.interface for n in cluster.read_networks() if (port := n.port(node.name))))
    public = [name for name in _public(cluster, node) if name not in private]
    rates = [[_rate(cluster, node, name) for name in names] for names in (private, public)]
    if any(not side or None in side for side in rates):
        return None
    return sum(rate or 0 for rate in rates[0]), sum(rate or 0 for rate in rates[1])


def _public(cluster: Cluster, node: Node) -> list[str]:
    facts = cluster.clusterware
    if isinstance(facts, Clusterware) and not isinstance(facts.configuration, Unknown):
        subnets = [e.subnet for e in facts.configuration.interfaces if e.is_public]
        return [i.name for i in node.interfaces if any(in_subnet(a, s) for a in i.addresses for s in subnets)]
    return list(dict.fromkeys(route.interface for route in node.routes if route.destination == "default"))


def _rate(cluster: Cluster, node: Node, name: str) -> int | None:
    """Return the speed of the NICs below an interface: of all, or of the fastest where one is active at a time."""
    top = node.interface(name)
    if top is None or not top.is_up:
        return None
    below = layers_of(node, top)
    names = {i.name for i in below}
    lowest = [i for i in below if not names.intersection((*i.members, i.parent))]
    speeds = [i.speed_mbps for i in lowest if i.is_up]
    known = [speed for speed in speeds if isinstance(speed, int) and speed > 0]
    if not known or len(known) < len(speeds):
        return None
    host = hosts_of(cluster).get(node.name)
    bonds = () if host is None or isinstance(host.bonds, Unknown) else host.bonds
    return max(known) if any(b.name in names and b.has_one_active for b in bonds) else sum(known)


def _speeds(cluster: Cluster, node: Node) -> str:
    names = dict.fromkeys((*private_nics_of(cluster, node.name), *_public(cluster, node)))
    nics = [nic for name in names if (nic := node.interface(name))]
    parts = [f"{nic.name} {nic.speed_mbps:,}" for nic in nics if isinstance(nic.speed_mbps, int)]
    return f"{node.name}: {', '.join(parts)} Mbit/s"


def single_nics(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for the nodes with one private NIC, and for those with several NICs on one card.

    The PCI address has the card: ports of one card have the same address but for the function at its end. On a virtual
    machine it says nothing about the hardware.
    """
    places = [(node.name, place) for node in cluster.read_nodes() if (place := _place(cluster, node.name))]
    for same in alike(places, lambda one: one[1]):
        nodes, (card, nics) = [node for node, _ in same], same[0][1]
        what = f"{listed(nics)}, {'the one NIC' if len(nics) == 1 else 'which are ports of one card'}"
        yield ONE_NIC.finding(
            f"The interconnect of {named(nodes, 'node')} depends on {what}.",
            subject=f"{briefly(nodes, 'node')}: {'one NIC' if len(nics) == 1 else 'one card'}",
            data={"interfaces": len(nics)},
            seen=some([f"{node}: {listed(nics)}{f' at PCI address {card}' if card else ''}" for node in nodes]),
            expected=("Two NICs on two cards",),
            evidence=[(node, HOST_TOPIC if card else "interfaces") for node in nodes],
            nodes=nodes,
            observed=[state(ONE_NIC.code, node, nic=nic) for node in nodes for nic in nics],
        )


def _place(cluster: Cluster, node: str) -> tuple[str, tuple[str, ...]] | None:
    nics = private_nics_of(cluster, node)
    host = hosts_of(cluster).get(node)
    if host is not None and host.is_virtual:
        return None
    if len(nics) == 1:
        return "", nics
    cards = cards_of(host, nics)
    return (cards[0], nics) if len(cards) == len(nics) and len(set(cards)) == 1 else None


def cards_of(host: HostSetup | None, nics: Sequence[str]) -> list[str]:
    """Return the PCI addresses of these NICs without the function, for the NICs that have one."""
    slots = {} if host is None else host.slots
    return [slot.rpartition(".")[0] for nic in nics if (slot := slots.get(nic, "")) and "." in slot]


def other_tags(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for each private network whose nodes have different VLAN tags."""
    for network in cluster.read_networks():
        tags = {port.node: tag for port in network.ports if (tag := _tag(cluster, network, port.node)) is not None}
        if len(set(tags.values())) < 2:
            continue
        usual = Counter(tags.values()).most_common(1)[0][0]
        odd = [node for node, tag in tags.items() if tag != usual]
        yield TAGS.finding(
            f"{named(odd, 'node')} {'is' if len(odd) == 1 else 'are'} in VLAN {tags[odd[0]]} on {network.name}, and "
            f"{named((n for n in tags if n not in odd), 'node')} in VLAN {usual}.",
            subject=f"{network.interface} {briefly(odd, 'node')}: VLAN differs",
            data={"tags": len(set(tags.values()))},
            seen=some([f"{node}: {network.interface} in VLAN {tag}" for node, tag in tags.items()]),
            expected=("The same VLAN on each node",),
            next=[
                NextStep(
                    "Display the VLAN of the interface.",
                    (shell("ip -d link show {nic}", nic=network.interface),),
                    f"any user on {named(odd, 'node')}",
                ),
                NextStep(
                    "Ask the network team for the VLAN of each switch port, and whether the switch translates tags."
                ),
            ],
            evidence=[(node, "interfaces") for node in tags],
            network=network.name,
            nodes=odd,
            extent=(len(odd), "nodes"),
            observed=[state("VLAN", node, network.name, network.interface, tags[node]) for node in odd],
        )


def _tag(cluster: Cluster, network: PrivateNetwork, node: str) -> int | None:
    """Return the VLAN of a node's port: that of its own tag, else the switch's for untagged frames; None if unknown."""
    port, read = network.port(node), cluster.node(node)
    top = cluster.interface(port) if port else None
    if port is None or top is None or read is None:
        return None
    below = layers_of(read, top)
    if vlans := [i for i in below if i.kind == "vlan"]:
        return vlans[0].vlan
    setup = cluster.setup(node)
    switches = () if setup is None or isinstance(setup.lldp, Unknown) else setup.lldp
    nics = tuple(nics_of(cluster, port))
    untagged = {n.untagged_vlan for n in switches if n.interface in nics and n.untagged_vlan is not None}
    return untagged.pop() if len(untagged) == 1 else None
