"""The other findings of gc-blocks-lost: lost claims, corrupt blocks, and earlier losses in the history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import Kind
from checks.model.facts import Cluster
from checks.model.finding import Finding, NextStep
from checks.model.known_instances import database_of, instance_name, nodes_of
from checks.model.wording import counted, moment, span
from checks.plugins.gc_blocks_lost.loss_groups import MAY_BE_FALSE, see_patch
from checks.plugins.gc_blocks_lost.loss_history import history_evidence, history_lines, history_of, past_loss
from checks.plugins.gc_blocks_lost.loss_kinds import CLAIM_LOST, CORRUPT, LOST_BEFORE
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.instance_text import statement_topics
from checks.plugins.shared.private_nics import on_nics
from checks.rules.lost_blocks import InstanceLoss, counts_falsely, past_loss_status
from checks.rules.observed.blocks import blocks_late
from checks.rules.observed.states import states


def claims_and_corrupt(cluster: Cluster, judged: Sequence[InstanceLoss]) -> Iterator[Finding]:
    """Yield the findings for claims that were lost and blocks that arrived corrupt in the interval."""
    if losing := [loss for loss in judged if loss.claims_lost]:
        remedy = NextStep(
            "Search for the cause as for lost blocks: paths, counters, NICs.",
            ("racwire check df-ping reassembly udp-receive-buffers",),
        )
        number = counted(sum(loss.claims_lost for loss in losing), "claim")
        title = f"{named(_names(cluster, losing), 'instance')} lost {number} of blocks in {_time(losing)}."
        claims = {loss.instance: loss.claims_lost for loss in losing}
        short, statistic = f"{number} lost", "gc claim blocks lost"
        yield _statistic_finding(cluster, CLAIM_LOST, title, short, statistic, claims, _seconds(losing), remedy)
    if spoilt := [loss for loss in judged if loss.corrupt]:
        corrupt = {loss.instance: loss.corrupt for loss in spoilt}
        nodes = nodes_of(cluster, corrupt)
        remedy = on_nics(
            cluster,
            nodes,
            "Check the CRC errors and the checksum offloading of the private NICs.",
            ("ethtool -S {nic}", "ethtool -k {nic}"),
            f"any user on {named(nodes, 'node') or 'its node'}",
        )
        number = counted(sum(corrupt.values()), "block")
        title = f"{number} arrived corrupt at {named(_names(cluster, spoilt), 'instance')} in {_time(spoilt)}."
        short = f"{sum(corrupt.values()):,} corrupt"
        statistic = "gc blocks corrupt"
        yield _statistic_finding(cluster, CORRUPT, title, short, statistic, corrupt, _seconds(spoilt), remedy)


def _statistic_finding(
    cluster: Cluster,
    kind: Kind,
    title: str,
    short: str,
    statistic: str,
    numbers: dict[int, int],
    seconds: float,
    remedy: NextStep,
) -> Finding:
    """Return the finding for a statistic that must be 0, with its value for each instance."""
    worst = sorted(numbers, key=lambda n: (-numbers[n], n))
    return kind.finding(
        title,
        subject=f"{briefly((instance_name(cluster, n) for n in numbers), 'instance')}: {short}",
        data={
            "instances": ", ".join(instance_name(cluster, n) for n in numbers),
            "statistic": statistic,
            "count": sum(numbers.values()),
            "seconds": seconds,
        },
        seen=some([f"{instance_name(cluster, n)}: {statistic}: {numbers[n]:,}" for n in worst]),
        expected=("0",),
        next=[remedy],
        evidence=statement_topics(cluster, "sysstat"),
        nodes=nodes_of(cluster, numbers),
        extent=(max(numbers.values()) / seconds, "blocks a second") if seconds > 0 else None,
        observed=blocks_late(cluster, numbers),
    )


def lost_before(cluster: Cluster, judged: Sequence[InstanceLoss]) -> Iterator[Finding]:
    """Yield the findings for losses in the range of the history, of instances that lose nothing now.

    Losses of 12.1.0.2 have a finding of their own, since that release may have counted them falsely (bug 20922010):
    where neither transfers nor waits of the same history confirm them, they are reported for information only.
    """
    history = history_of(cluster)
    if history is None:
        return
    now_fine = {loss.instance: loss for loss in judged if not loss.lost}
    known = [past for n in now_fine if (past := past_loss(cluster, n))]
    database, limits = database_of(cluster), cluster.thresholds
    doubtful = {past.instance: counts_falsely(database, past.instance) for past in known}
    statuses = {past.instance: past_loss_status(history, database, past, limits) for past in known}
    for same in alike(known, lambda past: (statuses[past.instance], doubtful[past.instance])):
        numbers = [past.instance for past in same]
        names = [instance_name(cluster, n) for n in numbers]
        number = sum(past.lost for past in same)
        first, last = moment(min(p.first_begin for p in same)), moment(max(p.last_end for p in same))
        when = f"at {last}" if first == last else f"between {first} and {last}"
        interval = span(max(now_fine[n].seconds for n in numbers))
        nodes = nodes_of(cluster, numbers)
        yield LOST_BEFORE.finding(
            f"{named(names, 'instance')} lost {counted(number, 'block')} {when}, and none in the last {interval}.",
            status=statuses[numbers[0]],
            subject=f"{briefly(names, 'instance')}: {number:,} in the past",
            data={
                "instances": ", ".join(names),
                "lost_blocks": number,
                "first_loss_at": min(p.first_begin for p in same),
                "last_loss_at": max(p.last_end for p in same),
            },
            seen=(*history_lines(cluster, numbers), *([MAY_BE_FALSE] if doubtful[numbers[0]] else [])),
            expected=("0 lost",),
            next=[
                *([see_patch(nodes)] if doubtful[numbers[0]] else []),
                NextStep(
                    "Find out what started or changed at the time of the loss: load, cabling, switch, kernel, release."
                ),
            ],
            evidence=history_evidence(cluster),
            nodes=nodes,
            observed=states(LOST_BEFORE.code, nodes) if nodes else None,
        )


def _names(cluster: Cluster, losses: Sequence[InstanceLoss]) -> list[str]:
    return [instance_name(cluster, loss.instance) for loss in losses]


def _time(losses: Sequence[InstanceLoss]) -> str:
    return span(_seconds(losses))


def _seconds(losses: Sequence[InstanceLoss]) -> float:
    return max(loss.seconds for loss in losses)
