"""Are blocks lost on the interconnect: by which instance, from which sender, since when, and for which cause?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import check
from checks.model.condition import ConditionKind
from checks.model.facts import Activity, Cluster
from checks.model.finding import Finding, NextStep
from checks.model.known_instances import Unseen, active, database_of, instance_name, nodes_of, unseen
from checks.model.wording import counted, listed, span
from checks.plugins.gc_blocks_lost.loss_counts import loss_lines, loss_table, loss_title
from checks.plugins.gc_blocks_lost.loss_groups import MAY_BE_FALSE, LossGroup, loss_groups, see_patch
from checks.plugins.gc_blocks_lost.loss_history import history_evidence, history_lines
from checks.plugins.gc_blocks_lost.loss_kinds import (
    FALSE_COUNT,
    KINDS,
    LITTLE,
    LOST,
    NONE_LOST,
    NOT_KNOWN,
    ONE_CONTAINER,
)
from checks.plugins.gc_blocks_lost.loss_other import claims_and_corrupt, lost_before
from checks.plugins.gc_blocks_lost.loss_signs import udp_text
from checks.plugins.shared.grouping import named, some, time_of
from checks.plugins.shared.host_facts import LMS_THREADS
from checks.plugins.shared.instance_text import connect_to_root, statement_topics, unknown_instance_findings
from checks.plugins.shared.private_nics import on_nics
from checks.rules.lost_blocks import (
    InstanceLoss,
    counts_falsely,
    enough_blocks_text,
    loss_of,
    received_few,
    transfers_unread,
    why_no_transfers,
)
from checks.rules.observed.blocks import blocks_exchanged, false_losses
from checks.rules.observed.states import read_on

_COUNTS = ("sysstat", "cache_transfer", "system_event")


@check(
    "gc-blocks-lost",
    question="Do all blocks arrive that the instances send to each other?",
    needs=("activity",),
    uses=("database", "history", "counters", "nodes", "networks", "paths", "flows"),
    shows=(ConditionKind.LOST_BLOCKS,),
    about=(ConditionKind.INSTANCE, ConditionKind.DATABASE),
    kinds=KINDS,
)
def gc_blocks_lost(cluster: Cluster) -> Iterator[Finding]:
    """Counts, between two samples, the blocks that each instance received and lost, and their senders.

    Only losses in the interval count, never a total since startup. Any loss is a warning. It is a failure above
    lost_blocks_fail_percent of the blocks sent to the instance, or where waits for lost blocks are among the three
    costliest events of the wait class Cluster. The finding lists the signs of the cause: failed reassemblies and full
    receive buffers of the receiving node in the same time, the MTU of the private networks, and the paths between the
    two nodes. Instances whose signs show the same cause share one finding, with the status of the worst. AWR or
    Statspack, where racwire read one of them, shows since when blocks are lost, and losses that are over. An earlier
    loss is a warning where the last one is within recent_loss_h of the end of the history.

    Blocks lost while racwire probed are named apart from those of a quiet time. Where blocks were lost only while it
    probed, the finding is a warning at most.

    Oracle 12.1.0.2 may count blocks as lost that were not lost (bug 20922010). Where no other sign shows a loss, the
    finding says so and is no failure; the same holds for counts in the history.
    """
    activity = cluster.activity
    if not isinstance(activity, Activity):
        return
    judged, missing = [], list(unseen(cluster))
    for own in active(activity):
        loss = loss_of(activity, own)
        if loss is None:
            unread = transfers_unread(activity)
            reason = unread.reason if unread else "Its `gc blocks lost` was not read."
            missing.append(Unseen(own.instance, reason, unread.right if unread else None))
        else:
            judged.append(loss)
    yield from _losing(cluster, activity, judged)
    yield from claims_and_corrupt(cluster, judged)
    yield from lost_before(cluster, judged)
    yield from unknown_instance_findings(cluster, NOT_KNOWN, "The number of blocks that {} lost", missing, ("sysstat",))
    if not judged and not missing:
        yield NOT_KNOWN.finding(
            "No instance reported how many blocks it lost.",
            subject="no instance",
            evidence=statement_topics(cluster, "sysstat"),
        )


# --- in the interval --------------------------------------------------------------------------------------------------


def _losing(cluster: Cluster, activity: Activity, judged: Sequence[InstanceLoss]) -> Iterator[Finding]:
    database = database_of(cluster)
    losing = [loss for loss in judged if loss.lost]
    fine = [loss for loss in judged if not loss.lost]
    told: Sequence[InstanceLoss] = fine  # their blocks passed: one finding says so
    for group in loss_groups(cluster, activity, losing):
        yield (_false_count if group.likely_false else _lost)(cluster, activity, group, fine, told)
        told = ()
    if database is not None and database.in_pluggable:
        yield ONE_CONTAINER.finding(
            f"Only the statistics of the pluggable database {database.container} are visible: the blocks that other "
            "containers lost are not known.",
            subject=f"{database.container} only",
            data={"container": database.container},
            seen=(
                f"connected to {database.container} by {database.reached}",
                f"visible: the statistics and waits of sessions in {database.container}",
                "not visible: those of CDB$ROOT and of the other pluggable databases, which use the same interconnect",
            ),
            expected=("A connection to CDB$ROOT",),
            next=[connect_to_root(database)],
            evidence=statement_topics(cluster, "connected"),
        )
    if judged and not losing:
        yield _none_lost(cluster, activity, judged, certain=database is None or not database.in_pluggable)


def _none_lost(cluster: Cluster, activity: Activity, judged: Sequence[InstanceLoss], certain: bool) -> Finding:
    names = _names(cluster, [loss.instance for loss in judged])
    received = sum(loss.received or 0 for loss in judged)
    time = span(activity.seconds)
    seen = some(
        [
            f"{instance_name(cluster, loss.instance)}: "
            + (
                "blocks received not reported"
                if loss.received is None
                else f"{counted(loss.received, 'block')} received"
            )
            + ", none lost"
            for loss in judged
        ]
    )
    evidence = statement_topics(cluster, *_COUNTS)
    idle = [loss.instance for loss in judged if received_few(loss.received, cluster.thresholds)]
    nodes = nodes_of(cluster, [loss.instance for loss in judged])
    passed = blocks_exchanged(cluster, activity, judged)
    if len(idle) == len(judged) or not certain:
        return LITTLE.finding(
            f"{names} received {counted(received, 'block')} in {time} and lost none: too few blocks for a verdict."
            if certain
            else f"{names} lost none of the {counted(received, 'block')} in {time} that this container shows.",
            subject=f"{counted(received, 'block')}, none lost",
            data={"received_blocks": received, "lost_blocks": 0, "seconds": activity.seconds},
            seen=seen,
            expected=(enough_blocks_text(cluster.thresholds),),
            next=[NextStep("Run the check again while the database is busy.", ("racwire check gc-blocks-lost",))],
            evidence=evidence,
            table=loss_table(cluster, activity),
            observed=(*read_on(LITTLE.code, nodes), *passed),
        )
    return NONE_LOST.finding(
        f"{names} received {counted(received, 'block')} in {time} and lost none.",
        subject=f"{counted(received, 'block')}, none lost",
        data={"received_blocks": received, "lost_blocks": 0, "seconds": activity.seconds},
        seen=(
            *seen,
            *([f"too few blocks for a verdict: {_names(cluster, idle)}"] if idle else []),
        ),
        evidence=evidence,
        table=loss_table(cluster, activity),
        observed=(*read_on(NONE_LOST.code, nodes), *passed),
    )


def _names(cluster: Cluster, instances: Sequence[int]) -> str:
    return named((instance_name(cluster, n) for n in instances), "instance")


# --- what is lost -----------------------------------------------------------------------------------------------------


def _next(cluster: Cluster, group: LossGroup) -> Iterator[NextStep]:
    signs = group.signs.signs
    where = f"any user on {named(group.nodes, 'node')}" if group.nodes else "any user on both nodes"
    in_network = not signs or any(sign.in_network for sign in signs)
    if all(loss.only_while_probing for loss in group.losses):
        yield NextStep("Watch whether blocks are lost while racwire does not probe.", ("racwire watch",))
    yield from dict.fromkeys(sign.next for sign in signs)
    if in_network:
        yield on_nics(
            cluster,
            group.nodes,
            "Check the errors, drops and ring buffers of the private NICs.",
            ("ip -s -s link show {nic}", "ethtool -S {nic}", "ethtool -g {nic}"),
            where,
        )
    if not signs:
        yield NextStep(
            "Check how busy the nodes are, and the scheduling class of LMS: RR for one thread of each.",
            (LMS_THREADS, "mpstat -P ALL 1 5"),
            where,
        )
    if in_network:
        yield NextStep("Ask the network team for discards and queue drops of these nodes' switch ports under load.")


def _lost(
    cluster: Cluster,
    activity: Activity,
    group: LossGroup,
    fine: Sequence[InstanceLoss],
    told: Sequence[InstanceLoss],
) -> Finding:
    return LOST.finding(
        loss_title(cluster, group.losses),
        status=group.status,
        subject=group.subject(cluster),
        data=group.data(cluster),
        seen=(*_seen(cluster, activity, group, fine), *_bug_note(cluster, group)),
        expected=("0 lost",),
        why=_why(cluster, group),
        next=_next(cluster, group),
        evidence=_evidence(cluster, group),
        table=loss_table(cluster, activity),
        nodes=group.nodes,
        extent=group.extent,
        observed=blocks_exchanged(cluster, activity, (*group.losses, *told)),
    )


def _false_count(
    cluster: Cluster,
    activity: Activity,
    group: LossGroup,
    fine: Sequence[InstanceLoss],
    told: Sequence[InstanceLoss],
) -> Finding:
    names = [instance_name(cluster, loss.instance) for loss in group.losses]
    number, seconds = sum(loss.lost for loss in group.losses), max(loss.seconds for loss in group.losses)
    return FALSE_COUNT.finding(
        f"{named(names, 'instance')} {'counts' if len(names) == 1 else 'count'} {counted(number, 'lost block')} in "
        f"{span(seconds)}, most likely falsely: no other sign shows a loss, and this release is known to overcount.",
        status=group.status,
        subject=f"{group.subject(cluster)}, likely false",
        data=group.data(cluster),
        seen=(
            *_seen(cluster, activity, group, fine),
            *group.signs.clean,
            *(f"not known: {what}" for what in group.signs.not_examined),
        ),
        expected=("0 lost",),
        next=[see_patch(group.receivers)],
        evidence=_evidence(cluster, group),
        table=loss_table(cluster, activity),
        nodes=group.nodes,
        extent=group.extent,
        observed=(*false_losses(cluster, group.losses), *blocks_exchanged(cluster, activity, told)),
    )


def _seen(cluster: Cluster, activity: Activity, group: LossGroup, fine: Sequence[InstanceLoss]) -> Iterator[str]:
    yield from loss_lines(cluster, activity, group.losses)
    yield from (sign.seen for sign in group.signs.signs)
    yield from group.signs.background
    if reason := why_no_transfers(activity):
        in_full = " in full" if any(loss.senders for loss in group.losses) else ""
        yield f"the senders are not known{in_full}: {reason}"
    elif not any(loss.senders for loss in group.losses):
        yield "the transfers between instances show no lost block"
    if unread := activity.why_unread("GV$SYSTEM_EVENT"):
        yield f"the waits of sessions for lost blocks are not known in full: {unread}"
    if fine:
        names = named((instance_name(cluster, loss.instance) for loss in fine), "other instance")
        received = sum(loss.received or 0 for loss in fine)
        yield f"{names}: none lost, {received:,} received in {time_of(fine)}"
    yield from history_lines(cluster, [loss.instance for loss in group.losses])


def _why(cluster: Cluster, group: LossGroup) -> str:
    signs, nodes = group.signs, named(group.receivers, "node") or "its node"
    if signs.signs:
        return f"{signs.signs[0].why} {LOST.why}"
    if signs.not_known:
        clean = f"; {listed(signs.clean)}" if signs.clean else ""
        return f"The cause is not known, since {listed(signs.not_examined)} could not be checked{clean}. {LOST.why}"
    return (
        f"Pings and kernel counters do not show this loss: {listed(signs.clean)}. "
        f"{udp_text(cluster, group.receivers, group.nodes)} Possible causes are a packet filter that drops UDP, one "
        f"bad link of a bond or LAG, {nodes} too busy to process what arrives (MOS 563566.1, cause 19), a NIC's driver "
        "or firmware (9, 16), or a switch that drops packets only under load (20). "
        f"{LOST.why}"
    )


def _evidence(cluster: Cluster, group: LossGroup) -> list[tuple[str, str]]:
    return [*statement_topics(cluster, *_COUNTS), *group.signs.evidence, *history_evidence(cluster)]


def _bug_note(cluster: Cluster, group: LossGroup) -> list[str]:
    if not any(counts_falsely(database_of(cluster), loss.instance) for loss in group.losses):
        return []
    return [f"{MAY_BE_FALSE}; here other signs than its count show the loss, too"]
