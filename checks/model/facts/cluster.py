"""The whole: what checks judge."""

from __future__ import annotations

import msgspec

from checks.model.facts.base import Fact, NotAsked, NotGathered, Unknown
from checks.model.facts.change_facts import Changing
from checks.model.facts.database_facts import Activity, Database, History
from checks.model.facts.grid import Clusterware, Managed
from checks.model.facts.node import CounterChanges, Interface, Node, NodeSetup, UnreadNode
from checks.model.facts.path_probe import PathProbe, Port, PrivateNetwork
from checks.model.facts.thresholds import Thresholds

FACT_GROUPS = (
    "clusterware",
    "nodes",
    "networks",
    "paths",
    "counters",
    "database",
    "activity",
    "history",
    "setups",
    "managed",
)
"""The fields of `Cluster` that a check can need, in the order in which they can be gathered."""
_NOT_GATHERED = NotGathered()
"""One object, so that a group that holds it is left out of what is written."""


class Cluster(Fact, frozen=True):
    """All that is known of a cluster: what checks judge. A group that nobody asked for is NotGathered."""

    local_node: str
    taken_at: str
    """ISO 8601, with the zone of the node."""
    clusterware: Clusterware | Unknown | NotGathered = _NOT_GATHERED
    nodes: tuple[Node | UnreadNode, ...] | Unknown | NotGathered = _NOT_GATHERED
    networks: tuple[PrivateNetwork, ...] | Unknown | NotGathered = _NOT_GATHERED
    paths: tuple[PathProbe, ...] | Unknown | NotGathered = _NOT_GATHERED
    counters: CounterChanges | Unknown | NotGathered = _NOT_GATHERED
    database: Database | Unknown | NotGathered | NotAsked = _NOT_GATHERED
    activity: Activity | Unknown | NotGathered | NotAsked = _NOT_GATHERED
    history: History | Unknown | NotGathered | NotAsked = _NOT_GATHERED
    setups: tuple[NodeSetup | UnreadNode, ...] | Unknown | NotGathered = _NOT_GATHERED
    changing: Changing | Unknown | NotGathered = _NOT_GATHERED
    """What only the gates of a change ask for; no other check can need it."""
    managed: Managed | Unknown | NotGathered = _NOT_GATHERED
    named_networks: tuple[str, ...] = ()
    """The private networks that the operator named; then Clusterware need not be there."""
    thresholds: Thresholds = Thresholds()

    def __post_init__(self) -> None:
        """Take `Unknown("not asked for")`, as files of 0.1.0 hold it, for NotGathered, which is one object."""
        for group in (*FACT_GROUPS, "changing"):
            value = getattr(self, group)
            old = type(value) is Unknown and value.reason == _NOT_GATHERED.reason
            if old or isinstance(value, NotGathered):
                msgspec.structs.force_setattr(self, group, _NOT_GATHERED)

    def is_gathered(self, group: str) -> bool:
        """Whether somebody looked at that group of facts, with whatever result."""
        return not isinstance(getattr(self, group), NotGathered)

    def gathered_groups(self) -> tuple[str, ...]:
        """The groups that a check can need and that somebody looked at."""
        return tuple(group for group in FACT_GROUPS if self.is_gathered(group))

    def read_nodes(self) -> tuple[Node, ...]:
        """The nodes that could be read."""
        return () if isinstance(self.nodes, Unknown) else tuple(n for n in self.nodes if isinstance(n, Node))

    def unread_nodes(self) -> tuple[UnreadNode, ...]:
        """The nodes that could not."""
        return () if isinstance(self.nodes, Unknown) else tuple(n for n in self.nodes if isinstance(n, UnreadNode))

    def node(self, name: str) -> Node | None:
        """The node of that name, where it could be read."""
        return next((n for n in self.read_nodes() if n.name == name), None)

    def read_setups(self) -> tuple[NodeSetup, ...]:
        """The setups that could be read."""
        return () if isinstance(self.setups, Unknown) else tuple(s for s in self.setups if isinstance(s, NodeSetup))

    def setup(self, node: str) -> NodeSetup | None:
        """The setup of that node, where it could be read."""
        return next((s for s in self.read_setups() if s.name == node), None)

    def interface(self, port: Port) -> Interface | None:
        """The interface at a port, where its node could be read."""
        node = self.node(port.node)
        return node.interface(port.interface) if node else None
