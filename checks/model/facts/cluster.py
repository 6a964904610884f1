"""The whole: what checks judge."""

from __future__ import annotations

from checks.model.facts.base import Fact, NotAsked, Unknown
from checks.model.facts.changing import Changing
from checks.model.facts.clusterware import Clusterware
from checks.model.facts.database import Activity, Database
from checks.model.facts.history import History
from checks.model.facts.kernel import CounterChanges
from checks.model.facts.managed import Managed
from checks.model.facts.node import Interface, Node, UnreadNode
from checks.model.facts.paths import PathProbe, Port, PrivateNetwork
from checks.model.facts.setup import NodeSetup
from checks.model.facts.thresholds import Thresholds


class Cluster(Fact, frozen=True):
    """All that is known of a cluster: what checks judge. A group that was not asked for is Unknown."""

    local_node: str
    taken_at: str
    """ISO 8601, with the zone of the node."""
    clusterware: Clusterware | Unknown = Unknown("not asked for")
    nodes: tuple[Node | UnreadNode, ...] | Unknown = Unknown("not asked for")
    networks: tuple[PrivateNetwork, ...] | Unknown = Unknown("not asked for")
    paths: tuple[PathProbe, ...] | Unknown = Unknown("not asked for")
    counters: CounterChanges | Unknown = Unknown("not asked for")
    database: Database | Unknown | NotAsked = Unknown("not asked for")
    activity: Activity | Unknown | NotAsked = Unknown("not asked for")
    history: History | Unknown | NotAsked = Unknown("not asked for")
    setups: tuple[NodeSetup | UnreadNode, ...] | Unknown = Unknown("not asked for")
    changing: Changing | Unknown = Unknown("not asked for")
    """What only the gates of a change ask for; no other check can need it."""
    managed: Managed | Unknown = Unknown("not asked for")
    named_networks: tuple[str, ...] = ()
    """The private networks that the operator named; then Clusterware need not be there."""
    thresholds: Thresholds = Thresholds()

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
