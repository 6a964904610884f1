"""The findings of gc-blocks-lost beside the loss of the interval: claims, corrupt blocks, losses of the past."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.facts import Cluster
from checks.finding import Finding, Remedy, Status
from checks.plugins._instances import instance_name, moment, nodes_of, span, sql
from checks.plugins._loss_counts import Loss
from checks.plugins._loss_history import history_evidence, history_lines, history_of, is_recent, past_loss
from checks.plugins._loss_kinds import CLAIM_LOST, CORRUPT, LOST_BEFORE
from checks.wording import counted, listed


def claims_and_corrupt(cluster: Cluster, judged: Sequence[Loss]) -> Iterator[Finding]:
    """Claims that got lost and blocks that arrived changed, in the interval."""
    for loss in judged:
        name, time = instance_name(cluster, loss.instance), span(loss.seconds)
        nodes = nodes_of(cluster, [loss.instance])
        if loss.claims_lost:
            yield CLAIM_LOST.finding(
                Status.WARN,
                f"{name} lost {counted(loss.claims_lost, 'claim')} of blocks in {time}.",
                subject=f"{name}: {counted(loss.claims_lost, 'claim')} lost",
                seen=(f"gc claim blocks lost: {loss.claims_lost:,}",),
                expected=("0",),
                next=[Remedy("Look for the cause as for lost blocks: paths, counters, NICs.")],
                evidence=sql(cluster, "sysstat"),
                nodes=nodes,
            )
        if loss.corrupt:
            yield CORRUPT.finding(
                Status.FAIL,
                f"{counted(loss.corrupt, 'block')} arrived corrupt at {name} in {time}.",
                subject=f"{name}: {loss.corrupt:,} corrupt",
                seen=(f"gc blocks corrupt: {loss.corrupt:,}",),
                expected=("0",),
                next=[
                    Remedy(
                        "Look at the CRC errors and the checksum offloading of the private NICs.",
                        ("ethtool -S ETH", "ethtool -k ETH"),
                        f"root on {listed(nodes) or 'its node'}",
                    )
                ],
                evidence=sql(cluster, "sysstat"),
                nodes=nodes,
            )


def lost_before(cluster: Cluster, judged: Sequence[Loss]) -> Iterator[Finding]:
    """Losses in the range of the history, of instances that lose nothing now."""
    history = history_of(cluster)
    now_fine = {loss.instance: loss for loss in judged if not loss.lost}
    for past in history.losses if history else ():
        loss = now_fine.get(past.instance)
        if history is None or loss is None or past_loss(cluster, past.instance) is not past:
            continue
        name = instance_name(cluster, past.instance)
        first, last = moment(past.first_begin), moment(past.last_end)
        when = f"at {last}" if first == last else f"between {first} and {last}"
        yield LOST_BEFORE.finding(
            Status.WARN if is_recent(history, past) else Status.INFO,
            f"{name} lost {counted(past.lost, 'block')} {when}, and none in the last {span(loss.seconds)}.",
            subject=f"{name}: {past.lost:,} in the past",
            seen=history_lines(cluster, past.instance),
            expected=("0 lost",),
            next=[Remedy("Find out what began or changed when the loss did: load, cabling, switch, kernel, release.")],
            evidence=history_evidence(cluster),
            nodes=nodes_of(cluster, [past.instance]),
        )
