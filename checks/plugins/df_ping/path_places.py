"""Where paths fail: the text for the directions, and the one node that all failed paths share, if there is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.facts import Cluster, LldpNeighbour, PathProbe, Port, PrivateNetwork, Unknown, Verdict
from checks.model.finding import NextStep, Scalar
from checks.model.networks import nics_of
from checks.model.shell_command import Placeholder, switch
from checks.model.wording import NodePair, few, hub, sides
from checks.plugins.shared.path_text import MOST_LINES, first_lines, pairs_of, where
from checks.plugins.shared.switch_steps import dotted


def path_data(paths: Sequence[PathProbe]) -> dict[str, Scalar | None]:
    """Return the data of a finding: the number of paths, their expected MTU, and the smallest path MTU measured."""
    known = [p.path_mtu for p in paths if isinstance(p.path_mtu, int)]
    return {
        "paths": len(paths),
        "expected_mtu_bytes": paths[0].expected_mtu,
        "path_mtu_bytes": min(known, default=None),
        "first_path": f"{paths[0].from_node} -> {paths[0].to_node}",
    }


def limit_text(paths: Sequence[PathProbe]) -> str:
    """Return the sentence with the largest packet that passes; empty where no path has a known limit."""
    known = sorted({p.path_mtu for p in paths if isinstance(p.path_mtu, int)})
    if not known:
        return ""
    sizes = f"{known[0]}" if len(known) == 1 else f"{known[0]} to {known[-1]}"
    return f" At most {sizes} bytes pass."


def where_either_way(cluster: Cluster, network: PrivateNetwork, pairs: set[NodePair]) -> str:
    """Return the text for these pairs, without a direction, for faults whose direction is not known.

    A ping that gets no answer now and then, or whose answer passed a router, does not show in which direction.
    """
    there_and_back = where(cluster, network, pairs | {(b, a) for a, b in pairs})
    counted = there_and_back.startswith("over ")
    return where(cluster, network, pairs) if counted else there_and_back.replace(", both ways", "")


def sides_of(cluster: Cluster, network: PrivateNetwork, pairs: set[NodePair]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of nodes between which every path fails, while paths within a group pass; empty without them.

    The link between two switches lies between such groups.
    """
    found = sides(pairs, [p.node for p in network.ports])
    paths = cluster.read_paths()
    within = pairs_of(p for p in paths if p.network == network.name and p.verdict is Verdict.PASSES)
    return found if all({(a, b) for a in side for b in side if a != b} <= within for side in found) else ()


def side_names(groups: Sequence[Sequence[str]]) -> str:
    """Return `rac1, rac2 | rac3, rac4`, as a place in lists."""
    return " | ".join(few(side).replace(" and ", ", ") for side in groups)


def at_fault(cluster: Cluster, network: PrivateNetwork, pairs: set[NodePair]) -> str:
    """Return the node at which all these paths start or end; empty where the other paths do not confirm it.

    At least one path between the other nodes must have been measured, and no path of the node itself may pass: a
    packet that crosses its port to one peer would also cross it to the other peers.
    """
    centre = hub(pairs, [p.node for p in network.ports])
    here = [p for p in cluster.read_paths() if p.network == network.name]
    own = [p for p in here if centre in (p.from_node, p.to_node)]
    of_others = [p for p in here if p not in own]
    if any(p.verdict is Verdict.PASSES for p in own):
        return ""
    return centre if any(p.verdict is not Verdict.UNKNOWN for p in of_others) else ""


def silent_nodes(cluster: Cluster, network: PrivateNetwork, paths: Sequence[PathProbe]) -> list[str]:
    """Return the ends of these paths that exchanged no ping with any node on this network; all ends if there are none.

    A node that answers one of its peers filters no pings: another peer without an answer is then the suspect.
    """
    ends = {node for p in paths for node in (p.from_node, p.to_node)}
    answering = {
        node
        for p in cluster.read_paths()
        if p.network == network.name and any(s.received for s in p.series)
        for node in (p.from_node, p.to_node)
    }
    return sorted(ends - answering or ends)


_SHOW = ("show interface {port} counters errors", "show interface {port} | include MTU")


def end_lines(cluster: Cluster, network: PrivateNetwork, nodes: Sequence[str]) -> tuple[str, ...]:
    """Return `rac2 eth2 192.168.11.2, MAC 52:54:00:12:34:56, plugged into sw1 Ethernet1/7` for each of the nodes."""
    return first_lines([_line(cluster, port) for port in _ports(network, nodes)], "end like these")


def ask_network_team(cluster: Cluster, network: PrivateNetwork, nodes: Sequence[str], text: str) -> NextStep:
    """Return the remedy for the network team, with the names of the nodes' ports or the commands that find them."""
    known: list[LldpNeighbour] = []
    finding: list[str] = []
    for port in _ports(network, nodes):
        neighbours = _neighbours(cluster, port)
        known += neighbours
        if not neighbours and (mac := dotted(_mac(cluster, port))):
            finding.append(switch("show mac address-table address {mac}", mac=mac))
    names = list(dict.fromkeys(neighbour.port for neighbour in known))[:MOST_LINES]
    unnamed = [Placeholder.PORT] if finding or not names else []
    if unnamed:
        found = ", which the MAC address finds" if finding else ""
        text = f"{text} {Placeholder.PORT} stands for the port{found}; the commands are those of Cisco NX-OS."
    else:
        text = f"{text} The commands are those of Cisco NX-OS."
    shows = [switch(show, port=name) for name in (*names, *unnamed) for show in _SHOW]
    switches = few(neighbour.switch for neighbour in known if neighbour.switch)
    where = f"the network team, on {switches if switches and not unnamed else 'the switch'}"
    return NextStep(text, (*finding[:MOST_LINES], *shows), where)


def neighbours_of(cluster: Cluster, network: PrivateNetwork, nodes: Sequence[str]) -> list[LldpNeighbour]:
    """Return the switch ports at the other ends of the cables of these nodes, as LLDP reports them."""
    return [neighbour for port in _ports(network, nodes) for neighbour in _neighbours(cluster, port)]


def _ports(network: PrivateNetwork, nodes: Sequence[str]) -> Iterator[Port]:
    yield from (port for port in network.ports if port.node in nodes)


def _line(cluster: Cluster, port: Port) -> str:
    parts = [f"{port.node} {port.interface} {port.ip}"]
    if mac := _mac(cluster, port):
        parts.append(f"MAC {mac}")
    if plugged := [f"{n.switch} {n.port}".strip() for n in _neighbours(cluster, port)]:
        parts.append(f"plugged into {few(plugged)}")
    return ", ".join(parts)


def _mac(cluster: Cluster, port: Port) -> str:
    interface = cluster.interface(port)
    return interface.mac_address if interface else ""


def _neighbours(cluster: Cluster, port: Port) -> list[LldpNeighbour]:
    """Return the switch ports at the other ends of the port's cables, as LLDP reports them."""
    setup = cluster.setup(port.node)
    reported = () if setup is None or isinstance(setup.lldp, Unknown) else setup.lldp
    nics = {port.interface, *nics_of(cluster, port)}
    return [neighbour for neighbour in reported if neighbour.interface in nics and neighbour.port]
