"""Findings about private NICs that do not answer ARP, and entries that one end of a path alone cannot resolve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from checks.model.check import FailKind, PassKind, SkippedKind, WarnKind
from checks.model.facts import Cluster, Neighbour
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import shell
from checks.model.traffic import Traffic, among
from checks.model.wording import listed
from checks.plugins.shared.filter_commands import NFTABLES
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.rules.arp_answers import ArpReading, ArpSilence, arp_reading
from checks.rules.arp_places import macs_of
from checks.rules.observed.states import kind_of_address, network_at, read_at, state

_KERNEL = "Linux kernel documentation, ip-sysctl, arp_ignore and arp_filter"
ANSWERS = PassKind("IC-NEIGH-008", "The private NICs answer ARP for their addresses", "", (_KERNEL,))
NO_ARP = FailKind(
    "IC-NEIGH-009",
    "A private NIC does no ARP",
    "The flag NOARP is set on the interface: its kernel neither answers ARP requests nor sends any. Peers reach the "
    "node as long as they keep old entries, then no packet passes in either direction.",
    ("netdevice(7), IFF_NOARP", "ip-link(8), arp"),
)
IGNORED = FailKind(
    "IC-NEIGH-010",
    "A kernel setting keeps a node from answering ARP for a private address",
    "Peers get no answer to their ARP requests for the address. They reach the node as long as they keep an entry that "
    "the node's own requests made.",
    (_KERNEL,),
)
NOT_READ = SkippedKind("IC-NEIGH-011", "Whether a private NIC answers ARP is not known")
ONE_SIDED = WarnKind(
    "IC-NEIGH-013",
    "One end of a path gets no ARP answer, while the other end does",
    "Broadcasts or the answers to them are lost in one direction: a filter of ARP on the node, or a switch that does "
    "not forward broadcasts to its port.",
    ("RFC 826",),
)
KINDS = (ANSWERS, NO_ARP, IGNORED, NOT_READ, ONE_SIDED)


def arp_findings(cluster: Cluster) -> Iterator[Finding]:
    """Yield the private NICs that do not answer ARP, and those that do, as far as flags and settings are known."""
    reading = arp_reading(cluster)
    for same in alike([s for s in reading.silent if s.setting == "NOARP"], lambda s: (s.node, s.interface)):
        yield _no_arp(same[0])
    for same in alike([s for s in reading.silent if s.setting != "NOARP"], lambda s: (s.node, s.interface, s.setting)):
        yield _ignored(same)
    yield from _one_sided(cluster, {s.node for s in reading.silent})
    yield from _rest(reading)


def _rest(reading: ArpReading) -> Iterator[Finding]:
    silent = {(s.node, s.network) for s in reading.silent}
    if fine := [place for place in reading.judged if place not in silent]:
        nodes = list(dict.fromkeys(node for node, _ in fine))
        yield ANSWERS.finding(
            f"The kernel of {named(nodes, 'node')} answers ARP for the addresses of {len(fine)} private NICs.",
            subject=f"{len(fine)} NICs answer",
            evidence=[(node, topic) for node in nodes for topic in ("interfaces", "sysctls")],
            observed=read_at(ANSWERS.code, fine),
        )
    if reading.judged and reading.unread:
        nics = listed(f"{nic} of {node}" for node, nic in reading.unread)
        yield NOT_READ.finding(
            f"Whether {nics} {'answers' if len(reading.unread) == 1 else 'answer'} ARP is not known: the flag or the "
            "settings were not read.",
            subject=f"{len(reading.unread)} not read",
            evidence=[(node, "sysctls") for node in dict.fromkeys(node for node, _ in reading.unread)],
        )


def _no_arp(one: ArpSilence) -> Finding:
    both = (
        Traffic(networks=(one.network,), receivers=(one.node,)),
        Traffic(networks=(one.network,), senders=(one.node,)),
    )
    return NO_ARP.finding(
        f"{one.interface} of {one.node} does no ARP: it does not answer for {one.ip} on {one.network}.",
        subject=f"{one.node} {one.interface} NOARP",
        data={"interface": one.interface, "address": one.ip},
        seen=(f"{one.node}: the flags of {one.interface} contain NOARP",),
        expected=("An interface without the flag NOARP",),
        next=[
            NextStep(
                "Display the flags, and find what set this one: a script, or ARP=no in the boot configuration.",
                (shell("ip link show {nic}", nic=one.interface), "grep -rsi 'arp *off\\|ARP=no' /etc"),
                f"root on {one.node}",
            ),
            NextStep(
                "Switch ARP on.",
                (shell("ip link set {nic} arp on", nic=one.interface),),
                f"root on {one.node}",
                is_change=True,
            ),
        ],
        evidence=[(one.node, "interfaces")],
        network=one.network,
        nodes=[one.node],
        observed=[state(NO_ARP.code, one.node, one.network, one.interface, one.ip, leg) for leg in both],
    )


def _ignored(same: Sequence[ArpSilence]) -> Finding:
    first = same[0]
    ips = list(dict.fromkeys(s.ip for s in same))
    peers = list(dict.fromkeys(peer for s in same for peer in s.peers))
    there = next((s.nic for s in same if s.nic), "")
    why = {
        "arp_filter": ", since its routes to them lead out of another interface",
        "arp_ignore": f", since {there} has the address" if there else "",
    }[first.setting]
    key = f"net.ipv4.conf.{first.interface}.{first.setting}"
    return IGNORED.finding(
        f"{first.node} does not answer {listed(peers)} for {listed(ips)} on {first.interface}: {first.setting} is "
        f"{first.value}{why}.",
        subject=f"{first.node} {first.interface} {first.setting} {first.value}",
        data={"interface": first.interface, "address": ips[0], first.setting: first.value},
        seen=some(
            [f"{s.node}: {s.setting} is {s.value} on {s.interface}; {s.ip} on {s.nic or s.interface}" for s in same]
        ),
        expected=(f"{first.setting} 0",),
        next=[
            NextStep(
                "Display the settings (the larger of `all` and the interface's own applies), and what sets them.",
                (
                    shell("sysctl net.ipv4.conf.all.{setting} {key}", setting=first.setting, key=key),
                    shell("grep -rs {setting} /etc/sysctl.conf /etc/sysctl.d /usr/lib/sysctl.d", setting=first.setting),
                ),
                f"any user on {first.node}",
            ),
            NextStep(
                "Correct the setting for the interface or for `all`, and in the file that sets it.",
                (shell("sysctl -w {key}=0", key=key),),
                f"root on {first.node}",
                is_change=True,
            ),
        ],
        evidence=[(first.node, topic) for topic in ("interfaces", "sysctls")],
        network=first.network,
        nodes=[first.node],
        extent=(len(ips), "addresses"),
        observed=[
            state(IGNORED.code, s.node, s.network, s.interface, s.value, _from_peers(s.peers, s.node, s.network, s.ip))
            for s in same
        ],
    )


def _from_peers(peers: Sequence[str], node: str, network: str, ip: str) -> Traffic:
    kinds = (kind_of_address(ip),)
    return Traffic(networks=(network,), senders=among(peers), receivers=(node,), addresses=kinds)


_LATELY_S = 5
"""An entry fails after three requests, a second apart: one that was confirmed within this time was so while requests of
the other end got no answer. Ours."""


def _is_fresh(entry: Neighbour) -> bool:
    return entry.state == "reachable" and entry.confirmed_s is not None and entry.confirmed_s <= _LATELY_S


def _one_sided(cluster: Cluster, known: set[str]) -> Iterator[Finding]:
    """Yield the nodes of which a peer gets no ARP answer, while they have the peer's MAC address by an answer."""
    for network in cluster.read_networks():
        entries = {
            (node.name, entry.ip): entry
            for node in cluster.read_nodes()
            if (own := network.port(node.name))
            for entry in node.neighbours
            if entry.interface == own.interface
        }
        # Two ports with one address: which of them an entry is about, it does not show.
        shared = {ip for ip, ports in Counter(port.ip for port in network.ports).items() if ports > 1}
        pairs = [
            (asker, port)
            for asker in network.ports
            for port in network.ports
            if asker.node != port.node and port.node not in known and shared.isdisjoint((asker.ip, port.ip))
            if (entry := entries.get((asker.node, port.ip))) and entry.state in ("failed", "incomplete")
            if (back := entries.get((port.node, asker.ip))) and _is_fresh(back)
            if back.mac_address.casefold() in macs_of(cluster, asker)
        ]
        for same in alike(pairs, lambda pair: pair[1]):
            port, askers = same[0][1], [asker.node for asker, _ in same]
            verb = "gets" if len(askers) == 1 else "get"
            yield ONE_SIDED.finding(
                f"{named(askers, 'node')} {verb} no ARP answer for {port.ip} of {port.node} on {network.name}, while "
                f"{port.node} gets one from there.",
                subject=f"{port.ip}: no answer to {briefly(askers, 'node')}",
                data={"address": port.ip},
                seen=some(
                    [
                        f"{a.node}: {port.ip} is {entries[a.node, port.ip].state}; {port.node}: {a.ip} was confirmed "
                        f"{entries[port.node, a.ip].confirmed_s} s before it was read"
                        for a, _ in same
                    ]
                ),
                expected=("An ARP answer in both directions",),
                next=[
                    NextStep(
                        "Watch whether the requests arrive; where they do, read the filters of ARP on the node.",
                        (
                            shell("timeout 60 tcpdump -p -nei {nic} -c 20 -s 96 arp", nic=port.interface),
                            NFTABLES,
                        ),
                        f"root on {port.node}",
                    ),
                    NextStep(
                        "Where they do not arrive, ask for the filters of broadcasts and of ARP at the port of "
                        f"{port.node}.",
                        where="the network team",
                    ),
                ],
                evidence=[(n, "neighbours") for n in (*askers, port.node)],
                network=network.name,
                nodes=[port.node],
                observed=[
                    state(
                        ONE_SIDED.code, port.node, network_at(cluster, port.node, port.interface), port.interface,
                        a.node, _from_peers([a.node], port.node, network.name, port.ip),
                    )
                    for a, _ in same
                ],
            )  # fmt: skip
