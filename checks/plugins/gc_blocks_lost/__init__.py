"""Do blocks get lost on the interconnect: at which instance, from which, since when, and what shows why?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import check
from checks.model.facts import Activity, Cluster
from checks.model.finding import Finding, Remedy, Status
from checks.model.known_instances import Unseen, active, database_of, instance_name, unseen
from checks.model.wording import counted, listed
from checks.plugins.gc_blocks_lost.loss_counts import loss_lines, loss_table, loss_title
from checks.plugins.gc_blocks_lost.loss_groups import (
    MAY_BE_FALSE,
    LossGroup,
    loss_groups,
    see_patch,
)
from checks.plugins.gc_blocks_lost.loss_history import history_evidence, history_lines
from checks.plugins.gc_blocks_lost.loss_kinds import (
    CLAIM_LOST,
    CORRUPT,
    FALSE_COUNT,
    LITTLE,
    LOST,
    LOST_BEFORE,
    NONE_LOST,
    NOT_KNOWN,
    ONE_CONTAINER,
)
from checks.plugins.gc_blocks_lost.loss_other import claims_and_corrupt, lost_before
from checks.plugins.shared.grouping import named, some
from checks.plugins.shared.instance_words import span, sql, unseen_findings
from checks.plugins.shared.private_nics import on_nics
from checks.rules.lost_blocks import (
    InstanceLoss,
    counts_falsely,
    enough_blocks_text,
    loss_of,
    received_few,
    why_no_transfers,
)

_COUNTS = ("sysstat", "cache_transfer", "system_event")


@check(
    "gc-blocks-lost",
    question="Do all blocks arrive that the instances send to each other?",
    needs=("activity",),
    uses=("database", "history", "counters", "nodes", "networks", "paths"),
    kinds=(
        NONE_LOST,
        LOST,
        LITTLE,
        NOT_KNOWN,
        ONE_CONTAINER,
        FALSE_COUNT,
        CLAIM_LOST,
        CORRUPT,
        LOST_BEFORE,
    ),
)
def gc_blocks_lost(cluster: Cluster) -> Iterator[Finding]:
    """Counts, between two samples, the blocks that each instance received and those that it lost, and from whom.

    Only what is lost in the interval counts, never a total since startup. Any loss is a warning; above
    lost_blocks_fail_percent of the blocks sent to it, or where waits for lost blocks are among the three events of the
    wait class Cluster that cost most, it is a failure. With the loss stand the signs that name its cause: failed
    reassemblies and full receive buffers of the receiving node in the same time, the MTU of the private networks, and
    the paths between the two nodes. Instances that lose blocks for one cause, by those signs, are told together, as
    gravely as the worst of them. AWR or Statspack, where read, tell since when, and of losses that are over: a warning
    where the last one lies within recent_loss_h of the history's end.

    Oracle 12.1.0.2 may count blocks as lost that were not (bug 20922010): where nothing else shows a loss, that is
    said, and it is no failure; so for counts of the past.
    """
    activity = cluster.activity
    if not isinstance(activity, Activity):
        return
    judged, missing = [], list(unseen(cluster))
    for own in active(activity):
        loss = loss_of(activity, own)
        if loss is None:
            missing.append(Unseen(own.instance, why_no_transfers(activity) or "Its `gc blocks lost` was not read."))
        else:
            judged.append(loss)
    yield from _losing(cluster, activity, judged)
    yield from claims_and_corrupt(cluster, judged)
    yield from lost_before(cluster, judged)
    yield from unseen_findings(cluster, NOT_KNOWN, "What {} lost", missing, ("sysstat",))
    if not judged and not missing:
        yield NOT_KNOWN.finding(
            Status.UNKNOWN,
            "No instance told how many blocks it lost.",
            subject="no instance",
            evidence=sql(cluster, "sysstat"),
        )


# --- in the interval --------------------------------------------------------------------------------------------------


def _losing(cluster: Cluster, activity: Activity, judged: Sequence[InstanceLoss]) -> Iterator[Finding]:
    database = database_of(cluster)
    losing = [loss for loss in judged if loss.lost]
    fine = [loss for loss in judged if not loss.lost]
    for group in loss_groups(cluster, activity, losing):
        yield (_false_count if group.likely_false else _lost)(cluster, activity, group, fine)
    if database is not None and database.in_pluggable:
        yield ONE_CONTAINER.finding(
            Status.UNKNOWN,
            f"Only what the instances did for the pluggable database {database.container} is seen: what others lost "
            "is not known.",
            subject=f"{database.container} only",
            data={"container": database.container},
            seen=(f"connected to {database.container} by {database.reached}",),
            expected=("A connection to CDB$ROOT",),
            next=[Remedy("Connect to the root container.", where="in the settings, [database] connect")],
            evidence=sql(cluster, "connected"),
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
            + ("blocks received not told" if loss.received is None else f"{counted(loss.received, 'block')} received")
            + ", none lost"
            for loss in judged
        ]
    )
    evidence = sql(cluster, *_COUNTS)
    idle = [loss.instance for loss in judged if received_few(loss.received, cluster.thresholds)]
    if len(idle) == len(judged) or not certain:
        return LITTLE.finding(
            Status.INFO,
            f"{names} received {counted(received, 'block')} in {time} and lost none: that is too few to tell much."
            if certain
            else f"{names} lost none of the {counted(received, 'block')} in {time} that this container sees.",
            subject=f"{counted(received, 'block')}, none lost",
            data={"received_blocks": received, "lost_blocks": 0, "seconds": activity.seconds},
            seen=seen,
            expected=(enough_blocks_text(cluster.thresholds),),
            next=[Remedy("Look again while the database is busy.", ("racwire check gc-blocks-lost",))],
            evidence=evidence,
            table=loss_table(cluster, activity),
        )
    return NONE_LOST.finding(
        Status.PASS,
        f"{names} received {counted(received, 'block')} in {time} and lost none.",
        subject=f"{counted(received, 'block')}, none lost",
        data={"received_blocks": received, "lost_blocks": 0, "seconds": activity.seconds},
        seen=(
            *seen,
            *([f"too few to tell much: {_names(cluster, idle)}"] if idle else []),
        ),
        evidence=evidence,
        table=loss_table(cluster, activity),
    )


def _names(cluster: Cluster, instances: Sequence[int]) -> str:
    return named((instance_name(cluster, n) for n in instances), "instance")


# --- what is lost -----------------------------------------------------------------------------------------------------


def _next(cluster: Cluster, group: LossGroup) -> Iterator[Remedy]:
    signs = group.signs.signs
    where = f"root on {named(group.nodes, 'node')}" if group.nodes else "root on both nodes"
    in_network = not signs or any(sign.in_network for sign in signs)
    yield from dict.fromkeys(sign.next for sign in signs)
    if in_network:
        yield on_nics(
            cluster,
            group.nodes,
            "Look at the errors, drops and rings of the private NICs.",
            ("ip -s -s link show ETH", "ethtool -S ETH", "ethtool -g ETH"),
            where,
        )
    if not signs:
        yield Remedy(
            "See how busy the nodes are, and that the LMS processes run in the real-time class.",
            ("ps -eo cls,rtprio,pcpu,comm | grep lms", "mpstat -P ALL 1 5"),
            where,
        )
    if in_network:
        yield Remedy("Ask the network team for discards and queue drops of these nodes' switch ports under load.")


def _lost(cluster: Cluster, activity: Activity, group: LossGroup, fine: Sequence[InstanceLoss]) -> Finding:
    return LOST.finding(
        group.status,
        loss_title(cluster, group.losses),
        subject=group.subject(cluster),
        data=group.data(cluster),
        seen=(*_seen(cluster, activity, group, fine), *_bug_note(cluster, group)),
        expected=("0 lost",),
        why=_why(group),
        next=_next(cluster, group),
        evidence=_evidence(cluster, group),
        table=loss_table(cluster, activity),
        nodes=group.nodes,
        extent=group.extent,
    )


def _false_count(cluster: Cluster, activity: Activity, group: LossGroup, fine: Sequence[InstanceLoss]) -> Finding:
    names = [instance_name(cluster, loss.instance) for loss in group.losses]
    number, seconds = sum(loss.lost for loss in group.losses), max(loss.seconds for loss in group.losses)
    return FALSE_COUNT.finding(
        group.status,
        f"{named(names, 'instance')} {'counts' if len(names) == 1 else 'count'} {counted(number, 'lost block')} in "
        f"{span(seconds)}, most likely wrongly: nothing else shows a loss, and the release is known to count so.",
        subject=f"{group.subject(cluster)}, likely false",
        data=group.data(cluster),
        seen=(
            *_seen(cluster, activity, group, fine),
            *group.signs.clean,
            *(f"not known: {what}" for what in group.signs.not_looked_at),
        ),
        expected=("0 lost",),
        next=[see_patch(group.receivers)],
        evidence=_evidence(cluster, group),
        table=loss_table(cluster, activity),
        nodes=group.nodes,
        extent=group.extent,
    )


def _seen(cluster: Cluster, activity: Activity, group: LossGroup, fine: Sequence[InstanceLoss]) -> Iterator[str]:
    yield from loss_lines(cluster, group.losses)
    yield from (sign.seen for sign in group.signs.signs)
    yield from group.signs.background
    if reason := why_no_transfers(activity):
        in_full = " in full" if any(loss.senders for loss in group.losses) else ""
        yield f"from whom is not known{in_full}: {reason}"
    elif not any(loss.senders for loss in group.losses):
        yield "the transfers between instances show no lost block"
    if unread := activity.why_unread("GV$SYSTEM_EVENT"):
        yield f"what sessions waited for lost blocks is not known in full: {unread}"
    if fine:
        names = named((instance_name(cluster, loss.instance) for loss in fine), "other instance")
        received = sum(loss.received or 0 for loss in fine)
        yield f"{names}: none lost, {received:,} received in {span(max(loss.seconds for loss in fine))}"
    yield from history_lines(cluster, [loss.instance for loss in group.losses])


def _why(group: LossGroup) -> str:
    signs, nodes = group.signs, named(group.receivers, "node") or "its node"
    if signs.signs:
        return f"{signs.signs[0].why} {LOST.why}"
    if signs.not_known:
        looked = f"; {listed(signs.clean)}" if signs.clean else ""
        return f"Why is not known, since {listed(signs.not_looked_at)} could not be looked at{looked}. {LOST.why}"
    return (
        f"The network looks clean: {listed(signs.clean)}. What is left is {nodes} too busy to take what arrives "
        "(MOS 563566.1, cause 19), a NIC's driver or firmware (9, 16), or a switch that drops only under load (20). "
        f"{LOST.why}"
    )


def _evidence(cluster: Cluster, group: LossGroup) -> list[tuple[str, str]]:
    return [*sql(cluster, *_COUNTS), *group.signs.evidence, *history_evidence(cluster)]


def _bug_note(cluster: Cluster, group: LossGroup) -> list[str]:
    if not any(counts_falsely(database_of(cluster), loss.instance) for loss in group.losses):
        return []
    return [f"{MAY_BE_FALSE}; here more than its count shows the loss"]
