"""Do the routes of the nodes keep the private networks private, with their whole MTU?"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence

from checks.model.check import FailKind, Kind, PassKind, WarnKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, Flows, Interface, Node, Port, PrivateNetwork, Route, Unknown
from checks.model.finding import FAULTS, Finding, NextStep, Status
from checks.model.observation import Observation
from checks.model.shell_command import for_each, shell
from checks.model.traffic import Traffic
from checks.model.wording import counted, listed
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.route_remedy import without_mtu
from checks.rules.flow_verdicts import answered, judge_flow
from checks.rules.network_setup import forwarding_status, missing_route_status
from checks.rules.node_counts import sysctl
from checks.rules.observed.states import read_on, state, states, to_peer
from checks.rules.private_ways import is_connected, lacks_route, led_astray, next_hops, shares_subnet, should_have_route
from checks.rules.table_routes import network_of

_GUIDE = "Grid Infrastructure Installation Guide, private networks"
_RANGE = ipaddress.IPv4Network("169.254.0.0/16")
_FORWARDING = "net.ipv4.ip_forward"
"""Writing it resets settings to those of a host or a router (ip-sysctl; inet_forward_change of the kernel)."""

PRIVATE = PassKind("IC-ROUTE-001", "The routes keep the private networks private, with their whole MTU")
DEFAULT = WarnKind(
    "IC-ROUTE-002",
    "The default route of a node leads over a private NIC",
    "Packets for networks without a route of their own leave over the interconnect, or are lost there: clients, DNS "
    "and backup share its bandwidth, and a private network has a router.",
    ("MOS 563566.1, causes 6 and 7", _GUIDE),
)
HAIP_MTU = WarnKind(
    "IC-ROUTE-003",
    "A route for the addresses of HAIP has a smaller MTU than its NIC",
    "Instances send blocks between HAIP addresses. The kernel cuts larger packets for this route into fragments, or "
    "refuses those that must not be cut, although the NIC could send them whole. Pings between the private networks' "
    "own addresses do not show this.",
    ("MOS 1210883.1", "MOS 563566.1, causes 3 and 5", "ip-route(8), mtu"),
)
FORWARDS = Kind(
    "IC-ROUTE-004",
    "A node forwards packets between its networks",
    "With net.ipv4.ip_forward a node is a router: other hosts can reach the private networks through it.",
    ("MOS 563566.1, cause 7", "Linux kernel documentation, ip-sysctl"),
)

ASTRAY = FailKind(
    "IC-ROUTE-005",
    "A node sends the packets for a private address of a peer through another NIC",
    "The most specific route decides. The packets take another network than the one that was configured, and answers "
    "may return over the right one: rp_filter drops such packets, and one link carries the load of two.",
    ("MOS 1210883.1", "ip-route(8)"),
)
NO_ROUTE = Kind(
    "IC-ROUTE-006",
    "A node has no route to a private network",
    "The NIC is up and has its address, but packets for the peers take the default route, or the kernel refuses them. "
    "Packets of the peers arrive and get no answer. A ping that is bound to the NIC does not need the route.",
    ("ip-route(8)",),
)
SEVERAL_HOPS = FailKind(
    "IC-ROUTE-007",
    "The route of a private network has next hops over several NICs",
    "The kernel divides the packets for the network among the NICs by their addresses or flows. Those that take "
    "another NIC reach another network, and rp_filter of the peer can drop them. HAIP uses several NICs without that.",
    ("ip-route(8), nexthop", "MOS 1210883.1"),
)


@check(
    "private-routes",
    question="Do the routes of the nodes keep the private networks private?",
    needs=("nodes", "networks"),
    uses=("flows", "setups"),
    about=(ConditionKind.LINK,),
    kinds=(PRIVATE, DEFAULT, HAIP_MTU, FORWARDS, ASTRAY, NO_ROUTE, SEVERAL_HOPS),
)
def private_routes(cluster: Cluster) -> Iterator[Finding]:
    """Judges the default route, the routes in the range of HAIP, and forwarding, on each node with a private NIC.

    A default route over a private NIC is a warning. So is a route for addresses in 169.254.0.0/16 whose own MTU is
    smaller than that of its private NIC, and net.ipv4.ip_forward of 1 on a node without a bridge of its own for
    containers or virtual machines. A route that takes the packets for a peer's private address away from the NIC of its
    network is a failure, and so are next hops over several NICs, and a private network without a route, unless UDP
    datagrams to it were answered: a rule can point to another table.
    """
    if isinstance(cluster.networks, Unknown):
        return
    nodes = [node for node in cluster.read_nodes() if _ports(cluster, node)]
    found = [
        *(finding for node in nodes for finding in _default(cluster, node)),
        *(finding for node in nodes for finding in _haip(cluster, node)),
        *(finding for node in nodes for finding in _astray(cluster, node)),
        *_forwarding(cluster, nodes),
    ]
    yield from found
    bad = {node for finding in found if finding.status in FAULTS for node in finding.nodes}
    fine = [node.name for node in nodes if node.name not in bad]
    if fine:
        yield PRIVATE.finding(
            f"No default route of {named(fine, 'node')} leads over a private NIC, and no route for HAIP has a smaller "
            "MTU than its NIC.",
            subject=f"{briefly(fine, 'node')}: routes private",
            evidence=[(node, "routes") for node in fine],
            observed=read_on(PRIVATE.code, fine),
        )
    if not nodes:
        yield PRIVATE.finding(
            "No node that was read has a port on a private network, so no route leads there.",
            status=Status.SKIPPED,
            subject="no ports",
        )


def _ports(cluster: Cluster, node: Node) -> dict[str, PrivateNetwork]:
    """Return the private networks of a node by interface."""
    return {port.interface: network for network in cluster.read_networks() if (port := network.port(node.name))}


def _default(cluster: Cluster, node: Node) -> Iterator[Finding]:
    ports = _ports(cluster, node)
    # A node with a single network has its default route there, and every other route too.
    public = [i for i in node.interfaces if i.kind != "loopback" and i.name not in ports and i.is_up and _has_ipv4(i)]
    for route in node.routes:
        network = ports.get(route.interface)
        if route.destination not in ("default", "0.0.0.0/0") or network is None or not public:
            continue
        others = [r for r in node.routes if r.destination == route.destination and r.interface not in ports]
        in_use = all(route.metric <= other.metric for other in others)
        yield DEFAULT.finding(
            f"{'The' if in_use else 'A'} default route of {node.name} leads over {route.interface}, on the private "
            f"network {network.name}{'' if in_use else ', for the time when the one in use is gone'}.",
            subject=f"{node.name}: default over {route.interface}",
            data={"interface": route.interface, "gateway": route.gateway},
            seen=(_line(node, route), *(_line(node, other) for other in others)),
            expected=("A default route over the public network, and none over a private one",),
            next=[
                NextStep(
                    "Display the routes and the service that set this one.",
                    (
                        "ip route show default",
                        shell("nmcli -f GENERAL.CONNECTION,IP4 device show {nic}", nic=route.interface),
                    ),
                    f"any user on {node.name}",
                ),
                NextStep(
                    "Remove the gateway from the configuration of the private interface; make sure first that the "
                    "public network has its own default route, or logins end.",
                    (shell("ip route del {route}", route=route.words),),
                    f"root on {node.name}",
                    is_change=True,
                ),
            ],
            evidence=[(node.name, "routes"), (node.name, "interfaces")],
            network=network.name,
            nodes=[node.name],
            observed=[state(DEFAULT.code, node.name, network.name, route.interface, route.gateway or None)],
        )


def _haip(cluster: Cluster, node: Node) -> Iterator[Finding]:
    ports = _ports(cluster, node)
    for route in node.routes:
        network, interface = ports.get(route.interface), node.interface(route.interface)
        if network is None or interface is None or not _is_of_haip(route.destination):
            continue
        if route.mtu is None or route.mtu >= interface.mtu:
            continue
        to_haip = Traffic(networks=(network.name,), senders=(node.name,), addresses=("haip",))
        yield HAIP_MTU.finding(
            f"The route of {node.name} for HAIP, {route.destination} over {route.interface}, has MTU {route.mtu}; "
            f"{route.interface} has MTU {interface.mtu}.",
            subject=f"{node.name} {route.interface}: route MTU {route.mtu}",
            data={"interface": route.interface, "route_mtu_bytes": route.mtu, "mtu_bytes": interface.mtu},
            seen=(_line(node, route), f"{node.name}: {interface.name} has MTU {interface.mtu}"),
            expected=(f"A route without an MTU of its own, or with MTU {interface.mtu}",),
            next=[
                NextStep(
                    "Find out which program set the MTU of the route.",
                    ("ip route show root 169.254.0.0/16",),
                    f"any user on {node.name}",
                ),
                without_mtu(cluster, node, route),
            ],
            evidence=[(node.name, "routes"), (node.name, "interfaces")],
            network=network.name,
            nodes=[node.name],
            extent=(interface.mtu - route.mtu, "bytes less"),
            observed=[state("mtu", node.name, network.name, route.interface, route.mtu, to_haip)],
        )


def _is_of_haip(destination: str) -> bool:
    network = network_of(destination)
    return isinstance(network, ipaddress.IPv4Network) and network.overlaps(_RANGE) and network.prefixlen > 0


def _astray(cluster: Cluster, node: Node) -> Iterator[Finding]:
    """Yield a finding for each private network whose packets for some peers leave through another NIC."""
    for interface, network in _ports(cluster, node).items():
        if shares_subnet(cluster, network):
            continue  # interfaces finds two networks in one subnet
        if not should_have_route(node, interface, network):
            continue  # interfaces finds why
        if hops := next_hops(node, network):
            yield _several_hops(node, interface, network, hops)
            continue
        taken = led_astray(node, interface, network)
        if not taken:
            yield from _without_route(cluster, node, interface, network)
            continue
        own = _own_route(node, interface, network)
        peers, others = [port.node for port, _ in taken], listed(dict.fromkeys(route.interface for _, route in taken))
        yield ASTRAY.finding(
            f"{node.name} sends the packets for {listed(port.ip for port, _ in taken)} of {listed(peers)} through "
            f"{others}, not through {interface} of {network.name}.",
            subject=f"{node.name}: {interface} bypassed",
            data={"interface": interface, "route_interface": taken[0][1].interface, "peers": len(peers)},
            seen=some([_line(node, route) for _, route in taken]),
            expected=(f"The route of {network.subnet} over {interface}",),
            next=[
                NextStep(
                    "Display the route in use, and find out which service set it.",
                    (shell("ip route get {to}", to=taken[0][0].ip), "ip route show"),
                    f"any user on {node.name}",
                ),
                NextStep(
                    "Remove the route here and in the configuration of that service.",
                    (
                        *for_each("ip route del {route}", route=(route.words for _, route in taken)),
                        *(
                            []
                            if is_connected(node, interface, network)
                            else for_each("ip route add {route}", route=[own])
                        ),
                    ),
                    f"root on {node.name}",
                    is_change=True,
                ),
            ],
            evidence=[(node.name, "routes"), (node.name, "interfaces")],
            network=network.name,
            nodes=[node.name],
            extent=(len(peers), "peers"),
            observed=[_not_led(ASTRAY, node, network, route.interface, port) for port, route in taken],
        )


def _several_hops(node: Node, interface: str, network: PrivateNetwork, hops: Sequence[Route]) -> Finding:
    nics = listed(dict.fromkeys(hop.interface for hop in hops))
    return SEVERAL_HOPS.finding(
        f"The route of {node.name} to {network.subnet} has next hops over {nics}; {interface} has the network.",
        subject=f"{node.name}: {network.subnet} over {nics}",
        seen=[_line(node, hop) for hop in hops],
        expected=(f"The route of {network.subnet} over {interface} alone",),
        next=[
            NextStep("Find out which service set the route.", ("ip route show",), f"any user on {node.name}"),
            NextStep(
                "Set the route here, and remove the next hops in that service.",
                (shell("ip route replace {route}", route=_own_route(node, interface, network)),),
                f"root on {node.name}",
                is_change=True,
            ),
        ],
        evidence=[(node.name, "routes"), (node.name, "interfaces")],
        network=network.name,
        nodes=[node.name],
        observed=[_not_led(SEVERAL_HOPS, node, network, interface, p) for p in network.ports if p.node != node.name],
    )


def _own_route(node: Node, interface: str, network: PrivateNetwork) -> tuple[str, ...]:
    port = network.port(node.name)
    source = ("src", port.ip) if port else ()
    return (network.subnet, "dev", interface, "proto", "kernel", "scope", "link", *source)


def _not_led(kind: Kind, node: Node, network: PrivateNetwork, nic: str, port: Port) -> Observation:
    packets = to_peer(node.name, port.node, network.name, port.ip)
    return state(kind.code, node.name, network.name, nic, port.node, packets)


def _without_route(cluster: Cluster, node: Node, interface: str, network: PrivateNetwork) -> Iterator[Finding]:
    peers = [port for port in network.ports if port.node != node.name]
    own = network.port(node.name)
    if own is None or not lacks_route(node, interface, network):
        return
    flows = cluster.flows if isinstance(cluster.flows, Flows) else Flows()
    here = [p for p in flows.probes if (p.from_node, p.network) == (node.name, network.name)]
    if any(map(answered, here)):
        return  # a rule leads to a route in another table
    yield NO_ROUTE.finding(
        f"{node.name} has no route to {network.subnet} of {interface}{'' if here else ' in its main table'}.",
        status=missing_route_status(here),
        subject=f"{node.name}: no route to {network.subnet}",
        data={"interface": interface, "peers": len(peers)},
        seen=(
            f"{node.name}: {interface} is up with an address in {network.subnet}; its "
            f"table of {counted(len(node.routes), 'route')} does not cover that network",
            *some([f"{p.from_node} -> {p.to_node}: UDP datagrams: {judge_flow(p, flows).reason}" for p in here]),
        ),
        expected=(f"The route of {network.subnet} over {interface}",),
        next=[
            NextStep(
                "Find out which program removed the route, and whether a rule points to another table.",
                (
                    shell("ip route get {to} from {source}", to=peers[0].ip, source=own.ip),
                    "ip rule show",
                    "ip route show table all",
                ),
                f"any user on {node.name}",
            ),
            NextStep(
                "Restore the route.",
                (shell("ip route add {route}", route=_own_route(node, interface, network)),),
                f"root on {node.name}",
                is_change=True,
            ),
        ],
        evidence=[(node.name, "routes"), (node.name, "interfaces")],
        network=network.name,
        nodes=[node.name],
        extent=(len(peers), "peers"),
        observed=[_not_led(NO_ROUTE, node, network, interface, port) for port in peers],
    )


def _forwarding(cluster: Cluster, nodes: Sequence[Node]) -> Iterator[Finding]:
    routers = [node for node in nodes if sysctl(cluster, node.name, _FORWARDING) == 1]
    for same in alike(routers, lambda node: bool(_own_bridges(cluster, node))):
        names, bridges = [node.name for node in same], _own_bridges(cluster, same[0])
        why = f"; {listed(bridges)} needs that for containers or virtual machines" if bridges else ""
        yield FORWARDS.finding(
            f"{named(names, 'node')} {'forwards' if len(names) == 1 else 'forward'} packets between networks, the "
            f"private ones included{why}.",
            status=forwarding_status(bridges),
            subject=f"{briefly(names, 'node')}: forwards",
            seen=some([f"{name}: {_FORWARDING} is 1" for name in names]),
            expected=(f"{_FORWARDING} of 0 on a node without containers and virtual machines",),
            next=[
                NextStep(
                    "Find the file that sets it, and what needs it.",
                    ("grep -r -s ip_forward /etc/sysctl.conf /etc/sysctl.d /usr/lib/sysctl.d",),
                    f"any user on {named(names, 'node')}",
                ),
                *(() if bridges else (_stop_forwarding(names),)),
            ],
            evidence=[(name, "sysctls") for name in names],
            nodes=names,
            extent=None if bridges else (len(names), "nodes"),
            observed=states(FORWARDS.code, names),
        )


def _stop_forwarding(names: Sequence[str]) -> NextStep:
    return NextStep(
        "Switch it off where no program needs it, and in that file. The kernel then resets whether NICs accept ICMP "
        "redirects (accept_redirects): the first command keeps these settings, the second sets them back.",
        ("kept=$(sysctl -a --pattern 'ipv4.conf.*_redirects' | tr -d ' ')", "sysctl -w net.ipv4.ip_forward=0 $kept"),
        f"root on {named(names, 'node')}",
        is_change=True,
    )


def _own_bridges(cluster: Cluster, node: Node) -> tuple[str, ...]:
    """Return the bridges of a node that carry no private network: docker0, virbr0, cni0."""
    ports = _ports(cluster, node)
    return tuple(i.name for i in node.interfaces if i.kind == "bridge" and i.name not in ports)


def _has_ipv4(interface: Interface) -> bool:
    return any(":" not in a.ip and not a.is_link_local for a in interface.addresses)


def _line(node: Node, route: Route) -> str:
    mtu = f" mtu {'lock ' if route.mtu_locked else ''}{route.mtu}" if route.mtu is not None else ""
    return f"{node.name}: {' '.join(route.words)}{mtu}"
