"""The whole: what checks judge."""

from __future__ import annotations

from checks.model.facts.base import Fact, NotAsked, Unknown
from checks.model.facts.change_facts import Changing
from checks.model.facts.grid import Clusterware, Managed
from checks.model.facts.instance_facts import Activity, Database, History
from checks.model.facts.node import CounterChanges, Interface, Node, NodeSetup, UnreadNode
from checks.model.facts.path_probe import PathProbe, Port, PrivateNetwork


class Thresholds(Fact, frozen=True):
    """What the checks measure against; each is a setting, documented with its source there."""

    loss_fail_percent: float = 1.0
    lost_blocks_fail_percent: float = 0.1
    few_blocks: int = 100
    receive_attention_ms: float = 1.0
    receive_warn_ms: float = 10.0
    receive_fail_ms: float = 20.0
    receive_tail_warn_percent: float = 2.0
    gc_wait_share_warn_percent: float = 10.0
    recent_loss_h: float = 24.0
    ping_warn_ms: float = 1.0
    ping_fail_ms: float = 10.0
    ping_8k_warn_ratio: float = 3.0
    few_pings: int = 3
    reassembly_fail_percent: float = 1.0
    device_drop_warn_percent: float = 0.01


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
