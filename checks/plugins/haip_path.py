"""Do full-size packets pass between the HAIP addresses that the instances use?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import FailKind, Kind, PassKind, SkippedKind, UnknownKind, WarnKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, HaipPath, HaipPaths, NotGathered, PrivateNetwork, Unknown, Verdict
from checks.model.finding import Finding, NextStep, Status, check_again
from checks.model.shell_command import shell
from checks.model.wording import counted, hub, listed
from checks.plugins.shared.path_text import first_lines, pairs_of, short_name, where
from checks.plugins.shared.place_steps import below_steps, capture_steps, node_step
from checks.rules.haip_filters import is_filtered_haip
from checks.rules.observed.haip import haip_pings
from checks.rules.observed.states import state
from checks.rules.path_status import haip_path_status

PASS = PassKind("IC-HAIP-001", "Full-size packets pass between the HAIP addresses of the instances")
FAILS = Kind(
    "IC-HAIP-002",
    "Packets do not pass between HAIP addresses of the instances",
    "The instances send their blocks between these addresses. The fixed addresses of the same NICs can work "
    "nevertheless: routes, rp_filter and neighbour entries of 169.254.0.0/16 are others.",
    ("MOS 1210883.1",),
)
STAYED = WarnKind(  # Clusterware may still move it
    "IC-HAIP-005",
    "A HAIP address stays on a NIC that is down",
    "Clusterware moves a HAIP address within seconds to another private NIC of the node. While it stays, instances "
    "lose what is sent to it, although another private network is up.",
    ("MOS 1210883.1",),
)
FILTERED = FailKind(
    "IC-HAIP-010",
    "Packets between HAIP addresses vanish, and those between the private addresses of the same ports pass",
    "The instances send their blocks between HAIP addresses. The cable, the VLAN and the size are right, since the "
    "private addresses pass over the same NICs: what drops the packets goes by their address.",
    ("MOS 1210883.1", "RFC 3927"),
)
TOO_FEW = UnknownKind(
    "IC-HAIP-011",
    "Too few pings between HAIP addresses were sent to tell",
    "One or two lost pings can be chance: nodes that ping at the same time lose some.",
)
NOT_PINGED = SkippedKind("IC-HAIP-003", "No HAIP address was pinged")


@check(
    "haip-path",
    question="Do full-size packets pass between the HAIP addresses that the instances use?",
    needs=("networks",),
    uses=("nodes", "haip_paths", "effective_routes", "paths", "setups"),
    about=(ConditionKind.PATH,),
    kinds=(PASS, FAILS, STAYED, FILTERED, TOO_FEW, NOT_PINGED),
)
def haip_path(cluster: Cluster) -> Iterator[Finding]:
    """Sends a small ping and two of full size, with Don't Fragment, between the HAIP addresses of the instances.

    Where one of them gets no answer, eight further pings decide, which go while few other paths are pinged: one lost
    ping is no finding about a path.

    An address is pinged where GV$CLUSTER_INTERCONNECTS lists it and the private NIC of that node has it. As a gate of a
    change, the check pings the link-local addresses of the private NICs, before an instance is open. No other address
    of 169.254.0.0/16 is pinged. A HAIP address on a private NIC that is down should have moved to another one.
    """
    if isinstance(cluster.networks, Unknown):
        return
    yield from _stayed(cluster, cluster.networks)
    found = cluster.haip_paths
    if not isinstance(found, HaipPaths):
        is_off = not isinstance(found, Unknown) or isinstance(found, NotGathered)
        yield NOT_PINGED.finding(
            "This run pinged no HAIP address." if is_off else f"The HAIP addresses could not be pinged: {found.reason}",
            status=Status.SKIPPED if is_off else Status.UNKNOWN,
            subject="no pings",
        )
        return
    if not found.paths:
        yield NOT_PINGED.finding(found.reason, subject="no HAIP in use")
    for network in cluster.networks:
        paths = [p for p in found.paths if p.network == network.name]
        sent = [p for p in paths if p.small_sent or p.full_sent]
        statuses = [haip_path_status(p) for p in sent]
        fine = [p for p, status in zip(sent, statuses, strict=True) if status is Status.PASS]
        few = [p for p, status in zip(sent, statuses, strict=True) if status is Status.UNKNOWN]
        bad = [p for p in sent if p not in fine and p not in few]
        silent = [p for p in bad if not p.full_answered]
        if lossy := [p for p in bad if p not in silent]:
            yield _fails(cluster, network, lossy)
        filtered = [p for p in silent if is_filtered_haip(cluster, network, p)]
        if filtered:
            yield _filtered(cluster, network, filtered)
        if others := [p for p in silent if p not in filtered]:
            yield _fails(cluster, network, others)
        if fine:
            yield _passes(cluster, network, fine, beside=len(bad) + len(few))
        if few:
            yield _too_few(cluster, network, few)
        if left := [p for p in paths if p not in sent]:
            yield NOT_PINGED.finding(
                f"HAIP addresses were not pinged on {network.name} {where(cluster, network, pairs_of(left))}.",
                subject=f"{short_name(network)}: not pinged",
                seen=first_lines(list(dict.fromkeys(p.reason for p in left if p.reason)), "reason like these"),
                evidence=_evidence(left),
                network=network.name,
            )


def _stayed(cluster: Cluster, networks: Sequence[PrivateNetwork]) -> Iterator[Finding]:
    """Yield the HAIP addresses on private NICs that are down, where another private NIC of the node is up."""
    for network in networks:
        for port in network.ports:
            interface = cluster.interface(port)
            ips = [a.ip for a in interface.addresses if a.is_link_local] if interface and not interface.is_up else []
            others = [p for n in networks if n is not network and (p := n.port(port.node))]
            up = [p.interface for p in others if (nic := cluster.interface(p)) and nic.is_up]
            if not ips or not up:
                continue
            what = "HAIP address" if len(ips) == 1 else "HAIP addresses"
            yield STAYED.finding(
                f"The {what} {listed(ips)} of {port.node} {'is' if len(ips) == 1 else 'are'} on {port.interface}, "
                f"which is down, and {listed(up)} {'is' if len(up) == 1 else 'are'} up.",
                subject=f"{port.node}: HAIP stays on {port.interface}",
                data={"address": ips[0], "interface": port.interface},
                seen=(f"{port.node}: {port.interface} has {listed(ips)}",),
                expected=(f"{listed(ips)} on {listed(up, 'or')}",),
                next=[
                    NextStep(
                        "Clusterware needs seconds to move the address: run the check again. If it stays, check the "
                        "HAIP resource, and read why.",
                        (
                            "racwire check haip-path",
                            "crsctl stat res ora.cluster_interconnect.haip -init",
                            "grep -i haip $ORACLE_BASE/diag/crs/*/crs/trace/orarootagent_root.trc | tail -n 50",
                        ),
                        f"the Grid owner on {port.node}",
                    )
                ],
                evidence=[(port.node, "interfaces")],
                network=network.name,
                nodes=[port.node],
                observed=[state(STAYED.code, port.node, network.name, port.interface, ip) for ip in ips],
            )


def _evidence(paths: Sequence[HaipPath]) -> list[tuple[str, str]]:
    return [(p.from_node, f"haip {p.source_ip} {p.destination_ip}") for p in paths]


def _lines(paths: Sequence[HaipPath]) -> tuple[str, ...]:
    return first_lines(
        [
            f"{p.from_node} {p.source_ip} -> {p.to_node} {p.destination_ip}: {p.small_answered} of {p.small_sent} "
            f"small and {p.full_answered} of {p.full_sent} full-size pings answered"
            for p in paths
        ],
        "path like these",
    )


def _passes(cluster: Cluster, network: PrivateNetwork, paths: Sequence[HaipPath], *, beside: int) -> Finding:
    """Return the finding for paths that pass: all of the network, or the others `beside` those that do not."""
    others = "path" if len(paths) == 1 else f"{len(paths)} paths"
    return PASS.finding(
        f"Packets of {paths[0].mtu} bytes pass between HAIP addresses on the other {others} of {network.name}."
        if beside
        else f"Packets of {paths[0].mtu} bytes pass on {network.name} between HAIP addresses, "
        f"{where(cluster, network, pairs_of(paths))}.",
        subject=f"{short_name(network)}: {counted(len(paths), 'other path' if beside else 'path')}",
        seen=_lines(paths),
        evidence=_evidence(paths),
        observed=haip_pings(cluster, paths),
        network=network.name,
    )


def _too_few(cluster: Cluster, network: PrivateNetwork, paths: Sequence[HaipPath]) -> Finding:
    pairs = pairs_of(paths)
    return TOO_FEW.finding(
        f"Too few pings were sent between HAIP addresses on {network.name}, {where(cluster, network, pairs)}, to tell "
        "whether full-size packets pass.",
        subject=f"{short_name(network)}: {counted(len(paths), 'HAIP path')} not judged",
        seen=(*_lines(paths), *dict.fromkeys(p.reason for p in paths if p.reason)),
        expected=("An answer to each ping, or several pings without one",),
        next=[check_again("haip-path")],
        evidence=_evidence(paths),
        network=network.name,
        nodes=sorted({n for pair in pairs for n in pair}),
    )


def _filtered(cluster: Cluster, network: PrivateNetwork, paths: Sequence[HaipPath]) -> Finding:
    pairs = pairs_of(paths)
    centre, first = hub(pairs, [p.node for p in network.ports]), paths[0]
    nodes = [centre] if centre else sorted({n for pair in pairs for n in pair})
    peer = first.from_node if nodes[0] != first.from_node else first.to_node
    ask = NextStep(
        "Ask the network team for a filter (ACL) of 169.254.0.0/16, link-local addresses, on the ports and the VLAN of "
        f"{network.name}: some switches and clouds drop them.",
        where="the network team, on each switch",
    )
    return FILTERED.finding(
        f"No ping passes on {network.name} between HAIP addresses, {where(cluster, network, pairs)}, while the "
        f"private addresses of the same ports {_answers(cluster, network, pairs)}.",
        subject=f"{short_name(network, centre)}: HAIP filtered",
        data={"paths": len(paths), "first_path": f"{first.source_ip} -> {first.destination_ip}"},
        seen=(*_entry_lines(paths), *_lines(paths)),
        expected=("An answer to each ping",),
        next=[
            *capture_steps(network, nodes[0], peer, ("net", "169.254.0.0/16", "or", "arp")),
            node_step(cluster, network, nodes),
            *below_steps(cluster, network, nodes),
            ask,
        ],
        evidence=_evidence(paths),
        observed=haip_pings(cluster, paths),
        network=network.name,
        nodes=nodes,
        extent=(len(paths), "paths"),
    )


def _answers(cluster: Cluster, network: PrivateNetwork, pairs: set[tuple[str, str]]) -> str:
    """Return what the pings between the private addresses do: `answer`; some of them can be lost."""
    paths = cluster.read_paths()
    here = [
        p for p in paths if p.network == network.name and {(p.from_node, p.to_node), (p.to_node, p.from_node)} & pairs
    ]
    return "answer most pings" if any(p.verdict is Verdict.LOSS for p in here) else "answer"


def _entry_lines(paths: Sequence[HaipPath]) -> tuple[str, ...]:
    """Return what the senders have for the HAIP addresses: whether ARP passes."""
    known = {True: "the MAC address of its NIC: ARP for it is answered", False: "no MAC address: ARP gets no answer"}
    lines = [
        f"{p.from_node} has for {p.destination_ip} "
        + ("an entry that was not read" if p.neighbour_mac is None else known[bool(p.neighbour_mac)])
        for p in paths
    ]
    return first_lines(lines, "entry like these")


def _fails(cluster: Cluster, network: PrivateNetwork, paths: Sequence[HaipPath]) -> Finding:
    pairs = pairs_of(paths)
    centre = hub(pairs, [p.node for p in network.ports])
    place = where(cluster, network, pairs)
    no_small = not any(p.small_answered for p in paths)
    what = "No ping" if no_small else f"No ping of {paths[0].mtu} bytes"
    first, status = paths[0], haip_path_status(paths[0])
    return FAILS.finding(
        f"{what} passes on {network.name} between HAIP addresses, {place}."
        if status is Status.FAIL
        else f"Pings between HAIP addresses are lost in part on {network.name}, {place}.",
        status=status,
        subject=f"{short_name(network, centre)}: HAIP {'unreachable' if no_small else 'loses packets'}",
        data={"paths": len(paths), "first_path": f"{first.source_ip} -> {first.destination_ip}"},
        seen=_lines(paths),
        expected=("An answer to each ping",),
        next=[
            NextStep(
                "Check the route and the neighbour entry of the address.",
                (
                    shell("ip route get {to} from {source}", to=first.destination_ip, source=first.source_ip),
                    shell("ip neigh show to {to}", to=first.destination_ip),
                    shell(
                        "ping -c 3 -M do -I {source} -s {size} {to}",
                        source=first.source_ip,
                        size=first.mtu - 28,
                        to=first.destination_ip,
                    ),
                ),
                f"any user on {first.from_node}",
            ),
            NextStep(
                "Check that Clusterware holds the address on this NIC.",
                ("ip -brief address", "crsctl stat res ora.cluster_interconnect.haip -init"),
                f"the Grid owner on {first.to_node}",
            ),
        ],
        evidence=_evidence(paths),
        observed=haip_pings(cluster, paths),
        network=network.name,
        nodes=[centre] if centre else sorted({n for pair in pairs for n in pair}),
        extent=(len(paths), "paths"),
    )
