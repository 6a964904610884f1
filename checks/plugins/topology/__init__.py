"""Do the private networks connect the nodes and no other host, each through NICs and switches of its own?"""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.check import PassKind, UnknownKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, NodeSetup, Unknown, Unread
from checks.model.facts.host_setup import NOT_READ
from checks.model.finding import FAULTS, Finding, Status
from checks.model.networks import private_nics_of
from checks.model.wording import counted, listed
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.host_facts import not_known_findings
from checks.plugins.topology.foreign_hosts import FOREIGN, KNOWN, foreign_hosts, nodes_with_entries
from checks.plugins.topology.nic_places import (
    ONE_NIC,
    SLOWER,
    TAGS,
    other_tags,
    rates_of,
    single_nics,
    slower_than_public,
)
from checks.plugins.topology.switch_neighbours import CHAIN, DIRECT, ONE_SWITCH, plugs_of, switch_findings
from checks.rules.observed.states import read_on

SOUND = PassKind("IC-TOPO-001", "The private networks connect the nodes and no other host that was seen")
NOT_KNOWN = UnknownKind("IC-TOPO-010", "A part of the topology of the private networks is not known")


@check(
    "topology",
    question="Do the private networks connect the nodes and no other host, each through NICs and switches of its own?",
    needs=("nodes", "networks"),
    uses=("setups", "clusterware"),
    about=(ConditionKind.LINK,),
    kinds=(SOUND, FOREIGN, KNOWN, SLOWER, ONE_NIC, TAGS, DIRECT, ONE_SWITCH, CHAIN, NOT_KNOWN),
)
def topology(cluster: Cluster) -> Iterator[Finding]:
    """Judges who is on the private networks, and through which NICs, cards, VLANs and switches.

    A host in the neighbour tables that is no node is a warning. Switches, virtual routers, storage of engineered
    systems and entries that are stale are reported for information. So are one NIC, one card or one switch for the
    whole interconnect. A direct cable, more than two switches between two nodes, different VLANs on the nodes, and
    private networks that are slower than the public one are warnings. Switches and cables are known from LLDP only,
    by lldpd or systemd-networkd: without both on the nodes racwire claims nothing about them. Whether each node is
    on each network is judged by interfaces, routes and forwarding by private-routes, routers between the nodes by
    df-ping, equal speed and duplex by link-speed.
    """
    if isinstance(cluster.networks, Unknown):
        return
    found = [
        *foreign_hosts(cluster),
        *slower_than_public(cluster),
        *single_nics(cluster),
        *other_tags(cluster),
        *switch_findings(cluster),
    ]
    unknown = list(_not_known(cluster))
    yield from found
    yield from unknown
    looked = _looked_at(cluster)
    if looked and not any(finding.status in FAULTS for finding in found):
        nodes = [node.name for node in cluster.read_nodes()]
        yield SOUND.finding(
            f"racwire found no other host and no unsuitable connection on {_networks(cluster)} of "
            f"{named(nodes, 'node')}.",
            subject=f"{briefly(nodes, 'node')}: no other host",
            seen=some(looked),
            evidence=[(node, "neighbours") for node in nodes],
            observed=read_on(SOUND.code, nodes),
        )
    elif not found and not unknown:
        yield SOUND.finding(
            "No node that was read has a neighbour, a NIC with a known speed, or a switch that announces itself, on a "
            "private network.",
            status=Status.SKIPPED,
            subject="no neighbours, no speeds",
        )


def _networks(cluster: Cluster) -> str:
    return named((n.name for n in cluster.networks), "private network") if isinstance(cluster.networks, tuple) else ""


def _looked_at(cluster: Cluster) -> list[str]:
    """Return what was there to judge, a line each; empty where neither neighbours nor speeds nor switches are known."""
    neighbours = nodes_with_entries(cluster)
    rated = [(node.name, rates) for node in cluster.read_nodes() if (rates := rates_of(cluster, node))]
    plugs = plugs_of(cluster)
    lines = [f"neighbours of {named(neighbours, 'node')}"] if neighbours else []
    for same in alike(rated, lambda one: one[1]):
        private, public = same[0][1]
        names = named((name for name, _ in same), "node")
        lines.append(f"{names}: private NICs {private:,} Mbit/s, public NICs {public:,} Mbit/s")
    switches = {switch for plug in plugs for switch in plug.switches}
    if plugs:
        nics = {(plug.node, plug.nic) for plug in plugs}
        lines.append(f"LLDP on {counted(len(nics), 'NIC')}: {listed(sorted(switches))}")
    return lines


def _not_known(cluster: Cluster) -> Iterator[Finding]:
    """Yield UNKNOWN where neighbours or LLDP were refused, SKIPPED where no node has an lldpd."""
    neighbours: dict[str, Unread] = {
        node.name: node.neighbours_unread
        for node in cluster.read_nodes()
        if node.neighbours_unread is not None and private_nics_of(cluster, node.name)
    }
    switches: dict[str, Unread] = {
        setup.name: setup.lldp
        for setup in cluster.read_setups()
        if isinstance(setup.lldp, Unknown) and _is_refused(setup) and setup.name not in neighbours
    }
    for what, topic, unread in (("neighbours", "neighbours", neighbours), ("switches", "lldp", switches)):
        title = f"The {what} on the private networks of {{}} are"
        yield from not_known_findings(NOT_KNOWN, title, unread, "topology", topic, what)
    without = [setup.name for setup in cluster.read_setups() if _has_no_lldpd(setup)]
    if without:
        yield NOT_KNOWN.finding(
            f"{named(without, 'node')} {'has' if len(without) == 1 else 'have'} no lldpd that runs, so the "
            "switches and cables there are not judged.",
            status=Status.SKIPPED,
            subject=f"{briefly(without, 'node')}: no lldpd",
            evidence=[(node, "lldp") for node in without],
        )


def _is_refused(setup: NodeSetup) -> bool:
    """Return whether an lldpd is there and gave no answer; false in files of versions that did not query it."""
    return isinstance(setup.lldp, Unknown) and not setup.lacks_lldpd and setup.lldp != NOT_READ


def _has_no_lldpd(setup: NodeSetup) -> bool:
    return isinstance(setup.lldp, Unknown) and setup.lacks_lldpd
