"""What is known of the cluster and the target while a plan is made: what every step is written from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from checks.change.change_plan import ChangeKind, Layer, PlannedDatabase, PlannedNetwork
from checks.model.facts import FragileMtu, LldpNeighbour
from checks.model.wording import listed

SAFE_ORDER = "MOS 283684.1 and 2103317.1"
"""The note that has Clusterware stopped on all nodes for a change of the private network."""


@dataclass(frozen=True)
class Fragile:
    """A line beside the keepers that sets an MTU, and what it would have to set."""

    node: str
    line: FragileMtu
    wanted: int


@dataclass(frozen=True)
class Draft:
    """A plan before its steps are there."""

    id: str
    kind: ChangeKind
    nodes: tuple[str, ...]
    first: str
    """The node that Clusterware is started on first, and that racwire's own commands are for: this one."""
    made_by: str
    networks: tuple[PlannedNetwork, ...]
    layers: tuple[Layer, ...]
    grid_homes: dict[str, str]
    databases: tuple[PlannedDatabase, ...] = ()
    grid_owner: str = ""
    neighbours: tuple[tuple[str, LldpNeighbour], ...] = ()
    switches: tuple[str, ...] = ()
    fragile: tuple[Fragile, ...] = ()
    inheriting: tuple[Layer, ...] = ()
    """What is not private, stands on a raised layer, and would take its MTU at the next boot."""
    not_starting: frozenset[str] = frozenset()
    """The nodes on which Clusterware did not start at boot before: it is left so."""
    has_database: bool = False
    """Whether a database is asked: gates that need one are there only then."""
    has_pack: bool = False
    """Whether the operator says that they have the Diagnostics Pack, so that AWR may be read."""
    excused: frozenset[str] = frozenset()
    """Checks with a finding that was accepted: they cannot be a gate before the change."""
    record_s: int = 600
    baseline_file: str = ""
    after_file: str = ""
    options: tuple[str, ...] = ()
    """Options by which another racwire looks at the same cluster and database."""

    @property
    def before(self) -> int:
        """The smallest MTU of the private networks before."""
        return min(network.mtu_before for network in self.networks)

    @property
    def after(self) -> int:
        """Their MTU afterwards."""
        return min(network.mtu_after for network in self.networks)

    @property
    def others(self) -> tuple[str, ...]:
        """The nodes that Clusterware is started on after the first."""
        return tuple(node for node in self.nodes if node != self.first)

    @property
    def starting(self) -> tuple[str, ...]:
        """The nodes on which Clusterware is to start at boot again."""
        return tuple(node for node in self.nodes if node not in self.not_starting)

    def layers_of(self, node: str) -> tuple[Layer, ...]:
        """A node's layers, from the bottom to the top."""
        return tuple(layer for layer in self.layers if layer.node == node)

    def home(self, node: str) -> str:
        """Its Grid home; where it was not read, that of this node."""
        return self.grid_homes.get(node) or self.grid_homes.get(self.first) or "$GRID_HOME"


def briefly(names: Iterable[str]) -> str:
    """Nodes in a sentence: all by name while they are few."""
    known = tuple(names)
    return listed(known) if len(known) <= 4 else f"{known[0]}, {known[1]}, ... {known[-1]} ({len(known)} nodes)"
