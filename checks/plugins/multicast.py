"""Can multicast at the start of Clusterware be the cause?"""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.check import InfoKind, PassKind, WarnKind, check
from checks.model.facts import Cluster, Clusterware, Unknown, release
from checks.model.finding import Finding, NextStep, Status
from checks.model.shell_command import shell
from checks.plugins.shared.grouping import briefly, named
from checks.plugins.shared.host_facts import hosts_of
from checks.rules.observed.states import read_on, states

_NOTE = "MOS 1212703.1"
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
_FIRST, _AFTER = (11, 2, 0, 2), (12,)


@check(
    "multicast",
    question="Can multicast at the start of Clusterware be the cause?",
    needs=(),
    uses=("clusterware", "setups"),
    kinds=(JOINED, ABSENT, AVAHI),
)
def multicast(cluster: Cluster) -> Iterator[Finding]:
    """Judges whether all nodes joined, where Clusterware starts by multicast, and whether avahi-daemon runs.

    Multicast matters only when a node joins; blocks and heartbeats never use it. racwire sends no multicast.
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
    yield _joined(facts)


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
            "racwire judges multicast for 11.2.0.2 to 11.2.0.4, where MOS 1212703.1 applies."
            if version
            else "the release of Clusterware is not known."
        ),
        status=Status.SKIPPED,
        subject="not needed",
    )
