"""The next steps where packets vanish at a node: the node, the layer below its NIC, the switch port, in this order."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checks.model.facts import Cluster, PrivateNetwork
from checks.model.finding import NextStep
from checks.model.shell_command import for_each
from checks.model.wording import listed
from checks.plugins.shared.filter_commands import RULES, capture
from checks.rules.below_nics import Below, below, bridge_of, product_of

_POLICIES = (
    ("vmware", "the port group's Forged transmits and MAC address changes (both Accept), and the rules of NSX"),
    ("microsoft corporation|hyper-v", "MAC address spoofing (On) and the port ACLs of the virtual switch"),
    ("azure", "the network security groups of the NIC and of its subnet"),
    ("oracle cloud", "the security lists and network security groups, and the VNIC's source/destination check"),
    ("amazon|ec2", "the security groups, the network ACL, and the source/destination check of the NIC"),
    ("google", "the firewall rules of the VPC, and whether the NIC may forward"),
    (
        "qemu|kvm|red hat|ovirt|olvm|openstack|nutanix",
        "the network filter of the NIC (libvirt: no-mac-spoofing), port security, and spoofchk of a virtual function",
    ),
)
"""By cloud or product, the policies that drop the packets of a node by MAC address, IP address or protocol."""
_ANY_POLICY = "MAC spoof checks, forged transmits, security lists and port security"
_CONTAINER_POLICY = "the rules of its bridge (nft, ebtables, bridge netfilter), and isolated ports"


def capture_steps(
    network: PrivateNetwork,
    one: str,
    other: str,
    packets: Sequence[str] = ("arp", "or", "icmp"),
    during: str = "they ping each other",
) -> tuple[NextStep, ...]:
    """Return the capture of some packets at both ends of a path; none where an end has no port."""
    here, there = network.port(one), network.port(other)
    if here is None or there is None:
        return ()
    nics = dict.fromkeys((here.interface, there.interface))
    return (
        NextStep(
            f"Capture at {one} and {other} while {during}. What leaves one node and does not reach the other vanishes "
            "between them; what arrives and gets no answer vanishes on the node.",
            tuple(capture(nic, *packets) for nic in nics),
            f"root on {one} and {other}",
        ),
    )


def node_step(cluster: Cluster, network: PrivateNetwork, nodes: Sequence[str], more: Sequence[str] = ()) -> NextStep:
    """Return the step that looks at the NICs and the filters of these nodes themselves, with `more` commands."""
    bridges = [f"{name} on {node}" for node in nodes if (name := bridge_of(cluster, network, node))]
    own = f", those of the bridge {listed(bridges)} too" if bridges else ""
    nics = dict.fromkeys(port.interface for node in nodes if (port := network.port(node)))
    links = for_each("ip -details link show {nic}", nic=nics)
    return NextStep(
        f"Look at the link and the packet filters of {listed(nodes)}{own}.",
        (*links, *more, *RULES),
        f"root on {listed(nodes)}",
    )


def below_steps(cluster: Cluster, network: PrivateNetwork, nodes: Sequence[str]) -> tuple[NextStep, ...]:
    """Return the step for those who run what is below the NICs of these nodes; none where that is a cable."""
    layers = {node: below(cluster, network, node) for node in nodes if network.port(node)}
    return _below(cluster, {node: layer for node, layer in layers.items() if layer.can_filter})


def _below(cluster: Cluster, layers: dict[str, Below]) -> tuple[NextStep, ...]:
    if not layers:
        return ()
    nodes = listed(layers)
    kinds = {*layers.values()}
    policies = list(dict.fromkeys(_policy(product_of(cluster, node), layer) for node, layer in layers.items()))
    if kinds == {Below.NOT_KNOWN}:
        text = f"Whether {nodes} runs under a hypervisor is not known. If so, ask those who run it for {policies[0]}."
    else:
        who = " or ".join(sorted(layer.value for layer in kinds if layer is not Below.NOT_KNOWN))
        text = f"Ask those who run the {who} of {nodes} for {listed(policies)}."
    return (NextStep(text, where="the hypervisor, cloud or container host"),)


def _policy(product: str, layer: Below) -> str:
    if layer is Below.CONTAINER_HOST:
        return _CONTAINER_POLICY
    found = (text for pattern, text in _POLICIES if re.search(pattern, product, re.IGNORECASE))
    return next(found, _ANY_POLICY)
