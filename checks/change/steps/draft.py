"""The facts of the cluster and the target that a plan's steps are built from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from checks.change.plan.change_plan import ChangeKind, Layer, PlannedDatabase, PlannedNetwork, PlannedUse, PlannedValue
from checks.change.plan.switch_order import SwitchOrder
from checks.model.facts import FragileMtu, LldpNeighbour
from checks.model.vendors import Kinds
from checks.model.wording import listed

SAFE_ORDER = "MOS 283684.1 and 2103317.1"
"""The notes that require Clusterware to be stopped on all nodes for a change of the private network."""
CONFIRMED = "who confirmed it, and when"
"""What the note on a statement about a device must name that racwire cannot read."""


@dataclass(frozen=True)
class Fragile:
    """A line of a script or rule that sets an MTU in addition to the network service, and the MTU it should set."""

    node: str
    line: FragileMtu
    wanted: int


@dataclass(frozen=True)
class Draft:
    """A plan without its steps."""

    id: str
    kind: ChangeKind
    nodes: tuple[str, ...]
    first: str
    """The node where Clusterware is started first and where racwire's own commands run: the local node."""
    made_by: str
    networks: tuple[PlannedNetwork, ...]
    layers: tuple[Layer, ...]
    grid_homes: dict[str, str]
    node: str = ""
    """The one node that the plan stops and changes; empty where it stops and changes all."""
    values: tuple[PlannedValue, ...] = ()
    databases: tuple[PlannedDatabase, ...] = ()
    grid_owner: str = ""
    neighbours: tuple[tuple[str, LldpNeighbour], ...] = ()
    kinds: Kinds = field(default_factory=lambda: Kinds({}, {}))
    """The kinds of switch and hypervisor that racwire and the site know."""
    switches: tuple[str, ...] = ()
    aggregated: frozenset[tuple[str, str]] = frozenset()
    """The NICs whose switch ports are members of a port-channel, each with its node."""
    switch_order: SwitchOrder = field(default_factory=SwitchOrder)
    guests: dict[str, str] = field(default_factory=dict)
    """The nodes that are guests, with their kind of hypervisor; empty where the kind is not known."""
    maybe_guests: tuple[str, ...] = ()
    """The nodes of which it is not known whether they are guests."""
    hosts: tuple[str, ...] = ()
    """The hosts that the guests may run on, as stated."""
    hypervisor_order: SwitchOrder = field(default_factory=SwitchOrder)
    uses: tuple[PlannedUse, ...] = ()
    """Storage and copying on the changed interfaces."""
    fragile: tuple[Fragile, ...] = ()
    inheriting: tuple[Layer, ...] = ()
    """Interfaces that are not private, are stacked on a raised layer, and would take its MTU at the next boot."""
    not_starting: frozenset[str] = frozenset()
    """The nodes where Clusterware did not start at boot before the change: the plan does not enable it there."""
    down: frozenset[str] = frozenset()
    """The nodes where the last verification found Clusterware and all instances down: nothing to stop there."""
    has_database: bool = False
    """Whether a database is queried: the plan has gates that need a database only then."""
    has_haip: bool = False
    """Whether private NICs of several nodes had HAIP addresses when the change was opened."""
    has_pack: bool = False
    """Whether the operator stated a licence of the Diagnostics Pack, so that AWR may be read."""
    excused: frozenset[str] = frozenset()
    """Checks with an accepted finding: they cannot be gates before the change."""
    record_s: int = 600
    baseline_file: str = ""
    after_file: str = ""
    options: str = ""
    """The options, as they are typed, that make another racwire process check the same cluster and database."""

    @property
    def before(self) -> int:
        """The smallest MTU of the private networks before the plan, in bytes."""
        return min(network.mtu_before for network in self.networks)

    @property
    def after(self) -> int:
        """The smallest MTU of the private networks after the plan, in bytes."""
        return min(network.mtu_after for network in self.networks)

    @property
    def largest(self) -> int:
        """The largest MTU of the private networks after the plan, in bytes."""
        return max(network.mtu_after for network in self.networks)

    @property
    def others(self) -> tuple[str, ...]:
        """The nodes where Clusterware is started after the first node."""
        return tuple(node for node in self.nodes if node != self.first)

    @property
    def starting(self) -> tuple[str, ...]:
        """The nodes where Clusterware is to start at boot again."""
        return tuple(node for node in self.nodes if node not in self.not_starting)

    @property
    def login(self) -> str:
        """The login that made the plan; empty if it is not known."""
        return self.made_by.partition("@")[0]

    def layers_of(self, node: str) -> tuple[Layer, ...]:
        """A node's layers, from the bottom to the top."""
        return tuple(layer for layer in self.layers if layer.node == node)

    def home(self, node: str) -> str:
        """The Grid home of a node; if it was not read, the Grid home of the first node."""
        return self.grid_homes.get(node) or self.grid_homes.get(self.first) or "$GRID_HOME"


def briefly(names: Iterable[str]) -> str:
    """Node names for a sentence: all of up to four nodes, else the first two, the last and the number of nodes."""
    known = tuple(names)
    return listed(known) if len(known) <= 4 else f"{known[0]}, {known[1]}, ... {known[-1]} ({len(known)} nodes)"
