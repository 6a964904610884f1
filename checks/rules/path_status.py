"""How grave a path's state is: by its verdict, by the share of packets lost on its network, by a router in the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.facts import PathProbe, Thresholds, Verdict
from checks.model.finding import Status
from checks.model.packet_sizes import SMALL_PAYLOAD

_STATUSES = {Verdict.PASSES: Status.PASS, Verdict.FILTERED: Status.UNKNOWN, Verdict.UNKNOWN: Status.UNKNOWN}
"""Of a single verdict; every other one is a failure, loss from a threshold on."""


@dataclass(frozen=True)
class PacketLoss:
    """What gets lost on the paths of a network that lose packets."""

    paths: tuple[PathProbe, ...]
    """Those that keep losing packets, and those that lost some once: where packets keep getting lost, that belongs to
    the same loss."""
    sent: int
    lost: int
    sizes: str
    """Which packets get lost: `small pings`, `full-size pings`, `pings of any size`."""
    percent: float
    """Of a hundred packets of the sizes that get lost."""


def packet_loss(paths: Iterable[PathProbe]) -> PacketLoss | None:
    """Loss on the paths of one network; None where none keeps losing packets."""
    known = list(paths)
    lossy = [p for p in known if p.verdict is Verdict.LOSS]
    if not lossy:
        return None
    lossy += lost_once(known)
    series = [s for p in lossy for s in p.series if not s.refused_locally]
    sent, lost = sum(s.sent for s in series), sum(s.sent - s.received for s in series)
    payloads = {s.payload for s in series if s.received < s.sent}
    any_size = SMALL_PAYLOAD in payloads and len(payloads) > 1
    of_them = sent if any_size else sum(s.sent for s in series if s.payload in payloads)
    sizes = "pings of any size" if any_size else "small pings" if SMALL_PAYLOAD in payloads else "full-size pings"
    return PacketLoss(tuple(lossy), sent, lost, sizes, 100 * lost / of_them if of_them > 0 else 0.0)


def lost_once(paths: Iterable[PathProbe]) -> list[PathProbe]:
    """The paths that lost packets while all were probed at once, and none when probed alone."""
    return [p for p in paths if p.verdict is Verdict.PASSES and p.reason]


def loss_status(percent: float, limits: Thresholds) -> Status:
    """Status of packets that keep getting lost on a network."""
    return Status.FAIL if percent >= limits.loss_fail_percent else Status.WARN


def over_a_router(paths: Iterable[PathProbe]) -> list[PathProbe]:
    """The paths on which a router is news: not those between nodes of which one way is refused by a router anyhow."""
    known = list(paths)
    told = {frozenset((p.from_node, p.to_node)) for p in known if p.verdict is Verdict.TOO_BIG}
    return [p for p in known if p.hops and frozenset((p.from_node, p.to_node)) not in told]


def path_statuses(paths: Sequence[PathProbe], limits: Thresholds) -> list[Status]:
    """Status of each path of one network, in their order."""
    loss = packet_loss(paths)
    of_loss = loss_status(loss.percent, limits) if loss else Status.PASS
    once, routed = lost_once(paths), over_a_router(paths)

    def status(path: PathProbe) -> Status:
        if path in routed:
            return Status.FAIL
        if path in once:
            return Status.INFO
        return of_loss if path.verdict is Verdict.LOSS else _STATUSES.get(path.verdict, Status.FAIL)

    return [status(path) for path in paths]
