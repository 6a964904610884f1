"""The routes in use between private addresses: those to judge, those that other checks judge, those without answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks.model.facts import Cluster, Interface, Node, NodeRoutes, PrivateNetwork, RouteInUse, Unknown, Unread
from checks.rules.policy_rules import rule_for
from checks.rules.private_ways import PrivateWay, lacks_route, next_hops, private_ways, shares_subnet, should_have_route
from checks.rules.table_routes import route_to


@dataclass(frozen=True)
class WayInUse:
    """The route in use on a node for one address, with the NIC that it should use."""

    node: Node
    network: PrivateNetwork
    nic: Interface
    route: RouteInUse
    rule: str = ""
    """The policy rule that selects the route, where it is known."""

    @property
    def place(self) -> tuple[str, str]:
        """Node and network."""
        return self.node.name, self.network.name

    @property
    def words(self) -> str:
        """The route in the words of `ip route get`."""
        r = self.route
        parts = [
            f"dev {r.interface}" if r.interface else r.refusal,
            *([f"via {r.gateway}"] if r.gateway else []),
            *([f"table {r.table}"] if r.table else []),
            *([f"mtu {'lock ' if r.mtu_locked else ''}{r.mtu}"] if r.mtu is not None else []),
            *([f"advmss {r.advmss}"] if r.advmss is not None else []),
            *([f"expires in {r.expires_s} s"] if r.expires_s is not None else []),
            *([f"src {r.unbound_source}"] if r.unbound_source not in ("", r.source_ip) else []),
        ]
        return " ".join(parts)

    @property
    def line(self) -> str:
        """The route as a line of a finding."""
        return f"{self.node.name}: {self.route.destination_ip} from {self.route.source_ip}: {self.words}"

    @property
    def is_haip(self) -> bool:
        """Whether the packets are those between HAIP addresses."""
        return self.route.source_ip.startswith("169.254.") and self.route.source_ip != self._own_ip

    @property
    def _own_ip(self) -> str:
        port = self.network.port(self.node.name)
        return port.ip if port else ""

    @property
    def is_right(self) -> bool:
        """Whether the packets leave through the NIC of the network."""
        return self.route.interface == self.nic.name


@dataclass(frozen=True)
class LeftOut:
    """Ways of a node on a network that are not judged here."""

    node: str
    network: str
    reason: str
    """`eth1 of rac2 is down`."""
    check: str = ""
    """The check that judges them; empty where none does."""
    number: int = 1


@dataclass
class Ways:
    """All ways of the nodes that were read."""

    judged: list[WayInUse]
    left_out: list[LeftOut]
    unknown: dict[str, Unread]
    """The nodes whose routes in use could not be read."""


def ways_in_use(cluster: Cluster) -> Ways:
    """Return each way between private addresses, as far as its route in use is known."""
    if isinstance(cluster.effective_routes, Unknown):
        return Ways([], [], {node.name: cluster.effective_routes for node in cluster.read_nodes()})
    found = Ways([], [], {})
    for of in cluster.effective_routes:
        node = cluster.node(of.node)
        if node is None:
            continue
        if isinstance(of.routes, Unknown):
            found.unknown[of.node] = of.routes
            continue
        asked = {(r.network, r.source_ip, r.destination_ip): r for r in of.routes}
        for way in private_ways(cluster, node.name):
            answer = asked.get((way.network.name, way.source_ip, way.destination_ip))
            one = _way(cluster, node, way, answer, of)
            (found.judged if isinstance(one, WayInUse) else found.left_out).append(one)  # type: ignore[arg-type]
    return found


def _way(
    cluster: Cluster, node: Node, way: PrivateWay, answer: RouteInUse | None, of: NodeRoutes
) -> WayInUse | LeftOut:
    network, port = way.network, way.network.port(node.name)
    nic = node.interface(port.interface) if port else None
    assert nic is not None  # private_ways has only the ways of NICs that were read
    place = node.name, network.name
    if not nic.is_up:
        return LeftOut(*place, f"{nic.name} of {node.name} is down", "interfaces")
    if shares_subnet(cluster, network):
        return LeftOut(*place, f"another private network has the subnet {network.subnet}", "interfaces")
    if answer is None:
        return LeftOut(*place, f"`ip route get` on {node.name} gave no answer for some addresses")
    if not way.is_haip and next_hops(node, network):
        return LeftOut(*place, f"the route of {node.name} has several next hops", "private-routes")
    rules = of.rules if isinstance(of.rules, tuple) else ()
    one = WayInUse(node, network, nic, answer, _rule(node, answer, rules))
    if one.is_right and not answer.gateway:
        return one
    return next(_elsewhere(cluster, one), one)


def _elsewhere(cluster: Cluster, way: WayInUse) -> Iterator[LeftOut]:
    """Yield who judges a way that is wrong already in the main table."""
    node, nic, ip = way.node, way.nic, way.route.destination_ip
    table = route_to(node, ip)
    if way.is_haip:
        networks = cluster.read_networks()
        private = {port.interface for n in networks if (port := n.port(node.name))}
        if table and table.interface == way.route.interface not in private and _are_of_oifcfg(networks):
            yield LeftOut(*way.place, f"{node.name} sends packets for HAIP through {table.interface}", "interfaces")
        return
    if way.rule or (table and (table.interface == nic.name or way.route.interface not in ("", table.interface))):
        return
    if not should_have_route(node, nic.name, way.network):
        yield LeftOut(*way.place, f"{nic.name} of {node.name} has no address in {way.network.subnet}", "interfaces")
    elif table is not None:
        yield LeftOut(*way.place, f"the main table of {node.name} has another NIC", "private-routes")
    elif lacks_route(node, nic.name, way.network):
        yield LeftOut(
            *way.place, f"the main table of {node.name} has no route to {way.network.subnet}", "private-routes"
        )


def _are_of_oifcfg(networks: tuple[PrivateNetwork, ...]) -> bool:
    return all(network.named_by == "oifcfg" for network in networks)


def _rule(node: Node, route: RouteInUse, rules: tuple[str, ...]) -> str:
    """Return the rule that selects a route which the main table does not have."""
    table = route_to(node, route.destination_ip)
    same = (table.interface, table.gateway) == (route.interface, route.gateway) if table else False
    return "" if same and not route.table else rule_for(rules, route)
