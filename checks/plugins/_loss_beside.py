"""The findings of gc-blocks-lost beside the loss of the interval: claims, corrupt blocks, losses of the past."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.facts import Cluster
from checks.finding import Finding, Remedy, Status
from checks.plugins._instances import instance_name, moment, nodes_of, span, sql
from checks.plugins._loss_counts import Loss
from checks.plugins._loss_history import history_evidence, history_lines, history_of, is_recent, past_loss
from checks.plugins._loss_kinds import CLAIM_LOST, CORRUPT, LOST_BEFORE
from checks.plugins._together import alike, briefly, named, some
from checks.wording import counted


def claims_and_corrupt(cluster: Cluster, judged: Sequence[Loss]) -> Iterator[Finding]:
    """Claims that got lost and blocks that arrived changed, in the interval."""
    if losing := [loss for loss in judged if loss.claims_lost]:
        number, names = sum(loss.claims_lost for loss in losing), _names(cluster, losing)
        yield CLAIM_LOST.finding(
            Status.WARN,
            f"{named(names, 'instance')} lost {counted(number, 'claim')} of blocks in {_time(losing)}.",
            subject=f"{briefly(names, 'instance')}: {counted(number, 'claim')} lost",
            seen=_lines(cluster, "gc claim blocks lost", {loss.instance: loss.claims_lost for loss in losing}),
            expected=("0",),
            next=[
                Remedy(
                    "Look for the cause as for lost blocks: paths, counters, NICs.",
                    ("racwire check df-ping reassembly udp-receive-buffers",),
                )
            ],
            evidence=sql(cluster, "sysstat"),
            nodes=nodes_of(cluster, [loss.instance for loss in losing]),
        )
    if spoilt := [loss for loss in judged if loss.corrupt]:
        number, names = sum(loss.corrupt for loss in spoilt), _names(cluster, spoilt)
        nodes = nodes_of(cluster, [loss.instance for loss in spoilt])
        yield CORRUPT.finding(
            Status.FAIL,
            f"{counted(number, 'block')} arrived corrupt at {named(names, 'instance')} in {_time(spoilt)}.",
            subject=f"{briefly(names, 'instance')}: {number:,} corrupt",
            seen=_lines(cluster, "gc blocks corrupt", {loss.instance: loss.corrupt for loss in spoilt}),
            expected=("0",),
            next=[
                Remedy(
                    "Look at the CRC errors and the checksum offloading of the private NICs.",
                    ("ethtool -S ETH", "ethtool -k ETH"),
                    f"root on {named(nodes, 'node') or 'its node'}",
                )
            ],
            evidence=sql(cluster, "sysstat"),
            nodes=nodes,
        )


def lost_before(cluster: Cluster, judged: Sequence[Loss]) -> Iterator[Finding]:
    """Losses in the range of the history, of instances that lose nothing now."""
    history = history_of(cluster)
    now_fine = {loss.instance: loss for loss in judged if not loss.lost}
    losses = [past_loss(cluster, n) for n in now_fine] if history else []
    known = [past for past in losses if past]
    for same in alike(known, lambda past: history is not None and is_recent(history, past)):
        names = [instance_name(cluster, past.instance) for past in same]
        number = sum(past.lost for past in same)
        first, last = moment(min(p.first_begin for p in same)), moment(max(p.last_end for p in same))
        when = f"at {last}" if first == last else f"between {first} and {last}"
        interval = span(max(now_fine[past.instance].seconds for past in same))
        yield LOST_BEFORE.finding(
            Status.WARN if history is not None and is_recent(history, same[0]) else Status.INFO,
            f"{named(names, 'instance')} lost {counted(number, 'block')} {when}, and none in the last {interval}.",
            subject=f"{briefly(names, 'instance')}: {number:,} in the past",
            seen=history_lines(cluster, [past.instance for past in same]),
            expected=("0 lost",),
            next=[Remedy("Find out what began or changed when the loss did: load, cabling, switch, kernel, release.")],
            evidence=history_evidence(cluster),
            nodes=nodes_of(cluster, [past.instance for past in same]),
        )


def _names(cluster: Cluster, losses: Sequence[Loss]) -> list[str]:
    return [instance_name(cluster, loss.instance) for loss in losses]


def _time(losses: Sequence[Loss]) -> str:
    return span(max(loss.seconds for loss in losses))


def _lines(cluster: Cluster, statistic: str, numbers: dict[int, int]) -> tuple[str, ...]:
    worst = sorted(numbers, key=lambda n: (-numbers[n], n))
    return some([f"{instance_name(cluster, n)}: {statistic}: {numbers[n]:,}" for n in worst])
