"""The cluster: all facts that checks judge."""

from __future__ import annotations

import msgspec

from checks.model.facts.base import Fact, NotAsked, NotGathered, Unknown
from checks.model.facts.change_facts import Changing
from checks.model.facts.database_facts import Activity, Database, History
from checks.model.facts.dropped_packets import KernelDrops
from checks.model.facts.flow_probe import AddressProbes, Flows, HaipPaths
from checks.model.facts.grid import Clusterware, Managed
from checks.model.facts.node import CounterChanges, Interface, Node, NodeSetup, UnreadNode
from checks.model.facts.own_load import RecentLoad
from checks.model.facts.path_probe import PathProbe, Port, PrivateNetwork
from checks.model.facts.route_in_use import NodeRoutes
from checks.model.facts.thresholds import Thresholds
from checks.model.facts.transceivers import NodeOptics

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
    "flows",
    "owners",
    "haip_paths",
    "effective_routes",
    "optics",
    "kernel_drops",
)
"""The fields of `Cluster` that a check can need, in the order in which they can be gathered."""
ON_REQUEST = frozenset({"optics", "kernel_drops"})
"""The groups that only a step of `racwire investigate` gathers, with a consent: no run does."""
_NOT_GATHERED = NotGathered()
"""A single object, so that groups with this value are omitted from written files."""


class Cluster(Fact, frozen=True):
    """All facts about a cluster, which the checks judge. A group that no check needed is NotGathered."""

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
    """Facts that only the gates of a change need; no other check can need them."""
    managed: Managed | Unknown | NotGathered = _NOT_GATHERED
    flows: Flows | Unknown | NotGathered = _NOT_GATHERED
    owners: AddressProbes | Unknown | NotGathered = _NOT_GATHERED
    haip_paths: HaipPaths | Unknown | NotGathered | NotAsked = _NOT_GATHERED
    effective_routes: tuple[NodeRoutes, ...] | Unknown | NotGathered = _NOT_GATHERED
    optics: tuple[NodeOptics | UnreadNode, ...] | Unknown | NotGathered | NotAsked = _NOT_GATHERED
    kernel_drops: tuple[KernelDrops | UnreadNode, ...] | Unknown | NotGathered | NotAsked = _NOT_GATHERED
    named_networks: tuple[str, ...] = ()
    """The private networks that the operator specified; they need no Clusterware."""
    thresholds: Thresholds = Thresholds()
    recent_load: tuple[RecentLoad, ...] = ()
    """What racwire's own measurements sent shortly before the run, or during it, as their kept results tell."""

    def __post_init__(self) -> None:
        """Replace every NotGathered by the single NotGathered."""
        for group in (*FACT_GROUPS, "changing"):
            if isinstance(getattr(self, group), NotGathered):
                msgspec.structs.force_setattr(self, group, _NOT_GATHERED)

    @property
    def block_size_bytes(self) -> int | None:
        """db_block_size of the connected database; None where it is not known."""
        size = self.database.block_size_bytes if isinstance(self.database, Database) else None
        return size if size is not None and size > 0 else None  # a damaged file can have any number

    def is_gathered(self, group: str) -> bool:
        """Return whether that group of facts was gathered, with any result."""
        return not isinstance(getattr(self, group), NotGathered)

    def gathered_groups(self) -> tuple[str, ...]:
        """Return the groups that a check can need and that were gathered."""
        return tuple(group for group in FACT_GROUPS if self.is_gathered(group))

    def read_nodes(self) -> tuple[Node, ...]:
        """Return the nodes that could be read."""
        return tuple(n for n in self.all_nodes() if isinstance(n, Node))

    def all_nodes(self) -> tuple[Node | UnreadNode, ...]:
        """Return the nodes of the cluster, those too that could not be read; none where they are not known."""
        return () if isinstance(self.nodes, Unknown) else self.nodes

    def read_networks(self) -> tuple[PrivateNetwork, ...]:
        """Return the private networks; none where they are not known."""
        return () if isinstance(self.networks, Unknown) else self.networks

    def unread_nodes(self) -> tuple[UnreadNode, ...]:
        """Return the nodes that could not be read."""
        return tuple(n for n in self.all_nodes() if isinstance(n, UnreadNode))

    def node(self, name: str) -> Node | None:
        """Return the node with that name, or None where it could not be read."""
        return next((n for n in self.read_nodes() if n.name == name), None)

    def network(self, name: str) -> PrivateNetwork | None:
        """Return the private network with that name, or None where it is not known."""
        return next((n for n in self.read_networks() if n.name == name), None)

    def read_paths(self) -> tuple[PathProbe, ...]:
        """Return the paths that were probed with pings; none where that is not known."""
        return () if isinstance(self.paths, Unknown) else self.paths

    def read_setups(self) -> tuple[NodeSetup, ...]:
        """Return the setups that could be read."""
        return () if isinstance(self.setups, Unknown) else tuple(s for s in self.setups if isinstance(s, NodeSetup))

    def setup(self, node: str) -> NodeSetup | None:
        """Return the setup of that node, or None where it could not be read."""
        return next((s for s in self.read_setups() if s.name == node), None)

    def interface(self, port: Port) -> Interface | None:
        """Return the interface of a port, or None where its node could not be read."""
        node = self.node(port.node)
        return node.interface(port.interface) if node else None
