"""What a cause can explain: by the codes that it leads to, and by the nodes and directions of both findings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checks.model.facts import Activity, Cluster
from checks.model.finding import FAULTS, Finding
from checks.model.known_instances import active, node_of
from checks.rules.lost_blocks import loss_of

EFFECTS = (
    "IC-LOST-002", "IC-LOST-007", "IC-LOST-008", "IC-TIME-002", "IC-TIME-003", "IC-TIME-004", "IC-TIME-006",
    "IC-PING-002", "IC-PING-003", "IC-PING-005", "IC-PING-007", "IC-GRID-006", "IC-IFACE-012",
)  # fmt: skip
"""The codes of findings that are never causes by themselves: what the database and Clusterware suffer."""
_LOG_EFFECTS = (
    "IC-LOG-002", "IC-LOG-003", "IC-LOG-004", "IC-LOG-006", "IC-LOG-007", "IC-LOG-008", "IC-LOG-012", "IC-LOG-013",
)  # fmt: skip
"""The codes of log messages that are effects, where the last one is of the last minutes: the present does not explain
the past."""
_LOST_BLOCKS = "IC-LOST-002"
_AT_THE_RECEIVER = ("IC-UDP-", "IC-REASM-", "IC-RPF-", "IC-FILTER-")
"""The codes of findings about packets that a node received: they explain blocks lost on the way to it, not from it."""
_PATH_TOPIC = re.compile(r"path .+ (\S+) (\S+)")


def is_effect(finding: Finding) -> bool:
    """Return whether a finding is a fault that the database or Clusterware suffers."""
    is_recent = finding.code in _LOG_EFFECTS and finding.data.get("is_recent") is True
    return (finding.code in EFFECTS or is_recent) and finding.status in FAULTS


def is_of_logs(findings: Sequence[Finding]) -> bool:
    """Return whether all these findings are log messages about what Clusterware or an instance suffered."""
    return all(finding.code.startswith("IC-LOG-") for finding in findings)


def explains(cluster: Cluster, leads_to: tuple[str, ...], shown: Sequence[Finding], finding: Finding) -> bool:
    """Return whether a cause that leads to these codes, shown by these findings, explains another finding."""
    leads = is_effect(finding) or finding.code.startswith(leads_to or ("-",))
    return leads and finding not in shown and any(_is_near(cluster, f, finding) for f in shown)


def _is_near(cluster: Cluster, shown: Finding, effect: Finding) -> bool:
    """Return whether the place of a finding is that of an effect: by the pairs of nodes, where both have some; else by
    the network, where both name one, and a node.

    A pair is (sender, receiver): of a path that loses packets, or of blocks that were lost.
    """
    if shown.network and effect.network and shown.network != effect.network:
        return False
    lost = lost_pairs(cluster, effect)
    if lost and (paths := paths_of(shown)):
        return not lost.isdisjoint(paths)
    if lost and shown.nodes:
        receivers = {receiver for _, receiver in lost}
        ends = receivers if shown.code.startswith(_AT_THE_RECEIVER) else {node for pair in lost for node in pair}
        return not ends.isdisjoint(shown.nodes)
    return not _nodes(cluster, shown).isdisjoint(_nodes(cluster, effect))


def paths_of(finding: Finding) -> set[tuple[str, str]]:
    """Return the paths of a finding, from its references to the journal; empty for findings of other checks."""
    found = (_PATH_TOPIC.fullmatch(reference.topic) for reference in finding.evidence)
    return {(match[1], match[2]) for match in found if match}


def lost_pairs(cluster: Cluster, effect: Finding) -> set[tuple[str, str]]:
    """Return the pairs of nodes between which the blocks of a finding were lost; empty where they are not known."""
    activity = cluster.activity
    if effect.code != _LOST_BLOCKS or not isinstance(activity, Activity):
        return set()
    losses = [loss for own in active(activity) if (loss := loss_of(activity, own)) and loss.lost]
    pairs = {
        (node_of(cluster, sender), node_of(cluster, loss.instance))
        for loss in losses
        for sender, blocks in loss.senders.items()
        if blocks
    }
    return {(sender, receiver) for sender, receiver in pairs if receiver in effect.nodes and sender in effect.nodes}


def _nodes(cluster: Cluster, finding: Finding) -> set[str]:
    """Return the nodes of a finding; one without nodes is about all nodes that were read."""
    return set(finding.nodes) or {node.name for node in cluster.read_nodes()}
