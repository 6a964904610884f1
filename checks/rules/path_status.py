"""Rules for paths: the status by the verdict, by the share of lost packets, and by routers on the path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.facts import HaipPath, PathProbe, Thresholds, Verdict
from checks.model.finding import Status
from checks.model.packet_sizes import SMALL_PAYLOAD

_STATUSES = {Verdict.PASSES: Status.PASS, Verdict.FILTERED: Status.UNKNOWN, Verdict.UNKNOWN: Status.UNKNOWN}
"""Statuses by verdict; every other verdict is a failure, loss only from a threshold on."""


@dataclass(frozen=True)
class PacketLoss:
    """The lost packets on the paths of one network."""

    paths: tuple[PathProbe, ...]
    """Paths that lose packets repeatedly, then paths that lost packets once, which belong to the same loss."""
    sent: int
    lost: int
    sizes: str
    """The lost packets: `small pings`, `full-size pings`, `pings of any size`."""
    percent: float
    """Lost packets in percent of the packets of those sizes."""


def packet_loss(paths: Iterable[PathProbe]) -> PacketLoss | None:
    """Return the loss on the paths of one network; None where no path loses packets repeatedly."""
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
    """Return the paths that lost packets while all were probed at once, and none when probed alone."""
    return [p for p in paths if p.verdict is Verdict.PASSES and p.reason]


def loss_status(percent: float, limits: Thresholds) -> Status:
    """Return the status of repeated packet loss on a network."""
    return Status.FAIL if percent >= limits.loss_fail_percent else Status.WARN


_FEWEST_UNANSWERED = 3
"""Full-size pings between HAIP addresses without any answer for a failure: one or two are lost by chance where many
nodes ping. Ours."""
_FEWEST_SENT = 4
"""Pings of both sizes for a warning, of which this share is lost. Ours."""
_SHARE_LOST = 0.25


def haip_path_status(path: HaipPath) -> Status:
    """Return the status of a path between HAIP addresses: a failure where no full-size ping passed, a warning where a
    good share was lost, UNKNOWN where too few were sent to tell. A size that the sender's own kernel refused needs no
    second ping."""
    sent = path.full_sent + path.small_sent
    lost = sent - path.full_answered - path.small_answered
    if path.full_refused and not path.full_answered:
        return Status.FAIL
    if not path.full_sent:
        return Status.UNKNOWN
    if not path.full_answered:
        return Status.FAIL if path.full_sent >= _FEWEST_UNANSWERED else Status.UNKNOWN
    if not lost:
        return Status.PASS
    return Status.WARN if sent >= _FEWEST_SENT and lost >= _SHARE_LOST * sent else Status.UNKNOWN


def over_a_router(paths: Iterable[PathProbe]) -> list[PathProbe]:
    """Return the paths over a router, without those between nodes where a router already refuses packets."""
    known = list(paths)
    refused = {frozenset((p.from_node, p.to_node)) for p in known if p.verdict is Verdict.TOO_BIG}
    return [p for p in known if p.hops and frozenset((p.from_node, p.to_node)) not in refused]


def path_statuses(paths: Sequence[PathProbe], limits: Thresholds) -> list[Status]:
    """Return the status of each path of one network, in the same order."""
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
