"""Judge a path from three sizes of DF ping and the known facts about both ends.

Sans-I/O. The rules, in their order, are the failure taxonomy of DF ping: this node's own kernel refuses a packet, a
router rejects it, it vanishes silently, it is lost by chance, the node is absent, or the node is alive and does not
answer pings. Only the third is a black hole, and no other case may be taken for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from checks.model.facts import PingSeries, Verdict
from checks.model.packet_sizes import packet_of
from checks.sources.probes.path import Path

LEAST_FOR_BLACK_HOLE = 10
"""Full-size packets that must be lost, without one answer, for the verdict black hole."""

CHANCE = 1e-4
"""The verdict is black hole where the loss rate of small packets would lose all full-size ones less often than this."""

USUAL_TTLS = (64, 128, 255)
"""Initial TTLs: of Linux and most other systems, of Windows, of some routers and switches."""


class NeighbourSign(StrEnum):
    """The state of the other address in the sender's neighbour table (ARP, neighbour discovery)."""

    CONFIRMED = "confirmed"
    """It answered during this run."""
    SILENT = "silent"
    """It does not answer: `failed` or `incomplete`."""
    UNKNOWN = "unknown"
    """An older entry, none, or not read."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Facts about both ends other than pings; None where a fact is not known."""

    source_link_up: bool | None = None
    peer_link_up: bool | None = None
    """Read on the peer itself in this run: a value also means that the peer is alive."""
    neighbour: NeighbourSign = NeighbourSign.UNKNOWN
    neighbour_mac: str = ""
    neighbour_is_new: bool | None = None
    """The MAC address that the sender has for the other address; empty where not read."""
    source_mtu: int | None = None
    """The sending interface's MTU."""
    peer_mtu: int | None = None
    """The receiving interface's MTU."""
    route_mtu: int | None = None
    """The MTU that a route to the peer sets."""
    reverse_passes: bool = False
    """Whether pings in the opposite direction are answered: then packets pass in both directions."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, and its reason; some verdicts need no reason."""

    verdict: Verdict
    reason: str = ""


def judge(path: Path, small: PingSeries, full: PingSeries | None, ends: Ends) -> Judgement:
    """The verdict on a path. `full` is None where no full-size packet was sent, as no small one was answered."""
    if small.received == 0 and (full is None or full.received == 0):
        return _nothing_answered(path, small, ends)
    if full is None or not full.sent:
        return Judgement(Verdict.UNKNOWN, "no full-size packet could be sent")
    if small.received == 0:
        return Judgement(
            Verdict.FILTERED if full.received == full.sent else Verdict.LOSS,
            f"full-size pings were answered ({full.received} of {full.sent}), but small pings were not: what "
            f"drops them, on the path or on {path.destination.node}, selects by size",
        )
    if full.received == 0:
        return _full_size_never_answered(path, small, full, ends)
    if small.received < small.sent or full.received < full.sent:
        return Judgement(Verdict.LOSS)
    return Judgement(Verdict.PASSES)


