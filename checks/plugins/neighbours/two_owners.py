"""Findings about addresses and MAC addresses that several nodes have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import FailKind, Kind
from checks.model.effect import Effect
from checks.model.facts import Cluster, Interface, PrivateNetwork
from checks.model.finding import Finding, NextStep
from checks.model.observation import Fate, Observation
from checks.model.shell_command import for_each, shell
from checks.model.traffic import Address, Traffic, among
from checks.model.wording import listed
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.rules.local_owners import owner_commands, owner_user
from checks.rules.observed.states import state

TWO_OWNERS = FailKind(
    "IC-NEIGH-004",
    "Two nodes have the same private address",
    "Each peer reaches one of the two nodes, and which one changes with every ARP answer.",
    ("RFC 5227",),
)
ON_OTHER = FailKind(
    "IC-NEIGH-016",
    "Another interface of a node has the private address of a peer",
    "The node keeps its own packets for the address, and its kernel answers ARP requests for it on each NIC "
    "(arp_ignore 0): peers can send to the wrong node.",
    ("RFC 5227", "Linux kernel documentation, ip-sysctl, arp_ignore"),
)
SAME_MAC = FailKind(
    "IC-NEIGH-005",
    "Two nodes have the same MAC address on a private network",
    "The switch sends the packets for both nodes to the port that sent last: packets of each are lost in turn.",
    ("IEEE 802.1Q, learning of addresses",),
)


def _ports(cluster: Cluster, network: PrivateNetwork) -> Iterator[tuple[str, Interface]]:
    for port in network.ports:
        if interface := cluster.interface(port):
            yield port.node, interface


def owner_findings(cluster: Cluster, network: PrivateNetwork) -> Iterator[Finding]:
    """Yield the private and HAIP addresses of a network that several nodes have."""
    ports = list(_ports(cluster, network))
    homes = {(node, nic.name) for node, nic in ports}
    private = {a.ip for _, nic in ports for a in nic.addresses if not a.is_link_local}
    # A second owner may have the address on any of its NICs, that of HAIP on a private one: `interfaces` judges others.
    owned = [
        *(
            (node.name, nic, address.ip)
            for node in cluster.read_nodes()
            for nic in node.interfaces
            for address in nic.addresses
            if address.ip in private
        ),
        *((node, nic, a.ip) for node, nic in ports for a in nic.addresses if a.is_link_local),
    ]
    for same in alike(owned, lambda o: o[2]):
        nodes = list(dict.fromkeys(node for node, *_ in same))
        at_home = [node for node, nic, _ in same if (node, nic.name) in homes]
        if len(nodes) > 1 and len(at_home) == 1:
            yield _on_other(
                network, at_home[0], [(node, nic) for node, nic, _ in same if node not in at_home], same[0][2]
            )
        elif len(nodes) > 1:
            ip = same[0][2]
            # On a private NIC it is that of a HAIP.
            is_haip = ip not in private
            yield TWO_OWNERS.finding(
                f"{named(nodes, 'node')} have the same {'HAIP' if is_haip else 'private'} address {ip}.",
                subject=f"{ip}: {briefly(nodes, 'node')}",
                data={"address": ip},
                seen=some([f"{n}: {nic.name} has {ip}, MAC {nic.mac_address or 'not known'}" for n, nic, _ in same]),
                expected=("An address of its own for each node",),
                next=_remove_address(ip, nodes)
                if is_haip
                else [
                    NextStep("Compare the addresses with the plan of the network.", ("ip -brief address",), "any user"),
                    NextStep(
                        "Correct the address in the boot configuration of the wrong node.",
                        where=f"root on {listed(nodes, 'or')}",
                        is_change=True,
                        effect=Effect.NODE_OUT_FIRST,
                    ),
                ],
                evidence=[(node, "interfaces") for node in nodes],
                network=network.name,
                nodes=nodes,
                observed=[_owned_twice(TWO_OWNERS, network, nodes, ip, "haip" if is_haip else "private")],
            )


def _on_other(network: PrivateNetwork, owner: str, others: Sequence[tuple[str, Interface]], ip: str) -> Finding:
    """Return the finding for an address that is right on one private NIC, and also on other interfaces of peers."""
    nodes = list(dict.fromkeys(node for node, _ in others))
    who = listed(f"{nic.name} of {node}" for node, nic in others)
    to_owner = Traffic(networks=(network.name,), receivers=(owner,), addresses=("private",))
    return ON_OTHER.finding(
        f"{who} {'has' if len(others) == 1 else 'have'} {ip}, the private address of {owner} on {network.name}.",
        subject=f"{ip}: {who}",
        data={"address": ip, "interface": others[0][1].name},
        seen=some([f"{node}: {nic.name} ({nic.kind}) has {ip}" for node, nic in others]),
        expected=(f"{ip} on {owner} alone",),
        next=[
            NextStep(
                "Find out which program or file set the address there.",
                owner_commands(nic.name for _, nic in others),
                f"{owner_user(nic.name for _, nic in others)} on {listed(nodes)}",
            ),
            NextStep(
                "Give the network of that program another subnet, and remove the address from the interface.",
                where=f"root on {listed(nodes)}",
                is_change=True,
                effect=Effect.STOPS,
            ),
        ],
        evidence=[(node, "interfaces") for node in (*nodes, owner)],
        network=network.name,
        nodes=[*nodes, owner],
        observed=[state(ON_OTHER.code, node, network.name, nic.name, ip, to_owner) for node, nic in others],
    )


def _owned_twice(
    kind: Kind, network: PrivateNetwork, nodes: Sequence[str], value: str, address: Address | None = None
) -> Observation:
    """Return what the packets to all its owners suffer."""
    to = Traffic(networks=(network.name,), receivers=among(nodes), addresses=(address,) if address else None)
    return Observation(
        fate=Fate.STATE, what=kind.code, legs=(to,), nodes=among(nodes), network=network.name, value=value
    )


def _remove_address(ip: str, nodes: Sequence[str]) -> list[NextStep]:
    return [
        NextStep(
            "Find out which instance uses the address: Clusterware set it on the node of that instance, another "
            "service on the other node.",
            (
                "SELECT INST_ID, NAME, IP_ADDRESS FROM GV$CLUSTER_INTERCONNECTS;",
                shell("ip -brief address | grep -F {ip}", ip=ip),
            ),
            "any instance, and each node",
        ),
        NextStep(
            "Remove the address from the NIC of the other node, and from the service that set it.",
            where=f"root on {listed(nodes, 'or')}",
            is_change=True,
            effect=Effect.STOPS,
        ),
    ]


def same_mac_findings(cluster: Cluster, network: PrivateNetwork) -> Iterator[Finding]:
    """Yield the MAC addresses that the NICs of several nodes have on a network."""
    ports = [(node, nic.name, nic.mac_address.casefold()) for node, nic in _ports(cluster, network)]
    for same in alike([p for p in ports if p[2].strip("0:")], lambda port: port[2]):
        nodes = list(dict.fromkeys(node for node, *_ in same))
        if len(nodes) > 1:
            yield SAME_MAC.finding(
                f"{named(nodes, 'node')} have the same MAC address {same[0][2]} on {network.name}.",
                subject=f"{same[0][2]}: {briefly(nodes, 'node')}",
                data={"mac": same[0][2]},
                seen=some([f"{node}: {nic} has {mac}" for node, nic, mac in same]),
                expected=("A MAC address of its own for each NIC",),
                next=[
                    NextStep(
                        "Compare the MAC address in use with that of the hardware; cloned virtual machines share one.",
                        for_each("ethtool -P {nic}", nic=(nic for _, nic, _ in same)),
                        f"any user on {listed(nodes)}",
                    )
                ],
                evidence=[(node, "interfaces") for node in nodes],
                network=network.name,
                nodes=nodes,
                observed=[_owned_twice(SAME_MAC, network, nodes, same[0][2])],
            )
