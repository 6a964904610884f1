"""Faults of a route in use: where each applies, its words, and what to do."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from checks.model.check import Kind
from checks.model.facts import Cluster, Verdict
from checks.model.finding import PROBLEMS, Finding, NextStep
from checks.model.observation import Observation
from checks.model.packet_sizes import ip_version
from checks.model.shell_command import shell
from checks.model.wording import counted, few
from checks.plugins.effective_route.route_kinds import (
    GATEWAY,
    HAIP_ELSEWHERE,
    LEARNED,
    OTHER_NIC,
    REFUSED,
    SEGMENT,
    SMALLER,
    SOURCE,
)
from checks.plugins.effective_route.ways_in_use import WayInUse
from checks.plugins.shared.grouping import some
from checks.rules.network_setup import gateway_status, learned_mtu_status
from checks.rules.observed.states import state, to_peer
from checks.rules.table_routes import route_to

_TCP_HEADERS = {4: 40, 6: 60}
"""The bytes of an IP and a TCP header without options."""
_NO_GATEWAY = "No gateway: the peers are on the same network"


@dataclass(frozen=True)
class Judge:
    """One fault of a route in use: where it applies, and its words."""

    kind: Kind
    applies: Callable[[WayInUse], bool]
    clause: Callable[[WayInUse], str]
    """What follows `rac1 ... for 192.168.10.2`."""
    expected: str


def _learned(way: WayInUse) -> bool:
    route = way.route
    return route.expires_s is not None and route.mtu is not None and route.mtu < way.nic.mtu


def _smaller(way: WayInUse) -> bool:
    """Return whether the route's own MTU is smaller than the NIC's, and is not that of a route of the main table."""
    mtu = way.route.mtu
    is_own = way.route.expires_s is None and mtu is not None and mtu < way.nic.mtu and way.is_right
    return is_own and not any(r.mtu == mtu and r.interface == way.nic.name for r in way.node.routes)


def _segment(way: WayInUse) -> bool:
    headers = _TCP_HEADERS[ip_version(way.route.destination_ip)]
    largest = min(way.nic.mtu, way.route.mtu or way.nic.mtu) - headers
    return way.route.advmss is not None and way.route.advmss < largest and way.is_right


def _other_source(way: WayInUse) -> bool:
    source = way.route.unbound_source
    return bool(source) and source not in {a.ip for a in way.nic.addresses} and way.is_right


JUDGES = (
    Judge(
        REFUSED,
        lambda w: bool(w.route.refusal),
        lambda w: f"refuses packets{_by(w)}: {w.route.refusal}",
        "A route over the private NIC",
    ),
    Judge(
        OTHER_NIC,
        lambda w: bool(w.route.interface) and not w.is_right and not w.is_haip,
        lambda w: f"sends packets through {w.route.interface}, not through {w.nic.name}{_by(w)}",
        "The private NIC, as in the main table",
    ),
    Judge(
        HAIP_ELSEWHERE,
        lambda w: bool(w.route.interface) and not w.is_right and w.is_haip,
        lambda w: (
            f"sends packets of the HAIP address {w.route.source_ip} of {w.nic.name} through {w.route.interface}{_by(w)}"
        ),
        "The NIC that has the HAIP address",
    ),
    Judge(
        GATEWAY,
        lambda w: w.route.gateway not in ("", w.route.destination_ip) and w.is_right,
        lambda w: f"sends packets to the gateway {w.route.gateway}{_by(w)}",
        _NO_GATEWAY,
    ),
    Judge(
        GATEWAY,
        # The default gateway is this peer, or it told the kernel by a redirect, which expires, to send directly.
        lambda w: w.route.gateway == w.route.destination_ip and w.is_right,
        lambda w: f"takes the peer itself for a gateway{_by(w)}",
        _NO_GATEWAY,
    ),
    Judge(
        LEARNED,
        _learned,
        lambda w: f"has learned the path MTU {w.route.mtu}, and its NIC {w.nic.name} has MTU {w.nic.mtu}",
        "No learned path MTU on one layer 2 network",
    ),
    Judge(
        SMALLER,
        _smaller,
        lambda w: f"uses a route with MTU {w.route.mtu}, and its NIC {w.nic.name} has MTU {w.nic.mtu}",
        "The MTU of the NIC",
    ),
    Judge(
        SOURCE,
        _other_source,
        lambda w: f"sends from {w.route.unbound_source}, which is not an address of {w.nic.name}",
        "An address of the private NIC",
    ),
    Judge(
        SEGMENT,
        _segment,
        lambda w: f"announces TCP segments of {w.route.advmss} bytes at most",
        "The MTU of the NIC without headers",
    ),
)


def _by(way: WayInUse) -> str:
    return f" by the rule `{way.rule.partition(': ')[2]}`" if way.rule else ""


def found(cluster: Cluster, judge: Judge, same: Sequence[WayInUse]) -> Finding:
    """Return the finding for the ways of one node on one network that have the same fault."""
    first, name = same[0], same[0].node.name
    status = judge.kind.status
    if judge.kind is LEARNED:
        status = learned_mtu_status(explained=all(_path_has_fault(cluster, way) for way in same))
    elif judge.kind is GATEWAY:
        status = gateway_status(first.route)
    ips = [way.route.destination_ip for way in same]
    rules = dict.fromkeys(f"{name}: rule {way.rule}" for way in same if way.rule)
    return judge.kind.finding(
        f"The kernel of {name} {judge.clause(first)}, for {few(ips, 3)}.",
        status=status,
        subject=f"{name} {first.nic.name}: {counted(len(ips), 'route')}",
        data={"interface": first.nic.name, "routes": len(ips)},
        seen=(*some([way.line for way in same]), *rules, *_silent_gateways(same)),
        expected=(judge.expected,),
        next=_steps(judge, same) if status in PROBLEMS else [],
        evidence=[(name, "routes in use"), (name, "routes"), (name, "interfaces")],
        network=first.network.name,
        nodes=[name],
        extent=(len(ips), "routes") if status in PROBLEMS else None,
        observed=[_observed(judge, way) for way in same],
    )


def _silent_gateways(same: Sequence[WayInUse]) -> list[str]:
    """Return a line for each gateway of which the node got no MAC address."""
    node, gateways = same[0].node, {way.route.gateway for way in same}
    silent = [n.ip for n in node.neighbours if n.ip in gateways and n.state in ("failed", "incomplete")]
    return [f"{node.name}: no host answers ARP for the gateway {ip}" for ip in dict.fromkeys(silent)]


def _steps(judge: Judge, same: Sequence[WayInUse]) -> list[NextStep]:
    first, name = same[0], same[0].node.name
    route, table = first.route, first.route.table or _after("lookup", first.rule)
    get = shell("ip route get {to} from {source}", to=route.destination_ip, source=route.source_ip)
    show = NextStep(
        "Display the route in use, the rules, and the tables.",
        (get, "ip rule show", shell("ip route show table {table}", table=table or "all")),
        f"any user on {name}",
    )
    if judge.kind is REFUSED and first.rule and not table:
        text = "Find the service that made the rule, and remove the rule there and here."
        command = shell("ip rule del {rule}", rule=tuple(first.rule.partition(": ")[2].split()))
        return [show, NextStep(text, (command,), f"root on {name}", is_change=True)]
    if judge.kind not in (GATEWAY, OTHER_NIC, HAIP_ELSEWHERE):
        return [show]
    subnet = first.network.subnet if not first.is_haip else _subnet_of(first)
    own = (subnet, "dev", first.nic.name, "src", route.source_ip)
    if first.rule:
        text = (
            f"Find the service that made the rule (a script of the cloud, NetworkManager's routing rules, rule-"
            f"{first.nic.name}). Remove the rule there, or add the route of the private network to table {table}, "
            "there and now."
        )
        command = shell("ip route add {route} table {table}", route=own, table=table)
        return [show, NextStep(text, (command,), f"root on {name}", is_change=True)]
    wrong = route_to(first.node, route.destination_ip)
    if wrong is None or (wrong.interface, wrong.gateway) == (first.nic.name, ""):
        return [show]
    is_same = ipaddress.ip_network(wrong.destination) == ipaddress.ip_network(subnet)
    command = (
        shell("ip route replace {route} proto kernel scope link", route=own)
        if is_same
        else shell("ip route del {route}", route=wrong.words)
    )
    text = f"{'Set' if is_same else 'Remove'} the route here, and in the service that set it."
    return [show, NextStep(text, (command,), f"root on {name}", is_change=True)]


def _subnet_of(way: WayInUse) -> str:
    """Return the subnet of a HAIP address, as its NIC has it."""
    return next((str(a.network) for a in way.nic.addresses if a.ip == way.route.source_ip), way.route.destination_ip)


def _after(key: str, text: str) -> str:
    return next((value for word, value in pairwise(text.split()) if word == key), "")


def _observed(judge: Judge, way: WayInUse) -> Observation:
    route = way.route
    is_mtu = judge.kind in (LEARNED, SMALLER)
    return state(
        "mtu" if is_mtu else judge.kind.code,
        way.node.name,
        way.network.name,
        route.interface or way.nic.name,
        route.mtu if is_mtu else route.to_node,
        to_peer(way.node.name, route.to_node, way.network.name, route.destination_ip),
    )


def _path_has_fault(cluster: Cluster, way: WayInUse) -> bool:
    """Return whether df-ping measured this path, or another to the same peer there, and it does not pass."""
    ends = (way.node.name, way.route.to_node)
    return any(
        (p.from_node, p.to_node) == ends and p.network == way.network.name and p.verdict is not Verdict.PASSES
        for p in cluster.read_paths()
    )
