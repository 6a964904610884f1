"""Where the ends of a path are plugged in: what the network team needs to find the ports of its switches.

The commands are those of Cisco NX-OS (Command References: show mac address-table, show interface); other vendors have
others, and nothing is said of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checks.model.facts import Cluster, LldpNeighbour, Port, PrivateNetwork, Unknown
from checks.model.finding import Remedy
from checks.model.wording import few
from checks.plugins._nics import nics_of
from checks.plugins._paths import MOST_LINES, at_most

_PLACEHOLDER = "PORT"
_SHOW = ("show interface PORT counters errors", "show interface PORT | include MTU")


def end_lines(cluster: Cluster, network: PrivateNetwork, nodes: Sequence[str]) -> tuple[str, ...]:
    """`rac2 eth2 192.168.11.2, MAC 52:54:00:12:34:56, plugged into sw1 Ethernet1/7`, for each of these nodes."""
    return at_most([_line(cluster, port) for port in _ports(network, nodes)], "end like these")


def ask_network_team(cluster: Cluster, network: PrivateNetwork, nodes: Sequence[str], text: str) -> Remedy:
    """The step that asks them, with the ports of these nodes by name, or how their MAC addresses find them."""
    known: list[LldpNeighbour] = []
    finding: list[str] = []
    for port in _ports(network, nodes):
        neighbours = _neighbours(cluster, port)
        known += neighbours
        if not neighbours and (mac := _dotted(_mac(cluster, port))):
            finding.append(f"show mac address-table address {mac}")
    names = list(dict.fromkeys(neighbour.port for neighbour in known))[:MOST_LINES]
    unnamed = [_PLACEHOLDER] if finding or not names else []
    if unnamed:
        found = ", which the MAC address finds" if finding else ""
        text = f"{text} {_PLACEHOLDER} stands for the port{found}; the commands are those of Cisco NX-OS."
    else:
        text = f"{text} The commands are those of Cisco NX-OS."
    shows = [show.replace(_PLACEHOLDER, name) for name in (*names, *unnamed) for show in _SHOW]
    switches = few(neighbour.switch for neighbour in known if neighbour.switch)
    where = f"the network team, on {switches if switches and not unnamed else 'the switch'}"
    return Remedy(text, (*finding[:MOST_LINES], *shows), where)


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


def _dotted(mac: str) -> str:
    """`52:54:00:12:34:56` as NX-OS writes it, 5254.0012.3456; empty for what is no MAC address of Ethernet."""
    digits = mac.replace(":", "").lower()
    return ".".join(re.findall("....", digits)) if re.fullmatch("[0-9a-f]{12}", digits) else ""


def _neighbours(cluster: Cluster, port: Port) -> list[LldpNeighbour]:
    """The switch ports that its cables end at, as LLDP tells them."""
    setup = cluster.setup(port.node)
    told = () if setup is None or isinstance(setup.lldp, Unknown) else setup.lldp
    nics = {port.interface, *nics_of(cluster, port)}
    return [neighbour for neighbour in told if neighbour.interface in nics and neighbour.port]
