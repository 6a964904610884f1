"""What the gates of a change may read beside the facts of the cluster, said without reading it: `racwire plan`."""

from __future__ import annotations

from checks.change.copies import planned_copies
from checks.change.gates.backup_gates import backup_paths
from checks.model.facts import Cluster, Unknown
from checks.run.gathering import Gatherer
from checks.sources.nodes.change_files import OLR_COMMAND
from checks.sources.nodes.session import Session


async def _nothing(session: Session, cluster: Cluster) -> Unknown:
    return Unknown("not asked for")


PLANNED = Gatherer("changing", ("clusterware",), _nothing, limit_s=300)
"""What the group is gathered from and how long that may take; `checks.change.change_evidence` gathers it."""


def planned_evidence() -> tuple[str, ...]:
    """Every file and command, a line each."""
    listing, looking = planned_copies()
    return (
        "on this node: the recordings before and after that the change names, each read once",
        "on this node: what the nodes' names resolve to, as the system resolves them",
        *(f"on each node: stat -L -c '%s %Y' -- {path}" for path in backup_paths("ID")),
        f"on each node, by the Grid home that olr.loc names: {OLR_COMMAND}",
        f"on each peer, with every look: {listing}",
        f"on each peer, for each journal of this cluster: {looking}",
    )
