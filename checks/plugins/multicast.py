"""Can multicast at the start of Clusterware be the cause?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from checks.model.check import InfoKind, Kind, PassKind, WarnKind, check
from checks.model.facts import (
    Cluster,
    Clusterware,
    Port,
    PrivateNetwork,
    Unknown,
    release,
)
from checks.model.facts.host_setup import MULTICAST_GROUPS
from checks.model.finding import Finding, NextStep, Status
from checks.model.shell_command import for_each, shell
from checks.model.wording import listed
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.host_facts import HOST_TOPIC, hosts_of
from checks.rules.network_setup import absent_group_status
from checks.rules.observed.states import read_on, states

_NOTE = "MOS 1212703.1"
_GUIDES = "Grid Infrastructure Installation Guides since 12.2, Multicast Requirements for Networks"
JOINED = PassKind("IC-MCAST-001", "The nodes found each other when Clusterware started")
ABSENT = WarnKind(
    "IC-MCAST-002",
    "A node did not join a Clusterware that starts by multicast",
    "Clusterware 11.2.0.2 to 11.2.0.4 needs multicast (230.0.1.0, from a patch on also 224.0.0.251) on the private "
    "networks when a node joins. Switches with IGMP snooping and without a querier drop it.",
    (_NOTE,),
)
AVAHI = InfoKind(
    "IC-MCAST-003",
    "avahi-daemon runs next to Clusterware's own mDNS",
    "Both answer multicast DNS on UDP port 5353. Oracle advises to switch avahi-daemon off on the nodes of a cluster.",
    ("MOS 1501093.1",),
)
_DOCUMENTS = (
    f"Documents differ on where that is: {_NOTE} is about 11.2.0.2 to 11.2.0.4, and the installation guides since 12.2 "
    "ask for multicast on the private networks (224.0.0.0/24, optionally 230.0.1.0/24)."
)
GROUP = Kind(
    "IC-MCAST-004",
    "Clusterware has not joined a multicast group that it joined on other nodes",
    f"Where Clusterware uses multicast, a node that starts and the others do not find each other by it. {_DOCUMENTS} "
    "Blocks and heartbeats go to the addresses of the nodes, without multicast.",
    (_GUIDES, _NOTE, "The kernel's /proc/net/igmp and igmp6"),
)
_FIRST, _AFTER = (11, 2, 0, 2), (12,)
_MDNS = "mdnsd.bin"


@check(
    "multicast",
    question="Can multicast at the start of Clusterware be the cause?",
    needs=(),
    uses=("clusterware", "networks", "setups"),
    kinds=(JOINED, ABSENT, AVAHI, GROUP),
)
def multicast(cluster: Cluster) -> Iterator[Finding]:
    """Judges whether all nodes joined, where Clusterware starts by multicast, and whether avahi-daemon runs.

    Compares the multicast groups that Clusterware joined on the private NICs of the nodes where it runs. Multicast
    matters only when a node joins; blocks and heartbeats never use it. racwire sends no multicast.
    """
    facts = cluster.clusterware
    if isinstance(facts, Unknown):
        # The check clusterware reports why; without Clusterware no node joins one.
        yield JOINED.finding(
            "Without the nodes' view of Clusterware, racwire does not judge whether multicast passes.",
            status=Status.SKIPPED,
            subject="no Clusterware",
            evidence=[(cluster.local_node, "grid home")],
        )
        return
    avahi = [node for node, host in hosts_of(cluster).items() if host.is_avahi_active]
    if avahi:
        yield AVAHI.finding(
            f"avahi-daemon runs on {named(avahi, 'node')}.",
            subject=f"{briefly(avahi, 'node')}: avahi",
            next=[
                NextStep(
                    "If no program needs it, switch it off.",
                    ("systemctl disable --now avahi-daemon.socket avahi-daemon.service",),
                    f"root on {named(avahi, 'node')}",
                    is_change=True,
                )
            ],
            evidence=[(node, "boot files") for node in avahi],
            nodes=avahi,
            observed=states(AVAHI.code, avahi),
        )
    for network in cluster.read_networks():
        for group, daemon in MULTICAST_GROUPS.items():
            if (":" in group) == (":" in network.subnet):
                yield from _absent(cluster, facts, network, group, daemon)
    yield _joined(facts)


def _absent(
    cluster: Cluster, facts: Clusterware, network: PrivateNetwork, group: str, daemon: str
) -> Iterator[Finding]:
    """Yield the nodes where the daemon runs and has not joined a group on a network, on which it has on others.

    A group that avahi-daemon can have joined shows nothing of Clusterware.
    """
    joined: list[Port] = []
    absent: dict[Port, tuple[str, ...]] = {}
    for port in network.ports:
        setup = cluster.setup(port.node)
        if setup is None or isinstance(setup.daemons, Unknown) or daemon not in setup.daemons:
            continue
        if isinstance(setup.host, Unknown) or isinstance(setup.host.groups_joined, Unknown):
            continue
        nics = tuple(one.interface for one in setup.host.groups_joined if one.group == group)
        if port.interface not in nics:
            absent[port] = nics
        elif daemon != _MDNS or setup.host.is_avahi_active is False:
            joined.append(port)
    if joined:
        members = () if isinstance(facts.members, Unknown) else facts.members
        outside = {member.name for member in members if member.status != "Active"}
        for same in alike(list(absent), lambda port: port.node in outside):
            status = absent_group_status(is_member=same[0].node not in outside)
            yield _absent_finding(status, network, group, {port: absent[port] for port in same}, joined)


def _absent_finding(
    status: Status,
    network: PrivateNetwork,
    group: str,
    absent: Mapping[Port, Sequence[str]],
    joined: Sequence[Port],
) -> Finding:
    nodes, nics = [port.node for port in absent], sorted({port.interface for port in absent})
    return GROUP.finding(
        f"Clusterware on {named(nodes, 'node')} has not joined the multicast group {group} on {listed(nics)} "
        f"({network.name}); on {named([port.node for port in joined], 'node')} it has.",
        status=status,
        subject=f"{briefly(nodes, 'node')}: {group} on {network.name}",
        data={"nodes": len(nodes), "nodes_that_joined": len(joined)},
        seen=some(
            [
                f"{port.node}: {port.interface} has not joined {group}"
                + (f"; {listed(others)} {'has' if len(others) == 1 else 'have'}" if others else "")
                for port, others in absent.items()
            ]
            + [f"{port.node}: {port.interface} has joined {group}" for port in joined]
        ),
        expected=("The same groups on the private NICs of the nodes where Clusterware runs",),
        next=[
            NextStep(
                "Display the groups and the flags of the NIC; without the flag MULTICAST no program can join one.",
                for_each("ip maddr show dev {nic}", "ip link show dev {nic}", nic=nics),
                f"any user on {named(nodes, 'node')}",
            )
        ],
        evidence=[(node, HOST_TOPIC) for node in (*nodes, *(port.node for port in joined))],
        network=network.name,
        nodes=nodes,
        extent=(len(nodes), "nodes"),
        observed=states(GROUP.code, nodes, network.name),
    )


def _joined(facts: Clusterware) -> Finding:
    members = () if isinstance(facts.members, Unknown) else facts.members
    outside = [member.name for member in members if member.status != "Active"]
    version = () if isinstance(facts.version, Unknown) else release(facts.version.version)
    if not members:
        return JOINED.finding("The nodes of the cluster are not known.", status=Status.SKIPPED, subject="not known")
    if not outside:
        return JOINED.finding(
            f"All {len(members)} nodes are active, so they found each other when Clusterware started."
            if len(members) > 1
            else "The cluster has a single node.",
            subject="all joined",
            evidence=[(facts.local_node if isinstance(facts.local_node, str) else members[0].name, "olsnodes")],
            observed=read_on(JOINED.code, [member.name for member in members]),
        )
    if _FIRST <= version < _AFTER:
        return ABSENT.finding(
            f"{named(outside, 'node')} did not join Clusterware {'.'.join(map(str, version[:4]))}, which needs "
            "multicast for that.",
            subject=f"{briefly(outside, 'node')}: not joined",
            next=[
                NextStep(
                    "Test multicast on the private NICs with the program of MOS 1212703.1.",
                    (shell("perl mcasttest.pl -n {nodes} -i ETH", nodes=",".join(m.name for m in members)),),
                    "the Grid owner",
                )
            ],
            nodes=outside,
            extent=(len(outside), "nodes"),
            observed=states(ABSENT.code, outside),
        )
    return JOINED.finding(
        f"{named(outside, 'node')} {'is' if len(outside) == 1 else 'are'} not active; "
        + (
            f"{_NOTE} and the installation guides since 12.2 differ on whether its start needs multicast."
            if version
            else "the release of Clusterware is not known."
        ),
        status=Status.SKIPPED,
        subject="not needed",
    )
