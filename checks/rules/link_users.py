"""Who fills a private link: the database, storage, other connections by address and port; and what is not known.

The bytes of a link are those of its NICs. Of TCP the kernel counts the bytes of each connection; of UDP it counts none,
so the blocks are what the instances counted, with the headers of their packets. An instance uses all of its private
networks, and no counter shows how it divides its blocks: of a link it surely used what its other links could not carry.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.facts import (
    Activity,
    Cluster,
    CounterChange,
    CounterChanges,
    InstanceActivity,
    Interface,
    PrivateTcp,
    TcpFlow,
    Unknown,
)
from checks.model.finding import Status
from checks.model.known_instances import database_of, interconnects_of, node_of
from checks.model.link_traffic import LinkShare, LinkTraffic, LinkUser
from checks.model.networks import nics_of
from checks.model.packet_sizes import (
    ETHERNET_HEADER,
    IP_HEADER,
    UDP_HEADER,
    USUAL_BLOCK_BYTES,
    counted_bytes_of,
    ip_version,
)
from checks.rules import cache_fusion
from checks.rules.nic_counts import LinkLoad, link_load, private_nics_counted

_TCP_HEADER = 20 + 12
"""Bytes of a header with the option of timestamps (RFC 7323), which Linux sends in every packet."""
_PARALLEL = "ipq"


@dataclass(frozen=True)
class _Link:
    """The NICs below the same private interfaces of a node, with those interfaces."""

    loads: tuple[LinkLoad, ...]
    tops: tuple[Interface, ...]

    def bytes_per_s(self, way: str) -> float:
        return sum(load.nic.counts.value(f"{way}_bytes") / load.nic.seconds for load in self.loads)


def full_links(cluster: Cluster) -> tuple[LinkTraffic, ...]:
    """Return the private links whose traffic is near their speed with their users, the fullest first."""
    uses = [use for use, status in _uses(cluster) if status is not Status.PASS]
    return tuple(sorted(uses, key=lambda use: (-use.percent_of_speed, use.node, use.nics)))


def link_traffic(cluster: Cluster) -> tuple[LinkTraffic, ...]:
    """Return the private links of all nodes in their busier direction, each with its users, in the order of nodes."""
    return tuple(use for use, _ in _uses(cluster))


def _uses(cluster: Cluster) -> Iterator[tuple[LinkTraffic, Status]]:
    changes = cluster.counters
    if not isinstance(changes, CounterChanges):
        return
    for change in changes.nodes:
        try:
            links = _links(cluster, change)
            for link in links:
                most = max(link.loads, key=lambda load: load.percent)
                use = _use(cluster, change, link, links, most, changes.ended_at)
                if all(math.isfinite(share.percent) for share in use.shares):
                    yield use, most.status
        except OverflowError:  # a report of others can contain any figures
            continue


def _links(cluster: Cluster, change: CounterChange) -> list[_Link]:
    """Return the links of a node whose speed and bytes are known."""
    if isinstance(change.machine.nics, Unknown):
        return []
    found: list[tuple[set[str], list[Interface]]] = []
    for port in (port for network in cluster.read_networks() for port in network.ports if port.node == change.node):
        if (top := cluster.interface(port)) is None:
            continue
        nics, tops = set(nics_of(cluster, port)), [top]
        for other in [one for one in found if one[0] & nics]:
            found.remove(other)
            nics, tops = nics | other[0], [*other[1], *tops]
        found.append((nics, tops))
    counted = [nic for nic in private_nics_counted(cluster, [change]) if nic.is_lowest and nic.is_up]
    loads = [load for nic in counted if (load := link_load(nic, cluster.thresholds))]
    links = [_Link(tuple(load for load in loads if load.nic.name in nics), tuple(tops)) for nics, tops in found]
    return [link for link in links if link.loads]


def _use(
    cluster: Cluster, change: CounterChange, link: _Link, links: Sequence[_Link], most: LinkLoad, as_of: str
) -> LinkTraffic:
    way = "rx" if most.receives else "tx"
    total = link.bytes_per_s(way)
    speed = sum(load.speed_mbps for load in link.loads)
    shares = [_connection(flow, rate) for flow, rate in _tcp(change, link, way)]
    tcp = change.private_tcp
    unread = [tcp] if isinstance(tcp, Unknown) else []
    if isinstance(tcp, PrivateTcp) and tcp.is_cut:
        unread.append(Unknown(f"{change.node} has more TCP connections at its private addresses than racwire reads."))
    blocks = _database_bytes(cluster, change, link, way)
    if isinstance(blocks, Unknown):
        unread.append(blocks)
    elif blocks > 0:
        elsewhere = sum(
            max(0.0, other.bytes_per_s(way) - sum(rate for _, rate in _tcp(change, other, way)))
            for other in links
            if other is not link and _is_in_use(cluster, change.node, other)
        )
        if (surely := blocks - elsewhere) > 0:
            database = database_of(cluster)
            name = database.name if database else ""
            shares.append(LinkShare(user=LinkUser.DATABASE, name=name, bytes_per_s=surely, percent=0))
    return LinkTraffic(
        node=change.node,
        nics=tuple(sorted(load.nic.name for load in link.loads)),
        receives=most.receives,
        as_of=as_of,
        seconds=most.nic.seconds,
        bytes_per_s=total,
        percent_of_speed=8e-4 * total / speed,
        shares=_adding_up(shares, total),
        unread=tuple(unread),
        unclaimed_per_s=(change.counters.value("Udp", "NoPorts") or 0) / change.seconds if most.receives else 0.0,
    )


def _adding_up(shares: Sequence[LinkShare], total: float) -> tuple[LinkShare, ...]:
    """Return the shares in percent of all bytes, with the rest. The counters are read one after the other: shares of
    more than all bytes are cut down alike."""
    known = sum(one.bytes_per_s for one in shares)
    part = min(1.0, total / known) if known > 0 else 0.0
    made = [
        LinkShare(
            user=one.user, name=one.name, remote_ip=one.remote_ip, port=one.port, is_own_port=one.is_own_port,
            connections=one.connections, bytes_per_s=part * one.bytes_per_s,
            percent=100 * part * one.bytes_per_s / total if total > 0 else 0.0,
        )
        for one in sorted(shares, key=lambda one: -one.bytes_per_s)
    ]  # fmt: skip
    rest = max(0.0, total - part * known)
    percent = max(0.0, 100 - sum(one.percent for one in made))
    return (*made, LinkShare(user=LinkUser.NOT_KNOWN, bytes_per_s=rest, percent=percent))


# --- connections ------------------------------------------------------------------------------------------------------


def _tcp(change: CounterChange, link: _Link, way: str) -> Iterator[tuple[TcpFlow, float]]:
    """Yield what TCP moves at the addresses of a link, with its bytes per second as the NIC counts them."""
    tcp = change.private_tcp
    if tcp is None or isinstance(tcp, Unknown) or not tcp.seconds > 0:
        return
    own = {address.ip for top in link.tops for address in top.addresses}
    for flow in tcp.flows:
        if flow.local_ip in own:
            headers = ETHERNET_HEADER + IP_HEADER[ip_version(flow.local_ip)] + _TCP_HEADER
            data, packets = (
                (flow.received_bytes, flow.received_packets) if way == "rx" else (flow.sent_bytes, flow.sent_packets)
            )
            yield flow, (data + packets * headers) / tcp.seconds


def _connection(flow: TcpFlow, bytes_per_s: float) -> LinkShare:
    return LinkShare(
        user=LinkUser.STORAGE if flow.service else LinkUser.CONNECTION,
        name=flow.service,
        remote_ip=flow.remote_ip,
        port=flow.port,
        is_own_port=flow.is_own_port,
        connections=flow.connections,
        bytes_per_s=bytes_per_s,
        percent=0,
    )


# --- the database -----------------------------------------------------------------------------------------------------


def _instances(cluster: Cluster, node: str) -> list[int]:
    database = database_of(cluster)
    if database is None:
        return []
    numbers = [*(one.number for one in database.instances), *(one.number for one in database.unasked)]
    return [number for number in numbers if node_of(cluster, number) == node]


def _is_in_use(cluster: Cluster, node: str, link: _Link) -> bool:
    """Return whether an instance of the node uses a link; also where that is not known."""
    names = {use.name.partition(":")[0] for n in _instances(cluster, node) for use in interconnects_of(cluster, n)}
    return not names or any(top.name in names for top in link.tops)


def _database_bytes(cluster: Cluster, change: CounterChange, link: _Link, way: str) -> float | Unknown:
    """Return the bytes per second of the node's instances on all of their private networks, as NICs count them; 0 where
    no instance of the node uses this link."""
    activity = cluster.activity
    if not isinstance(activity, Activity):
        return Unknown(activity.reason)
    numbers = _instances(cluster, change.node)
    if not _is_in_use(cluster, change.node, link):
        return 0.0
    every = {own.instance: own for own in activity.instances}
    total = 0.0
    for number in numbers:
        own = every.get(number)
        if not isinstance(own, InstanceActivity):
            return Unknown(own.reason if own else "The views have no row for this instance.")
        counted = _bytes_of(cluster, activity, own, link, way)
        if counted is None:
            return Unknown("The statistics of blocks were not read.")
        total += counted
    return total


def _bytes_of(cluster: Cluster, activity: Activity, own: InstanceActivity, link: _Link, way: str) -> float | None:
    block = cluster.block_size_bytes or USUAL_BLOCK_BYTES
    mtu = min(top.mtu for top in link.tops)
    version = max((ip_version(address.ip) for top in link.tops for address in top.addresses), default=4)
    receives = way == "rx"
    blocks = (cache_fusion.received if receives else cache_fusion.served)(own.statistics)
    messages = cache_fusion.messages_received(own.messages) if receives else cache_fusion.messages_sent(own.statistics)
    if blocks is None:
        return None
    small = cache_fusion.MESSAGE_BYTES + UDP_HEADER + IP_HEADER[version] + ETHERNET_HEADER
    parallel = 0
    if not isinstance(activity.clients, Unknown):
        of_query = [c for c in activity.clients if c.instance == own.instance and c.client == _PARALLEL]
        parallel = sum(c.bytes_received if receives else c.bytes_sent for c in of_query)
    counted = blocks * counted_bytes_of(block, mtu, version) + (messages or 0) * small + parallel
    return cache_fusion.per_second(round(counted), own.seconds)
