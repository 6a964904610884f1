"""Does every node have the private networks that oifcfg names, up and in a configuration that Oracle supports?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase

from checks.model.check import FailKind, Kind, PassKind, check
from checks.model.condition import ConditionKind
from checks.model.effect import Effect
from checks.model.facts import Cluster, Node, PrivateNetwork, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import shell
from checks.model.wording import listed
from checks.plugins.interfaces import link_local, links_down, oifcfg_lines, port_addresses, unread_nodes
from checks.plugins.interfaces.link_local import link_local_findings, networks_in_range
from checks.plugins.interfaces.links_down import not_up
from checks.plugins.interfaces.oifcfg_lines import configuration_findings, haip_findings, roles_of
from checks.plugins.interfaces.port_addresses import netmask_findings, second_interface_findings, swapped_findings
from checks.plugins.interfaces.unread_nodes import unread_node_findings
from checks.rules.engineered import is_engineered
from checks.rules.network_setup import names_status, same_subnet_status
from checks.rules.observed.states import read_on, state
from checks.rules.swapped_ports import swapped_ports

_RULES = "Grid Infrastructure Installation Guide, private IP interface requirements"

IN_PLACE = PassKind("IC-IFACE-001", "A private network is configured and up on every node")
NO_SUCH_SUBNET = FailKind(
    "IC-IFACE-002",
    "oifcfg names a private network that no node is on",
    "Clusterware searches for this subnet at its start and does not find it; a node that restarts cannot join.",
    ("Clusterware Administration Guide, oifcfg", "PRIF-30"),
)
NO_PORT = FailKind(
    "IC-IFACE-003",
    "A node has no interface on a private network",
    "The node cannot use this network. If it is the only private network, the node is not in the cluster.",
    (_RULES,),
)
NAMES_DIFFER = Kind(
    "IC-IFACE-005",
    "A private network is on interfaces of different names",
    "Oracle supports a private network only with the same interface name on every node. Clusterware finds the network "
    "by name and subnet; a node with another name cannot use it after a restart.",
    ("Clusterware Administration Guide, private networks and network interfaces", "PRIF-29"),
)
SAME_SUBNET = Kind(
    "IC-IFACE-006",
    "Two private networks share one subnet",
    "The kernel sends all packets for the subnet out of one of the two interfaces. When that interface fails, the "
    "other is not used, and Clusterware restarts or evicts the node.",
    (_RULES, "MOS 1210883.1"),
)
NONE_CONFIGURED = FailKind(
    "IC-IFACE-009", "No private network is configured", "Without a cluster_interconnect the cluster cannot form."
)


@check(
    "interfaces",
    question="Are the private networks that oifcfg names configured and up on every node?",
    needs=("nodes", "networks"),
    uses=("clusterware",),
    shows=(ConditionKind.LINK, ConditionKind.NODE),
    kinds=(
        *(IN_PLACE, NO_SUCH_SUBNET, NO_PORT, NAMES_DIFFER, SAME_SUBNET, NONE_CONFIGURED),
        *links_down.KINDS,
        *port_addresses.KINDS,
        *oifcfg_lines.KINDS,
        *unread_nodes.KINDS,
        *link_local.KINDS,
    ),
)
def interfaces(cluster: Cluster) -> Iterator[Finding]:
    """Compares the networks of oifcfg with the interfaces of the nodes.

    For each private network, the check verifies that every node has an interface on it, that the interface is up with a
    carrier, and that it has the same name and netmask on every node. No two private networks may share a subnet, and no
    other interface of a node may have an address in one, except on engineered systems; none may also be public, or be
    configured for some nodes only. racwire finds the interface by its subnet, since stored names can be wildcards. HAIP
    must be online where its resource exists and has the target ONLINE. No other interface may have an address in the
    range of HAIP, or take the packets for a HAIP address of another node; and no private network may lie there.
    """
    if isinstance(cluster.networks, Unknown):
        return
    yield from unread_node_findings(cluster)
    if not cluster.networks:
        yield NONE_CONFIGURED.finding(
            "oifcfg names no private network.",
            subject="none configured",
            data={"private_networks": 0},
            expected=("At least one line with cluster_interconnect",),
            next=[
                NextStep("Display the configured networks.", ("oifcfg getif", "oifcfg iflist -p -n"), "the Grid owner")
            ],
            evidence=[(cluster.local_node, "oifcfg getif")],
            observed=read_on(NONE_CONFIGURED.code, [cluster.local_node]),
        )
    for network in cluster.networks if cluster.read_nodes() else ():
        faults = list(_network(cluster, network))
        yield from faults
        if not faults:
            yield _in_place(cluster, network)
    yield from swapped_findings(cluster)
    yield from _shared_subnets(cluster)
    yield from second_interface_findings(cluster)
    yield from configuration_findings(cluster)
    yield from haip_findings(cluster)
    yield from link_local_findings(cluster)
    yield from networks_in_range(cluster)


def _network(cluster: Cluster, network: PrivateNetwork) -> Iterator[Finding]:
    if not network.ports:
        yield _no_such_subnet(cluster, network)
        return
    for node in cluster.read_nodes():
        port = network.port(node.name)
        if port is None:
            yield _no_port(cluster, network, node)
        elif (interface := node.interface(port.interface)) and not interface.is_up:
            yield not_up(cluster, network, port, interface)
    yield from _names(cluster, network)
    yield from netmask_findings(cluster, network)


def _in_place(cluster: Cluster, network: PrivateNetwork) -> Finding:
    names = sorted({p.interface for p in network.ports})
    name = listed(names)
    return IN_PLACE.finding(
        f"{name} {'is' if len(names) == 1 else 'are'} on {network.subnet} and up on "
        f"{listed(p.node for p in network.ports)}.",
        subject=f"{name} {network.subnet}",
        seen=tuple(f"{p.node}: {p.interface} {p.ip}" for p in network.ports),
        evidence=[(cluster.local_node, "oifcfg getif"), *((p.node, "interfaces") for p in network.ports)],
        network=network.name,
        observed=read_on(IN_PLACE.code, [p.node for p in network.ports], network.name),
    )


def _no_such_subnet(cluster: Cluster, network: PrivateNetwork) -> Finding:
    there = tuple(
        f"{node.name}: {interface.name} {address.network}"
        for node in cluster.read_nodes()
        for interface in node.interfaces
        for address in interface.addresses
        if fnmatchcase(interface.name, network.interface) and not address.is_link_local and ":" not in address.ip
    )
    named = f"{network.interface} {network.subnet}" if network.named_by == "oifcfg" else network.subnet
    by = "oifcfg names" if network.named_by == "oifcfg" else "The settings name"
    return NO_SUCH_SUBNET.finding(
        f"{by} the private network {network.subnet}, and no node that could be read has an address in it.",
        subject=f"{network.subnet} on no node",
        data={"subnet": network.subnet, "interface": network.interface},
        seen=(f"{network.named_by}: {named}", *there),
        expected=(f"An address in {network.subnet} on every node",),
        next=[
            NextStep(
                "Compare the stored networks with the interfaces.",
                ("oifcfg getif", "oifcfg iflist -p -n"),
                "the Grid owner",
            ),
            NextStep(
                "If the addresses are right and the stored subnet is wrong, save profile.xml, and add the right subnet "
                "with the same roles while Clusterware is up on all nodes. Then have root stop Clusterware on all "
                "nodes and start it. Delete the old line after that (MOS 283684.1).",
                (
                    shell(
                        "oifcfg setif -global {nic}/RIGHT_SUBNET:{roles}",
                        nic=network.interface,
                        roles=roles_of(cluster, network.subnet),
                    ),
                ),
                "the Grid owner",
                is_change=True,
            ),
        ],
        evidence=[
            (cluster.local_node, "oifcfg getif"),
            (cluster.local_node, "oifcfg iflist"),
            *((node.name, "interfaces") for node in cluster.read_nodes()),
        ],
        network=network.name,
        observed=read_on(NO_SUCH_SUBNET.code, [node.name for node in cluster.read_nodes()], network.name),
    )


def _no_port(cluster: Cluster, network: PrivateNetwork, node: Node) -> Finding:
    has = tuple(f"{i.name} {a.ip}/{a.prefix_length}" for i in node.interfaces for a in i.addresses if ":" not in a.ip)
    return NO_PORT.finding(
        f"{node.name} has no address on the private network {network.subnet}.",
        subject=f"{node.name} not on {network.subnet}",
        data={"subnet": network.subnet},
        seen=(f"{node.name} has {', '.join(has)}",),
        expected=(f"{network.interface} with an address in {network.subnet}",),
        next=[NextStep("Display the interfaces of the node.", ("ip -brief address",), f"any user on {node.name}")],
        evidence=[(cluster.local_node, "oifcfg getif"), (node.name, "interfaces")],
        network=network.name,
        nodes=[node.name],
    )


def _names(cluster: Cluster, network: PrivateNetwork) -> Iterator[Finding]:
    if network.named_by != "oifcfg":
        return
    by_name: dict[str, list[str]] = defaultdict(list)
    swapped = {port for swap in swapped_ports(cluster) for port in (swap.first, swap.second)}
    for port in (p for p in network.ports if p not in swapped):
        by_name[port.interface].append(port.node)
    odd = {n: nodes for n, nodes in by_name.items() if not fnmatchcase(n, network.interface)}
    if network.is_pattern and len(by_name) > 1:
        odd = dict(by_name)
    if not odd:
        return
    names = listed(f"{name} on {listed(nodes)}" for name, nodes in odd.items())
    yield NAMES_DIFFER.finding(
        f"The private network {network.subnet} is on {names}, while oifcfg names {network.interface}.",
        status=names_status(network),
        subject=f"{network.subnet}: {names}",
        data={"subnet": network.subnet, "configured_interface": network.interface, "interfaces": ", ".join(odd)},
        seen=tuple(f"{p.node}: {p.interface} {p.ip}" for p in network.ports),
        expected=(f"{network.interface} on every node",),
        next=[
            NextStep(
                "Find out where the names come from.",
                ("ip -brief address", "ls /etc/udev/rules.d"),
                "any user on each node",
            ),
            NextStep(
                f"Rename the interface to {network.interface} on "
                f"{listed(n for nodes in odd.values() for n in nodes)}, at run time and for the next boot.",
                where="root",
                is_change=True,
                effect=Effect.NODE_OUT_FIRST,
            ),
        ],
        evidence=[(cluster.local_node, "oifcfg getif"), *((p.node, "interfaces") for p in network.ports)],
        network=network.name,
        nodes=[node for nodes in odd.values() for node in nodes],
        extent=(sum(map(len, odd.values())), "nodes"),
        observed=[state(NAMES_DIFFER.code, n, network.name, name) for name, nodes in odd.items() for n in nodes],
    )


def _shared_subnets(cluster: Cluster) -> Iterator[Finding]:
    if isinstance(cluster.networks, Unknown):
        return
    by_subnet: dict[str, list[PrivateNetwork]] = defaultdict(list)
    for network in cluster.networks:
        by_subnet[network.subnet].append(network)
    for subnet, networks in by_subnet.items():
        if len(networks) < 2:
            continue
        names = [n.interface for n in networks]
        engineered = all(is_engineered(cluster, name) for name in names)
        suffix = ", as on engineered systems" if engineered else ""
        yield SAME_SUBNET.finding(
            f"The private networks on {listed(names)} share one subnet, {subnet}{suffix}.",
            status=same_subnet_status(engineered),
            subject=f"{listed(names)} in {subnet}",
            data={"subnet": subnet, "interfaces": ", ".join(names)},
            seen=tuple(f"{p.node}: {p.interface} {p.ip}" for n in networks for p in n.ports),
            expected=("As set by the vendor",) if engineered else ("A separate subnet for each private network",),
            why="The vendor configures engineered systems this way." if engineered else "",
            next=[]
            if engineered
            else [
                NextStep(
                    "Display which interface the kernel uses.",
                    (shell("ip route show {subnet}", subnet=subnet),),
                    "any user on each node",
                ),
                NextStep(
                    "Plan new addresses for one of the networks, in a maintenance window (MOS 283684.1).",
                    is_change=True,
                    effect=Effect.CLUSTER_DOWN_FIRST,
                ),
            ],
            evidence=[
                (cluster.local_node, "oifcfg getif"),
                *((n.name, topic) for n in cluster.read_nodes() for topic in ("interfaces", "routes")),
            ],
            network=networks[0].name,
            observed=[state(SAME_SUBNET.code, p.node, n.name, p.interface, subnet) for n in networks for p in n.ports],
        )
