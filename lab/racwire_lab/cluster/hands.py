"""What people do at the practice switch by hand: exchange cables, move a cable to another port, disable a link.

A fault stays where it is: a bad cable goes with the cable, a bad port stays behind, a bad NIC stays with its node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from racwire_lab.cluster.topology import PortId, Shape, index_of, node_named
from racwire_lab.lab_errors import LabUsageError

Act = Literal["swap-cable", "move-port", "member-down"]
ACTS: tuple[Act, ...] = ("swap-cable", "move-port", "member-down")
SPARE_PORTS = 20
"""What is added to the number of a port for the free one to which its cable is moved."""
MEMBERS = (1, 2)
"""The links of an aggregation, by number."""


@dataclass(frozen=True)
class Hand:
    """One act at the switch of a private network, which `racwire lab hand back` takes back."""

    act: Act
    network: int
    nodes: tuple[str, ...] = ()
    """The node whose cable was moved, or the two that exchanged theirs."""
    member: int = 0
    """The link of the aggregation that was disabled."""
    at: float = 0.0
    """Seconds since 1970."""

    def __str__(self) -> str:
        what = " ".join(self.nodes) or str(self.member)
        return f"{self.act} {what} --network eth{self.network}"

    @property
    def ports(self) -> tuple[PortId, ...]:
        """The ports whose link goes down for a moment."""
        return tuple(PortId(node, self.network) for node in self.nodes)


@dataclass(frozen=True)
class Cabling:
    """Which cable and which switch port each NIC has after some acts."""

    hands: tuple[Hand, ...] = ()

    def cable_of(self, port: PortId) -> PortId:
        """Return the NIC whose cable this NIC has: its own unless cables were exchanged."""
        found = port
        for hand in reversed(self.hands):
            if hand.act == "swap-cable" and hand.network == port.network and found.node in hand.nodes:
                first, second = hand.nodes
                found = PortId(second if found.node == first else first, port.network)
        return found

    def is_moved(self, port: PortId) -> bool:
        """Whether the cable of this NIC is in the free port."""
        moves = [hand for hand in self.hands if hand.act == "move-port" and hand.ports == (port,)]
        return len(moves) % 2 == 1

    def number_of(self, port: PortId) -> int:
        """Return the number of the switch port of a NIC: Ethernet1/2 for rac2."""
        return index_of(port.node) + (SPARE_PORTS if self.is_moved(port) else 0)

    def members_up(self, network: int) -> tuple[int, ...]:
        """Return the links of the aggregation of a network that are not disabled."""
        down = {hand.member for hand in self.hands if hand.act == "member-down" and hand.network == network}
        return tuple(member for member in MEMBERS if member not in down)

    def changed_at(self, port: PortId) -> float:
        """Return when the link of a NIC last went down for an act; 0 for never."""
        return max((hand.at for hand in self.hands if port in hand.ports), default=0.0)


def checked_hand(act: str, words: Sequence[str], shape: Shape, network: int, done: Iterable[Hand], at: float) -> Hand:
    """Return the act that these words name. Raises LabUsageError when it is not possible in this cluster."""
    if act not in ACTS:
        raise LabUsageError(
            f"A person can {', '.join(ACTS)} or take the last one back, not {act}: `racwire lab hand -h`."
        )
    if act == "member-down":
        member = int(words[0]) if len(words) == 1 and words[0].isdecimal() else 0
        up = Cabling(tuple(done)).members_up(network)
        if member not in up or len(up) == 1:
            raise LabUsageError(
                f"The aggregation has the links {' and '.join(map(str, MEMBERS))}, of which one must stay up: "
                "`racwire lab hand member-down 2`."
            )
        return Hand("member-down", network, member=member, at=at)
    nodes = tuple(node_named(word, shape) for word in words)
    if act == "swap-cable" and len(set(nodes)) == len(nodes) == 2:
        return Hand("swap-cable", network, nodes, at=at)
    if act == "move-port" and len(nodes) == 1:
        return Hand("move-port", network, nodes, at=at)
    example = "swap-cable rac2 rac3" if act == "swap-cable" else "move-port rac2"
    raise LabUsageError(
        f"{act} needs {'two nodes' if act == 'swap-cable' else 'one node'}: `racwire lab hand {example}`."
    )
