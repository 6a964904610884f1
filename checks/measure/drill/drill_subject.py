"""What a drill is about: links that people pull, or a node that they stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.measure.measure_error import MeasureError
from checks.model.facts import Cluster, Node
from checks.model.networks import layers_of, nics_of, private_layers, private_nics_of
from checks.model.wording import listed

PLANNED, REBOOT, HALT = "planned", "reboot", "halt"
_TO_DO = {
    PLANNED: "Stop Clusterware on {} now (crsctl stop crs)",
    REBOOT: "Reboot {} now",
    HALT: "Halt {} now",
}
_TO_UNDO = "Start {} again."


@dataclass(frozen=True, slots=True)
class DrillSubject:
    """The links, as pairs of node and interface, or the node with the class of its transition."""

    links: tuple[tuple[str, str], ...] = ()
    """Empty in a drill of links where people may pull any of them."""
    node: str = ""
    transition: str = ""

    @property
    def is_link(self) -> bool:
        """Whether the drill is about links."""
        return not self.node

    @property
    def name(self) -> str:
        """Such as `link eth2 of rac2`, `node rac2`."""
        if self.node:
            return f"node {self.node}"
        return f"link {self._links}" if self.links else "any private link"

    @property
    def to_do(self) -> str:
        """What people do now, without a full stop."""
        if self.node:
            return _TO_DO[self.transition].format(self.node)
        return f"Pull {self._links or 'a private link'} now"

    @property
    def to_undo(self) -> str:
        """What people do afterwards, as a sentence."""
        if self.node:
            return _TO_UNDO.format(self.node)
        return f"Plug {self._links or 'the link'} in."

    @property
    def _links(self) -> str:
        return listed(f"{interface} of {node}" for node, interface in self.links)


def link_subject(words: Sequence[str]) -> DrillSubject:
    """Return the subject of `eth2 of rac2 eth1 of rac3`. Raises MeasureError."""
    if len(words) % 3 or any(word != "of" for word in words[1::3]):
        raise MeasureError("Name a link as INTERFACE of NODE, such as: racwire drill link eth2 of rac2.")
    links = tuple(zip(words[2::3], words[0::3], strict=True))
    if len(set(links)) != len(links):
        raise MeasureError("A link is named twice.")
    return DrillSubject(links)


def demand_known(subject: DrillSubject, cluster: Cluster) -> None:
    """Raise MeasureError where the subject is no private link, or no node of this cluster."""
    names = [node.name for node in cluster.read_nodes()]
    for node in (subject.node, *(node for node, _ in subject.links)):
        if node and node not in names:
            raise MeasureError(f"There is no node {node}; there are {listed(names)}.")
    if subject.node and subject.node == cluster.local_node:
        raise MeasureError(
            f"racwire runs on {subject.node} itself: start the drill on another node, which goes on to run."
        )
    private = private_layers(cluster.read_networks(), cluster.read_nodes())
    for node, interface in subject.links:
        known = private.get(node, ())
        if interface not in known:
            raise MeasureError(
                f"{interface} of {node} carries no private network, and racwire sends on no other; "
                f"private are {listed(known) or 'none'}."
            )


def left_without(subject: DrillSubject, cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Yield each node that would have no private path left, with its links that go: a drill must not cut it off.

    Where people may pull any link, the node must have another one.
    """
    for node in cluster.read_nodes():
        nics = private_nics_of(cluster, node.name)
        pulled = tuple(interface for name, interface in subject.links if name == node.name)
        if subject.is_link and not subject.links:
            yield from ((node.name, nic) for nic in nics if not _has_path(cluster, node, {nic}))
        elif pulled and not _has_path(cluster, node, set(pulled)):
            yield node.name, listed(pulled)


def _has_path(cluster: Cluster, node: Node, pulled: set[str]) -> bool:
    """Whether a node still has a private port with a link, without these interfaces."""
    ports = [port for network in cluster.read_networks() for port in network.ports if port.node == node.name]
    up = {interface.name for interface in node.interfaces if interface.is_up}
    for port in ports:
        nics = set(nics_of(cluster, port))
        between = _layers(node, port.interface) - nics
        if port.interface in up and not between & pulled and nics & up - pulled:
            return True
    return False


def _layers(node: Node, interface: str) -> set[str]:
    """The layers of an interface, itself included."""
    top = node.interface(interface)
    return {interface} | ({layer.name for layer in layers_of(node, top)} if top is not None else set())
