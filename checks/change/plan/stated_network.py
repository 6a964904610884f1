"""What is between the nodes: the kinds of switch and hypervisor that the operator states, or that the facts show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from checks.change.plan import codes
from checks.change.plan.cloud_limits import CLOUDS
from checks.change.plan.obstacles import Obstacle, obstacle
from checks.model.facts import Cluster, HostSetup, NodeSetup
from checks.model.finding import NextStep
from checks.model.vendors import PRACTICE, Kinds
from checks.model.wording import listed, nearest
from checks.rules.engineered import PLATFORM

NONE = "none"
"""What the operator states instead of a hypervisor: no virtual switch carries the private networks."""


@dataclass(frozen=True)
class StatedNetwork:
    """What the operator states about the network outside the nodes."""

    kinds: Kinds = field(default_factory=lambda: Kinds({}, {}))
    """All kinds that can be stated."""
    switches: tuple[str, ...] = ()
    pair: Literal["", "yes", "no"] = ""
    """Whether bonds end in a pair of switches that compares the MTU of its ports; empty if not stated."""
    hypervisors: tuple[str, ...] = ()
    """The kinds of hypervisor; `none` if the private networks use no virtual switch."""
    hosts: tuple[str, ...] = ()
    """The names of all hosts that the nodes may run on."""

    def with_switches(self, switches: Iterable[str]) -> StatedNetwork:
        """Return the statement with these kinds of switch, each once. A kind of hypervisor among them is one of those:
        racwire 0.1.0 listed VMware as a switch. Not where the operator states that there is none."""
        keys = tuple(dict.fromkeys(switches))
        hosts = tuple(k for k in keys if k in self.kinds.hypervisors and k not in self.kinds.switches)
        added = () if NONE in self.hypervisors else hosts
        return replace(
            self,
            switches=tuple(key for key in keys if key not in hosts),
            hypervisors=tuple(dict.fromkeys((*self.hypervisors, *added))),
        )

    def problems(self) -> Iterator[Obstacle]:
        """Yield an obstacle for each statement that is not possible: a kind that racwire does not know, a host without
        a name, and a host or another kind with the hypervisor `none`."""
        stated = self.with_switches(self.switches)
        for what, words, known in (
            ("switch", stated.switches, tuple(self.kinds.switches)),
            ("hypervisor", stated.hypervisors, (*self.kinds.hypervisors, NONE)),
        ):
            if wrong := [key for key in words if key not in known]:
                meant = nearest(wrong[0], known)
                yield obstacle(
                    codes.KIND_OF_SWITCH,
                    f"racwire does not know the kind of {what} {listed(wrong)}.",
                    f"Did you mean {meant}?" if meant else f"Choose from {listed(known)}.",
                    NextStep(
                        f"List the kinds. Without --{what}, the plan has questions for "
                        f"{'the network team' if what == 'switch' else 'the operators of the hypervisor'}.",
                        ("racwire explain switches",),
                    ),
                    "Add a kind of your own: the setting switch_kinds of [change] names its file.",
                    title=f"A kind of {what} is not known",
                )
        if NONE in stated.hypervisors and (stated.hosts or len(stated.hypervisors) > 1):
            yield obstacle(
                codes.KIND_OF_SWITCH,
                f"The hypervisor {NONE} has no host and no other kind.",
                "State either none, or the kinds and their hosts.",
                title="A hypervisor and none",
            )
        if not all(host.strip() for host in stated.hosts):
            yield obstacle(
                codes.KIND_OF_SWITCH,
                "A stated host has no name.",
                "State the names of the hosts.",
                title="A host without a name",
            )


def guests_of(cluster: Cluster, stated: StatedNetwork, switches: Iterable[str]) -> dict[str, str]:
    """Return the nodes that are guests of a hypervisor, with its kind; an empty kind where it is not known.

    Without a statement of the operator, a node is a guest where manufacturer and product (DMI) are those of a
    hypervisor, or where its CPU reports one. A machine of a cloud is none: its network is not the operator's. Nor is a
    node of an engineered system, or of the practice cluster. `switches` are the kinds of switch, stated or by LLDP.
    """
    if NONE in stated.hypervisors or PRACTICE in switches:
        return {}
    setups = {setup.name: setup for setup in cluster.read_setups()}
    shown = {name: kind for name, setup in setups.items() if (kind := _kind(setup, stated.kinds)) is not None}
    if not stated.hypervisors:
        return shown
    nodes = shown or dict.fromkeys(node.name for node in cluster.read_nodes())
    only = stated.hypervisors[0] if len(stated.hypervisors) == 1 else ""
    return {node: only or _of(stated.hypervisors, shown, node) for node in nodes}


def maybe_guests(cluster: Cluster, stated: StatedNetwork, switches: Iterable[str]) -> tuple[str, ...]:
    """Return the nodes of which neither CPU nor DMI shows whether they are guests, where the operator does not say."""
    if stated.hypervisors or PRACTICE in switches:
        return ()
    return tuple(setup.name for setup in cluster.read_setups() if not _is_shown(setup))


def _is_shown(setup: NodeSetup) -> bool:
    host = setup.host
    return bool(setup.platform) or (isinstance(host, HostSetup) and (host.is_virtual is not None or bool(host.product)))


def _of(hypervisors: tuple[str, ...], shown: Mapping[str, str], node: str) -> str:
    """The kind of one node, where several are stated: the one that its DMI shows, if it is stated."""
    return kind if (kind := shown.get(node, "")) in hypervisors else ""


def _kind(setup: NodeSetup, kinds: Kinds) -> str | None:
    """The kind of the hypervisor below a node; empty where it is not known, None for a node that is no guest."""
    if setup.platform in CLOUDS or setup.platform == PLATFORM or not isinstance(setup.host, HostSetup):
        return None
    if kind := kinds.of_product(setup.host.product):
        return kind
    return "" if setup.host.is_virtual else None
