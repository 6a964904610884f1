"""Are the packets of connections to storage as large as the interfaces permit?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.check import InfoKind, Kind, PassKind, WarnKind, check
from checks.model.effect import Effect
from checks.model.facts import Cluster, CounterChange, StorageMount, StorageUse, Unknown, Unread
from checks.model.finding import Finding, NextStep, Status
from checks.model.shell_command import shell
from checks.model.wording import counted
from checks.plugins.shared.counter_text import share, unknown_nodes_findings
from checks.plugins.shared.grouping import alike, briefly, named, some, topics_of
from checks.plugins.storage_mtu.oracle_storage import (
    ASM,
    ASM_ELSEWHERE,
    NOT_KNOWN,
    asm_elsewhere,
    asm_networks,
    dnfs_elsewhere,
    dnfs_lines,
)
from checks.rules.node_counts import without_counts
from checks.rules.observed.states import read_on, states
from checks.rules.storage_packets import PacketLimit, StorageFlow, smaller_than_others, storage_flow

_TOPIC = "storage connections"
_LINUX = "Linux, man ss(8), tcp(7)"
_SMALL = (
    "Small packets cost the node, the switch and the storage server more work for the same data: at MTU 1500 some six "
    "times as many packets as at 9000."
)
LARGE = PassKind("IC-STORE-001", "The packets of connections to storage are as large as the interfaces permit")
SERVER = WarnKind(
    "IC-STORE-002",
    "The storage server accepts smaller packets than the node's interface permits",
    f"{_SMALL} Each end offers its largest segment when a connection is opened; the path MTU of the connection is not "
    "lowered, so the limit is the server's offer. Its interface has a smaller MTU, or a firewall on the path rewrites "
    "the offer. A switch with a smaller MTU does not show here: it drops large packets.",
    (_LINUX, "RFC 9293, 3.7.1: maximum segment size"),
)
PATH = WarnKind(
    "IC-STORE-003",
    "The path to storage carries smaller packets than the node's interface permits",
    f"{_SMALL} The kernel lowered the path MTU of the connection, which it does where a router on the path reports a "
    "smaller one (ICMP).",
    (_LINUX, "RFC 1191"),
)
OWN = WarnKind(
    "IC-STORE-004",
    "The node itself keeps its packets to storage smaller than its interface permits",
    f"{_SMALL} A route of the node has a smaller MTU, or the connection was opened while the interface had a smaller "
    "one: a connection keeps the offer with which it was opened.",
    (_LINUX, "Linux, man ip-route(8): mtu, advmss"),
)
AGAIN = Kind(
    "IC-STORE-005",
    "Segments to storage are sent again",
    "Packets to the storage server, or their acknowledgements, are lost. Where small packets arrive and large ones do "
    "not, a switch port on the way has a smaller MTU than both ends: the connection opens, and hangs with the first "
    "large write.",
    (_LINUX, "RFC 2923: black holes"),
)
OTHERS = InfoKind("IC-STORE-006", "A node has a smaller MTU to a storage server than another node uses")
OVER_UDP = WarnKind(
    "IC-STORE-007",
    "NFS runs over UDP",
    "Each read or write of more than one packet arrives as fragments. They use the same reassembly memory of the node "
    "as the blocks of the interconnect, whatever the network, and one lost fragment costs the whole read. Linux has "
    "NFS over UDP switched off from 5.6 on.",
    ("Linux, man nfs(5): using NFS over UDP on high-speed links", "MOS 563566.1, cause 3"),
)

_KINDS = {
    PacketLimit.SERVER: SERVER, PacketLimit.NOT_KNOWN: SERVER, PacketLimit.PATH: PATH, PacketLimit.ROUTE: OWN,
    PacketLimit.OFFER: OWN,
}  # fmt: skip


@dataclass(frozen=True)
class _Mount:
    node: str
    mount: StorageMount

    @property
    def line(self) -> str:
        of = self.mount
        trips = f", {of.round_trip_ms:.3g} ms a round trip" if of.round_trip_ms is not None else ""
        done = f", {of.operations:,} reads and writes in {of.seconds:.0f} s{trips}" if of.operations is not None else ""
        again = f", {of.retransmits:,} sent again" if of.retransmits else ""
        version = f" version {of.version}" if of.version else ""
        return (
            f"{self.node}: {of.mount} from {of.server_ip or 'a server'}, NFS{version} over {of.protocol}{done}{again}"
        )


@check(
    "storage-mtu",
    question="Are packets to storage as large as the interfaces permit?",
    needs=("nodes", "counters"),
    uses=("database", "clusterware", "setups"),
    kinds=(LARGE, SERVER, PATH, OWN, AGAIN, OTHERS, OVER_UDP, NOT_KNOWN, ASM, ASM_ELSEWHERE),
)
def storage_mtu(cluster: Cluster) -> Iterator[Finding]:
    """Compares the packet sizes of NFS, dNFS, iSCSI and NVMe connections with the MTU of the interface that has them.

    A largest packet below storage_packet_warn_percent of that MTU is a warning, with the end that limits it: the
    server's offer, the path, or the node. Segments sent again above storage_retransmit_warn_percent in the interval,
    and connections that wait for an answer, are a warning, and so is NFS over UDP. The sizes are those that the kernel
    uses; racwire sends no packet to storage. The networks of ASM that oifcfg names are
    reported for information, and so are instances that use the ASM instance of another node; the check shared-network
    names other storage on private networks.
    """
    yield from asm_networks(cluster)
    yield from asm_elsewhere(cluster)
    if isinstance(cluster.counters, Unknown):
        return
    flows: list[StorageFlow] = []
    mounts: list[_Mount] = []
    unknown: dict[str, Unread] = dict(without_counts(cluster))
    read: list[str] = []
    for change in cluster.counters.nodes:
        if isinstance(change.storage, Unknown):
            unknown[change.node] = change.storage
        elif change.storage is not None:
            read.append(change.node)
            mounts += [_Mount(change.node, m) for m in _known(change.storage.mounts, change, unknown)]
            flows += _flows(cluster, change, change.storage, unknown)
    yield from _findings(flows)
    yield from _mounts_over_udp(mounts)
    if fine := [flow for flow in flows if flow.limit is None and flow.retransmit_status is Status.PASS]:
        yield _large(fine, mounts, dnfs_lines(cluster))
    yield from dnfs_elsewhere(cluster)
    if unknown:
        title = "The packet size of connections to storage on {}"
        yield from unknown_nodes_findings(cluster, NOT_KNOWN, title, "storage-mtu", unknown)
    elif not flows and not any(mount.mount.protocol == "udp" for mount in mounts):
        yield _skipped(read)


def _known(
    mounts: tuple[StorageMount, ...] | Unknown, change: CounterChange, unknown: dict[str, Unread]
) -> tuple[StorageMount, ...]:
    if isinstance(mounts, Unknown):
        unknown[change.node] = mounts
        return ()
    return mounts


def _flows(
    cluster: Cluster, change: CounterChange, use: StorageUse, unknown: dict[str, Unread]
) -> Iterator[StorageFlow]:
    node = cluster.node(change.node)
    if isinstance(use.connections, Unknown):
        unknown[change.node] = use.connections
        return
    for connection in use.connections if node else ():
        flow = storage_flow(node, connection, cluster.thresholds) if node else None
        if isinstance(flow, Unknown):
            unknown[change.node] = flow
        elif flow:
            yield flow


def _findings(flows: Sequence[StorageFlow]) -> Iterator[Finding]:
    limited = [flow for flow in flows if flow.limit]
    for same in alike(limited, lambda f: (f.limit, f.connection.service, f.connection.remote_ip)):
        yield _limited(same)
    again = [flow for flow in flows if flow.retransmit_status is not Status.PASS]
    for same in alike(again, lambda f: (f.retransmit_status, f.connection.service, f.connection.remote_ip)):
        yield _sent_again(same)
    pairs = smaller_than_others(flows)
    for together in alike(pairs, lambda pair: (pair[0].connection.service, pair[0].connection.remote_ip)):
        yield _smaller(together)


def _limited(same: Sequence[StorageFlow]) -> Finding:
    first, nodes = same[0], list(dict.fromkeys(flow.node for flow in same))
    smallest = min(flow.smaller_bytes for flow in same)
    return _KINDS[first.limit or PacketLimit.SERVER].finding(
        f"Packets {'from' if first.limit is PacketLimit.OFFER else 'to'} the storage server {_server(first)} have at "
        f"most {smallest:,} bytes on {named(nodes, 'node')}, where the MTU of {_interfaces(same)} is {_mtus(same)}.",
        subject=f"{first.connection.remote_ip} {briefly(nodes, 'node')}: {smallest:,} bytes",
        data={
            "bytes": smallest,
            "mtu": max(flow.mtu for flow in same),
            "limit": str((first.limit or PacketLimit.SERVER).value),
        },
        seen=some([_line(flow) for flow in same]),
        expected=(f"Packets of about {_mtus(same)} bytes",),
        next=_steps(first, nodes),
        evidence=topics_of(nodes, _TOPIC),
        nodes=nodes,
        extent=(len(nodes), "nodes"),
    )


def _steps(flow: StorageFlow, nodes: Sequence[str]) -> list[NextStep]:
    server, where = flow.connection.remote_ip, f"any user on {named(nodes, 'node')}"
    display = NextStep("Display the sizes of the connections.", (shell("ss -tin dst {server}", server=server),), where)
    again = NextStep(
        "Then, in a maintenance window, stop what uses this storage and open the connections again (umount and mount, "
        "log out and in): open ones keep their sizes.",
        where=f"root on {named(nodes, 'node')}",
        is_change=True,
        effect=Effect.STOPS,
    )
    match flow.limit:
        case PacketLimit.PATH:
            route = shell("ip route get {server}", server=server)
            return [
                NextStep(
                    "Display the path MTU that the kernel keeps, and find the router.",
                    (route, shell("tracepath -n {server}", server=server)),
                    where,
                ),
                NextStep("Ask the network team for the MTU of the links between the node and the storage server."),
            ]
        case PacketLimit.ROUTE:
            return [
                NextStep(
                    "Display the route with its MTU.",
                    (shell("ip route get {server}", server=server), "ip route show"),
                    where,
                ),
                NextStep("Ask who set the MTU of the route, and plan its removal from the file of the route."),
                again,
            ]
        case PacketLimit.OFFER:
            return [display, NextStep("Compare the age of the connection with the last change of the MTU."), again]
    unclear = " or for the MTU of the path" if flow.limit is PacketLimit.NOT_KNOWN else ""
    ask = (
        f"Ask the storage team for the MTU of the interface of {server}{unclear}, and the network team whether a "
        "firewall limits the segment size."
    )
    return [display, NextStep(ask), again]


def _sent_again(same: Sequence[StorageFlow]) -> Finding:
    first, nodes = same[0], list(dict.fromkeys(flow.node for flow in same))
    segments, stalled = sum(f.connection.retransmits or 0 for f in same), sum(f.connection.stalled for f in same)
    shares = [flow.retransmit_percent for flow in same if flow.retransmit_percent is not None]
    waits = (
        f"{counted(stalled, 'connection')} to the storage server {_server(first)} {'waits' if stalled == 1 else 'wait'}"
    )
    title = f"{waits} for an answer to segments that {named(nodes, 'node')} sent several times."
    if not stalled:
        much = f", {share(max(shares))} of those sent" if shares else ", of a number that its ss does not show"
        title = f"{named(nodes, 'node')} sent {segments:,} segments again to the storage server {_server(first)}{much}."
    size = max(flow.mtu for flow in same) - (48 if ":" in first.connection.remote_ip else 28)
    return AGAIN.finding(
        title,
        status=first.retransmit_status,
        subject=f"{first.connection.remote_ip} {briefly(nodes, 'node')}: {'stalled' if stalled else 'sent again'}",
        data={"retransmits": segments, "stalled": stalled},
        seen=some([_line(flow) for flow in same]),
        expected=("No segment sent again on a network of storage",),
        next=[
            NextStep(
                "Send large and small packets that no router may fragment: where the small ones are answered and the "
                "large ones are not, a port on the way has a smaller MTU.",
                tuple(
                    shell("ping -c 3 -M do -s {size} {to}", size=s, to=first.connection.remote_ip) for s in (size, 56)
                ),
                f"any user on {named(nodes, 'node')}",
            ),
            NextStep(
                "Ask the network team for errors, drops and the MTU of the switch ports of node and storage server."
            ),
        ],
        evidence=topics_of(nodes, _TOPIC),
        nodes=nodes,
        extent=(max(shares), "% of segments sent again") if shares else (stalled, "connections"),
    )


def _smaller(pairs: Sequence[tuple[StorageFlow, StorageFlow]]) -> Finding:
    (first, other), nodes = pairs[0], list(dict.fromkeys(flow.node for flow, _ in pairs))
    return OTHERS.finding(
        f"The MTU of {_interfaces([flow for flow, _ in pairs])} of {named(nodes, 'node')} is {first.mtu:,}, and "
        f"{other.node} exchanges packets of {other.smaller_bytes:,} bytes with the same storage server "
        f"{_server(first)}.",
        subject=f"{first.connection.remote_ip} {briefly(nodes, 'node')}: MTU {first.mtu:,}",
        data={"mtu": first.mtu, "bytes": other.smaller_bytes},
        seen=some([_line(flow) for flow in dict.fromkeys(flow for pair in pairs for flow in pair)]),
        evidence=topics_of([*nodes, other.node], _TOPIC),
        nodes=nodes,
    )


def _mounts_over_udp(mounts: Sequence[_Mount]) -> Iterator[Finding]:
    for same in alike((m for m in mounts if m.mount.protocol == "udp"), lambda m: m.mount.server_ip):
        nodes = list(dict.fromkeys(one.node for one in same))
        yield OVER_UDP.finding(
            f"{named(nodes, 'node')} {'uses' if len(nodes) == 1 else 'use'} NFS over UDP at "
            f"{named((one.mount.mount for one in same), 'mount')}.",
            subject=f"{briefly(nodes, 'node')}: NFS over UDP",
            data={"mounts": len(same)},
            seen=some([one.line for one in same]),
            expected=("NFS over TCP",),
            next=[
                NextStep("Display the mounts.", ("nfsstat -m",), f"any user on {named(nodes, 'node')}"),
                NextStep("Plan the mounts with proto=tcp, which the storage server must permit."),
            ],
            evidence=topics_of(nodes, _TOPIC),
            nodes=nodes,
            extent=(len(same), "mounts"),
            observed=states(OVER_UDP.code, nodes),
        )


def _large(fine: Sequence[StorageFlow], mounts: Sequence[_Mount], dnfs: Sequence[str]) -> Finding:
    nodes = list(dict.fromkeys(flow.node for flow in fine))
    connections = sum(flow.connection.connections for flow in fine)
    return LARGE.finding(
        f"Packets to storage are as large as the MTU of the interface permits, on {counted(connections, 'connection')} "
        f"of {named(nodes, 'node')}{_silence(fine)}.",
        subject=f"{counted(connections, 'connection')} to storage",
        data={"connections": connections},
        seen=(*some([_line(flow) for flow in fine]), *some([mount.line for mount in mounts]), *some(dnfs)),
        evidence=topics_of(nodes, _TOPIC),
        observed=read_on(LARGE.code, nodes),
    )


def _silence(flows: Sequence[StorageFlow]) -> str:
    """A connection that waits for large packets of the server looks like an idle one: the node has nothing to send."""
    silent = [flow for flow in flows if flow.connection.silent]
    count = sum(flow.connection.silent or 0 for flow in silent)
    nodes = named((flow.node for flow in silent), "node")
    return f"; {counted(count, 'connection')} of {nodes} received no data meanwhile" if count else ""


def _skipped(read: Sequence[str]) -> Finding:
    if not read:
        return LARGE.finding(
            "These facts have no connections to storage: that version of racwire did not read them.",
            status=Status.SKIPPED,
            subject="not in the file",
        )
    return LARGE.finding(
        f"{named(read, 'node')} {'has' if len(read) == 1 else 'have'} no open connection to storage at the ports of "
        "NFS, iSCSI and NVMe over TCP.",
        status=Status.SKIPPED,
        subject="no connections to storage",
        evidence=topics_of(read, _TOPIC),
    )


def _line(flow: StorageFlow) -> str:
    of = flow.connection
    sizes = f"mss {of.mss:,}" if of.mss else "mss not shown"
    sizes += f", path MTU {of.path_mtu:,}" if of.path_mtu else ""
    sizes += f", offered mss {of.advertised_mss:,}" if of.advertised_mss else ""
    again = ""
    if of.retransmits is not None:
        sent = f" of {of.segments:,} segments" if of.segments is not None else " segments"
        again = f"; {of.retransmits:,}{sent} sent again in {of.seconds:.0f} s"
    stalled = f"; {of.stalled:,} wait for an answer" if of.stalled else ""
    return (
        f"{flow.node}: {counted(of.connections, 'connection')} of {of.service} to {of.remote_ip} over "
        f"{flow.interface}, MTU {flow.mtu:,}, {sizes}{again}{stalled}"
    )


def _server(flow: StorageFlow) -> str:
    return f"{flow.connection.remote_ip} ({flow.connection.service})"


def _interfaces(flows: Sequence[StorageFlow]) -> str:
    return named((flow.interface for flow in flows), "interface")


def _mtus(flows: Sequence[StorageFlow]) -> str:
    return named((f"{mtu:,}" for mtu in sorted({flow.mtu for flow in flows})), "size")
