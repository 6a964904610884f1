"""Is the traffic of a private NIC near the speed of its link?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import Kind, PassKind, SkippedKind, UnknownKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Activity, Cluster, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.link_traffic import LinkTraffic, LinkUser
from checks.model.shell_command import for_each
from checks.model.wording import counted
from checks.plugins.shared.counter_text import TOPIC, not_counted_finding, share, unknown_nodes_findings
from checks.plugins.shared.filter_commands import capture
from checks.plugins.shared.grouping import alike, briefly, named, some, time_of, topics_of
from checks.rules.link_traffic_text import link_traffic_text
from checks.rules.link_users import full_links
from checks.rules.nic_counts import LinkLoad, link_load, private_nics_counted
from checks.rules.observed.states import read_at, state

ROOM = PassKind("IC-LOAD-001", "The traffic of the private NICs leaves room on their links")
FULL = Kind(
    "IC-LOAD-002",
    "The traffic of a private NIC is near the speed of its link",
    "Packets wait in queues and are dropped where a queue is full: in the node that sends, or in the switch port of "
    "the node that receives. The average hides bursts that fill the link.",
    ("MOS 563566.1, cause 18",),
)
NO_SPEED = SkippedKind("IC-LOAD-003", "The traffic of a NIC was not compared with its speed")
NOT_KNOWN = UnknownKind("IC-LOAD-004", "The traffic of private NICs is not known")

_MOST_SPLIT = 3
"""Links whose users are listed."""
_NOTABLE_PERCENT = 10
"""The part of a user in a link from which a step looks for it."""
_SEGMENTS = (
    "SELECT owner, object_name, SUM(value) AS blocks FROM gv$segment_statistics WHERE statistic_name IN ('gc cr blocks "
    "received', 'gc current blocks received') GROUP BY owner, object_name ORDER BY blocks DESC;"
)


@check(
    "link-saturation",
    question="Does the traffic of the private NICs leave room on their links?",
    needs=("networks", "counters"),
    uses=("nodes", "database", "activity"),
    about=(ConditionKind.SPEED, ConditionKind.NIC_DROPS),
    kinds=(ROOM, FULL, NO_SPEED, NOT_KNOWN),
)
def link_saturation(cluster: Cluster) -> Iterator[Finding]:
    """Compares the bytes that each private NIC received and sent in the interval with its speed, each way by itself.

    Of a full link it says who fills it: TCP connections by address and port, as the node's kernel counts their bytes,
    and the blocks and messages of the database, as the instances count them; the rest is not known. Above
    link_warn_percent the finding is a warning, above link_fail_percent a failure. Of a bond or a VLAN the NICs below
    are compared. A NIC without a link or without a known speed is SKIPPED: many virtual NICs report no speed.
    """
    changes = cluster.counters
    if isinstance(changes, Unknown):
        return
    counted_nodes = [c for c in changes.nodes if not isinstance(c.machine.nics, Unknown)]
    nics = [nic for nic in private_nics_counted(cluster, counted_nodes) if nic.is_lowest and nic.is_up]
    loads = [load for nic in nics if (load := link_load(nic, cluster.thresholds))]
    for same in alike((x for x in loads if x.status is not Status.PASS), lambda x: (x.nic.network, x.status)):
        yield _full(cluster, same)
    if fine := [load for load in loads if load.status is Status.PASS]:
        most = max(fine, key=lambda load: load.percent)
        yield ROOM.finding(
            f"{named((x.nic.place for x in fine), 'private NIC')} used at most {share(most.percent)} of the speed of "
            f"{'its link' if len(fine) == 1 else 'their links'} in {time_of(x.nic for x in fine)}.",
            subject=f"{counted(len(fine), 'NIC')}, at most {share(most.percent)}",
            data={"nics": len(fine), "most_percent": most.percent},
            seen=some([_line(load) for load in fine]),
            evidence=topics_of((x.nic.node for x in fine), TOPIC, "interfaces"),
            observed=read_at(ROOM.code, [(x.nic.node, x.nic.network) for x in fine]),
        )
    compared = {(load.nic.node, load.nic.name) for load in loads}
    silent = {nic.place: _no_speed(nic.speed_mbps) for nic in nics if (nic.node, nic.name) not in compared}
    if silent:
        yield not_counted_finding(NO_SPEED, "The traffic of {}", silent, "private NIC")
    if left := {c.node for c in changes.nodes} - {nic.node for nic in nics}:
        reasons = {node: Unknown("No private NIC of the node is up and counted.") for node in left}
        yield not_counted_finding(NO_SPEED, "The traffic of the private NICs of {}", reasons, "node")
    yield from unknown_nodes_findings(cluster, NOT_KNOWN, "The traffic of the private NICs of {}", "link-saturation")


def _no_speed(speed: int | Unknown) -> Unknown:
    return speed if isinstance(speed, Unknown) else Unknown("Its bytes were not counted.")


def _full(cluster: Cluster, same: Sequence[LinkLoad]) -> Finding:
    most = max(same, key=lambda load: load.percent)
    nodes = list(dict.fromkeys(load.nic.node for load in same))
    network = same[0].nic.network
    used = f"{share(most.percent)} of its {most.speed_mbps:,} Mbit/s"
    title = f"{most.nic.place}{f' on {network}' if network else ''} {most.way} at {used}"
    places = {(load.nic.node, load.nic.name) for load in same}
    users = [use for use in full_links(cluster) if any((use.node, nic) in places for nic in use.nics)]
    others = f"; {counted(len(same) - 1, 'other private NIC')} less" if len(same) > 1 else ""
    return FULL.finding(
        f"{title}, averaged over {time_of(x.nic for x in same)}{others}.",
        status=same[0].status,
        subject=f"{briefly((x.nic.place for x in same), 'NIC')}: {share(most.percent)}",
        data={"nics": len(same), "most_percent": most.percent, "speed_mbps": most.speed_mbps},
        seen=some(
            [link_traffic_text(use) for use in users[:_MOST_SPLIT]]
            + [_line(load) for load in sorted(same, key=lambda x: (-x.percent, x.nic.node, x.nic.name))]
        ),
        expected=("Room for bursts",),
        next=[
            *_look(cluster, users, nodes),
            NextStep(
                "Move other traffic to another network, or plan faster links or another private network.",
                ("racwire change new add-network --interface NIC",),
                is_change=True,
            ),
        ],
        evidence=topics_of((x.nic.node for x in same), TOPIC, "interfaces"),
        network=network,
        nodes=nodes,
        extent=(most.percent, "% of the speed"),
        observed=[state("link load in percent", x.nic.node, x.nic.network, x.nic.name, x.percent) for x in same],
    )


def _look(cluster: Cluster, users: Sequence[LinkTraffic], nodes: Sequence[str]) -> Iterator[NextStep]:
    """Yield the steps that show more of the users: of the blocks their segments, of the largest connections their
    processes, of the rest its hosts; where that may be blocks that were not counted, how to count them."""
    notable = {one.user for use in users for one in use.shares if one.percent >= _NOTABLE_PERCENT}
    if LinkUser.DATABASE in notable:
        what = "Find the segments whose blocks the instances exchange most, since they were started."
        yield NextStep(what, (_SEGMENTS,), "a DBA")
    elif not isinstance(cluster.activity, Activity) and (LinkUser.NOT_KNOWN in notable or not users):
        yield NextStep(
            "Connect to the database, so that its blocks are counted too.",
            ("racwire check --connect SCAN:1521/SERVICE_OF_A_RAC_DATABASE --user RACWIRE",),
        )
    for use in users[:_MOST_SPLIT]:
        ends = [one.remote_ip for one in use.shares if one.remote_ip and one.percent >= _NOTABLE_PERCENT]
        if ends:
            commands = for_each("ss -tnp dst {to}", to=dict.fromkeys(ends[:3]))
            yield NextStep("Find the processes of the connections.", commands, f"root on {use.node}")
        if use.shares[-1].percent >= _NOTABLE_PERCENT:
            yield NextStep(
                "Find out which hosts send what is not known." if use.receives else "Find out where it goes.",
                tuple(capture(nic, "not", "tcp") for nic in use.nics[:2]),
                f"root on {use.node}",
            )
    if not users:
        display = ("ss -tun src ADDRESS_OF_THE_NIC",)
        yield NextStep("Display the connections of the address.", display, f"any user on {named(nodes, 'node')}")


def _line(load: LinkLoad) -> str:
    return (
        f"{load.nic.node}: {load.nic.name} {load.way} {load.mbit_s:,.1f} Mbit/s of {load.speed_mbps:,} "
        f"({share(load.percent)})"
    )