def _nothing_answered(path: Path, small: PingSeries, ends: Ends) -> Judgement:
    there, here = path.destination, path.source
    if ends.source_link_up is False:
        return Judgement(Verdict.UNREACHABLE, f"the link of {here.interface} on {here.node} is down")
    if ends.peer_link_up is False:
        return Judgement(Verdict.UNREACHABLE, f"the link of {there.interface} on {there.node} is down")
    if not small.sent:
        why = small.errors[0] if small.errors else "no packet could be sent"
        return Judgement(Verdict.UNKNOWN, f"{here.node} could not ping: {why}")
    if small.refused_locally:
        return Judgement(
            Verdict.LOCAL_MTU, f"the kernel of {here.node} refuses even small packets (MTU {small.local_mtu})"
        )
    if small.unreachable_from == there.ip:
        return Judgement(Verdict.FILTERED, f"{there.node} itself answers that it does not accept pings")
    alive = ends.reverse_passes or ends.peer_link_up or ends.neighbour is NeighbourSign.CONFIRMED
    if path.subnet_is_shared and alive and ends.neighbour is not NeighbourSign.SILENT:
        return Judgement(
            Verdict.UNKNOWN,
            f"two private networks share {path.network.subnet}, so the answers of {there.node} may return over the "
            "other interface: configure a different subnet for each network",
        )
    if ends.reverse_passes:
        return Judgement(
            Verdict.FILTERED, f"{there.node} pings {here.node} over this network, but does not answer pings itself"
        )
    if ends.neighbour is NeighbourSign.CONFIRMED:
        return Judgement(
            Verdict.FILTERED, f"{there.ip} answers ARP or neighbour discovery, but no ping from {here.node}"
        )
    if small.unreachable_from == here.ip or ends.neighbour is NeighbourSign.SILENT:
        return Judgement(Verdict.UNREACHABLE, f"no host answers ARP or neighbour discovery for {there.ip}")
    if small.unreachable_from:
        return Judgement(Verdict.UNREACHABLE, f"{small.unreachable_from} reports that {there.ip} is unreachable")
    if small.errors:
        return Judgement(Verdict.UNKNOWN, f"{here.node} could not ping: {small.errors[0]}")
    if ends.peer_link_up:
        return Judgement(
            Verdict.FILTERED,
            f"{there.node} is alive and its {there.interface} is up, but no ping from {here.node} comes back",
        )
    return Judgement(Verdict.UNREACHABLE, f"no answer from {there.ip}, and no sign that {there.node} is alive")


def _full_size_never_answered(path: Path, small: PingSeries, full: PingSeries, ends: Ends) -> Judgement:
    if full.too_big_mtu is not None:
        return Judgement(Verdict.TOO_BIG)
    if full.refused_locally:
        return _refused_here(path, full, ends)
    if full.unreachable_from:
        return Judgement(Verdict.LOSS, f"{full.unreachable_from} answers full-size pings with an error")
    if full.errors:
        return Judgement(Verdict.UNKNOWN, f"{path.source.node} could not send full-size packets: {full.errors[0]}")
    if full.sent < LEAST_FOR_BLACK_HOLE:
        return Judgement(
            Verdict.UNKNOWN, f"only {full.sent} full-size packets were sent and lost, too few to rule out chance"
        )
    if not explains(small, full):
        return Judgement(Verdict.BLACK_HOLE)
    return Judgement(Verdict.LOSS, "small packets are lost too, often enough to explain the loss of all large ones")


def _refused_here(path: Path, full: PingSeries, ends: Ends) -> Judgement:
    mtu = full.local_mtu
    if mtu is None or ends.source_mtu is None or mtu >= ends.source_mtu:
        return Judgement(Verdict.LOCAL_MTU)
    if mtu == ends.route_mtu:
        return Judgement(Verdict.LOCAL_MTU, f"a route on {path.source.node} sets MTU {mtu}")
    return Judgement(
        Verdict.TOO_BIG,
        f"the kernel of {path.source.node} remembers path MTU {mtu}, which a router reported, but its "
        f"{path.source.interface} has MTU {ends.source_mtu}",
    )


def explains(small: PingSeries, full: PingSeries) -> bool:
    """Whether the loss of small packets would explain that no full-size packet was answered.

    The rule of succession estimates the chance to lose one packet, so it is above zero even where no small packet was
    lost. If more than half of the small packets are lost, they explain the loss of large ones.
    """
    lost = small.sent - small.received
    chance = (lost + 1) / (small.sent + 2)
    return lost * 2 > small.sent or chance**full.sent > CHANCE


def hops_from(ttl: int | None) -> int | None:
    """The number of routers that an answer passed: the difference to the next usual initial TTL."""
    if ttl is None:
        return None
    return next((usual - ttl for usual in USUAL_TTLS if ttl <= usual), None)


def note_on_one_over(path: Path, over: PingSeries) -> str:
    """A note where the kernel did not refuse a packet one byte above the network's MTU; empty where it refused."""
    if over.refused_locally or over.too_big_mtu is not None or not over.sent:
        return ""
    packet = packet_of(over.payload, path.version)
    outcome = "and it was answered" if over.received else "and it was not answered"
    return (
        f"note: {path.source.node} sent a packet of {packet} bytes, one more than the network's MTU, {outcome}: "
        f"the MTU of its {path.source.interface} is larger, or a tunnel or offload hides the limit"
    )
