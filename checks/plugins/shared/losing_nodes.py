"""The nodes whose instances lose blocks in this run, for checks whose status depends on it."""

from __future__ import annotations

from checks.model.facts import Activity, Cluster
from checks.model.known_instances import active, node_of
from checks.rules.lost_blocks import loss_of


def losing_nodes(cluster: Cluster) -> tuple[str, ...]:
    """Return the nodes with an instance that lost blocks in the interval of the run; empty where that is not known."""
    activity = cluster.activity
    if not isinstance(activity, Activity):
        return ()
    numbers = (own.instance for own in active(activity) if (loss := loss_of(activity, own)) and loss.lost)
    return tuple(dict.fromkeys(node for number in numbers if (node := node_of(cluster, number))))
